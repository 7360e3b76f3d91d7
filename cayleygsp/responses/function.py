"""Responses that are given as any function of frequency."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayleygsp._typing import Array, ArrayLike, FloatArray, Kernel
from cayleygsp._validation import check_coefficients, check_eigenvalues, check_not_negative
from cayleygsp.responses.base import ExpandedResponse, Response
from cayleygsp.responses.series import (
    MAX_SAMPLES,
    Certificate,
    ChebyshevSeries,
    chebyshev_nodes,
    series_from_samples,
)

# Largest number of samples of an unknown function; one that needs more is not smooth.
MAX_KERNEL_SAMPLES = 2**14

# As fine as the gain is looked for: a feature that shows there must show in the series.
MIN_KERNEL_SAMPLES = 2**11

# Points on either side of a breakpoint, at distances that are halved again and again.
_HALVINGS = 50


class KernelResponse(ExpandedResponse):
    """A function of frequency that a user wrote, with its Chebyshev series from samples.

    Parameters
    ----------
    function : callable
        Takes an array of frequencies and returns as many real, finite numbers. It need not exist below 0: there it is
        taken to have the value that it has at 0.
    lipschitz : float, optional
        A number that no slope of the function exceeds. With it bounds are proved, and not only seen on samples.
    breakpoints : array_like, optional
        Frequencies beside which the function is sampled densely, so that a narrow feature there is seen.

    Examples
    --------
    >>> import numpy as np
    >>> from cayleygsp.responses.function import KernelResponse
    >>> heat = KernelResponse(lambda lam: np.exp(-lam), lipschitz=1.0)
    >>> heat.certificate, heat.series(4.0, 1e-4).error <= 1e-4
    ('proved', True)
    """

    lowest_frequency = 0.0
    from_samples = True

    def __init__(
        self, function: Kernel, *, lipschitz: float | None = None, breakpoints: ArrayLike | None = None
    ) -> None:
        if not callable(function):
            raise TypeError(f"`function` must be callable, got {type(function).__name__}")
        self.function = function
        self.lipschitz = None if lipschitz is None else check_not_negative(lipschitz, "lipschitz")
        points = check_coefficients([] if breakpoints is None else breakpoints, "breakpoints")
        if points.dtype.kind == "c":
            raise TypeError(f"`breakpoints` must be real numbers, got dtype {points.dtype}")
        self.breakpoints: FloatArray = np.sort(points.astype(np.float64))
        self.certificate: Certificate = "sampled" if self.lipschitz is None else "proved"
        super().__init__()

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

    def lipschitz_bound(self, lmin: float, lmax: float) -> float | None:
        """Return what the user says of the slopes."""
        return self.lipschitz

    def places(self, lmin: float, lmax: float) -> FloatArray:
        """Return the breakpoints in the interval and points beside them at halved distances."""
        inside = self.breakpoints[(self.breakpoints >= max(lmin, 0.0)) & (self.breakpoints <= lmax)]
        steps = (lmax - lmin) * 2.0 ** -np.arange(1, _HALVINGS + 1)
        beside = np.add.outer(inside, np.concatenate([-steps, [0.0], steps]))
        return np.clip(beside.ravel(), max(lmin, 0.0), lmax)

    def degree_bound(self, lmax: float, atol: float, *, lmin: float = 0.0) -> float:
        """Return the degree of the series, which must be computed to know it; infinite if it is not resolved."""
        series = self.series(lmax, atol, lmin=lmin)
        return float(series.degree) if series.error <= max(atol, 1e-12) or atol == 0 else np.inf

    def expand(self, lmin: float, lmax: float, atol: float) -> ChebyshevSeries:
        """Double the samples until the upper half of the coefficients is negligible, then look between them.

        If nothing is known of the function but its values, the error is what was seen at four times as many other
        points and half as much again, or what the coefficients beyond suggest, whichever is larger. If its slopes are
        known not to exceed ℓ, the distance q of the series is looked at on a grid that is fine enough:
        between two points no further apart than s, it is at most their maximum of q plus (ℓ + ℓ')s/2, ℓ' being a bound
        of the slopes of the series.
        """
        if lmax == lmin:
            return ChebyshevSeries.constant(float(self(np.zeros(1))[0]), certificate=self.certificate)
        n = MIN_KERNEL_SAMPLES
        while True:
            values = self.on_spectrum(chebyshev_nodes(n, lmax, lmin))
            whole = series_from_samples(values, lmax, 0.0, beyond=0.0)
            upper_half = float(np.abs(whole.coeffs[n // 2 :]).sum())
            if upper_half <= max(0.05 * atol, 4 * whole.error) or n >= MAX_KERNEL_SAMPLES:
                break
            n *= 2
        share = 0.6 if self.lipschitz is None else 0.3
        cut = series_from_samples(
            values, lmax, share * atol, beyond=upper_half / 2, certificate=self.certificate, lmin=lmin
        )
        if self.lipschitz is not None:
            error = self._proved_distance(cut, self.lipschitz, atol)
        else:
            error = max(1.5 * self._largest_distance(cut, n), cut.error)
        return ChebyshevSeries(cut.coeffs, lmax, error, self.certificate, lmin)

    def _largest_distance(self, series: ChebyshevSeries, n: int) -> float:
        """Look at points that were not sampled, at the ends, and where the user says that something is to be seen."""
        lmin, lmax, n_points = series.lmin, series.lmax, 4 * n + 1
        seen = self.on_spectrum(chebyshev_nodes(n_points, lmax, lmin)) - series.at_nodes(n_points)
        others = np.concatenate([[lmin, lmax], self.places(lmin, lmax)])
        return max(float(np.abs(seen).max()), float(np.abs(self.on_spectrum(others) - series(others)).max()))

    def _proved_distance(self, series: ChebyshevSeries, lipschitz: float, atol: float) -> float:
        """Bound the distance of the series by its values on a fine grid and by the slopes between them."""
        slope = lipschitz + series.steepest_slope
        # the points of a Chebyshev grid are at most π/2 of the mean distance apart, and the ends half as far
        wanted = slope * series.length * np.pi / 4 / max(0.3 * atol, 1e-300)
        n = int(2 ** np.clip(np.ceil(np.log2(max(wanted, 1.0))), np.log2(8 * MIN_KERNEL_SAMPLES), np.log2(MAX_SAMPLES)))
        n = max(n, 2 * series.coeffs.size)
        points = chebyshev_nodes(n, series.lmax, series.lmin)
        values = series.at_nodes(n)
        seen = float(np.abs(self.on_spectrum(points) - values).max())
        size = float(np.abs(series.coeffs).sum())
        rounding = 2**-50 * (np.log2(n) * size + abs(series.lmax) * slope)
        return float(seen + slope * series.length * np.pi / (4 * n) + rounding)


def as_response(
    response: Any, lipschitz: float | None = None, breakpoints: ArrayLike | None = None, *, name: str = "function"
) -> Response:
    """Return a response as it is, and a function of frequency as one of which no more is known than what is given.

    Errors call it by its ``name``.
    """
    if not isinstance(response, Response):
        if not callable(response):
            raise TypeError(f"`{name}` must be a response or a function of frequency, got {type(response).__name__}")
        return KernelResponse(response, lipschitz=lipschitz, breakpoints=breakpoints)
    if lipschitz is not None or breakpoints is not None:
        raise ValueError(
            f"`lipschitz` and `breakpoints` belong to a plain function, got {response!r}, which knows its own"
        )
    return response
