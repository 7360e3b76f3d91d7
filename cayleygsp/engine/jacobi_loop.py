"""The compiled loop of Jacobi's iteration on blocks of complex signals."""

from __future__ import annotations

import numpy as np
from numba import njit

from cayleygsp.engine.board import MORE, claim, finish
from cayleygsp.engine.compiling import FAST, compiled, compiled_helper
from cayleygsp.engine.rows import sum_row


@njit(fastmath=FAST, inline="always")
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


@compiled_helper()
def _jacobi_rows(first, last, graph, h, s, diagonal, base, y, out, total):  # type: ignore[no-untyped-def]
    """Do a Jacobi sweep, or its start, on rows first ... last - 1; columns are real and imaginary parts in turn."""
    indptr, indices, weights, beside, off = graph
    width = y.shape[1]
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
            if beside.size:
                re, im = off * re + d * y[i, 0], off * im + d * y[i, 1]
            _jacobi_pair(i, 0, h, s, d, re, im, base, y, out)
        else:
            sum_row(y, indices, weights, np.int64(indptr[i]), np.int64(indptr[i + np.uint64(1)]), total)
            if beside.size:
                for k in range(width):
                    total[k] = off * total[k] + d * y[i, k]
            for k in range(0, width, 2):
                _jacobi_pair(i, k, h, s, d, total[k], total[k + 1], base, y, out)


@compiled()
def sweep(graph, chunks, h, s, diagonal, base, y, out, board, mine, budget):  # type: ignore[no-untyped-def]
    """Do sweeps (s = -1) or the start (s = 1) on a block of pairs; every step takes the place of the one before."""
    n_chunks, total = chunks.size - 1, np.empty(y.shape[1], y.dtype)
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        step, q = divmod(ticket, n_chunks)
        before, after = (out, y) if step & 1 else (y, out)
        _jacobi_rows(chunks[q], chunks[q + 1], graph, h, s, diagonal, base, before, after, total)
        finish(board)
    return MORE
