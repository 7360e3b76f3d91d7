"""Compiled loops for blocks of signals stored row by row, shape (n, width).

Graphs come as :meth:`~cayleygsp.engine.packed.KernelGraph.scaled` returns them; all arithmetic is in the precision of
the signals. Two blocks hold the recurrence, each step overwriting the older one, so that memory stays small however
large the graph is.
"""

from __future__ import annotations

import numpy as np

from cayleygsp.engine.board import MORE, claim, finish
from cayleygsp.engine.compiling import compiled, compiled_helper
from cayleygsp.engine.rows import step_and_mix_row, step_and_sum_row, step_row
from cayleygsp.engine.schedule import clenshaw_weights, due_terms, step_weights

# The next three begin with the same lines: a function that returned what belongs to a row made the loop much slower.


@compiled_helper()
def sum_rows(first, last, graph, c, t, t_old, out, a, fresh):  # type: ignore[no-untyped-def]
    """Step the recurrence on rows first ... last - 1, and add to the outputs if ``a`` is given."""
    indptr, indices, weights, diagonal, off, _ = graph
    c1, c2, c3 = c
    for i in range(first, last):
        if weights.size:
            w1, w2 = c1, c2
        else:
            w1, w2 = c1 * off, c2 + c1 * diagonal[i]
        begin, end = np.int64(indptr[i]), np.int64(indptr[i + np.uint64(1)])
        step_and_sum_row(np.int64(i), begin, end, indices, weights, w1, w2, c3, t, t_old, out, a, fresh)


@compiled_helper()
def adjoint_rows(first, last, graph, c, t, t_old, f, a):  # type: ignore[no-untyped-def]
    """Step Clenshaw's rule on rows first ... last - 1."""
    indptr, indices, weights, diagonal, off, _ = graph
    c1, c2, c3 = c
    for i in range(first, last):
        if weights.size:
            w1, w2 = c1, c2
        else:
            w1, w2 = c1 * off, c2 + c1 * diagonal[i]
        begin, end = np.int64(indptr[i]), np.int64(indptr[i + np.uint64(1)])
        step_and_mix_row(np.int64(i), begin, end, indices, weights, w1, w2, c3, t, t_old, f, a)


@compiled_helper()
def _dot_rows(first, last, graph, c, t, t_old, dots):  # type: ignore[no-untyped-def]
    """Step the recurrence, and add up the products of the new block with itself and with the one before."""
    indptr, indices, weights, diagonal, off, _ = graph
    c1, c2, c3 = c
    for i in range(first, last):
        if weights.size:
            w1, w2 = c1, c2
        else:
            w1, w2 = c1 * off, c2 + c1 * diagonal[i]
        begin, end = np.int64(indptr[i]), np.int64(indptr[i + np.uint64(1)])
        step_row(np.int64(i), begin, end, indices, weights, w1, w2, c3, t, t_old, t_old, False)
        for k in range(np.uint64(t.shape[1])):
            new = t_old[i, k]
            dots[0, k] += new * new
            dots[1, k] += new * t[i, k]


@compiled()
def sum_block(graph, chunks, coeffs, t_old, t, out, board, mine, budget):  # type: ignore[no-untyped-def]
    """Sum the series of a block t; step k - 1 of the board is degree k."""
    n_chunks, terms = chunks.size - 1, np.empty((coeffs.shape[0], 3), coeffs.dtype)
    k = np.int64(1)  # not a plain 1, for which what is called would be compiled once more
    c, a = step_weights(graph[5][0], k, t), due_terms(coeffs, k, terms)
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        step, q = divmod(ticket, n_chunks)
        if step + 1 != k:
            k = step + 1
            c, a = step_weights(graph[5][0], k, t), due_terms(coeffs, k, terms)
        now, old = (t, t_old) if k & 1 else (t_old, t)
        sum_rows(chunks[q], chunks[q + 1], graph, c, now, old, out, a, k < 3)
        finish(board)
    return MORE


@compiled()
def sum_block_adjoint(graph, chunks, coeffs, t_old, t, f, board, mine, budget):  # type: ignore[no-untyped-def]
    """Sum one series of each of the blocks f; step s of the board is degree K - s, coeffs[k] holds degree k."""
    n_chunks, K = chunks.size - 1, coeffs.shape[0] - 1
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        step, q = divmod(ticket, n_chunks)
        c = clenshaw_weights(graph[5][0], K - step, t)
        now, old = (t_old, t) if step & 1 else (t, t_old)
        adjoint_rows(chunks[q], chunks[q + 1], graph, c, now, old, f, coeffs[K - step])
        finish(board)
    return MORE


@compiled()
def dot_block(graph, chunks, t_old, t, dots, board, mine, budget):  # type: ignore[no-untyped-def]
    """Set dots[k - 1, q] to the products of T_k t with itself and with T_{k-1} t over chunk q, for every degree k."""
    n_chunks = chunks.size - 1
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        step, q = divmod(ticket, n_chunks)
        c = step_weights(graph[5][0], step + 1, t)
        now, old = (t_old, t) if step & 1 else (t, t_old)
        _dot_rows(chunks[q], chunks[q + 1], graph, c, now, old, dots[step, q])
        finish(board)
    return MORE
