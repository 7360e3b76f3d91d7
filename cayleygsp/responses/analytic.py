r"""Analytic responses, whose series are proved on ellipses; among them heat kernels, Mexican hats and Gaussians.

The Bernstein ellipse :math:`E_\rho` of [lmin, lmax] has its foci at lmin and lmax and half axes
:math:`\tfrac{lmax - lmin}{4}(\rho \pm 1/\rho)`. If :math:`|g| \le M(\rho)` on it, then
:math:`|a_k| \le 2M(\rho)\rho^{-k}` for the coefficients of the series. All of it is written in
:math:`\delta = \rho - 1`, so that nothing cancels when the ellipse is close to the interval.
"""

from __future__ import annotations

import math
import sys
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from cayleygsp._typing import Array, ArrayLike, FloatArray
from cayleygsp._validation import check_eigenvalues, check_not_negative, check_positive
from cayleygsp.responses.base import Response, check_fields
from cayleygsp.responses.series import MAX_SAMPLES, ChebyshevSeries, chebyshev_nodes, series_from_samples

# Values of a response are wrong by some units of this, relatively.
UNIT = 2.0**-52

# Ellipses that are looked at where no singularity sets a limit, and shares of the way to the nearest one where it does.
_FREE = np.geomspace(1e-9, 1e9, 721)
_SHARES = np.append(np.geomspace(1e-6, 0.02, 60), np.linspace(0.02, 0.99, 98))


def half_axes(delta: FloatArray, length: float) -> tuple[FloatArray, FloatArray]:
    """Return by how much the long half axis of E_ρ exceeds half the length of the interval, and the short half axis."""
    return length / 2 * delta * (delta / (2 * (1 + delta))), length / 2 * delta * (2 + delta) / (2 * (1 + delta))


def pole_excess(pole: complex, lmin: float, lmax: float) -> float:
    """Return by how much the long half axis of the ellipse through a pole exceeds half the length of the interval."""
    x, y = pole.real, pole.imag
    left, right = abs(pole - lmin), abs(pole - lmax)
    # |p - lmin| - (x - lmin) and |p - lmax| - (lmax - x), of which the sum of the focal distances is made
    from_left = y * (y / (left + (x - lmin))) if x > lmin else left + (lmin - x)
    from_right = y * (y / (right + (lmax - x))) if x < lmax else right + (x - lmax)
    return (from_left + from_right) / 2


def largest_delta(excess: float, length: float) -> float:
    """Return ρ - 1 of the ellipse whose long half axis exceeds half the length of the interval by ``excess``."""
    alpha = 2 * excess / length
    return alpha + float(np.sqrt(alpha) * np.sqrt(alpha + 2))


class ProvedResponse(Response):
    """A response that bounds the coefficients of its series beyond any number, so that the series is proved."""

    #: What to do where the series would have millions of terms.
    advice = "use a smoother response, such as one with a wider transition"

    @abstractmethod
    def value_error(self, lmin: float, lmax: float) -> float:
        """Bound the error of values at frequencies of the interval, which are rounded themselves."""

    @abstractmethod
    def beyond(self, n_samples: int, lmin: float, lmax: float) -> float:
        """Bound the sum of the coefficients from N on."""

    def rounding_at(self, eigenvalues: FloatArray) -> float:
        """Bound the rounding of values by that on the interval that the frequencies span."""
        return self.value_error(float(eigenvalues.min()), float(eigenvalues.max()))

    def series(self, lmax: float, atol: float, *, lmin: float = 0.0) -> ChebyshevSeries:
        """Expand in Chebyshev polynomials on [lmin, lmax] with a proved error.

        Parameters
        ----------
        lmax : float
            Right end of the interval.
        atol : float
            Largest error allowed; the series carries the error that it has.
        lmin : float
            Left end of the interval.

        Raises
        ------
        ValueError
            If the series would have millions of terms.
        """
        error = self.value_error(lmin, lmax)
        if lmax == lmin:
            return ChebyshevSeries(self(np.array([lmin])), lmax, error, lmin=lmin)
        n = self._n_samples(lmin, lmax, atol)
        values = self(chebyshev_nodes(n, lmax, lmin))
        beyond = self.beyond(n, lmin, lmax)
        return series_from_samples(values, lmax, atol, beyond=beyond, sample_error=error, lmin=lmin)

    def _n_samples(self, lmin: float, lmax: float, atol: float) -> int:
        n_samples = max(self.degree_bound(lmax, atol, lmin=lmin), 16)
        if n_samples > MAX_SAMPLES:
            terms = f"a Chebyshev series of about {n_samples:.1g} terms"
            raise ValueError(f"{self!r} on [0, {lmax:.3g}] would need {terms}; {self.advice}")
        return int(n_samples)


