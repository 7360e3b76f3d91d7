r"""Jacobi sweeps for :math:`(h\Delta + iI) y = b`, in compiled loops, and all powers of the Cayley transform by them.

With :math:`E = hd + i`, d the diagonal and W the weights beside it, a power starts from
:math:`b = \frac{hd - i}E y_{prev} - \frac hE W y_{prev}` and goes on by :math:`y \leftarrow b + \frac hE W y`. The
derivative in log h goes through the same sweeps by the rule for products.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from cayleygsp._typing import Array, ComplexArray, FloatArray
from cayleygsp.engine.compiling import FAST, compiled, compiled_helper
from cayleygsp.engine.packed import KernelGraph
from cayleygsp.engine.rows import sum_row
from cayleygsp.engine.threads import MORE, claim, finish, run, useful_threads

# Signals that go through the sweeps together: with value and derivative, real and imaginary, 256 bytes per vertex.
TILE = 16


class JacobiSweeps:
    r"""The iteration :math:`y \leftarrow J y + b` with :math:`E = \mathrm{Diag}(h\Delta + iI)`.

    Here :math:`J = I - E^{-1}(h\Delta + iI)`. Real and imaginary parts go through the compiled loop as columns in turn.
    The Laplacian is not reordered, and in the precision of the signals.
    """

    def __init__(self, graph: KernelGraph, zoom: float, diagonal: FloatArray) -> None:
        self.graph = graph
        self.zoom = graph.dtype.type(zoom)
        self.diagonal = diagonal.astype(graph.dtype)

    def start(self, y: ComplexArray) -> ComplexArray:
        r"""Return :math:`E^{-1}(h\Delta - iI) y`, shape (n, m)."""
        b = np.empty_like(y)
        self._run(1, 1, np.zeros_like(y), y, b)
        return b

    def sweep(self, b: ComplexArray, y: ComplexArray, spare: ComplexArray, n_sweeps: int = 1) -> ComplexArray:
        """Return y after some sweeps; it is ``y`` or ``spare``, and the other holds what was before the last one."""
        self._run(-1, n_sweeps, b, y, spare)
        return spare if n_sweeps % 2 else y

    def transposed(self, y: ComplexArray, n_sweeps: int) -> ComplexArray:
        r"""Return :math:`(h\Delta - iI) \sum_{k \le K} J^k E^{-1} y`: the transposed of start and K sweeps.

        As Δ is symmetric, :math:`E^{-1} (J^\top)^k = J^k E^{-1}`: the sweeps are the same, from another start.
        """
        E = (self.zoom * self.diagonal)[:, None] + y.dtype.type(1j)
        b = np.ascontiguousarray(y / E)
        z = self.sweep(b, b.copy(), np.empty_like(b), n_sweeps)
        return E * self.start(z)

    def _run(self, sign: int, n_steps: int, base: ComplexArray, before: ComplexArray, after: ComplexArray) -> None:
        graph, dtype = self.graph, self.graph.dtype
        if before.size == 0:
            return
        blocks: list[Any] = [block.view(dtype) for block in (base, before, after)]
        numbers = graph.arrays[1].size + 8 * before.size
        arguments = (graph.arrays, graph.chunks, self.zoom, sign, self.diagonal, *blocks)
        run(_sweep, *arguments, n_chunks=graph.chunks.size - 1, n_steps=n_steps, numbers=numbers)


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
def _sweep(graph, chunks, h, s, diagonal, base, y, out, board, mine, budget):  # type: ignore[no-untyped-def]
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


def jacobi_blocks(
    graph: tuple[Any, ...], diagonal: FloatArray, h: float, x: Array, order: int, n_iter: int, limit: int | None = None
) -> Array:
    """Return x, 2 Re and −2 Im of all powers, and their derivatives in log h, shape (n, m, 4r + 1).

    The graph is given as in :mod:`cayleygsp.engine.rows`, in the precision of the signals x, shape (n, m), the diagonal
    of the Laplacian in double precision. There are ``order`` powers r, with ``n_iter`` sweeps for each.
    """
    out = np.empty((*x.shape, 4 * order + 1), x.dtype)
    numbers = x.size * (1 + order * (n_iter + 1))
    sizes = {"n_chunks": -(-x.shape[1] // TILE), "n_steps": 1, "numbers": 4 * numbers}
    # what a sweep multiplies with at each vertex, with E = hd + i, shape (n, 2, 4), real and imaginary parts in turn:
    # h/E and its derivative in log h, ih/E²; then (hd − i)/E and its derivative, 2ihd/E²
    E = h * diagonal + 1j
    factors = np.column_stack([h / E, 1j * h / E**2, (h * diagonal - 1j) / E, 2j * h * diagonal / E**2])
    factors = factors.view(np.float64).astype(x.dtype).reshape(-1, 2, 4)
    run(_powers_of_tiles, graph, factors, x, order, n_iter, out, **sizes, n_threads=useful_threads(numbers, 1, limit))
    return out


@compiled_helper()
def _add_product(f, sign, s, base, out):  # type: ignore[no-untyped-def]
    """Set values and derivatives of out to those of base plus the product of a factor, which depends on h, with s."""
    m = TILE
    ar, ai, br, bi = sign * f[0], sign * f[1], sign * f[2], sign * f[3]
    for q in range(m):
        out[q] = base[q] + (ar * s[q] - ai * s[m + q])
        out[m + q] = base[m + q] + (ar * s[m + q] + ai * s[q])
        out[2 * m + q] = base[2 * m + q] + (ar * s[2 * m + q] - ai * s[3 * m + q] + br * s[q] - bi * s[m + q])
        out[3 * m + q] = base[3 * m + q] + (ar * s[3 * m + q] + ai * s[2 * m + q] + br * s[m + q] + bi * s[q])


@compiled_helper()
def _sweep_tile(graph, factors, starts, y, b, total, out):  # type: ignore[no-untyped-def]
    """Set out to b + h/E W y, or to the start of a power from y."""
    indptr, indices, weights = graph[0], graph[1], graph[2]
    sign = y.dtype.type(-1 if starts else 1)
    for i in range(y.shape[0]):
        sum_row(y, indices, weights, np.int64(indptr[i]), np.int64(indptr[i + 1]), total)
        base = b[i]
        if starts:
            base = out[i]
            for q in range(4 * TILE):  # assigning slices takes seconds to compile
                base[q] = 0
            _add_product(factors[i, 1], -sign, y[i], base, base)
        _add_product(factors[i, 0], sign, total, base, out[i])


@compiled()
def _powers_of_tiles(graph, factors, x, order, n_iter, out, board, mine, budget):  # type: ignore[no-untyped-def]
    """Fill out, shape (n, m, 4r + 1); every tile of signals is a chunk."""
    n, two = x.shape[0], x.dtype.type(2)
    y, b, spare = np.empty((n, 4 * TILE), x.dtype), np.empty((n, 4 * TILE), x.dtype), np.empty((n, 4 * TILE), x.dtype)
    total = np.empty(4 * TILE, x.dtype)
    for _ in range(budget):
        tile = claim(board, mine)
        if tile < 0:
            return tile
        first = tile * TILE
        width = min(TILE, x.shape[1] - first)
        for i in range(n):
            for q in range(4 * TILE):
                y[i, q] = 0
            for q in range(width):
                y[i, q] = x[i, first + q]
                out[i, first + q, 0] = x[i, first + q]
        for j in range(1, order + 1):
            now, after = y, b
            for sweep in range(n_iter + 1):
                _sweep_tile(graph, factors, sweep == 0, now, b, total, after)
                now, after, spare = (after, spare, after) if sweep else (b, y, spare)
            for i in range(n):
                for q in range(width):
                    for part in range(2):
                        k = 2 * j - 1 + part
                        scale = -two if part else two
                        out[i, first + q, k] = scale * now[i, part * TILE + q]
                        out[i, first + q, 2 * order + k] = scale * now[i, (2 + part) * TILE + q]
            y, b, spare = (now, b, after) if n_iter else (b, y, spare)
        finish(board)
    return MORE
