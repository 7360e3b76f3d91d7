r"""Smooth steps by the error function: low, high and band pass of any sharpness.

A step at c is :math:`\tfrac12\mathrm{erfc}((\lambda - c)/w)`, an entire function, so that no fit is needed to apply
it. Its width w is set by the transition band, at whose ends the step is within 0.001 of 1 and 0.

As the target of a fit a smooth step stands for the sharp one: any value will do in a transition band that is given, and
without one nowhere.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy import special

from cayleygsp._typing import Array, ArrayLike, FloatArray
from cayleygsp._validation import check_eigenvalues, check_positive, check_real
from cayleygsp.responses.analytic import UNIT, AnalyticResponse, gaussian_growth
from cayleygsp.responses.base import check_fields

# Where erfc(x)/2 has fallen to 0.001, as far as a step is from 1 and 0 at the ends of its transition band.
_HALF_WIDTHS = 2.1851242

# Width of the transition band where none is given, relative to the cutoff.
DEFAULT_TRANSITION = 0.5


class _Steps(AnalyticResponse):
    """Steps of one width, up or down."""

    transition: float | None

    @abstractmethod
    def _widths(self) -> tuple[float, float]:
        """Return the width of the transition where none is given, and the largest for which there is room."""

    @property
    def width(self) -> float:
        """The width of the transition bands."""
        return self._widths()[0] if self.transition is None else self.transition

    @property
    def _scale(self) -> float:
        return self.width / (2 * _HALF_WIDTHS)

    def __post_init__(self) -> None:
        if self.transition is None:  # the default always fits
            return
        check_fields(self, transition=check_positive)
        if self.width > (room := self._widths()[1]):
            raise ValueError(
                f"`transition` must be at most {room:g}, the room left by the band edges, got {self.width:g}"
            )

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        ((cutoff, way),) = self.jumps
        return special.erfc(way * (cutoff - lam) / self._scale) / 2

    def log_bounds(self, delta: FloatArray, lmin: float, lmax: float) -> FloatArray:
        r"""Return the logarithm of the bound on E_ρ, that of the steps together.

        :math:`|\mathrm{erfc}(z)| \le e^{y^2 - x^2}` right of the imaginary axis, and erfc(z) = 2 - erfc(-z) left of it.
        """
        growth = [gaussian_growth(delta, lmin, lmax, cutoff, self._scale) - np.log(2) for cutoff, _ in self.jumps]
        return np.logaddexp.reduce([np.logaddexp(0.0, one) for one in growth])

    def value_error(self, lmin: float, lmax: float) -> float:
        """Return a bound of the rounding of values: that of erfc, and frequencies off by some units of the cutoff."""
        return sum(UNIT * (8 + 8 * (min(cutoff, lmax) / self._scale + 1)) for cutoff, _ in self.jumps)

    def lipschitz_bound(self, lmin: float, lmax: float) -> float:
        """Return the slope of one step at its cutoff; two have opposite signs."""
        return float(1 / (np.sqrt(np.pi) * self._scale))


class _OneStep(_Steps):
    """A step at a cutoff."""

    cutoff: float

    def __post_init__(self) -> None:
        check_fields(self, cutoff=check_positive)
        super().__post_init__()

    def _widths(self) -> tuple[float, float]:
        return DEFAULT_TRANSITION * self.cutoff, 2 * self.cutoff


@dataclass(frozen=True)
class LowPass(_OneStep):
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

    @property
    def jumps(self) -> tuple[tuple[float, int], ...]:
        """Down at the cutoff."""
        return ((self.cutoff, -1),)


@dataclass(frozen=True)
class HighPass(_OneStep):
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

    @property
    def jumps(self) -> tuple[tuple[float, int], ...]:
        """Up at the cutoff."""
        return ((self.cutoff, 1),)


@dataclass(frozen=True)
class BandPass(_Steps):
    r"""A smooth step up at ``low`` and one down at ``high``.

    Parameters
    ----------
    low, high : float
        Ends of the band, 0 ≤ low < high, where the response is 1/2. With 0 there is no step up.
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
        check_fields(self, low=check_real, high=check_positive)
        if not 0 <= self.low < self.high:
            raise ValueError(f"`low` must be at least 0 and below `high` = {self.high:g}, got {self.low:g}")
        super().__post_init__()

    def _widths(self) -> tuple[float, float]:
        low, band = self.low or np.inf, self.high - self.low
        return DEFAULT_TRANSITION * min(low, band), min(2 * low, band)

    @property
    def jumps(self) -> tuple[tuple[float, int], ...]:
        """Up at the low end, down at the high one."""
        return ((self.low, 1), (self.high, -1)) if self.low else ((self.high, -1),)

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        if not self.low:
            return super().__call__(eigenvalues)
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        # of the two forms, the one whose terms are small: no digits are lost outside the band
        below = special.erfc((self.low - lam) / self._scale) - special.erfc((self.high - lam) / self._scale)
        above = special.erfc((lam - self.high) / self._scale) - special.erfc((lam - self.low) / self._scale)
        return np.where(lam < (self.low + self.high) / 2, below, above) / 2

    def places(self, lmin: float, lmax: float) -> FloatArray:
        """Return the middle of the band, which may lie between the points that are looked at otherwise."""
        middle = np.array([(self.low + self.high) / 2])
        return middle[middle <= lmax]
