"""Chebyshev polynomials on the spectrum, Eq. (2) of the paper."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cayleygsp._typing import Array, ArrayLike, ComplexArray, FloatArray
from cayleygsp._validation import check_coefficients, check_eigenvalues, check_not_negative
from cayleygsp.responses.base import Response
from cayleygsp.responses.series import ChebyshevSeries, chebyshev_nodes, series_from_samples


class ChebyshevPolynomial(Response):
    r"""The response :math:`g(\lambda) = \sum_{k=0}^r \alpha_k T_k(2\lambda/\lambda_{max} - 1)`.

    Parameters
    ----------
    coeffs : array_like, shape (r + 1,)
        Real :math:`\alpha_0 \dots \alpha_r`; the first is not halved.
    lmax : float
        λ_max ≥ 0. For 0, the graph without edges, the response is its value at λ = 0.

    Examples
    --------
    >>> from cayleygsp import ChebyshevPolynomial
    >>> ChebyshevPolynomial([0.5, -0.5], lmax=4.0)([0.0, 1.0, 4.0])
    array([1.  , 0.75, 0.  ])
    """

    def __init__(self, coeffs: ArrayLike, lmax: float) -> None:
        a = check_coefficients(coeffs)
        if a.dtype.kind == "c":
            raise TypeError(f"`coeffs` of a Chebyshev filter must be real, got dtype {a.dtype}")
        if a.size < 2:
            raise ValueError(f"`coeffs` must hold at least two numbers (order r ≥ 1), got {a.size}")
        self.coeffs: FloatArray = np.array(a, dtype=np.float64)
        self.coeffs.flags.writeable = False
        self.order = self.coeffs.size - 1
        self.lmax = check_not_negative(lmax, "lmax")
        self._series = ChebyshevSeries(self.coeffs, self.lmax, 0.0)
        if self.lmax == 0:
            value = math.fsum(np.where(np.arange(a.size) % 2, -self.coeffs, self.coeffs))  # rounded once
            self._series = ChebyshevSeries.constant(value, 2**-52 * abs(value))

    def __repr__(self) -> str:
        return f"ChebyshevPolynomial(order={self.order}, lmax={self.lmax:g})"

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        return self._series(check_eigenvalues(eigenvalues))

    @property
    def poles(self) -> ComplexArray:
        """A polynomial has none."""
        return np.zeros(0, dtype=np.complex128)

    def lipschitz_bound(self, lmin: float, lmax: float) -> float:
        """Bound the slope through the coefficients of the derivative."""
        return self._series.slope_beyond(lmin, lmax)

    def rounding_at(self, eigenvalues: FloatArray) -> float:
        """Bound the rounding of values through the coefficients."""
        if not self._series.length:
            return self._series.error
        return self._value_error(float(eigenvalues.min()), float(eigenvalues.max()))

    def _value_error(self, lmin: float, lmax: float) -> float:
        growth = self._series.growth(lmin, lmax)
        return 2**-50 * (self.order + 1) ** 2 * float(growth @ np.abs(self.coeffs))

    def series(self, lmax: float, atol: float, *, lmin: float = 0.0) -> ChebyshevSeries:
        """Return the polynomial as it is, on its own interval."""
        return self._series

    def degree_bound(self, lmax: float, atol: float, *, lmin: float = 0.0) -> float:
        """Return the order."""
        return float(self._series.degree)

    def on_interval(self, lmin: float, lmax: float) -> ChebyshevSeries:
        """Return the same polynomial as a series on another interval, from r + 1 samples: exact but for rounding."""
        own = self._series
        if (lmin, lmax) == (own.lmin, own.lmax):
            return own
        if own.length == 0:
            return ChebyshevSeries(own.coeffs, lmax, own.error, lmin=lmin)
        if lmax == lmin:
            return ChebyshevSeries.constant(float(self(np.zeros(1))[0]))
        rounding = self._value_error(lmin, lmax)
        values = self(chebyshev_nodes(self.order + 1, lmax, lmin))
        return series_from_samples(values, lmax, 0.0, beyond=0.0, sample_error=rounding, lmin=lmin)

    def tails(self, lmax: float, n_degrees: int, *, lmin: float = 0.0) -> FloatArray:
        """Bound the tails by the coefficients; the series ends with the order."""
        if lmax == lmin:
            return np.zeros(n_degrees)
        inside = lmin >= 0 and lmax <= self.lmax
        tails = (self._series if inside else self.on_interval(lmin, lmax)).tails(n_degrees)
        tails[self.order :] = 0.0
        return tails

    def tail_degree(self, lmax: float, atol: float, *, lmin: float = 0.0) -> int:
        """Return the order."""
        return self.order


def as_chebyshev(coeffs: Any, lmax: float) -> ChebyshevPolynomial:
    """Return a given Chebyshev polynomial as it is, on its own interval, or that of coefficients on [0, lmax]."""
    return coeffs if isinstance(coeffs, ChebyshevPolynomial) else ChebyshevPolynomial(coeffs, lmax)
