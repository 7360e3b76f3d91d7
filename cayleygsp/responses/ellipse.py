r"""Bernstein ellipses of [0, lmax], and the proved Chebyshev series of responses that are analytic inside them.

The ellipse :math:`E_\rho` has its foci at 0 and lmax and half axes :math:`\tfrac{lmax}{2}\tfrac{\rho \pm 1/\rho}{2}`.
If :math:`|g| \le M(\rho)` on it, then :math:`|a_k| \le 2M(\rho)\rho^{-k}` for the coefficients of the series. All of it
is written in :math:`\delta = \rho - 1`, so that nothing cancels when the ellipse is close to the interval.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from cayleygsp._typing import Array, ArrayLike, FloatArray
from cayleygsp.responses.algebra import ResponseAlgebra
from cayleygsp.responses.series import MAX_SAMPLES, ChebyshevSeries, chebyshev_nodes, series_from_samples

# Values of a response are wrong by some units of this, relatively.
UNIT = 2.0**-52

# Ellipses that are looked at where no singularity sets a limit, and shares of the way to the nearest one where it does.
_FREE = np.geomspace(1e-9, 1e9, 721)
_SHARES = np.append(np.geomspace(1e-6, 0.02, 60), np.linspace(0.02, 0.99, 98))


def half_axes(delta: FloatArray, lmax: float) -> tuple[FloatArray, FloatArray]:
    """Return by how much the long half axis of E_ρ exceeds lmax/2, and the short half axis."""
    return lmax / 2 * delta * (delta / (2 * (1 + delta))), lmax / 2 * delta * (2 + delta) / (2 * (1 + delta))


def pole_excess(pole: complex, lmax: float) -> float:
    """Return by how much the long half axis of the ellipse through a pole exceeds lmax/2; 0 on the interval."""
    x, y = pole.real, pole.imag
    left, right = abs(pole), abs(pole - lmax)
    # |p| - x and |p - lmax| - (lmax - x), of which the sum of the focal distances is made
    from_left = y * y / (left + x) if x > 0 else left - x
    from_right = y * y / (right + (lmax - x)) if x < lmax else right + (x - lmax)
    return (from_left + from_right) / 2


def largest_delta(excess: float, lmax: float) -> float:
    """Return ρ - 1 of the ellipse whose long half axis exceeds lmax/2 by the given length."""
    alpha = 2 * excess / lmax
    return alpha + float(np.sqrt(alpha) * np.sqrt(alpha + 2))


class AnalyticResponse(ResponseAlgebra, ABC):
    """A response that bounds itself on the Bernstein ellipses of [0, lmax], so that its series is proved."""

    certificate = "proved"

    @abstractmethod
    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""

    @abstractmethod
    def log_bounds(self, delta: FloatArray, lmax: float) -> FloatArray:
        """Return the logarithm of an upper bound of the response on E_ρ for each ρ - 1; 0 means the interval."""

    @abstractmethod
    def value_error(self, lmax: float) -> float:
        """Return an upper bound of the error of values at frequencies in [0, lmax], which are rounded themselves."""

    @abstractmethod
    def lipschitz(self, lmax: float) -> float:
        """Return an upper bound of the slope on [0, lmax]."""

    def delta_limit(self, lmax: float) -> float:
        """Return ρ - 1 of the ellipse through the nearest singularity; infinite for an entire function."""
        return np.inf

    def degree_bound(self, lmax: float, atol: float) -> float:
        """Return a number N of samples beyond which the series is worth less than a hundredth of ``atol``."""
        if lmax == 0:
            return 0.0
        delta, log_M = self._bounded_ellipses(lmax)
        target = max(atol / 100, 1e-17 * float(np.exp(np.minimum(self._log_gain(lmax), 700.0))), 1e-300)
        # 2 M ρ^{1-N} / (ρ - 1), the sum of |a_k| for k ≥ N, falls below the target
        needed = (np.log(2 * (1 + delta) / delta) + log_M - np.log(target)) / np.log1p(delta)
        return max(float(np.ceil(np.min(needed))), 0.0)

    def series(self, lmax: float, atol: float) -> ChebyshevSeries:
        """Expand in Chebyshev polynomials on [0, lmax] with a proved error.

        Parameters
        ----------
        lmax : float
            Right end of the interval.
        atol : float
            Largest error allowed; the series carries the error that it has.

        Raises
        ------
        ValueError
            If the response is so steep that the series would have millions of terms.
        """
        error = self.value_error(lmax)
        if lmax == 0:
            return ChebyshevSeries.constant(float(self(0.0)), error)
        n_samples = max(self.degree_bound(lmax, atol), 16)
        if n_samples > MAX_SAMPLES:
            raise ValueError(
                f"{self!r} on [0, {lmax:.3g}] would need a Chebyshev series of about {n_samples:.1g} terms; "
                "soften it, or scale the weights of the graph"
            )
        delta, log_M = self._bounded_ellipses(lmax)
        logs = np.log(2 / delta) + log_M + (1 - int(n_samples)) * np.log1p(delta)
        beyond = float(np.exp(np.min(logs)))
        values = self(chebyshev_nodes(int(n_samples), lmax))
        return series_from_samples(values, lmax, atol, beyond=beyond, sample_error=error)

    def _log_gain(self, lmax: float) -> float:
        """Return the logarithm of an upper bound on the interval itself."""
        return float(self.log_bounds(np.zeros(1), lmax)[0])

    def _bounded_ellipses(self, lmax: float) -> tuple[FloatArray, FloatArray]:
        limit = self.delta_limit(lmax)
        delta = limit * _SHARES if np.isfinite(limit) else _FREE
        with np.errstate(over="ignore"):
            log_M = self.log_bounds(delta, lmax)
        usable = np.isfinite(log_M)
        return delta[usable], log_M[usable]
