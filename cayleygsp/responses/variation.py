r"""Responses of finite smoothness, proved by the variation of their derivatives.

If the ν-th derivative of g has total variation V on [-1, 1], and those before it are absolutely continuous, then
:math:`|a_k| \le 2V / (\pi k (k - 1) \cdots (k - \nu))` for the coefficients of the Chebyshev series, and the sum of
those from N on is at most :math:`2V / (\pi \nu (N - 1 - \nu)^\nu)` (Trefethen, Approximation Theory and Approximation
Practice, chapter 7).
"""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from cayleygsp._typing import FloatArray
from cayleygsp.responses.base import Response
from cayleygsp.responses.ellipse import UNIT
from cayleygsp.responses.series import ChebyshevSeries, chebyshev_nodes, series_from_samples

# With more samples than this the error falls too slowly to be worth it.
_MOST_SAMPLES = 2**19


class SmoothResponse(Response):
    """A response that bounds the variation of one of its derivatives, so that its series is proved.

    Attributes
    ----------
    smoothness : int
        ν ≥ 1, which derivative.
    value_units : float
        How many units of rounding a value may be off, beside those that the slope makes of a rounded frequency.
    """

    smoothness: int
    value_units: float

    @abstractmethod
    def variation(self) -> float:
        """Bound the total variation of the ν-th derivative over all frequencies."""

    @abstractmethod
    def steepest(self) -> float:
        """Bound the slope at every frequency."""

    @abstractmethod
    def gain_bound(self) -> float:
        """Bound the values at every frequency."""

    def lipschitz_bound(self, lmin: float, lmax: float) -> float:
        """Return the bound of the slopes."""
        return self.steepest()

    def rounding_at(self, eigenvalues: FloatArray) -> float:
        """Bound the rounding of values through the largest frequency."""
        return self._value_error(float(np.abs(eigenvalues).max()))

    def _value_error(self, largest: float) -> float:
        """Bound the rounding of values at frequencies up to the given one, which are rounded themselves."""
        return UNIT * (self.value_units * self.gain_bound() + 4 * largest * self.steepest())

    def _beyond(self, n_samples: float, length: float) -> float:
        """Bound the sum of the coefficients from N on."""
        nu = self.smoothness
        return 2 * self.variation() * (length / 2) ** nu / (math.pi * nu * (n_samples - 1 - nu) ** nu)

    def degree_bound(self, lmax: float, atol: float, *, lmin: float = 0.0) -> float:
        """Return a number of samples beyond which the series is worth less than a hundredth of ``atol``."""
        if lmax == lmin:
            return 0.0
        nu, target = self.smoothness, max(atol / 100, 1e-17 * self.gain_bound())
        return math.ceil(1 + nu + (self._beyond(2 + nu, lmax - lmin) / target) ** (1 / nu))

    def series(self, lmax: float, atol: float, *, lmin: float = 0.0) -> ChebyshevSeries:
        """Expand in Chebyshev polynomials on [lmin, lmax] with a proved error, the one allowed if it can be reached."""
        sample_error = self._value_error(max(abs(lmin), abs(lmax)))
        if lmax == lmin:
            return ChebyshevSeries(self([lmin]), lmax, sample_error, lmin=lmin)
        n = int(min(max(self.degree_bound(lmax, atol, lmin=lmin), 16), _MOST_SAMPLES))
        values = self(chebyshev_nodes(n, lmax, lmin))
        beyond = self._beyond(n, lmax - lmin)
        return series_from_samples(values, lmax, atol, beyond=beyond, sample_error=sample_error, lmin=lmin)
