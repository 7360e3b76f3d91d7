r"""All powers of the Cayley transform by Jacobi sweeps, and their derivatives in the zoom, in compiled loops.

With :math:`E = hd + i`, d the diagonal and W the weights beside it, a power starts from
:math:`b = \frac{hd - i}E y_{prev} - \frac hE W y_{prev}` and goes on by :math:`y \leftarrow b + \frac hE W y`. The
derivative in log h goes through the same sweeps by the rule for products.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cayleygsp._typing import Array, FloatArray
from cayleygsp.engine.board import MORE, claim, finish
from cayleygsp.engine.compiling import compiled, compiled_helper
from cayleygsp.engine.rows import sum_row
from cayleygsp.engine.threads import run, useful_threads

# Signals that go through the sweeps together: with value and derivative, real and imaginary, 256 bytes per vertex.
TILE = 16


def jacobi_blocks(
    graph: tuple[Any, ...], diagonal: FloatArray, h: float, x: Array, order: int, n_iter: int, limit: int | None = None
) -> Array:
    """Return x, 2 Re and −2 Im of all powers, and their derivatives in log h, shape (n, m, 4r + 1).

    Parameters
    ----------
    graph : tuple
        As the loops of :mod:`cayleygsp.engine.scaled_rows` take it, in the precision of x; the weights beside the
        diagonal are what is used of it.
    diagonal : ndarray, shape (n,)
        That of the Laplacian, in double precision.
    h : float
        The zoom.
    x : ndarray, shape (n, m)
        Signals.
    order, n_iter : int
        Powers r, and sweeps for each.
    limit : int, optional
        Threads at most.
    """
    out = np.empty((*x.shape, 4 * order + 1), x.dtype)
    numbers = x.size * (1 + order * (n_iter + 1))
    sizes = {"n_chunks": -(-x.shape[1] // TILE), "n_steps": 1, "numbers": 4 * numbers}
    factors = jacobi_factors(diagonal, h, x.dtype)
    run(_powers_of_tiles, graph, factors, x, order, n_iter, out, **sizes, n_threads=useful_threads(numbers, 1, limit))
    return out


def jacobi_factors(diagonal: FloatArray, h: float, dtype: Any) -> Array:
    r"""Return what a sweep multiplies with at each vertex, shape (n, 2, 4), real and imaginary parts in turn.

    With E = hd + i: h/E and its derivative in log h, ih/E²; then (hd − i)/E and its derivative, 2ihd/E².
    """
    E = h * diagonal + 1j
    factors = np.column_stack([h / E, 1j * h / E**2, (h * diagonal - 1j) / E, 2j * h * diagonal / E**2])
    return factors.view(np.float64).astype(dtype).reshape(-1, 2, 4)


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
def _sweep(graph, factors, starts, y, b, total, out):  # type: ignore[no-untyped-def]
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
                _sweep(graph, factors, sweep == 0, now, b, total, after)
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
