r"""Banks of responses whose squares add up to one: Itersine and Meyer wavelets, proved by their smoothness.

If the ν-th derivative of g has total variation V on [-1, 1], and those before it are absolutely continuous, then
:math:`|a_k| \le 2V / (\pi k (k - 1) \cdots (k - \nu))` for the coefficients of the Chebyshev series, and the sum of
those from N on is at most :math:`2V / (\pi \nu (N - 1 - \nu)^\nu)` (Trefethen, Approximation Theory and Approximation
Practice, chapter 7).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from cayleygsp._typing import Array, ArrayLike, FloatArray
from cayleygsp._validation import check_choice, check_eigenvalues, check_integer, check_positive, check_real
from cayleygsp.responses.analytic import UNIT, ProvedResponse
from cayleygsp.responses.base import Response, check_fields

# With more samples than this the error falls too slowly to be worth it.
_MOST_SAMPLES = 2**19


class SmoothResponse(ProvedResponse):
    """A response of at most 1 that bounds the variation of one of its derivatives.

    Attributes
    ----------
    smoothness : int
        ν ≥ 1, which derivative.
    value_units : float
        How many units of rounding a value may be off, beside those that the slope makes of a rounded frequency.
    """

    smoothness: int
    value_units: float
    least_gain = 1.0

    @abstractmethod
    def variation(self, unit: float = 1.0) -> float:
        """Bound the total variation of the ν-th derivative over all frequencies, which are measured in the unit."""

    @abstractmethod
    def steepest(self) -> float:
        """Bound the slope at every frequency."""

    def lipschitz_bound(self, lmin: float, lmax: float) -> float:
        """Return the bound of the slopes."""
        return self.steepest()

    def value_error(self, lmin: float, lmax: float) -> float:
        """Bound the rounding of values at frequencies of the interval, which are rounded themselves."""
        return UNIT * (self.value_units + 4 * max(abs(lmin), abs(lmax)) * self.steepest())

    def beyond(self, n_samples: int, lmin: float, lmax: float) -> float:
        """Bound the sum of the coefficients from N on."""
        nu = self.smoothness
        return 2 * self.variation((lmax - lmin) / 2) / (math.pi * nu * (n_samples - 1 - nu) ** nu)

    def degree_bound(self, lmax: float, atol: float, *, lmin: float = 0.0) -> float:
        """Return a number of samples beyond which the series is worth less than a hundredth of ``atol``."""
        if lmax == lmin:
            return 0.0
        nu, target = self.smoothness, max(atol / 100, 1e-17)
        return float(np.ceil(1 + nu + (self.beyond(2 + nu, lmin, lmax) / target) ** (1 / nu)))

    def _n_samples(self, lmin: float, lmax: float, atol: float) -> int:
        return int(min(max(self.degree_bound(lmax, atol, lmin=lmin), 16), _MOST_SAMPLES))


TIGHT_BANKS = ("itersine", "meyer")

# Of the step v(t) = t⁴(35 - 84t + 70t² - 20t³), whose slope is 140 q³ with q = t(1 - t): the largest absolute values
# of the derivatives 1 … 5 on [0, 1], 140 q³, 420 q²(1 - 2t), 840 q(1 - 5q), 840 (1 - 10q)(1 - 2t), 840 (60q - 12).
_STEP_SLOPES = (140 / 64, 420 / 25 * math.sqrt(0.2), 52.5, 840.0, 10080.0)


@dataclass(frozen=True)
class Itersine(SmoothResponse):
    r"""A bump :math:`\sin(\tfrac\pi2\cos^2(\pi x))` with :math:`x = (\lambda - m)/w`, and 0 from :math:`|x| = 1/2` on.

    Parameters
    ----------
    center : float
        m; may lie outside the spectrum.
    width : float
        w > 0, all of the support.

    Notes
    -----
    With :math:`u = \tfrac\pi2\cos^2(\pi x)` the second derivative jumps by :math:`\pi^3` at both ends, and the third is
    at most :math:`|u'''| + 3|u'u''| + |u'|^3 \le 2\pi^4 + \tfrac32\pi^5 + \tfrac18\pi^6`.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> cg.responses.Itersine(1.0, 2.0)([0.0, 0.5, 1.0, 2.5]).round(3)
    array([0.   , 0.707, 1.   , 0.   ])
    """

    center: float
    width: float
    smoothness = 2
    value_units = 12.0

    def __post_init__(self) -> None:
        check_fields(self, center=check_real, width=check_positive)
        if not np.isfinite(self.center):
            raise ValueError(f"`center` must be finite, got {self.center!r}")

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        x = (check_eigenvalues(eigenvalues).astype(np.float64) - self.center) / self.width
        return np.where(np.abs(x) <= 0.5, np.sin(np.pi / 2 * np.cos(np.pi * x) ** 2), 0.0)

    def places(self, lmin: float, lmax: float) -> FloatArray:
        """Return the peak and points on the slopes."""
        return _within(self.center + self.width * np.array([-0.25, 0.0, 0.25]), lmin, lmax)

    def variation(self, unit: float = 1.0) -> float:
        """Bound the total variation of the second derivative."""
        return (2 * math.pi**3 + 2 * math.pi**4 + 1.5 * math.pi**5 + math.pi**6 / 8) * _power(unit / self.width, 2)

    def steepest(self) -> float:
        """Bound the slope."""
        return math.pi**2 / 2 / self.width


class _Meyer(SmoothResponse):
    """What Meyer's scaling function and wavelets have in common: steps that are smooth up to the third derivative."""

    scale: float
    smoothness = 4
    value_units = 16.0

    def __post_init__(self) -> None:
        check_fields(self, scale=check_positive)

    def steepest(self) -> float:
        """Bound the slope."""
        return math.pi / 2 * _STEP_SLOPES[0] * 1.5 * self.scale

    def _variation_of_step(self, length: float, unit: float) -> float:
        """Bound that of the fourth derivative of one step, by the derivatives of its angle."""
        a, b, c, d, e = (math.pi / 2 * slope for slope in _STEP_SLOPES)
        fourth = a**4 + 6 * a * a * b + 4 * a * c + 3 * b * b + d
        fifth = a**5 + 10 * a**3 * b + 15 * a * b * b + 10 * a * a * c + 10 * b * c + 5 * a * d + e
        return (2 * fourth + fifth) * _power(self.scale / length * unit, 4)


