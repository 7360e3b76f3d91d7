r"""Chebyshev series of all powers of the Cayley transform at once: the basis in which trainable filters are written.

A Cayley filter of order r is a real combination of :math:`2r + 1` functions,

.. math:: \varphi_0 = 1, \qquad \varphi_{2j-1} = 2\,\mathrm{Re}\, C(h\lambda)^j, \qquad
          \varphi_{2j} = -2\,\mathrm{Im}\, C(h\lambda)^j, \qquad j = 1 \dots r,

with the coefficients :math:`c_0, \mathrm{Re}\, c_1, \mathrm{Im}\, c_1, \mathrm{Re}\, c_2, \dots` With real coefficients
only the :math:`r + 1` functions :math:`\varphi_0, \varphi_1, \varphi_3, \dots` are left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayleygsp._typing import ArrayLike, ComplexArray, FloatArray
from cayleygsp._validation import check_coefficients, check_integer, check_not_negative, check_positive
from cayleygsp.responses.cayley import CayleyPolynomial, cayley_angle
from cayleygsp.responses.series import (
    MAX_SAMPLES,
    chebyshev_coefficients,
    chebyshev_nodes,
    cut,
    interpolation_error,
)


@dataclass(frozen=True, eq=False)
class PowerSeries:
    """Chebyshev coefficients of the basis functions on [0, lmax], a row for each, and the largest error."""

    coeffs: FloatArray
    lmax: float
    error: float

    @property
    def degree(self) -> int:
        """The degree K."""
        return self.coeffs.shape[1] - 1


def basis_size(order: int, *, real: bool = False) -> int:
    """Return how many functions there are: 2r + 1, or r + 1 for real coefficients."""
    return order + 1 if real else 2 * order + 1


def power_basis(order: int, x: ArrayLike, *, real: bool = False) -> FloatArray:
    r"""Return the basis functions at :math:`x = h\lambda`, shape (..., n_functions), for order r ≥ 0."""
    order = check_integer(order, "order", at_least=0)
    angle = np.multiply.outer(cayley_angle(x), np.arange(1, order + 1))
    values = np.ones((*angle.shape[:-1], basis_size(order, real=real)))
    if real:
        values[..., 1:] = 2 * np.cos(angle)
    else:
        values[..., 1::2] = 2 * np.cos(angle)
        values[..., 2::2] = -2 * np.sin(angle)
    return values


def basis_coefficients(weights: ArrayLike, *, real: bool = False) -> ComplexArray:
    """Turn coefficients in the basis into those of a :class:`CayleyPolynomial`."""
    w = check_coefficients(weights, "weights").astype(np.float64)
    if not real and w.size % 2 == 0:
        raise ValueError(f"`weights` must hold 2r + 1 numbers, got {w.size}")
    if real:
        return w.astype(np.complex128)
    return np.append(w[:1].astype(np.complex128), w[1::2] + 1j * w[2::2])


def zoom_derivative(order: int, *, real: bool = False) -> FloatArray:
    r"""Return how the basis changes with the logarithm of the zoom, in terms of the basis of order r + 1.

    From :math:`x\, C'(x) = (1 - C^2)/2`,

    .. math:: \frac{d\, C^j}{d \log h} = \frac j2 \left(C^{j-1} - C^{j+1}\right),

    so that the derivative, a row for each function, needs no powers but the neighbouring ones.
    """
    order = check_integer(order, "order", at_least=0)
    S = np.zeros((basis_size(order, real=real), basis_size(order + 1, real=real)))
    parts = 1 if real else 2
    for j in range(1, order + 1):
        for part in range(parts):
            b = parts * (j - 1) + 1 + part
            S[b, b + parts] = -j / 2
            if j > 1:
                S[b, b - parts] = j / 2
            elif part == 0:
                S[b, 0] = 1.0  # 2 Re C^0 is twice the function 1; Im C^0 is nothing
    return S


def power_samples(order: int, zoom: float, lmax: float, *, tol: float) -> int:
    """Return a number of Chebyshev points that is enough for series of all powers up to ``order``, if not millions."""
    # no power below the highest is larger on the ellipses that the bound rests on
    highest = CayleyPolynomial(np.append(np.zeros(max(order, 1)), 1.0), zoom)
    n_samples = max(highest.degree_bound(lmax, tol), 16)
    if n_samples > MAX_SAMPLES:
        raise ValueError(
            f"`zoom` times the spectral bound is {zoom * lmax:.3g}: Chebyshev series of the powers would need about "
            f"{n_samples:.1g} terms"
        )
    return int(n_samples)


def power_coefficients(order: int, zoom: float, lmax: float, *, tol: float, real: bool = False) -> PowerSeries:
    """Expand all basis functions of order r in Chebyshev polynomials on [0, lmax], by one cosine transform.

    They are of size 2, and ``tol`` is the error allowed in each; below rounding, all terms that matter are kept. The
    degree is the smallest at which the coefficients left out are small enough in every row.
    """
    order = check_integer(order, "order", at_least=0)
    zoom, tol = check_positive(zoom, "zoom"), check_positive(tol, "tol")
    lmax = check_not_negative(lmax, "lmax")
    rounding = 2**-52 * 4.0 * (order + 2)
    if lmax == 0 or order == 0:
        return PowerSeries(power_basis(order, [0.0], real=real).T.copy(), lmax, rounding)
    n = power_samples(order, zoom, lmax, tol=tol)
    nodes = chebyshev_nodes(n, lmax)
    a = chebyshev_coefficients(power_basis(order, zoom * nodes, real=real).T)
    # nothing that matters lies beyond the samples: see `power_samples`
    fixed = interpolation_error(n, 2.0, beyond=max(tol, 1e-15) / 100, sample_error=rounding)
    n_terms, error = cut(a, tol, fixed)
    return PowerSeries(np.ascontiguousarray(a[:, :n_terms]), lmax, error)
