"""The whole response as one Chebyshev series, summed by a real three-term recurrence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cayleygsp._typing import Array, FloatArray
from cayleygsp.engine.recurrence import sum_series, sum_series_adjoint
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import Applied, FilterMethod, Response, filter_gain, unit_roundoff
from cayleygsp.responses.series import ChebyshevSeries


class ChebyshevMethod(FilterMethod):
    """A bank of responses applied in one recurrence, its degree chosen from the tails of the series.

    Parameters
    ----------
    L : Laplacian
        The graph.
    responses : sequence of Response
        All are expanded on the same interval.
    tol : float or None
        Error allowed to each, relative to its gain. None: the series as they are, in the precision of the
        signals.
    """

    name = "chebyshev"
    is_bank = True
    promotes = True

    def __init__(self, L: Laplacian, responses: Sequence[Response], tol: float | None) -> None:
        self.laplacian = L
        self.tol = tol
        self.gains = np.array([filter_gain(L, response) for response in responses])
        allowed = (tol or 0.0) * self.gains
        self.series = [self._expand(g, float(a)) for g, a in zip(responses, allowed, strict=True)]
        (self.lmax,) = {series.lmax for series in self.series}
        self.degree = max(series.degree for series in self.series)
        self.coeffs = np.zeros((len(self.series), self.degree + 1))
        for row, series in zip(self.coeffs, self.series, strict=True):
            row[: series.degree + 1] = series.coeffs
        self._error_bounds: dict[Any, FloatArray] = {}
        if any(series.certificate == "sampled" for series in self.series):
            self.certificate = "sampled"
        elif self.lmax < L.lmax and not L.has_eigenbasis:
            self.certificate = "estimated"

    def _expand(self, response: Response, allowed: float) -> ChebyshevSeries:
        """Expand so that truncation and rounding together stay within what is allowed, if they can."""
        series = response.series(self.laplacian.lmax, 0.9 * allowed)
        floor = self._floor(series, np.float64)
        if allowed and series.error + floor > allowed > floor:
            series = response.series(self.laplacian.lmax, 0.99 * (allowed - floor))
        return series

    def _floor(self, series: ChebyshevSeries, dtype: Any) -> float:
        r"""Bound the rounding of the recurrence.

        A step :math:`(4/\lambda_{max}) \Delta t - 2t - t'` is wrong by at most
        :math:`u(4R/\lambda_{max} + 40)` times the norm of t, R being the rounding norm of the Laplacian, and
        the sensitivity of the series says what the steps add up to. Adding a_k t_k to the result K times costs
        another :math:`u (K + 3) \sum |a_k|`.
        """
        if series.lmax == 0:
            return 4 * unit_roundoff(dtype) * abs(float(series.coeffs[0]))
        step = 4 * self.laplacian.rounding_norm / series.lmax + 40
        sensitivity = series.sensitivity
        if self.laplacian.lmax > series.lmax:
            sensitivity = series.sensitivity_beyond(self.laplacian.lanczos_upper)
        total = float(np.abs(series.coeffs).sum()) * (series.degree + 3)
        return unit_roundoff(dtype) * (step * sensitivity + total)

    def error_bounds(self, dtype: Any) -> FloatArray:
        """Return the error of each filter, relative to the signal, when computed in the given precision."""
        key = np.dtype(dtype)
        if key not in self._error_bounds:
            self._error_bounds[key] = self._bound_errors(key)
        return self._error_bounds[key]

    def _bound_errors(self, dtype: Any) -> FloatArray:
        # the stored matrix may leave the interval by some units of rounding, beyond which T_k grows by k² of them
        leak = 2 * unit_roundoff(np.float64) * (4 * self.laplacian.rounding_norm / self.lmax if self.lmax else 0.0)
        return np.array(
            [series.error * (1 + leak * series.degree**2) + self._floor(series, dtype) for series in self.series]
        )

    def reaches_tolerance(self, tol: float | None) -> bool:
        """Compare the bounds in double precision with the tolerance."""
        return tol is None or bool((self.error_bounds(np.float64) <= tol * self.gains).all())

    def working_dtype(self, dtype: Any) -> Any:
        """Single precision only where it keeps the tolerance."""
        if self.tol is None or (self.error_bounds(dtype) <= self.tol * self.gains).all():
            return dtype
        return np.float64

    def apply(self, f: Array, *, certify: bool) -> Applied:
        """Filter by every response; shape (n_filters, n, m)."""
        dtype = self.working_dtype(f.dtype)
        y = sum_series(self.laplacian.kernel_graph(dtype), self.lmax, self.coeffs, f, dtype)
        return Applied(y, self.error_bounds(dtype), self.degree)

    def apply_adjoint(self, f: Array) -> Array:
        """Add up the filters' answers to their own blocks, shape (n_filters, n, m) to (n, m)."""
        if len(self.series) == 1:
            return self.apply(f[0], certify=False).signals[0]
        dtype = self.working_dtype(f.dtype)
        return sum_series_adjoint(self.laplacian.kernel_graph(dtype), self.lmax, self.coeffs, f, dtype)
