"""Compiled inner loops (numba): one pass over the graph does product, recurrence and accumulation.

A Laplacian comes as ``(indptr, indices, weights, diagonal, off)``: with ``weights``, they are all entries of the rows,
the diagonal among them; without (size 0), ``indices`` are the neighbours alone, every off-diagonal entry is ``off``,
and ``diagonal`` stands beside. The second form moves a third of the bytes and fits every unweighted graph.

All arithmetic is in the precision of the signals. Rows are handed to the threads in ``chunks`` with about equal numbers
of entries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit, prange

from cayleygsp.engine.rows import prefetch, step_row, sum_row

# Fused multiply-add only: reordered short sums over a row are slower, and the error bounds hold for any order.
_FAST = {"contract", "nsz"}

# Rows of a single signal that are worked on together: a few arrays of this length stay in the first cache.
_STRIP = 512


def _compiled(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile on first use and keep the result on disk; where no folder can be written, in memory."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return njit(cache=True, fastmath=_FAST, **options)(function)
        except RuntimeError:
            return njit(fastmath=_FAST, **options)(function)

    return decorate


@njit(fastmath=_FAST, inline="always")
def _plain_sums(first, last, indptr, indices, t, sums, ahead):  # type: ignore[no-untyped-def]
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


@njit(fastmath=_FAST, inline="always")
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


@njit(fastmath=_FAST)
def _sums(first, last, graph, t, sums, ahead):  # type: ignore[no-untyped-def]
    """Sum over the neighbours in the way that fits.

    A function of its own, so that its loops have all registers to themselves; without looking ahead, they hold no trace
    of it.
    """
    indptr, indices, weights, _, _ = graph
    none = np.uint64(0)
    if weights.size:
        if ahead:
            _weighted_sums(first, last, indptr, indices, weights, t, sums, ahead)
        else:
            _weighted_sums(first, last, indptr, indices, weights, t, sums, none)
    elif ahead:
        _plain_sums(first, last, indptr, indices, t, sums, ahead)
    else:
        _plain_sums(first, last, indptr, indices, t, sums, none)


@njit(fastmath=_FAST, inline="always")
def _step_strip(c1, c2, c3, off, d, sums, now, old, new):  # type: ignore[no-untyped-def]
    """Step the recurrence on a strip; ``new`` may be ``old`` or ``sums``. Without a diagonal, it is in the sums."""
    if d.size:
        c1_off = c1 * off
        for q in range(now.size):
            new[q] = c1_off * sums[q] + (c2 + c1 * d[q]) * now[q] + c3 * old[q]
    else:
        for q in range(now.size):
            new[q] = c1 * sums[q] + c2 * now[q] + c3 * old[q]


@njit(fastmath=_FAST, inline="always")
def _vector_rows(first, last, graph, c, t, t_old, out, a, fresh, new, ahead):  # type: ignore[no-untyped-def]
    """Step the recurrence for a single signal on rows first ... last - 1, and add to the outputs if ``a`` is given.

    In strips of as many rows as ``new`` holds: the sums over neighbours first, in a loop that needs few registers, then
    everything that goes row by row, in loops that compile to vector instructions and find the strip in the cache.
    """
    _, _, _, diagonal, off = graph
    real = t.dtype.type
    c1, c2, c3 = real(c[0]), real(c[1]), real(c[2])
    while first < last:
        end = min(first + np.uint64(new.size), last)
        now, old = t[first:end], t_old[first:end]
        _sums(first, end, graph, t, new, ahead)
        d = diagonal[first:end] if diagonal.size else now[:0]
        if a.shape[0] == 0:
            _step_strip(c1, c2, c3, off, d, new, now, old, old)
        else:
            _step_strip(c1, c2, c3, off, d, new, now, old, new)
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


@njit(fastmath=_FAST, inline="always")
def _block_rows(first, last, graph, c, t, t_old, out, a, fresh):  # type: ignore[no-untyped-def]
    """Do the same for a block of signals stored row by row."""
    indptr, indices, weights, diagonal, off = graph
    real = t.dtype.type
    c1, c2, c3 = real(c[0]), real(c[1]), real(c[2])
    for i in range(first, last):
        if weights.size:
            w1, w2 = c1, c2
        else:
            w1, w2 = c1 * off, c2 + c1 * diagonal[i]
        begin, end = np.int64(indptr[i]), np.int64(indptr[i + np.uint64(1)])
        step_row(np.int64(i), begin, end, indices, weights, w1, w2, c3, t, t_old, out, a, fresh)


@njit
def _due(coeffs, k):  # type: ignore[no-untyped-def]
    """Return what step k adds up: a_{k-2}, a_{k-1}, a_k every third step, what is left at the end, else nothing."""
    n_filters, K = coeffs.shape[0], coeffs.shape[1] - 1
    if k % 3 != 2 and k != K:
        return np.zeros((0, 3), coeffs.dtype)
    triple = np.zeros((n_filters, 3), coeffs.dtype)
    for q in range(2 - k % 3, 3):
        for s in range(n_filters):
            triple[s, q] = coeffs[s, k - 2 + q]
    return triple


@njit
def _step(scale, k):  # type: ignore[no-untyped-def]
    """Return the weights of Lt, t and the older t in step k."""
    return (2 * scale, -2.0, -1.0) if k > 1 else (scale, -1.0, 0.0)


# The four drivers differ in their rows and in being parallel. They are written out because numba's cache on disk tells
# functions apart by their place in the source alone.


@_compiled()
def sum_vector_serial(graph, chunks, scale, coeffs, t_old, t, out, ahead):  # type: ignore[no-untyped-def]
    """Sum the series for one signal, shape (n,), in one thread."""
    new = np.empty(_STRIP, t.dtype)
    for k in range(1, coeffs.shape[1]):
        _vector_rows(chunks[0], chunks[-1], graph, _step(scale, k), t, t_old, out, _due(coeffs, k), k < 3, new, ahead)
        t_old, t = t, t_old


@_compiled(parallel=True)
def sum_vector_parallel(graph, chunks, scale, coeffs, t_old, t, out, ahead):  # type: ignore[no-untyped-def]
    """Sum the series for one signal, shape (n,), in all threads."""
    for k in range(1, coeffs.shape[1]):
        c, a = _step(scale, k), _due(coeffs, k)
        for q in prange(chunks.size - 1):
            new = np.empty(_STRIP, t.dtype)
            _vector_rows(chunks[q], chunks[q + 1], graph, c, t, t_old, out, a, k < 3, new, ahead)
        t_old, t = t, t_old


@_compiled()
def sum_block_serial(graph, chunks, scale, coeffs, t_old, t, out):  # type: ignore[no-untyped-def]
    """Sum the series for a block of signals, shape (n, width), in one thread."""
    for k in range(1, coeffs.shape[1]):
        _block_rows(chunks[0], chunks[-1], graph, _step(scale, k), t, t_old, out, _due(coeffs, k), k < 3)
        t_old, t = t, t_old


@_compiled(parallel=True)
def sum_block_parallel(graph, chunks, scale, coeffs, t_old, t, out):  # type: ignore[no-untyped-def]
    """Sum the series for a block of signals, shape (n, width), in all threads."""
    for k in range(1, coeffs.shape[1]):
        c, a = _step(scale, k), _due(coeffs, k)
        for q in prange(chunks.size - 1):
            _block_rows(chunks[q], chunks[q + 1], graph, c, t, t_old, out, a, k < 3)
        t_old, t = t, t_old


@njit(fastmath=_FAST, inline="always")
def _jacobi_pair(i, k, h, s, d, lt_re, lt_im, base, y, out):  # type: ignore[no-untyped-def]
    """Write base + u / (h d_i + i) for the pair of columns k, k + 1.

    With s = -1, u = h (d_i y - L y), and with the base b this is a sweep, J y + b. With s = 1, u = h L y - i y, and
    with the base 0 this is the start vector b.
    """
    re, im = y[i, k], y[i, k + 1]
    if s < 0:
        u_re, u_im = h * (d * re - lt_re), h * (d * im - lt_im)
    else:
        u_re, u_im = h * lt_re + im, h * lt_im - re
    hd = h * d
    q = hd * hd + 1
    out[i, k] = base[i, k] + (hd * u_re + u_im) / q
    out[i, k + 1] = base[i, k + 1] + (hd * u_im - u_re) / q


@njit(fastmath=_FAST, inline="always")
def _jacobi_rows(first, last, graph, h, s, diagonal, base, y, out):  # type: ignore[no-untyped-def]
    """Do a Jacobi sweep, or its start, on rows first ... last - 1; columns are real and imaginary parts in turn."""
    indptr, indices, weights, _, off = graph
    width = y.shape[1]
    total = np.empty(width, y.dtype)
    for i in range(first, last):
        d = diagonal[i]
        if width == 2:
            re, im = y[i, 0] * 0, y[i, 1] * 0
            if weights.size:
                for p in range(indptr[i], indptr[i + np.uint64(1)]):
                    w, j = weights[p], indices[p]
                    re += w * y[j, 0]
                    im += w * y[j, 1]
            else:
                for p in range(indptr[i], indptr[i + np.uint64(1)]):
                    j = indices[p]
                    re += y[j, 0]
                    im += y[j, 1]
                re, im = off * re + d * y[i, 0], off * im + d * y[i, 1]
            _jacobi_pair(i, 0, h, s, d, re, im, base, y, out)
        else:
            sum_row(y, indices, weights, np.int64(indptr[i]), np.int64(indptr[i + np.uint64(1)]), total)
            if not weights.size:
                for k in range(width):
                    total[k] = off * total[k] + d * y[i, k]
            for k in range(0, width, 2):
                _jacobi_pair(i, k, h, s, d, total[k], total[k + 1], base, y, out)


@_compiled(parallel=True)
def jacobi_sweep(graph, chunks, h, s, diagonal, base, y, out):  # type: ignore[no-untyped-def]
    """Do one sweep (s = -1) or the start (s = 1) on a block of pairs, in all threads."""
    for q in prange(chunks.size - 1):
        _jacobi_rows(chunks[q], chunks[q + 1], graph, h, s, diagonal, base, y, out)