class AnalyticResponse(ProvedResponse):
    """A response that bounds itself on the Bernstein ellipses of an interval."""

    @abstractmethod
    def log_bounds(self, delta: FloatArray, lmin: float, lmax: float) -> FloatArray:
        """Return logarithms of upper bounds of the response on E_ρ for each ρ - 1; 0 is the interval itself."""

    def delta_limit(self, lmin: float, lmax: float) -> float:
        """Return ρ - 1 of the ellipse through the nearest singularity; infinite for an entire function."""
        return np.inf

    def degree_bound(self, lmax: float, atol: float, *, lmin: float = 0.0) -> float:
        """Return a number N of samples beyond which the series is worth less than a hundredth of ``atol``."""
        if lmax == lmin:
            return 0.0
        delta, log_M = self.bounded_ellipses(lmin, lmax)
        if delta.size == 0:  # a singularity on the interval
            return np.inf
        target = max(atol / 100, 1e-17 * self.gain_bound(lmin, lmax), sys.float_info.min)
        # 2 M ρ^{1-N} / (ρ - 1), the sum of |a_k| for k ≥ N, falls below the target
        needed = (np.log(2 * (1 + delta) / delta) + log_M - np.log(target)) / np.log1p(delta)
        return max(float(np.ceil(np.min(needed))), 0.0)

    def beyond(self, n_samples: int, lmin: float, lmax: float) -> float:
        """Bound the sum of the coefficients from N on by the best of the ellipses."""
        delta, log_M = self.bounded_ellipses(lmin, lmax)
        return float(np.exp(np.min(np.log(2 / delta) + log_M + (1 - n_samples) * np.log1p(delta))))

    def gain_bound(self, lmin: float, lmax: float) -> float:
        """Return an upper bound on the interval itself."""
        return math.exp(min(self.log_bounds(np.zeros(1), lmin, lmax)[0], 700.0))

    def bounded_ellipses(self, lmin: float, lmax: float) -> tuple[FloatArray, FloatArray]:
        """Return ρ - 1 for ellipses short of the singularities, and logarithms of the bounds on them.

        They are kept for one interval, about which a filter asks several times.
        """
        interval, delta, log_M = self.__dict__.get("_ellipses", (None, None, None))
        if interval != (lmin, lmax):
            limit = self.delta_limit(lmin, lmax)
            delta = limit * _SHARES if np.isfinite(limit) else _FREE
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                log_M = self.log_bounds(delta, lmin, lmax)
            usable = (log_M < np.inf) & (delta > 0)  # -inf is that of the response 0
            delta, log_M = delta[usable], log_M[usable]
            self.__dict__["_ellipses"] = (lmin, lmax), delta, log_M  # also where fields are frozen
        return delta, log_M


@dataclass(frozen=True)
class Heat(AnalyticResponse):
    r"""The heat kernel :math:`e^{-s\lambda}`.

    Parameters
    ----------
    scale : float
        s > 0, the time of the diffusion, in units of one over frequency.

    Notes
    -----
    On :math:`E_\rho` the real part of z is nowhere below that of the ellipse's left end, so that
    :math:`M(\rho) = e^{s\,\cdot\,excess}`. The degree grows like :math:`\sqrt{s\lambda_{max}\log(1/tol)}`.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> cg.responses.Heat(2.0)([0.0, 0.5]).round(3)
    array([1.   , 0.368])
    """

    scale: float

    def __post_init__(self) -> None:
        check_fields(self, scale=check_positive)

    @property
    def features(self) -> tuple[float, ...]:
        """Where it has fallen to 1/e."""
        return (1 / self.scale,)

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        return np.exp(-self.scale * check_eigenvalues(eigenvalues).astype(np.float64))

    def log_bounds(self, delta: FloatArray, lmin: float, lmax: float) -> FloatArray:
        """Return the logarithm of the bound on E_ρ."""
        return self.scale * (half_axes(delta, lmax - lmin)[0] - lmin)

    def value_error(self, lmin: float, lmax: float) -> float:
        """Return a bound of the rounding of values: x exp(-x) is at most 1/e."""
        return 8 * UNIT * float(np.exp(-self.scale * lmin))

    def slopes(self, lam: FloatArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, ...]:
        """Return the slope, and bounds of the first two derivatives."""
        largest = self.scale * self(low)
        return -self.scale * self(lam), largest, self.scale * largest


