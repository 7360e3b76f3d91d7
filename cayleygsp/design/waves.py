r"""Polynomials as trigonometric ones on a circle, whose derivatives bound them between samples.

Both families are trigonometric polynomials of an angle u that grows with frequency,

.. math:: p = a_0 + \mathrm{Re} \sum_{j=1}^r a_j e^{iju},

Cayley polynomials with :math:`u = 2\arctan(h\lambda)`, Chebyshev polynomials with
:math:`\lambda = \lambda_{max} \sin^2(u/2)`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from cayleygsp._typing import ArrayLike, ComplexArray, FloatArray
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.chebyshev import ChebyshevPolynomial

_EPS = float(np.finfo(np.float64).eps)

# Numbers in a table of waves that is made at once.
_TABLE = 2**21


class Wave(ABC):
    """A trigonometric polynomial of an angle that grows with frequency.

    Attributes
    ----------
    constant : float
        a_0.
    harmonics : numpy.ndarray, shape (r,)
        Complex a_1 ... a_r.
    rounding : float
        An upper bound of what rounding can change in a value of the polynomial.
    """

    constant: float
    harmonics: ComplexArray
    rounding: float

    @property
    def degree(self) -> int:
        """The degree r."""
        return self.harmonics.size

    @abstractmethod
    def angle(self, lam: ArrayLike) -> FloatArray:
        """Return the angle of frequencies."""

    @abstractmethod
    def frequency(self, u: FloatArray) -> FloatArray:
        """Return the frequency at angles."""

    @abstractmethod
    def speed(self, u: FloatArray) -> FloatArray:
        """Return dλ/du at angles."""

    @abstractmethod
    def speed_bounds(self, u0: FloatArray, u1: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return upper bounds of |dλ/du| and |d²λ/du²| between the angles u0 < u1."""

    def derivatives(self, u: FloatArray, n_derivatives: int) -> FloatArray:
        """Return value and derivatives with respect to the angle, shape (n_derivatives + 1, m)."""
        j = np.arange(1, self.degree + 1)
        terms = self.harmonics[:, None] * (1j * j[:, None]) ** np.arange(n_derivatives + 1)
        step = max(_TABLE // self.degree, 1)
        parts = [np.exp(1j * np.outer(u[k : k + step], j)) @ terms for k in range(0, u.size, step)]
        values = np.concatenate(parts).real.T if parts else np.zeros((n_derivatives + 1, 0))
        values[0] += self.constant
        return values

    def derivative_bound(self, n: int) -> float:
        """Return an upper bound of the n-th derivative on the whole circle."""
        return float(np.arange(1.0, self.degree + 1) ** n @ np.abs(self.harmonics))


class CayleyWave(Wave):
    """A Cayley polynomial of the angle u = 2 arctan(hλ)."""

    def __init__(self, polynomial: CayleyPolynomial) -> None:
        c = polynomial.coeffs
        self.zoom = polynomial.zoom
        self.constant = float(c[0].real)
        # C(hλ) = -exp(iu)
        self.harmonics = 2 * c[1:] * (-1.0) ** np.arange(1, c.size)
        self.rounding = 16 * _EPS * float(abs(c[0]) + (1 + np.arange(c.size)) @ (2 * np.abs(c)))

    def angle(self, lam: ArrayLike) -> FloatArray:
        """Return the angle of frequencies."""
        return 2 * np.arctan(self.zoom * np.asarray(lam, dtype=np.float64))

    def frequency(self, u: FloatArray) -> FloatArray:
        """Return the frequency at angles."""
        return np.tan(np.clip(u, 0.0, np.pi) / 2) / self.zoom

    def speed(self, u: FloatArray) -> FloatArray:
        """Return dλ/du at angles."""
        return (1 + np.tan(np.clip(u, 0.0, np.pi) / 2) ** 2) / (2 * self.zoom)

    def speed_bounds(self, u0: FloatArray, u1: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return upper bounds of |dλ/du| and |d²λ/du²| between the angles u0 < u1."""
        x = np.tan(np.clip(u1, 0.0, np.pi) / 2)
        first = (1 + x**2) / (2 * self.zoom)
        return first, x * first


class ChebyshevWave(Wave):
    """A Chebyshev polynomial of the angle u with λ = lmax sin²(u/2)."""

    def __init__(self, polynomial: ChebyshevPolynomial) -> None:
        a = polynomial.coeffs
        k = np.arange(a.size)
        self.lmax = float(polynomial.lmax)
        self.constant = float(a[0])
        self.harmonics = (a * (-1.0) ** k)[1:].astype(np.complex128)
        # 2λ/lmax - 1 is rounded before T_k, whose slope is k² at the ends, is evaluated
        self.rounding = 4 * _EPS * float((2 + k**2) @ np.abs(a))

    def angle(self, lam: ArrayLike) -> FloatArray:
        """Return the angle of frequencies."""
        if self.lmax == 0:
            return np.zeros(np.shape(lam))
        return 2 * np.arcsin(np.sqrt(np.clip(np.asarray(lam, dtype=np.float64) / self.lmax, 0.0, 1.0)))

    def frequency(self, u: FloatArray) -> FloatArray:
        """Return the frequency at angles."""
        return self.lmax * np.sin(np.clip(u, 0.0, np.pi) / 2) ** 2

    def speed(self, u: FloatArray) -> FloatArray:
        """Return dλ/du at angles."""
        return self.lmax / 2 * np.sin(u)

    def speed_bounds(self, u0: FloatArray, u1: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return upper bounds of |dλ/du| and |d²λ/du²| between the angles u0 < u1."""
        steepest = np.minimum(np.abs(np.sin((u0 + u1) / 2)) + (u1 - u0) / 2, 1.0)
        return self.lmax / 2 * steepest, np.full(u0.shape, self.lmax / 2)
