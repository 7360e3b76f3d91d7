"""The whole response as one Chebyshev series, summed by a real three-term recurrence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cayleygsp._rounding import unit_roundoff
from cayleygsp._typing import Array, FloatArray
from cayleygsp.engine.recurrence import sum_series
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import Applied, FilterMethod, relative, seconds_of, weakest, within_single_range
from cayleygsp.responses.base import Response
from cayleygsp.responses.series import ChebyshevSeries

# Points beyond an interval that an eigenvalue may have left, at which the series is compared with the response.
_POINTS_BEYOND = 257

# Rounding of a distance that was seen at an eigenvalue, and of the norm of a signal, relative to it.
_SEEN_ROUNDING = 1e-13

# Degrees that are timed to know how long the others take.
_SAMPLED_DEGREES = 24


def _is_polynomial(response: Response) -> bool:
    """Return whether a response is its own series, everywhere."""
    return response.poles is not None and response.poles.size == 0


def _recurrence_rounding(
    series: ChebyshevSeries, rounding_norm: float, dtype: Any, spectrum: tuple[float, float]
) -> float:
    r"""Bound the rounding of the recurrence on a Laplacian with the given bounds of its spectrum.

    A step :math:`(4/\lambda_{max}) \Delta t - 2t - t'` is wrong by at most
    :math:`u(4R/\lambda_{max} + 40)` times the norm of t, R being the rounding norm of the Laplacian, and
    the sensitivity of the series says what the steps add up to. Adding a_k t_k to the result K times costs
    another :math:`u (K + 3) \sum |a_k|`.
    """
    if series.length == 0:
        return 4 * unit_roundoff(dtype) * abs(float(series.coeffs[0]))
    step = 4 * rounding_norm / series.length + 40
    sensitivity = series.sensitivity
    if spectrum[0] < series.lmin or spectrum[1] > series.lmax:
        sensitivity = series.sensitivity_beyond(*spectrum)
    total = float(np.abs(series.coeffs).sum()) * (series.degree + 3)
    return unit_roundoff(dtype) * (step * sensitivity + total)


class ChebyshevMethod(FilterMethod):
    """A bank of responses applied in one recurrence, its degree chosen from the tails of the series.

    Parameters
    ----------
    L, responses, gains
        As for :class:`FilterMethod`; all responses are expanded on the same interval.
    tol : float or None
        Error allowed to each, relative to its gain. None: the series as they are, in the precision of the
        signals.
    """

    name = "chebyshev"
    promotes = True

    def __init__(
        self, L: Laplacian, responses: Sequence[Response], tol: float | None, gains: FloatArray | None = None
    ) -> None:
        self.tol = tol
        super().__init__(L, responses, gains)
        self.series = self._expand_all(L, responses)
        ((lmin, lmax),) = {(series.lmin, series.lmax) for series in self.series}
        # an eigenvalue above `lmax` is certain not to exist, or not expected
        self._spectrum = (L.lmin, lmax if lmax >= L.lmax_bound else L.lanczos_upper)
        self.series = [self._look_again(L, g, s) for g, s in zip(responses, self.series, strict=True)]
        # the recurrence runs on an interval that starts at 0
        self.laplacian = L.shifted() if lmin < 0 else L
        self.lmax = lmax - lmin
        self.degree = max(series.degree for series in self.series)
        self.coeffs = np.zeros((len(self.series), self.degree + 1))
        for row, series in zip(self.coeffs, self.series, strict=True):
            row[: series.degree + 1] = series.coeffs
        self._error_bounds: dict[Any, FloatArray] = {}
        self._working_dtypes: dict[Any, Any] = {np.dtype(np.float64): np.dtype(np.float64)}
        self._certify(L, responses)

    def _certify(self, L: Laplacian, responses: Sequence[Response]) -> None:
        """Note what the bounds rest on."""
        reached = self._spectrum[1] <= self.series[0].lmax or all(_is_polynomial(g) for g in responses)
        sure = self.series[0].lmax >= L.lmax_bound or (L.has_eigenbasis and reached)
        self.certificate = weakest([*(series.certificate for series in self.series), "proved" if sure else "estimated"])
        if self.certificate == "sampled":
            where = (
                f"and at all {L.n_vertices} eigenvalues"
                if L.has_eigenbasis
                else "and not at the eigenvalues: a feature narrower than a five-thousandth of the spectrum may have "
                "been overlooked, unless `breakpoints` name it"
            )
            self.evidence = f"the response was compared with its series at some thousand frequencies {where}"
        elif self.certificate == "estimated":
            self.evidence = (
                f"no eigenvalue is expected above {max(self._spectrum[1], self.series[0].lmax):.12g}, and none can be "
                f"above {L.lmax_bound:.12g}"
            )

    def _expand_all(self, L: Laplacian, responses: Sequence[Response]) -> list[ChebyshevSeries]:
        """Expand all responses on one interval."""
        allowed = (self.tol or 0.0) * self.gains
        series = [self._expand(L, g, float(a)) for g, a in zip(responses, allowed, strict=True)]
        if len({(s.lmin, s.lmax) for s in series}) == 1:
            return series
        # polynomials have an interval of their own
        common = (min(L.lmin, 0.0), L.lmax)
        return [
            s if (s.lmin, s.lmax) == common else g.on_interval(*common) for g, s in zip(responses, series, strict=True)
        ]

    def _expand(self, L: Laplacian, response: Response, allowed: float) -> ChebyshevSeries:
        """Expand so that truncation and rounding together stay within what is allowed, if they can."""
        series = response.series(L.lmax, 0.9 * allowed, lmin=L.lmin)
        floor = _recurrence_rounding(series, L.rounding_norm, np.float64, (L.lmin, L.lmax))
        if allowed and series.error + floor > allowed > floor:
            series = response.series(L.lmax, 0.99 * (allowed - floor), lmin=L.lmin)
        return series

    def _look_again(self, L: Laplacian, response: Response, series: ChebyshevSeries) -> ChebyshevSeries:
        """Enlarge the error by what is seen at known eigenvalues, and beyond an interval that they may have left."""
        error, top = series.error, self._spectrum[1]
        if top > series.lmax and not _is_polynomial(response):
            points = np.linspace(series.lmax, top, _POINTS_BEYOND)
            with np.errstate(over="ignore", invalid="ignore"):
                distances = np.abs(response.on_spectrum(points) - series(points))
            error = max(error, 1.5 * float(np.nan_to_num(distances, nan=np.inf).max()))
        if series.certificate == "sampled" and L.has_eigenbasis:
            lam = L.eigenvalues
            seen = float(np.abs(response.on_spectrum(lam) - series(lam)).max())
            error = max(error, seen * (1 + _SEEN_ROUNDING))
        return series if error == series.error else replace(series, error=error)

    def error_bounds(self, dtype: Any) -> FloatArray:
        """Return the error of each filter, relative to the signal, when computed in the given precision."""
        key = np.dtype(dtype)
        if key not in self._error_bounds:
            # the stored matrix may leave the interval by some units of rounding, beyond which T_k grows by k² of them
            norm = self.laplacian.rounding_norm
            leak = 2 * unit_roundoff(np.float64) * (4 * norm / self.lmax if self.lmax else 0.0)
            self._error_bounds[key] = np.array(
                [
                    series.error * (1 + leak * series.degree**2)
                    + _recurrence_rounding(series, norm, key, self._spectrum)
                    for series in self.series
                ]
            )
        return self._error_bounds[key]

    def expected_errors(self) -> FloatArray:
        """Return the bounds in double precision."""
        return relative(self.error_bounds(np.float64), self.gains)

    def working_dtype(self, dtype: Any) -> Any:
        """Single precision only where it keeps the tolerance, and matrix and coefficients are in its range."""
        key = np.dtype(dtype)
        if key not in self._working_dtypes:
            sizes = (self.laplacian.lmax, self.lmax, float(np.abs(self.coeffs).max()))
            keeps = within_single_range(*sizes) and (
                self.tol is None or bool((self.error_bounds(key) <= self.tol * self.gains).all())
            )
            self._working_dtypes[key] = key if keeps else np.dtype(np.float64)
        return self._working_dtypes[key]

    def sample_seconds(self, n_signals: int) -> float | None:
        """Time some degrees of the recurrence, if there are many more."""
        if self.degree < 10 * _SAMPLED_DEGREES:
            return None
        graph, a = self.laplacian.kernel_graph(np.float64), self.coeffs[:, : _SAMPLED_DEGREES + 1]
        f = np.ones((self.laplacian.n_vertices, n_signals))
        return seconds_of(lambda: sum_series(graph, self.lmax, a, f)) * self.degree / _SAMPLED_DEGREES

    def apply(self, f: Array, *, certify: bool) -> Applied:
        """Filter by every response, in one recurrence."""
        dtype = self.working_dtype(f.dtype)
        y, note = self.laplacian.sum_series(self.lmax, self.coeffs, f, dtype)
        return Applied(y, self.error_bounds(dtype)[:, None], self.degree, note=note)

    def apply_adjoint(self, f: Array, *, certify: bool) -> Applied:
        """Add up the filters' answers to their own blocks, in one recurrence."""
        if len(self.gains) == 1:
            return super().apply_adjoint(f, certify=certify)
        dtype = self.working_dtype(f.dtype)
        bounds = self.error_bounds(dtype)
        y, note = self.laplacian.sum_series_adjoint(self.lmax, self.coeffs, f, dtype)
        adding = unit_roundoff(dtype) * len(bounds) * np.abs(self.coeffs).sum(axis=1)
        return Applied(y, float(np.linalg.norm(bounds + adding)), self.degree, note=note)