@dataclass(frozen=True)
class MexicanHat(AnalyticResponse):
    r"""The wavelet :math:`s\lambda\, e^{1 - s\lambda}`: 0 at λ = 0, and 1 at its peak λ = 1/s.

    Parameters
    ----------
    scale : float
        s > 0.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> cg.responses.MexicanHat(2.0)([0.0, 0.5, 5.0]).round(3)
    array([0.   , 1.   , 0.001])
    """

    scale: float

    def __post_init__(self) -> None:
        check_fields(self, scale=check_positive)

    @property
    def features(self) -> tuple[float, ...]:
        """The peak."""
        return (1 / self.scale,)

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        x = self.scale * check_eigenvalues(eigenvalues).astype(np.float64)
        return x * np.exp(1 - x)

    def log_bounds(self, delta: FloatArray, lmin: float, lmax: float) -> FloatArray:
        """Return the logarithm of the bound on E_ρ, where abs(z) is at most the length and the excess together."""
        excess = half_axes(delta, lmax - lmin)[0]
        return np.log(self.scale * (lmax - lmin + excess)) + 1 + self.scale * (excess - lmin)

    def value_error(self, lmin: float, lmax: float) -> float:
        """Return a bound of the rounding of values: x(1 + x) exp(1 - x) is below 3, and below 3x(1 + x)."""
        x = self.scale * max(abs(lmin), abs(lmax))
        below = max(-self.scale * lmin, 0.0)
        # left of 0 slopes and values are larger
        return 24 * UNIT * (1 + below) * float(np.exp(below)) * min(1.0, x * (1 + x))

    def slopes(self, lam: FloatArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, ...]:
        """Return the slope, and bounds of the first two derivatives."""
        s, x, x0, x1 = self.scale, self.scale * lam, self.scale * low, self.scale * high
        # (k - x) exp(1 - x) falls up to its least value, at k + 1, beyond which it rises to 0
        first, second = (
            np.maximum(*(np.abs((k - y) * np.exp(1 - y)) for y in (x0, np.clip(k + 1, x0, x1)))) for k in (1, 2)
        )
        return s * (1 - x) * np.exp(1 - x), s * first, s * s * second


@dataclass(frozen=True)
class Gaussian(AnalyticResponse):
    r"""A bump :math:`e^{-((\lambda - m)/w)^2}` about the frequency m.

    Parameters
    ----------
    center : float
        m ≥ 0.
    width : float
        w > 0.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> cg.responses.Gaussian(1.0, 0.5)([0.5, 1.0, 2.0]).round(3)
    array([0.368, 1.   , 0.018])
    """

    center: float
    width: float

    def __post_init__(self) -> None:
        check_fields(self, center=check_not_negative, width=check_positive)

    @property
    def features(self) -> tuple[float, ...]:
        """The peak and the places beside it where the response has fallen to 1/e."""
        return tuple(lam for lam in (self.center - self.width, self.center, self.center + self.width) if lam >= 0)

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        return np.exp(-(((lam - self.center) / self.width) ** 2))

    def places(self, lmin: float, lmax: float) -> FloatArray:
        """Return the peak and points beside it, which may lie between the points that are looked at otherwise."""
        near = self.center + self.width * np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
        return near[(near >= lmin) & (near <= lmax)]

    def log_bounds(self, delta: FloatArray, lmin: float, lmax: float) -> FloatArray:
        """Return the logarithm of the bound on E_ρ."""
        return gaussian_growth(delta, lmin, lmax, self.center, self.width)

    def value_error(self, lmin: float, lmax: float) -> float:
        """Return a bound of the rounding of values; rounded frequencies are off by some units of the center."""
        return UNIT * (16 + 8 * min(self.center, lmax) / self.width)

    def slopes(self, lam: FloatArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, ...]:
        """Return the slope, and bounds of the first two derivatives."""
        u, left, right = ((x - self.center) / self.width for x in (lam, low, high))
        far = np.maximum(np.abs(left), np.abs(right))
        near = np.where(left * right <= 0, 0.0, np.minimum(np.abs(left), np.abs(right)))
        steepest = np.clip(np.sqrt(0.5), near, far)
        slope, first = (2 * x / self.width * np.exp(-x * x) for x in (-u, steepest))
        second = np.maximum(np.abs(4 * far * far - 2), np.abs(4 * near * near - 2)) * np.exp(-near * near)
        return slope, first, second / self.width**2


def gaussian_growth(delta: FloatArray, lmin: float, lmax: float, center: float, width: float) -> FloatArray:
    r"""Return the largest :math:`(y^2 - (x - m)^2)/w^2` over the points x + iy of E_ρ.

    With :math:`x - m = A\cos\theta + x_0` and :math:`y = B\sin\theta` this is a parabola in :math:`\cos\theta`.
    """
    excess, B = half_axes(delta, lmax - lmin)
    A, x0 = (lmax - lmin) / 2 + excess, (lmax + lmin) / 2 - center
    # the vertex of the parabola, or the end of [-1, 1] next to it
    cosine = np.clip(-A * x0 / (A * A + B * B), -1.0, 1.0)
    # A cos θ + x0 without cancellation at the left end, where low frequencies are
    away = np.where(cosine == -1.0, lmin - excess - center, A * cosine + x0)
    largest = B * B * (1 - cosine) * (1 + cosine) - away * away
    return np.where(delta == 0, 0.0, largest / (width * width))
