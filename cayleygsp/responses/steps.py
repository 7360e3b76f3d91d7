r"""Smooth steps by the error function: low, high and band pass of any sharpness.

A step at c is :math:`\tfrac12\mathrm{erfc}((\lambda - c)/w)`, an entire function, so that no fit is needed to apply
it. Its width w is set by the transition band, at whose ends the step is within 0.001 of 1 and 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from cayleygsp._typing import Array, ArrayLike, FloatArray
from cayleygsp._validation import check_eigenvalues, check_positive
from cayleygsp.responses.analytic import UNIT, AnalyticResponse, gaussian_growth

# How far a step is from 1 and 0 at the ends of its transition band, and where erfc(x)/2 has fallen to that.
STEP_LEVEL = 1e-3
_HALF_WIDTHS = 2.1851242

# Width of the transition band where none is given, relative to the cutoff.
DEFAULT_TRANSITION = 0.5


def _step_width(transition: float) -> float:
    """Return w of a step with the given transition band."""
    return transition / (2 * _HALF_WIDTHS)


def _log_step_bound(delta: FloatArray, lmin: float, lmax: float, cutoff: float, transition: float) -> FloatArray:
    r"""Return the logarithm of a bound of a step, rising or falling, on E_ρ.

    :math:`|\mathrm{erfc}(z)| \le e^{y^2 - x^2}` right of the imaginary axis, and erfc(z) = 2 - erfc(-z) left of it.
    """
    return np.logaddexp(0.0, gaussian_growth(delta, lmin, lmax, cutoff, _step_width(transition)) - np.log(2))


def _step_error(lmax: float, cutoff: float, transition: float) -> float:
    """Bound the rounding of a step's values: that of erfc, and frequencies off by some units of the cutoff."""
    return UNIT * (8 + 8 * (min(cutoff, lmax) / _step_width(transition) + 1))


def _steepest(transition: float) -> float:
    """Return the slope of a step at its cutoff."""
    return float(1 / (np.sqrt(np.pi) * _step_width(transition)))


def _check_transition(transition: float | None, room: float) -> float | None:
    """Return a given width of the transition band, None if it is the default, which always fits."""
    if transition is None:
        return None
    width = check_positive(transition, "transition")
    if width > room:
        raise ValueError(f"`transition` must be at most {room:g}, the room left by the band edges, got {width:g}")
    return width


class _Step(AnalyticResponse):
    """One step, down or up."""

    cutoff: float
    transition: float | None

    @property
    def width(self) -> float:
        """The width of the transition band."""
        return DEFAULT_TRANSITION * self.cutoff if self.transition is None else self.transition

    def __post_init__(self) -> None:
        object.__setattr__(self, "cutoff", check_positive(self.cutoff, "cutoff"))
        object.__setattr__(self, "transition", _check_transition(self.transition, 2 * self.cutoff))

    def log_bounds(self, delta: FloatArray, lmin: float, lmax: float) -> FloatArray:
        """Return the logarithm of the bound on E_ρ."""
        return _log_step_bound(delta, lmin, lmax, self.cutoff, self.width)

    def value_error(self, lmin: float, lmax: float) -> float:
        """Return a bound of the rounding of values."""
        return _step_error(lmax, self.cutoff, self.width)

    def lipschitz_bound(self, lmin: float, lmax: float) -> float:
        """Return the slope at the cutoff."""
        return _steepest(self.width)


@dataclass(frozen=True)
class LowPass(_Step):
    r"""A smooth step from 1 down to 0, :math:`\tfrac12\mathrm{erfc}((\lambda - c)/w)`.

    Parameters
    ----------
    cutoff : float
        c > 0, where the response is 1/2.
    transition : float, optional
        Width of the band about the cutoff in which the response falls from 0.999 to 0.001; at most twice the cutoff,
        and half of it by default.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> cg.responses.LowPass(1.0, transition=0.2)([0.0, 0.9, 1.0, 1.1]).round(3)
    array([1.   , 0.999, 0.5  , 0.001])
    """

    cutoff: float
    transition: float | None = None

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        return special.erfc((lam - self.cutoff) / _step_width(self.width)) / 2


@dataclass(frozen=True)
class HighPass(_Step):
    r"""A smooth step from 0 up to 1, :math:`\tfrac12\mathrm{erfc}((c - \lambda)/w)`.

    Parameters
    ----------
    cutoff : float
        c > 0, where the response is 1/2.
    transition : float, optional
        Width of the band about the cutoff in which the response rises from 0.001 to 0.999; at most twice the cutoff,
        and half of it by default.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> cg.responses.HighPass(1.0, transition=0.2)([0.0, 0.9, 1.0, 1.1]).round(3)
    array([0.   , 0.001, 0.5  , 0.999])
    """

    cutoff: float
    transition: float | None = None

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        return special.erfc((self.cutoff - lam) / _step_width(self.width)) / 2


@dataclass(frozen=True)
class BandPass(AnalyticResponse):
    r"""A smooth step up at ``low`` and one down at ``high``.

    Parameters
    ----------
    low, high : float
        Ends of the band, 0 < low < high, where the response is 1/2.
    transition : float, optional
        Width of the bands about both ends in which the response changes; at most the width of the band and twice
        ``low``, and by default half of the smaller of ``low`` and the band.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> cg.responses.BandPass(1.0, 2.0, transition=0.2)([0.5, 1.0, 1.5, 2.0, 2.5]).round(3)
    array([0. , 0.5, 1. , 0.5, 0. ])
    """

    low: float
    high: float
    transition: float | None = None

    def __post_init__(self) -> None:
        low, high = check_positive(self.low, "low"), check_positive(self.high, "high")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        if low >= high:
            raise ValueError(f"`low` must be below `high` = {high:g}, got {low:g}")
        object.__setattr__(self, "transition", _check_transition(self.transition, min(high - low, 2 * low)))

    @property
    def width(self) -> float:
        """The width of the transition bands."""
        default = DEFAULT_TRANSITION * min(self.low, self.high - self.low)
        return default if self.transition is None else self.transition

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        w = _step_width(self.width)
        # of the two forms, the one whose terms are small: no digits are lost outside the band
        below = special.erfc((self.low - lam) / w) - special.erfc((self.high - lam) / w)
        above = special.erfc((lam - self.high) / w) - special.erfc((lam - self.low) / w)
        return np.where(lam < (self.low + self.high) / 2, below, above) / 2

    def places(self, lmin: float, lmax: float) -> FloatArray:
        """Return the middle of the band, which may lie between the points that are looked at otherwise."""
        middle = np.array([(self.low + self.high) / 2])
        return middle[middle <= lmax]

    def log_bounds(self, delta: FloatArray, lmin: float, lmax: float) -> FloatArray:
        """Return the logarithm of the bound on E_ρ: each of the two steps has one."""
        return np.logaddexp(*(_log_step_bound(delta, lmin, lmax, c, self.width) for c in (self.low, self.high)))

    def value_error(self, lmin: float, lmax: float) -> float:
        """Return a bound of the rounding of values."""
        return sum(_step_error(lmax, c, self.width) for c in (self.low, self.high))

    def lipschitz_bound(self, lmin: float, lmax: float) -> float:
        """Return the slope of one step; the two have opposite signs."""
        return _steepest(self.width)
