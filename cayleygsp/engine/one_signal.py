"""Compiled loops for one signal, shape (n,): a pass over the graph does product, recurrence and accumulation.

Rows are worked on in strips: the sums over neighbours first, in a loop that needs few registers, then everything that
goes row by row, in loops that compile to vector instructions and find the strip in the cache. Graphs come as
:meth:`~cayleygsp.engine.packed.KernelGraph.scaled` returns them; all arithmetic is in the precision of the signal.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from cayleygsp.engine.board import MORE, claim, finish
from cayleygsp.engine.compiling import FAST, compiled
from cayleygsp.engine.rows import prefetch
from cayleygsp.engine.schedule import clenshaw_weights, due_terms, step_weights

# Rows that are worked on together: a few arrays of this length stay in the first cache.
STRIP = 512


@njit(fastmath=FAST, inline="always")
def plain_sums(first, last, indptr, indices, t, sums, ahead):  # type: ignore[no-untyped-def]
    """Set sums to the sums of t over the neighbours of rows first ... last - 1.

    What is needed ``ahead`` entries later is asked for now, if that is not zero.
    """
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    p = np.uint64(indptr[first])
    last_four = np.uint64(max(indices.size - 4, 0))
    for i in range(first, last):
        end = np.uint64(indptr[i + one])
        total = t.dtype.type(0)
        while p + three < end:
            if ahead:
                q = min(p + ahead, last_four)
                prefetch(t, indices[q])
                prefetch(t, indices[q + one])
                prefetch(t, indices[q + two])
                prefetch(t, indices[q + three])
            total += (t[indices[p]] + t[indices[p + one]]) + (t[indices[p + two]] + t[indices[p + three]])
            p += four
        while p < end:
            if ahead:
                prefetch(t, indices[min(p + ahead, last_four)])
            total += t[indices[p]]
            p += one
        sums[i - first] = total


@njit(fastmath=FAST, inline="always")
def _weighted_sums(first, last, indptr, indices, weights, t, sums, ahead):  # type: ignore[no-untyped-def]
    """Do the same with weights."""
    one, two, three, four = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    p = np.uint64(indptr[first])
    last_four = np.uint64(max(indices.size - 4, 0))
    for i in range(first, last):
        end = np.uint64(indptr[i + one])
        total = t.dtype.type(0)
        while p + three < end:
            if ahead:
                q = min(p + ahead, last_four)
                prefetch(t, indices[q])
                prefetch(t, indices[q + one])
                prefetch(t, indices[q + two])
                prefetch(t, indices[q + three])
            total += (weights[p] * t[indices[p]] + weights[p + one] * t[indices[p + one]]) + (
                weights[p + two] * t[indices[p + two]] + weights[p + three] * t[indices[p + three]]
            )
            p += four
        while p < end:
            if ahead:
                prefetch(t, indices[min(p + ahead, last_four)])
            total += weights[p] * t[indices[p]]
            p += one
        sums[i - first] = total


@njit(fastmath=FAST)
def _sums(first, last, graph, t, sums, ahead):  # type: ignore[no-untyped-def]
    """Sum over the neighbours in the way that fits.

    A function of its own, so that its loops have all registers to themselves; without looking ahead, they hold no trace
    of it.
    """
    indptr, indices, weights, _, _, _ = graph
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
def _step_strip(c, off, d, sums, now, old, new):  # type: ignore[no-untyped-def]
    """Step the recurrence on a strip; ``new`` may be ``old`` or ``sums``. Without a diagonal, it is in the sums."""
    c1, c2, c3 = c
    c1_off = c1 * off
    if d.size:
        for q in range(now.size):
            new[q] = c1_off * sums[q] + (c2 + c1 * d[q]) * now[q] + c3 * old[q]
    else:
        for q in range(now.size):
            new[q] = c1_off * sums[q] + c2 * now[q] + c3 * old[q]


@njit(fastmath=FAST, inline="always")
def sum_signal_rows(first, last, graph, c, t, t_old, out, a, fresh, new, ahead):  # type: ignore[no-untyped-def]
    """Step the recurrence on rows first ... last - 1, and add to the outputs if ``a`` is given."""
    diagonal, off = graph[3], graph[4]
    while first < last:
        end = min(first + np.uint64(new.size), last)
        now, old = t[first:end], t_old[first:end]
        _sums(first, end, graph, t, new, ahead)
        d = diagonal[first:end] if diagonal.size else now[:0]
        if a.shape[0] == 0:
            _step_strip(c, off, d, new, now, old, old)
        else:
            _step_strip(c, off, d, new, now, old, new)
            for s in range(a.shape[0]):
                y = out[s, first:end]
                if fresh:
                    for q in range(y.size):
                        y[q] = a[s, 0] * old[q] + a[s, 1] * now[q] + a[s, 2] * new[q]
                else:
                    for q in range(y.size):
                        y[q] += a[s, 0] * old[q] + a[s, 1] * now[q] + a[s, 2] * new[q]
            for q in range(old.size):
                old[q] = new[q]
        first = end


@njit(fastmath=FAST, inline="always")
def adjoint_signal_rows(first, last, graph, c, t, t_old, f, a, new, ahead):  # type: ignore[no-untyped-def]
    """Step Clenshaw's rule on rows first ... last - 1: the step, plus a[s] times signal s."""
    diagonal, off = graph[3], graph[4]
    while first < last:
        end = min(first + np.uint64(new.size), last)
        now, old = t[first:end], t_old[first:end]
        _sums(first, end, graph, t, new, ahead)
        d = diagonal[first:end] if diagonal.size else now[:0]
        _step_strip(c, off, d, new, now, old, old)
        for s in range(a.size):
            x, w = f[s, first:end], a[s]
            for q in range(old.size):
                old[q] += w * x[q]
        first = end


@compiled()
def sum_signal(graph, chunks, coeffs, t_old, t, out, ahead, board, mine, budget):  # type: ignore[no-untyped-def]
    """Sum the series of one signal t; step k - 1 of the board is degree k."""
    n_chunks, new = chunks.size - 1, np.empty(STRIP, t.dtype)
    k = np.int64(1)  # not a plain 1, for which what is called would be compiled once more
    c, a = step_weights(graph[5][0], k, t), due_terms(coeffs, k)
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        step, q = divmod(ticket, n_chunks)
        if step + 1 != k:
            k = step + 1
            c, a = step_weights(graph[5][0], k, t), due_terms(coeffs, k)
        now, old = (t, t_old) if k & 1 else (t_old, t)
        sum_signal_rows(chunks[q], chunks[q + 1], graph, c, now, old, out, a, k < 3, new, ahead)
        finish(board)
    return MORE


@compiled()
def sum_signal_adjoint(graph, chunks, coeffs, t_old, t, f, ahead, board, mine, budget):  # type: ignore[no-untyped-def]
    """Sum one series of each of the signals f; step s of the board is degree K - s, coeffs[k] holds degree k."""
    n_chunks, new, K = chunks.size - 1, np.empty(STRIP, t.dtype), coeffs.shape[0] - 1
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        step, q = divmod(ticket, n_chunks)
        c, a = clenshaw_weights(graph[5][0], K - step, t), coeffs[K - step]
        now, old = (t_old, t) if step & 1 else (t, t_old)
        adjoint_signal_rows(chunks[q], chunks[q + 1], graph, c, now, old, f, a, new, ahead)
        finish(board)
    return MORE
