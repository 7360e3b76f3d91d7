"""Compiled loops for one signal, shape (n,): a pass over the graph does product, recurrence and accumulation.

Rows are worked on in strips: the sums over neighbours first, in a loop that needs few registers, then everything that
goes row by row, in loops that compile to vector instructions and find the strip in the cache. Graphs come as
:meth:`~cayleygsp.engine.packed.KernelGraph.scaled` returns them; all arithmetic is in the precision of the signal.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from cayleygsp.engine.board import MORE, claim, finish
from cayleygsp.engine.compiling import FAST, compiled, compiled_helper
from cayleygsp.engine.rows import prefetch
from cayleygsp.engine.schedule import clenshaw_weights, due_terms, step_weights

# Bytes of the numbers that are worked on together. Shorter strips take longer inside the caches, longer ones beyond
# them, where the core then waits for memory at each turn from one loop to the next.
_STRIP_BYTES = 1024


@njit
def new_strip(t):  # type: ignore[no-untyped-def]
    """Return room for the sums of a strip of rows of t."""
    return np.empty(_STRIP_BYTES // t.itemsize, t.dtype)


@njit(inline="always")
def _ask(t, indices, p, count):  # type: ignore[no-untyped-def]
    """Ask for the values of t that ``count`` entries from p on, or the last ones, refer to; do not wait for them."""
    first = min(p, np.uint64(indices.size) - count)
    for q in range(first, first + count):
        prefetch(t, indices[q])


@njit(fastmath=FAST, inline="always")
def plain_sums(first, last, indptr, indices, t, sums, ahead):  # type: ignore[no-untyped-def]
    """Set sums to the sums of t over the neighbours of rows first ... last - 1.

    What is needed ``ahead`` entries later is asked for now, if that is not zero.
    """
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    p = np.uint64(indptr[first])
    for i in range(first, last):
        end = np.uint64(indptr[i + one])
        total = t.dtype.type(0)
        while p + three < end:
            if ahead:
                _ask(t, indices, p + ahead, four)
            total += (t[indices[p]] + t[indices[p + one]]) + (t[indices[p + two]] + t[indices[p + three]])
            p += four
        if p + one < end:
            if ahead:
                _ask(t, indices, p + ahead, two)
            total = (total + t[indices[p]]) + t[indices[p + one]]
            p += two
        if p < end:
            if ahead:
                _ask(t, indices, p + ahead, one)
            total += t[indices[p]]
        p = end
        sums[i - first] = total


@njit(fastmath=FAST, inline="always")
def _weighted_sums(first, last, indptr, indices, weights, t, sums, ahead):  # type: ignore[no-untyped-def]
    """Do the same with weights."""
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    p = np.uint64(indptr[first])
    for i in range(first, last):
        end = np.uint64(indptr[i + one])
        total = t.dtype.type(0)
        while p + three < end:
            if ahead:
                _ask(t, indices, p + ahead, four)
            total += (weights[p] * t[indices[p]] + weights[p + one] * t[indices[p + one]]) + (
                weights[p + two] * t[indices[p + two]] + weights[p + three] * t[indices[p + three]]
            )
            p += four
        if p + one < end:
            if ahead:
                _ask(t, indices, p + ahead, two)
            total = (total + weights[p] * t[indices[p]]) + weights[p + one] * t[indices[p + one]]
            p += two
        if p < end:
            if ahead:
                _ask(t, indices, p + ahead, one)
            total += weights[p] * t[indices[p]]
        p = end
        sums[i - first] = total


@compiled_helper()
def _sums(first, last, indptr, indices, weights, t, sums, ahead):  # type: ignore[no-untyped-def]
    """Sum over the neighbours in the way that fits.

    A function of its own, so that its loops have all registers to themselves; without looking ahead, they hold no trace
    of it.
    """
    none = np.uint64(0)
    if weights.size:
        if ahead:
            _weighted_sums(first, last, indptr, indices, weights, t, sums, ahead)
        else:
            _weighted_sums(first, last, indptr, indices, weights, t, sums, none)
    elif ahead:
        plain_sums(first, last, indptr, indices, t, sums, ahead)
    else:
        plain_sums(first, last, indptr, indices, t, sums, none)


@njit(fastmath=FAST, inline="always")
def _step_strip(first, last, c, diagonal, off, sums, t, t_old):  # type: ignore[no-untyped-def]
    """Step the recurrence on rows first ... last - 1. Without a diagonal, it is in the sums."""
    c1, c2, c3 = c
    c1_off = c1 * off
    if diagonal.size:
        for i in range(first, last):
            t_old[i] = c1_off * sums[i - first] + (c2 + c1 * diagonal[i]) * t[i] + c3 * t_old[i]
    else:
        for i in range(first, last):
            t_old[i] = c1_off * sums[i - first] + c2 * t[i] + c3 * t_old[i]


@njit(fastmath=FAST, inline="always")
def _step_and_sum_strip(first, last, c, diagonal, off, sums, t, t_old, out, a, fresh):  # type: ignore[no-untyped-def]
    """Do the same, and add to the outputs; the sums are overwritten."""
    c1, c2, c3 = c
    c1_off = c1 * off
    if diagonal.size:
        for i in range(first, last):
            sums[i - first] = c1_off * sums[i - first] + (c2 + c1 * diagonal[i]) * t[i] + c3 * t_old[i]
    else:
        for i in range(first, last):
            sums[i - first] = c1_off * sums[i - first] + c2 * t[i] + c3 * t_old[i]
    for s in range(np.uint64(a.shape[0])):
        if fresh:
            for i in range(first, last):
                out[s, i] = a[s, 0] * t_old[i] + a[s, 1] * t[i] + a[s, 2] * sums[i - first]
        else:
            for i in range(first, last):
                out[s, i] += a[s, 0] * t_old[i] + a[s, 1] * t[i] + a[s, 2] * sums[i - first]
    for i in range(first, last):
        t_old[i] = sums[i - first]


@compiled_helper()
def sum_signal_rows(first, last, graph, c, t, t_old, out, a, fresh, sums, ahead):  # type: ignore[no-untyped-def]
    """Step the recurrence on rows first ... last - 1, and add to the outputs if ``a`` is given."""
    indptr, indices, weights, diagonal, off, _ = graph
    while first < last:
        end = min(first + np.uint64(sums.size), last)
        _sums(first, end, indptr, indices, weights, t, sums, ahead)
        if a.shape[0]:
            _step_and_sum_strip(first, end, c, diagonal, off, sums, t, t_old, out, a, fresh)
        else:
            _step_strip(first, end, c, diagonal, off, sums, t, t_old)
        first = end


@compiled_helper()
def adjoint_signal_rows(first, last, graph, c, t, t_old, f, a, sums, ahead):  # type: ignore[no-untyped-def]
    """Step Clenshaw's rule on rows first ... last - 1: the step, plus a[s] times signal s."""
    indptr, indices, weights, diagonal, off, _ = graph
    while first < last:
        end = min(first + np.uint64(sums.size), last)
        _sums(first, end, indptr, indices, weights, t, sums, ahead)
        _step_strip(first, end, c, diagonal, off, sums, t, t_old)
        for s in range(np.uint64(a.size)):
            for i in range(first, end):
                t_old[i] += a[s] * f[s, i]
        first = end


@compiled()
def sum_signal(graph, chunks, coeffs, t_old, t, out, ahead, board, mine, budget):  # type: ignore[no-untyped-def]
    """Sum the series of one signal t; step k - 1 of the board is degree k."""
    n_chunks, sums, terms = chunks.size - 1, new_strip(t), np.empty((coeffs.shape[0], 3), coeffs.dtype)
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
        sum_signal_rows(chunks[q], chunks[q + 1], graph, c, now, old, out, a, k < 3, sums, ahead)
        finish(board)
    return MORE


@compiled()
def sum_signal_adjoint(graph, chunks, coeffs, t_old, t, f, ahead, board, mine, budget):  # type: ignore[no-untyped-def]
    """Sum one series of each of the signals f; step s of the board is degree K - s, coeffs[k] holds degree k."""
    n_chunks, sums, K = chunks.size - 1, new_strip(t), coeffs.shape[0] - 1
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        step, q = divmod(ticket, n_chunks)
        c, a = clenshaw_weights(graph[5][0], K - step, t), coeffs[K - step]
        now, old = (t_old, t) if step & 1 else (t, t_old)
        adjoint_signal_rows(chunks[q], chunks[q + 1], graph, c, now, old, f, a, sums, ahead)
        finish(board)
    return MORE
