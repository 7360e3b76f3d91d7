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
from cayleygsp._validation import check_coefficients, check_integer, check_positive, check_real
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
    """Chebyshev coefficients of the basis functions on [0, lmax], and how wrong they may be.

    Attributes
    ----------
    coeffs : numpy.ndarray, shape (n_functions, K + 1)
        One series per row, all cut at the same degree K.
    lmax : float
        Right end of the interval.
    error : float
        An upper bound of the distance of every series from its function on the interval.
    """

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
    r"""Return the basis functions at :math:`x = h\lambda`.

    Parameters
    ----------
    order : int
        r ≥ 0.
    x : array_like
        Zoom times frequency, any shape.
    real : bool
        Leave out the imaginary parts.

    Returns
    -------
    numpy.ndarray, shape (..., n_functions)

    Examples
    --------
    >>> from cayleygsp.responses.basis import power_basis
    >>> power_basis(1, [0.0, 1.0]).round(12) + 0.0
    array([[ 1., -2.,  0.],
           [ 1.,  0.,  2.]])
    """
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
    """Turn coefficients in the basis into those of a :class:`CayleyPolynomial`.

    Examples
    --------
    >>> from cayleygsp.responses.basis import basis_coefficients
    >>> basis_coefficients([0.5, 1.0, -2.0])
    array([0.5+0.j, 1. -2.j])
    """
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

    so that the derivative needs no powers but the neighbouring ones.

    Returns
    -------
    numpy.ndarray, shape (basis_size(r), basis_size(r + 1))
        One row per function.

    Examples
    --------
    >>> from cayleygsp.responses.basis import zoom_derivative
    >>> zoom_derivative(1, real=True)
    array([[ 0. ,  0. ,  0. ],
           [ 1. ,  0. , -0.5]])
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
    """Return a number of Chebyshev points that is enough for series of all powers up to ``order``.

    Raises
    ------
    ValueError
        If it would be millions.
    """
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
    r"""Expand all basis functions of order r in Chebyshev polynomials on [0, lmax].

    Parameters
    ----------
    order : int
        r ≥ 0.
    zoom : float
        h > 0.
    lmax : float
        Right end of the interval, ≥ 0.
    tol : float
        Largest error allowed in each function; they are of size 2. Below rounding, all terms that matter are kept.
    real : bool
        Leave out the imaginary parts.

    Returns
    -------
    PowerSeries
        All from one cosine transform; the degree is the smallest at which the coefficients left out are small
        enough in every row.

    Raises
    ------
    ValueError
        If zoom times lmax is so large that the series would have millions of terms.

    Examples
    --------
    >>> from cayleygsp.responses.basis import power_coefficients
    >>> series = power_coefficients(order=12, zoom=1.0, lmax=2.0, tol=1e-4)
    >>> series.coeffs.shape, series.error <= 1e-4
    ((25, 33), True)
    """
    order = check_integer(order, "order", at_least=0)
    zoom, tol = check_positive(zoom, "zoom"), check_positive(tol, "tol")
    lmax = check_real(lmax, "lmax")
    if not (np.isfinite(lmax) and lmax >= 0):
        raise ValueError(f"`lmax` must be finite and not negative, got {lmax!r}")
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
