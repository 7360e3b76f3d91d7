r"""Compiled loops that go up and down a Chebyshev recurrence some degrees at a time, and add up products per entry.

With the terms :math:`t_k = T_k(A) t_0` and the sums of Clenshaw's rule for the transposed matrix, :math:`u_k = g_k + 2
A^\top u_{k+1} - u_{k+2}`, the gradient in the entry (i, j) of A is :math:`\sum_k c_k \langle u_{k+1,i}, t_{k,j}
\rangle`, with :math:`c_0 = 1` and 2 else. The terms are needed from the highest degree to the lowest, as the sums are
made, and the recurrence runs that way too: :math:`t_{k-1} = 2 A t_k - t_{k+1}`.

Graphs come as in :mod:`cayleygsp.engine.rows`; blocks have the shape (slots, n, width). All threads share the
rows of a degree, so that each entry is added up by one of them, in the same order every time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cayleygsp._typing import Array
from cayleygsp.engine.compiling import FAST, compiled, compiled_helper
from cayleygsp.engine.packed import cut_rows
from cayleygsp.engine.rows import step_and_dot_row, step_scaled_rows
from cayleygsp.engine.threads import MORE, claim, finish, run, useful_threads

# Numbers times steps from which threads share a call. Calls stand between dense products of torch, whose threads go on
# spinning for 4 to 8 ms after each (processor time in a sleep, on a busy machine): a helper on the same processor is
# then put to sleep with a chunk in hand. One thread goes up a call of this size in about 18 ms (extrapolated).
_NUMBERS_TO_SHARE = 2**24

# Sums of short rows may be taken in any order: nothing is claimed of their last digits.
_ANY_ORDER = FAST | {"reassoc"}


@compiled_helper()
def _step_and_dot_rows(  # type: ignore[no-untyped-def]
    first, last, graph, step_factor, minus, t, t_old, out, add, other, factor, entries, diagonal
):
    """Do what :func:`step_scaled_rows` does, and add factor * <other_i, t_j> to every entry (i, j)."""
    indptr, indices, weights, on_diagonal, off, scale = graph
    for i in range(first, last):
        p, q = np.int64(indptr[i]), np.int64(indptr[i + 1])
        w1 = step_factor * scale[i] * off
        w2 = step_factor * (scale[i] * on_diagonal[i]) - step_factor
        step_and_dot_row(
            np.int64(i), p, q, indices, weights, w1, w2, -minus, t, t_old, out, add, other, factor, entries, diagonal
        )


@compiled_helper(_ANY_ORDER)
def _dot(p, i, q, j):  # type: ignore[no-untyped-def]
    """Return the product of row i of p with row j of q."""
    total = p.dtype.type(0)
    for k in range(p.shape[1]):
        total += p[i, k] * q[j, k]
    return total


@compiled_helper()
def _add_products(first, last, graph, factor, p, q, entries, diagonal):  # type: ignore[no-untyped-def]
    """Add factor * <p_i, q_j> to every entry (i, j) of some rows."""
    indptr, indices = graph[0], graph[1]
    for i in range(first, last):
        for e in range(np.int64(indptr[i]), np.int64(indptr[i + 1])):
            entries[e] += factor * _dot(p, i, q, np.int64(indices[e]))
        diagonal[i] += factor * _dot(p, i, q, i)


@compiled()
def _ascend(graph, chunks, k0, t, board, mine, budget):  # type: ignore[no-untyped-def]
    """Set slots 2, 3, ... of t to the degrees k0, k0 + 1, ...; degree 0 stands there already."""
    n_chunks, one = chunks.size - 1, t.dtype.type(1)
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        q, c = divmod(ticket, n_chunks)
        if k0 + q == 1:
            step_scaled_rows(chunks[c], chunks[c + 1], graph, one, one - one, t[q + 1], t[q + 1], t[q + 2], False)
        elif k0 + q > 1:
            step_scaled_rows(chunks[c], chunks[c + 1], graph, one + one, one, t[q + 1], t[q], t[q + 2], False)
        finish(board)
    return MORE


@compiled()
def _descend(  # type: ignore[no-untyped-def]
    graph, other, chunks, k0, size, top, u, t, mode, entries, diagonal, board, mine, budget
):
    """Go down from degree k0 + size - 1 to k0; see :func:`descend`."""
    n_chunks, one = chunks.size - 1, u.dtype.type(1)
    adding, backwards, by_sums, by_terms = mode
    share = 0.5 if by_sums and by_terms else 1.0
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        step, c = divmod(ticket, n_chunks)
        q = size - 1 - step
        k = k0 + q
        first, last = chunks[c], chunks[c + 1]
        up, factor = (one + one, 2.0 * share) if k else (one, share)
        now = t[q + 1] if backwards else t[q + 2]
        if adding and by_sums and k < top:
            _step_and_dot_rows(
                first, last, graph, up, one, u[q + 1], u[q + 2], u[q], True, now, factor, entries, diagonal
            )
        else:
            step_scaled_rows(first, last, graph, up, one, u[q + 1], u[q + 2], u[q], True)
        if adding and k < top:
            goes_on = backwards and k > 0
            if goes_on and by_terms:
                _step_and_dot_rows(
                    first, last, other, one + one, one, now, t[q + 2], t[q], False, u[q + 1], factor, entries, diagonal
                )
            elif goes_on:
                step_scaled_rows(first, last, other, one + one, one, now, t[q + 2], t[q], False)
            elif by_terms:
                _add_products(first, last, other, factor, u[q + 1], now, entries, diagonal)
        finish(board)
    return MORE


def ascend(graph: tuple[Any, ...], k0: int, size: int, t: Array, limit: int | None = None) -> None:
    """Set slots 2 ... size + 1 of t, shape (n, width) each, to the degrees k0 ... k0 + size - 1 of the recurrence.

    The two degrees before stand in slots 0 and 1; degree 0 itself in slot 2. ``limit`` is how many threads at most.
    """
    chunks, shared = _share(graph, t, size, limit)
    run(_ascend, graph, chunks, k0, t, **shared)


def descend(
    graph: tuple[Any, ...],
    other: tuple[Any, ...],
    k0: int,
    size: int,
    top: int,
    u: Array,
    t: Array | None,
    *,
    backwards: bool = True,
    first_is_u: bool = True,
    tied: bool = False,
    entries: Array,
    diagonal: Array,
    limit: int | None = None,
) -> None:
    """Run Clenshaw's rule down from degree k0 + size - 1 to k0, and add up the gradient in the matrix.

    ``graph`` is the matrix of Clenshaw's rule, ``other`` that of the terms, its transposed; ``top`` is the highest
    degree of the whole series. In u stands what is added at each degree, then the two sums before; it is replaced by
    the sums.

    With terms t, sums for each entry are added to ``entries``, in double precision, and to ``diagonal``. If
    ``backwards``, degree k0 + q of the terms is in slot q + 1: the degrees k0 + size - 1 and k0 + size are there (at
    the top, the one below), and those down to k0 - 1 are put in their slots; else they are as :func:`ascend` left
    them. Entry (i, j) gets the product of row i of u with row j of t, in the rows of ``other``, if ``first_is_u``; else
    that of row i of t with row j of u, in the rows of ``graph``. ``tied`` gives (i, j) and (j, i) the mean of the two,
    only for symmetric matrices.
    """
    chunks, shared = _share(graph, u, size, limit)
    mode = (t is not None, backwards, tied or not first_is_u, tied or first_is_u)
    terms = u if t is None else t
    run(_descend, graph, other, chunks, k0, size, top, u, terms, mode, entries, diagonal, **shared)


def _share(graph: tuple[Any, ...], block: Array, size: int, limit: int | None) -> tuple[Array, dict[str, int]]:
    """Return how rows are cut, and how threads share them."""
    numbers = int(block[0].size)
    n_threads = useful_threads(numbers, size, limit) if numbers * size >= _NUMBERS_TO_SHARE else 1
    chunks = np.array([0, block.shape[1]]) if n_threads == 1 else cut_rows(graph[0]).astype(np.int64)
    n_chunks = chunks.size - 1
    return chunks, {"n_chunks": n_chunks, "n_steps": size, "numbers": 4 * numbers, "n_threads": n_threads}
