r"""All powers of the Cayley transform by Jacobi sweeps, and their derivatives in the zoom, in compiled loops.

With :math:`E = hd + i`, d the diagonal and W the weights beside it, a power starts from
:math:`b = \frac{hd - i}E y_{prev} - \frac hE W y_{prev}` and goes on by :math:`y \leftarrow b + \frac hE W y`. The
derivative in log h goes through the same sweeps by the rule for products.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cayleygsp._typing import Array, FloatArray
from cayleygsp.engine.compiling import FAST, compiled

# Signals that go through the sweeps together: with value and derivative, real and imaginary, 256 bytes per vertex.
TILE = 16

_SUMS = FAST | {"reassoc"}


def jacobi_factors(diagonal: FloatArray, h: float, dtype: Any) -> Array:
    r"""Return what a sweep multiplies with at each vertex, real and imaginary parts in turn, shape (n, 8).

    With E = hd + i: h/E and its derivative in log h, ih/E²; then (hd − i)/E and its derivative, 2ihd/E².
    """
    E = h * diagonal + 1j
    factors = np.column_stack([h / E, 1j * h / E**2, (h * diagonal - 1j) / E, 2j * h * diagonal / E**2])
    return factors.view(np.float64).astype(dtype)


@compiled(_SUMS)
def _neighbours(indptr, indices, values, i, y, total):  # type: ignore[no-untyped-def]
    """Set total to the sum of the rows of y over the neighbours of vertex i."""
    for q in range(4 * TILE):
        total[q] = 0
    for p in range(indptr[i], indptr[i + 1]):
        w, j = values[p], indices[p]
        for q in range(4 * TILE):
            total[q] += w * y[j, q]


@compiled(_SUMS)
def _add_product(f, k, sign, s, out):  # type: ignore[no-untyped-def]
    """Add to values and derivatives of out the product of a factor, which depends on h, with s."""
    m = TILE
    ar, ai, br, bi = sign * f[k], sign * f[k + 1], sign * f[k + 2], sign * f[k + 3]
    for q in range(m):
        out[q] += ar * s[q] - ai * s[m + q]
        out[m + q] += ar * s[m + q] + ai * s[q]
        out[2 * m + q] += ar * s[2 * m + q] - ai * s[3 * m + q] + br * s[q] - bi * s[m + q]
        out[3 * m + q] += ar * s[3 * m + q] + ai * s[2 * m + q] + br * s[m + q] + bi * s[q]


@compiled(_SUMS)
def jacobi_blocks(indptr, indices, values, factors, x, order, n_iter, out):  # type: ignore[no-untyped-def]
    """Fill out, shape (n, m, 4r + 1), with x, 2 Re and −2 Im of all powers, and their derivatives in log h."""
    n, batch = x.shape
    one = values.dtype.type(1)
    two = one + one
    y = np.empty((n, 4 * TILE), values.dtype)
    y_new, b = np.empty_like(y), np.empty_like(y)
    total = np.empty(4 * TILE, values.dtype)
    for first in range(0, batch, TILE):
        width = min(TILE, batch - first)
        y[:] = 0
        for i in range(n):
            for q in range(width):
                y[i, q] = x[i, first + q]
                out[i, first + q, 0] = x[i, first + q]
        for j in range(1, order + 1):
            for sweep in range(n_iter + 1):  # where the power starts, then the sweeps; in one loop, to compile it once
                target, sign = (y_new, one) if sweep else (b, -one)
                for i in range(n):
                    _neighbours(indptr, indices, values, i, y, total)
                    if sweep:
                        for q in range(4 * TILE):  # assigning slices takes seconds to compile
                            y_new[i, q] = b[i, q]
                    else:
                        b[i, :] = 0
                        _add_product(factors[i], 4, one, y[i], b[i])
                    _add_product(factors[i], 0, sign, total, target[i])
                if sweep:
                    y, y_new = y_new, y
                else:
                    for i in range(n):
                        for q in range(4 * TILE):
                            y[i, q] = b[i, q]
            for i in range(n):
                for q in range(width):
                    for part in range(2):
                        k = 2 * j - 1 + part
                        scale = -two if part else two
                        out[i, first + q, k] = scale * y[i, part * TILE + q]
                        out[i, first + q, 2 * order + k] = scale * y[i, (2 + part) * TILE + q]
