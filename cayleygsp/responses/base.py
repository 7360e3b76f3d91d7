"""What every response says of itself: the protocol by which methods, bounds and filters ask."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from cayleygsp._typing import Array, ArrayLike, ComplexArray, FloatArray
from cayleygsp.responses.series import Certificate, ChebyshevSeries


class Response(ABC):
    """A real function of frequency that can be expanded in Chebyshev polynomials.

    A new response needs :meth:`__call__`, :meth:`series` and :meth:`degree_bound`; the rest says "nothing is known"
    unless it is overridden.

    Attributes
    ----------
    certificate : {"proved", "sampled"}
        Whether bounds of its series follow from its form, or from samples of it.
    lowest_frequency : float
        Where the function starts to exist; below, it is taken to have the value that it has there.
    """

    certificate: Certificate = "proved"
    lowest_frequency: float = -np.inf

    @abstractmethod
    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""

    @abstractmethod
    def series(self, lmax: float, atol: float, *, lmin: float = 0.0) -> ChebyshevSeries:
        """Return a series on [lmin, lmax] with its error; ``atol`` is allowed."""

    @abstractmethod
    def degree_bound(self, lmax: float, atol: float, *, lmin: float = 0.0) -> float:
        """Return a degree that the series does not exceed, infinite where there is none."""

    @property
    def cayley_form(self) -> Any:
        """The response as a :class:`CayleyPolynomial`, for methods that solve with hΔ + iI; None if it is none."""
        return None

    @property
    def poles(self) -> ComplexArray | None:
        """Where the response is not analytic; empty for polynomials, None if it is not known."""
        return None

    def lipschitz_bound(self, lmin: float, lmax: float) -> float | None:
        """Return a number that slopes on [lmin, lmax] do not exceed for certain; None if none is known."""
        return None

    def places(self, lmin: float, lmax: float) -> FloatArray:
        """Return frequencies that must be looked at wherever the response is sampled."""
        return np.zeros(0)

    def on_spectrum(self, eigenvalues: FloatArray) -> FloatArray:
        """Return the response at eigenvalues, which rounding may have put below the lowest frequency."""
        return self(np.maximum(eigenvalues, self.lowest_frequency))

    def on_interval(self, lmin: float, lmax: float) -> ChebyshevSeries:
        """Return the series on an interval that holds the spectrum, as long as rounding lets its terms matter."""
        return self.series(lmax, 0.0, lmin=lmin)

    def tails(self, lmax: float, n_degrees: int, *, lmin: float = 0.0) -> FloatArray:
        """Bound what the series on [lmin, lmax] leaves out beyond the degrees 0 … n - 1."""
        if lmax == lmin:  # one frequency: every response is constant
            return np.zeros(n_degrees)
        return self.on_interval(lmin, lmax).tails(n_degrees)

    def tail_degree(self, lmax: float, atol: float, *, lmin: float = 0.0) -> int:
        """Return a degree beyond which :meth:`tails` does not get smaller, or is certain to be at most ``atol``."""
        return self.on_interval(lmin, lmax).degree + 1
