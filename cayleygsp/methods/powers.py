"""Sums of powers of C(hΔ), the residuals of their solves, and what these cost."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from cayleygsp._rounding import unit_roundoff
from cayleygsp._typing import Array, ComplexArray, FloatArray
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import column_norms
from cayleygsp.responses.cayley import CayleyPolynomial


def complex_product(L: sparse.csr_array, y: ComplexArray) -> ComplexArray:
    """Return L y for a real sparse L and a complex block, as one real product with twice the columns."""
    y = np.ascontiguousarray(y)
    real = y.view(y.real.dtype)
    return np.ascontiguousarray(L @ real).view(y.dtype)


def sum_powers(p: CayleyPolynomial, f: Array, next_power: Callable[[ComplexArray, int], ComplexArray]) -> Array:
    r"""Return :math:`c_0 f + 2\,\mathrm{Re} \sum_j c_j y_j` with :math:`y_0 = f` and :math:`y_j` from its predecessor.

    Parameters
    ----------
    p : CayleyPolynomial
        Gives the coefficients.
    f : ndarray, shape (n, m)
        Real signals.
    next_power : callable
        Takes y_{j-1} and j, returns y_j ≈ C(hΔ) y_{j-1}.
    """
    total = p.coeffs[0].real.astype(f.dtype) * f
    y = f.astype(np.result_type(f.dtype, np.complex64))
    for j in range(1, p.order + 1):
        y = next_power(y, j)
        total += 2 * (y.dtype.type(p.coeffs[j]) * y).real
    return total


def product_rounding(L: Laplacian, z: Array) -> FloatArray:
    r"""Bound the rounding of Δz for each column: u times the norm of :math:`m \circ |\Delta||z|`, m rows' lengths."""
    m = np.diff(L.matrix.indptr)[:, None] + 3.0
    return unit_roundoff(np.float64) * column_norms(m * L.absolute_product(np.abs(z)))


def residual_norms(L: Laplacian, h: float, z: ComplexArray, y: ComplexArray) -> FloatArray:
    r"""Bound :math:`\|y - (h\Delta + iI) z\|` for each column, the rounding of computing it included.

    As :math:`\|(h\Delta + iI)^{-1}\| \le 1`, this bounds the error of z.
    """
    residual = column_norms(y - h * complex_product(L.matrix, z) - 1j * z)
    small = unit_roundoff(np.float64) * (8 * column_norms(z) + 2 * column_norms(y) + 4 * residual)
    return residual + h * product_rounding(L, z) + small


def accumulated_error(p: CayleyPolynomial, steps: list[FloatArray]) -> FloatArray:
    r"""Return :math:`2 \sum_j |c_j| e_j` where :math:`e_j = e_{j-1} + s_j`.

    ``steps`` holds :math:`s_j`, a bound of the error made in the step from :math:`y_{j-1}` to :math:`y_j`: as
    C(hΔ) is unitary, earlier errors are passed on as they are.
    """
    e = np.cumsum(np.asarray(steps), axis=0)
    return 2 * np.abs(p.coeffs[1:]) @ e
