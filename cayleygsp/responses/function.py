"""Responses that are given as any function of frequency."""

from __future__ import annotations

import numpy as np

from cayleygsp._typing import Array, ArrayLike, FloatArray, Kernel
from cayleygsp._validation import check_eigenvalues
from cayleygsp.responses.series import ChebyshevSeries, chebyshev_nodes, series_from_samples

# Largest number of samples of an unknown function; one that needs more is not smooth.
MAX_KERNEL_SAMPLES = 2**14

# As fine as the gain is looked for: a feature that shows there must show in the series.
MIN_KERNEL_SAMPLES = 2**11


class KernelResponse:
    """A function of frequency that a user wrote, with its Chebyshev series found by sampling.

    Parameters
    ----------
    function : callable
        Takes an array of frequencies and returns as many real, finite numbers.
    """

    def __init__(self, function: Kernel) -> None:
        if not callable(function):
            raise TypeError(f"`function` must be callable, got {type(function).__name__}")
        self.function = function
        self._series: dict[tuple[float, float], ChebyshevSeries] = {}

    def __repr__(self) -> str:
        return f"KernelResponse({getattr(self.function, '__name__', self.function)!s})"

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        lam = check_eigenvalues(eigenvalues)
        values = np.asarray(self.function(lam))
        if values.shape != lam.shape:
            raise ValueError(
                f"`function` must return one number for each frequency: for shape {lam.shape} it returned "
                f"shape {values.shape}"
            )
        if values.dtype.kind not in "biuf":
            raise TypeError(f"`function` must return real numbers, got dtype {values.dtype}")
        if not np.isfinite(values).all():
            where = float(lam[~np.isfinite(values)].flat[0])
            raise ValueError(
                f"`function` must be finite on the spectrum, got {values[~np.isfinite(values)][0]} at {where:g}"
            )
        return values.astype(np.float64)

    def series(self, lmax: float, atol: float) -> ChebyshevSeries:
        """Double the samples until the upper half of the coefficients is negligible, then look between them.

        Nothing is known of the function but its values, so the error is what was seen at four times as many other
        points and half as much again, or what the coefficients beyond suggest, whichever is larger.
        """
        if lmax == 0:
            return ChebyshevSeries(self(np.zeros(1)), 0.0, 0.0, "sampled")
        key = (lmax, atol)
        if key not in self._series:
            self._series[key] = self._expand(lmax, atol)
        return self._series[key]

    def degree_bound(self, lmax: float, atol: float) -> float:
        """Return the degree of the series, which must be computed to know it; infinite if it is not resolved."""
        series = self.series(lmax, atol)
        return float(series.degree) if series.error <= max(atol, 1e-12) or atol == 0 else np.inf

    def _expand(self, lmax: float, atol: float) -> ChebyshevSeries:
        n = MIN_KERNEL_SAMPLES
        while True:
            values = self(chebyshev_nodes(n, lmax))
            whole = series_from_samples(values, lmax, 0.0, beyond=0.0)
            upper_half = float(np.abs(whole.coeffs[n // 2 :]).sum())
            if upper_half <= max(0.05 * atol, 4 * whole.error) or n >= MAX_KERNEL_SAMPLES:
                break
            n *= 2
        cut = series_from_samples(values, lmax, 0.6 * atol, beyond=upper_half / 2, certificate="sampled")
        seen = self._largest_distance(cut, n)
        return ChebyshevSeries(cut.coeffs, lmax, max(1.5 * seen, cut.error), "sampled")

    def _largest_distance(self, series: ChebyshevSeries, n: int) -> float:
        """Look at points that were not sampled, and at the ends."""
        others: FloatArray = np.append(chebyshev_nodes(4 * n + 1, series.lmax), [0.0, series.lmax])
        return float(np.abs(self(others) - series(others)).max())