@dataclass(frozen=True)
class MeyerScaling(_Meyer):
    r"""Meyer's scaling function: 1 up to :math:`s\lambda = 2/3`, 0 from 4/3 on, three times differentiable.

    Parameters
    ----------
    scale : float
        s > 0.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> cg.responses.MeyerScaling(1.0)([0.5, 1.0, 1.5]).round(3)
    array([1.   , 0.707, 0.   ])
    """

    scale: float

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        return np.cos(_angle(1.5 * self.scale * check_eigenvalues(eigenvalues).astype(np.float64) - 1))

    def variation(self, unit: float = 1.0) -> float:
        """Bound the total variation of the fourth derivative."""
        return self._variation_of_step(2 / 3, unit)


@dataclass(frozen=True)
class MeyerWavelet(_Meyer):
    r"""Meyer's wavelet: it rises from :math:`s\lambda = 2/3` to 4/3, where it is 1, and falls to 0 up to 8/3.

    Parameters
    ----------
    scale : float
        s > 0.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> cg.responses.MeyerWavelet(1.0)([0.5, 1.0, 4 / 3, 2.0]).round(3)
    array([0.   , 0.707, 1.   , 0.707])
    """

    scale: float

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        x = self.scale * check_eigenvalues(eigenvalues).astype(np.float64)
        return np.where(x < 4 / 3, np.sin(_angle(1.5 * x - 1)), np.cos(_angle(0.75 * x - 1)))

    def places(self, lmin: float, lmax: float) -> FloatArray:
        """Return the peak and points on the slopes."""
        return _within(np.array([1.0, 4 / 3, 2.0]) / self.scale, lmin, lmax)

    def variation(self, unit: float = 1.0) -> float:
        """Bound the total variation of the fourth derivative."""
        return self._variation_of_step(2 / 3, unit) + self._variation_of_step(4 / 3, unit)


def tight_bank(name: str, n_filters: int, lmax: float) -> list[Response]:
    r"""Return responses whose squares add up to one on [0, lmax].

    Parameters
    ----------
    name : {"itersine", "meyer"}
        Bumps of equal width whose centers are equally spaced from 0 to lmax, or a scaling function and wavelets, each
        of twice the width of the one before.
    n_filters : int
        At least 2.
    lmax : float
        Right end of the frequencies, > 0.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> bank = cg.responses.tight_bank("meyer", 4, lmax=8.0)
    >>> bool(np.allclose(sum(g(np.linspace(0, 8, 100)) ** 2 for g in bank), 1.0))
    True
    """
    check_choice(name, "name", TIGHT_BANKS)
    n = check_integer(n_filters, "n_filters", at_least=2)
    end = check_positive(lmax, "lmax")
    if name == "itersine":
        return [Itersine(i * end / (n - 1), 2 * end / (n - 1)) for i in range(n)]
    scales = [4 / (3 * end) * 2.0**j for j in range(n - 2, -1, -1)]
    return [MeyerScaling(scales[0]), *(MeyerWavelet(s) for s in scales)]


def _angle(t: Array) -> FloatArray:
    """Return the angle that goes from 0 to a quarter of a circle between t = 0 and 1."""
    t = np.clip(np.asarray(t, dtype=np.float64), 0.0, 1.0)
    # v(t) = 1 - v(1 - t), and up to 1/2 little of the polynomial cancels: it is off by less than 5 units there
    s = np.minimum(t, 1 - t)
    v = (s * s) ** 2 * (35 - s * (84 - s * (70 - 20 * s)))
    return np.pi / 2 * np.where(t > 0.5, 1 - v, v)


def _power(x: float, exponent: int) -> float:
    """Return a power, infinite where it leaves the range of numbers."""
    with np.errstate(over="ignore", under="ignore"):
        return float(np.float64(x) ** exponent)


def _within(points: FloatArray, lmin: float, lmax: float) -> FloatArray:
    return points[(points >= lmin) & (points <= lmax)]
