r"""Compiled loops that go up and down a Chebyshev recurrence some degrees at a time, and add up products per entry.

With the terms :math:`t_k = T_k(A) t_0` and the sums of Clenshaw's rule for the transposed matrix, :math:`u_k = g_k + 2
A^\top u_{k+1} - u_{k+2}`, the gradient in the entry (i, j) of A is :math:`\sum_k c_k \langle u_{k+1,i}, t_{k,j}
\rangle`, with :math:`c_0 = 1` and 2 else. The terms are needed from the highest degree to the lowest, as the sums are
made, and the recurrence runs that way too: :math:`t_{k-1} = 2 A t_k - t_{k+1}`.

Graphs come as in :mod:`cayleygsp.engine.tile_loops`; blocks have the shape (slots, n, width). All threads share the
rows of a degree, so that each entry is added up by one of them, in the same order every time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from cayleygsp._typing import Array
from cayleygsp.engine.board import MORE, claim, finish
from cayleygsp.engine.compiling import FAST, compiled
from cayleygsp.engine.packed import cut_rows
from cayleygsp.engine.rows import step_row
from cayleygsp.engine.threads import run, useful_threads

# Numbers times steps from which threads share a call. Calls stand between dense products of torch, whose threads go on
# spinning for 4 to 8 ms after each (processor time in a sleep, on a busy machine): a helper on the same processor is
# then put to sleep with a chunk in hand. One thread goes up a call of this size in about 18 ms (extrapolated).
_NUMBERS_TO_SHARE = 2**24

# Sums of short rows may be taken in any order: nothing is claimed of their last digits.
_ANY_ORDER = FAST | {"reassoc"}


@njit(fastmath=FAST)
def _step_rows(first, last, graph, factor, minus, t, t_old, out, add):  # type: ignore[no-untyped-def]
    """Set rows of out to factor * (scaled matrix) t - minus * t_old, plus what stands there if ``add``."""
    indptr, indices, weights, diagonal, off, scale = graph
    for i in range(first, last):
        begin, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
        w1 = factor * scale[i] * off
        w2 = factor * (scale[i] * diagonal[i]) - factor
        step_row(np.int64(i), begin, end, indices, weights, w1, w2, -minus, t, t_old, out, add)


@njit(fastmath=_ANY_ORDER)
def _dot(p, i, q, j):  # type: ignore[no-untyped-def]
    """Return the product of row i of p with row j of q."""
    total = p.dtype.type(0)
    for k in range(p.shape[1]):
        total += p[i, k] * q[j, k]
    return total


@njit(fastmath=FAST)
def _add_products(first, last, indptr, indices, factor, p, q, tied, entries, diagonal):  # type: ignore[no-untyped-def]
    """Add factor * <p_i, q_j> to every entry (i, j) of some rows; if ``tied``, the mean of (i, j) and (j, i)."""
    half = factor / 2
    for i in range(first, last):
        for e in range(np.int64(indptr[i]), np.int64(indptr[i + 1])):
            j = np.int64(indices[e])
            if tied:
                entries[e] += half * (_dot(p, i, q, j) + _dot(q, i, p, j))
            else:
                entries[e] += factor * _dot(p, i, q, j)
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
            _step_rows(chunks[c], chunks[c + 1], graph, one, one - one, t[q + 1], t[q + 1], t[q + 2], False)
        elif k0 + q > 1:
            _step_rows(chunks[c], chunks[c + 1], graph, one + one, one, t[q + 1], t[q], t[q + 2], False)
        finish(board)
    return MORE


@compiled()
def _descend(  # type: ignore[no-untyped-def]
    graph, other, pattern, chunks, k0, size, top, u, t, mode, entries, diagonal, board, mine, budget
):
    """Go down from degree k0 + size - 1 to k0; see :func:`descend`."""
    n_chunks, one = chunks.size - 1, u.dtype.type(1)
    adding, backwards, first_is_u, tied = mode
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        step, c = divmod(ticket, n_chunks)
        q = size - 1 - step
        k = k0 + q
        first, last = chunks[c], chunks[c + 1]
        _step_rows(first, last, graph, one + one if k else one, one, u[q + 1], u[q + 2], u[q], True)
        if adding and k < top:
            now = t[k % 2] if backwards else t[q + 2]
            factor = 2.0 if k else 1.0
            if first_is_u:
                _add_products(first, last, pattern[0], pattern[1], factor, u[q + 1], now, tied, entries, diagonal)
            else:
                _add_products(first, last, pattern[0], pattern[1], factor, now, u[q + 1], tied, entries, diagonal)
            if backwards and k > 0:
                old = t[(k + 1) % 2]
                _step_rows(first, last, other, one + one, one, now, old, old, False)
        finish(board)
    return MORE


def ascend(graph: tuple[Any, ...], k0: int, size: int, t: Array, limit: int | None = None) -> None:
    """Set slots 2 ... size + 1 of t to the degrees k0 ... k0 + size - 1 of the recurrence.

    Parameters
    ----------
    graph : tuple
        The scaled matrix.
    k0, size : int
        The first degree, and how many.
    t : ndarray, shape (size + 2 or more, n, width)
        The two degrees before stand in slots 0 and 1; degree 0 itself in slot 2.
    limit : int, optional
        Threads at most.
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
    entries: Array | None = None,
    diagonal: Array | None = None,
    limit: int | None = None,
) -> None:
    """Run Clenshaw's rule down from degree k0 + size - 1 to k0, and add up the gradient in the matrix.

    Parameters
    ----------
    graph, other : tuple
        The matrix of Clenshaw's rule, and the matrix of the terms, its transposed.
    k0, size, top : int
        The last degree, how many, and the highest degree of the whole series.
    u : ndarray, shape (size + 2 or more, n, width)
        What is added at each degree, then the two sums before; replaced by the sums.
    t : ndarray or None
        The terms, or None if no gradient is wanted. If ``backwards``, two slots, degree k in slot k % 2, with the
        degrees k0 + size - 1 and the one above (at the top, the one below), and replaced on the way; else as
        :func:`ascend` left them.
    first_is_u : bool
        Whether entry (i, j) gets the product of row i of u with row j of t, in the rows of ``other``; else that of row
        i of t with row j of u, in the rows of ``graph``.
    tied : bool
        Give the entries (i, j) and (j, i) the mean of the two.
    entries, diagonal : ndarray
        Sums for each entry, in double precision, and for the diagonal.
    limit : int, optional
        Threads at most.
    """
    chunks, shared = _share(graph, u, size, limit)
    pattern = (other if first_is_u else graph)[:2]
    adding = t is not None
    nothing = np.empty(0)
    mode = (adding, backwards, first_is_u, tied)
    sums = (nothing if entries is None else entries, nothing if diagonal is None else diagonal)
    run(_descend, graph, other, pattern, chunks, k0, size, top, u, u if t is None else t, mode, *sums, **shared)


def _share(graph: tuple[Any, ...], block: Array, size: int, limit: int | None) -> tuple[Array, dict[str, int]]:
    """Return how rows are cut, and how threads share them."""
    numbers = int(block[0].size)
    n_threads = useful_threads(numbers, size, limit) if numbers * size >= _NUMBERS_TO_SHARE else 1
    chunks = np.array([0, block.shape[1]]) if n_threads == 1 else cut_rows(graph[0]).astype(np.int64)
    n_chunks = chunks.size - 1
    return chunks, {"n_chunks": n_chunks, "n_steps": size, "numbers": 4 * numbers, "n_threads": n_threads}
