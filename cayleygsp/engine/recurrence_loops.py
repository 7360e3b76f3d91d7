"""Compiled loops of the recurrence: for one signal, shape (n,), or a block of signals row by row, shape (n, width).

A pass over the graph does product, recurrence and accumulation. Two arrays hold the recurrence, each step overwriting
the older one, so that memory stays small however large the graph is. Graphs come as
:meth:`~cayleygsp.engine.packed.KernelGraph.scaled` returns them; all arithmetic is in the precision of the signals.

The rows of one signal are worked on in strips: the sums over neighbours first, in a loop that needs few registers, then
everything that goes row by row, in loops that compile to vector instructions and find the strip in the cache.

On a part of a graph its own rows stand first, then those around it, nearest first. Values at the rim are not stepped,
and what is wrong there moves one row inwards with each step: step q is done on the rows below ``limits[q]`` alone. Only
rows of the part itself are added up; signals that go into the adjoint are given around it, too.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from cayleygsp.engine.compiling import FAST, compiled, compiled_helper
from cayleygsp.engine.rows import prefetch, step_and_mix_row, step_and_sum_row, step_row
from cayleygsp.engine.threads import MORE, claim, finish

# Bytes of the numbers that are worked on together. Shorter strips take longer inside the caches, longer ones beyond
# them, where the core then waits for memory at each turn from one loop to the next.
_STRIP_BYTES = 1024


@njit
def _step_weights(scale, is_inner, last, t):  # type: ignore[no-untyped-def]
    """Return the weights of Lt, t and the older t in a step inside of the recurrence, or at its end."""
    real = t.dtype.type
    if is_inner:
        return real(2 * scale), real(-2.0), real(-1.0)
    return real(scale), real(-1.0), real(last)


@njit
def _due_terms(coeffs, k, terms):  # type: ignore[no-untyped-def]
    """Return what step k adds up: a_{k-2}, a_{k-1}, a_k every third step, what is left at the end, else nothing.

    It is written to ``terms``, shape (n_filters, 3).
    """
    if k % 3 != 2 and k != coeffs.shape[1] - 1:
        return terms[:0]
    begun = 2 - k % 3
    for s in range(coeffs.shape[0]):
        for q in range(3):
            terms[s, q] = coeffs[s, k - 2 + q] if q >= begun else 0
    return terms


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


# The next three begin with the same lines: a function that returned what belongs to a row made the loop much slower.


@compiled_helper()
def _sum_rows(first, last, graph, c, t, t_old, out, a, fresh, sums, ahead):  # type: ignore[no-untyped-def]
    """Step the recurrence on rows first ... last - 1, and add to the outputs if ``a`` is given."""
    indptr, indices, weights, diagonal, off, _ = graph
    if t.ndim == 1:
        while first < last:
            end = min(first + np.uint64(sums.size), last)
            _sums(first, end, indptr, indices, weights, t, sums, ahead)
            if a.shape[0]:
                _step_and_sum_strip(first, end, c, diagonal, off, sums, t, t_old, out, a, fresh)
            else:
                _step_strip(first, end, c, diagonal, off, sums, t, t_old)
            first = end
    else:
        c1, c2, c3 = c
        for i in range(first, last):
            if weights.size:
                w1, w2 = c1, c2
            else:
                w1, w2 = c1 * off, c2 + c1 * diagonal[i]
            begin, end = np.int64(indptr[i]), np.int64(indptr[i + np.uint64(1)])
            step_and_sum_row(np.int64(i), begin, end, indices, weights, w1, w2, c3, t, t_old, out, a, fresh)


@compiled_helper()
def _adjoint_rows(first, last, graph, c, t, t_old, f, a, sums, ahead):  # type: ignore[no-untyped-def]
    """Step Clenshaw's rule on rows first ... last - 1: the step, plus a[s] times the signals s."""
    indptr, indices, weights, diagonal, off, _ = graph
    if t.ndim == 1:
        while first < last:
            end = min(first + np.uint64(sums.size), last)
            _sums(first, end, indptr, indices, weights, t, sums, ahead)
            _step_strip(first, end, c, diagonal, off, sums, t, t_old)
            for s in range(np.uint64(a.size)):
                for i in range(first, end):
                    t_old[i] += a[s] * f[s, i]
            first = end
    else:
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
def sum_degrees(graph, chunks, coeffs, before, limits, t_old, t, out, ahead, board, mine, budget):  # type: ignore[no-untyped-def]
    """Do degrees before + 1, before + 2, … and add up the series; ``out`` has the rows of the part alone.

    No limits stand for the whole graph.
    """
    n_chunks, n_own, terms = chunks.size - 1, np.uint64(out.shape[1]), np.empty((coeffs.shape[0], 3), coeffs.dtype)
    sums, k = np.empty(_STRIP_BYTES // t.itemsize, t.dtype), before + 1
    c, a = _step_weights(graph[5][0], k > 1, 0.0, t), _due_terms(coeffs, k, terms)
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        step, q = divmod(ticket, n_chunks)
        if before + step + 1 != k:
            k = before + step + 1
            c, a = _step_weights(graph[5][0], k > 1, 0.0, t), _due_terms(coeffs, k, terms)
        now, old = (t_old, t) if step & 1 else (t, t_old)
        first, last = chunks[q], chunks[q + 1]
        if limits.size:
            last = min(last, limits[step])
        own = min(last, n_own)
        if first < own:
            _sum_rows(first, own, graph, c, now, old, out, a, k < 3, sums, ahead)
        if own < last:
            _sum_rows(max(first, own), last, graph, c, now, old, out, terms[:0], False, sums, ahead)
        finish(board)
    return MORE


@compiled()
def sum_degrees_adjoint(graph, chunks, coeffs, before, limits, t_old, t, f, ahead, board, mine, budget):  # type: ignore[no-untyped-def]
    """Do degrees K - before - 1, K - before - 2, … of Clenshaw's rule on the signals f; coeffs[k] holds degree k."""
    n_chunks, sums, K = chunks.size - 1, np.empty(_STRIP_BYTES // t.itemsize, t.dtype), coeffs.shape[0] - 1
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        step, q = divmod(ticket, n_chunks)
        k = K - before - step - 1
        c = _step_weights(graph[5][0], k > 0, -1.0, t)
        now, old = (t_old, t) if step & 1 else (t, t_old)
        first, last = chunks[q], chunks[q + 1]
        if limits.size:
            last = min(last, limits[step])
        _adjoint_rows(first, last, graph, c, now, old, f, coeffs[k], sums, ahead)
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
        c = _step_weights(graph[5][0], step > 0, 0.0, t)
        now, old = (t_old, t) if step & 1 else (t, t_old)
        _dot_rows(chunks[q], chunks[q + 1], graph, c, now, old, dots[step, q])
        finish(board)
    return MORE
