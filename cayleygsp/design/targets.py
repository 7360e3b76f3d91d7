"""Targets of fits, by name: steps, bands, heat and wavelets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cayleygsp import responses
from cayleygsp._typing import ArrayLike, FloatArray
from cayleygsp._validation import check_eigenvalues, check_positive, check_real
from cayleygsp.responses.base import Response


@dataclass(frozen=True)
class Piece:
    """An interval of frequencies on which a target is smooth.

    Attributes
    ----------
    low, high : float
        Its ends, which belong to it.
    value : float or None
        The target's value there if it is constant.

    Examples
    --------
    >>> from cayleygsp.design import LowPass
    >>> [(piece.low, piece.high) for piece in LowPass(1.0, 0.5).pieces(4.0)]
    [(0.0, 0.75), (1.25, 4.0)]
    """

    low: float
    high: float
    value: float | None = None


class Target(ABC):
    """Base class of the targets: a function of frequency, and the frequencies at which it changes.

    A target of your own needs ``features`` and ``__call__``. What is said of fits to it rests on samples, unless it
    also gives ``pieces``, ``slope`` and ``slope_bounds``.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> target = cg.design.LowPass(1.0, 0.5)
    >>> isinstance(target, cg.design.Target)
    True
    >>> target([0.0, 2.0])
    array([1., 0.])
    """

    name: ClassVar[str]

    @property
    @abstractmethod
    def features(self) -> tuple[float, ...]:
        """Frequencies at which the target changes; fits look closely there."""

    @abstractmethod
    def __call__(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return the value at the given frequencies, in their shape."""

    def weight(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return 0 inside transition bands, where any value will do, and 1 elsewhere."""
        return np.ones(np.shape(eigenvalues))

    def response(self) -> Response | None:
        """Return the response that is applied where no fit is asked for; its error is proved. None if there is none."""
        return None

    def pieces(self, lmax: float) -> tuple[Piece, ...] | None:
        """Return intervals that cover [0, lmax] but for transition bands, smooth on each; None if they are not known.

        Parameters
        ----------
        lmax : float
            Right end, ≥ 0.
        """
        return None

    def slope(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return the derivative inside the pieces.

        Parameters
        ----------
        eigenvalues : array_like
            Frequencies, of any shape.
        """
        raise NotImplementedError(f"{type(self).__name__} does not know its derivative")

    def slope_bounds(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return upper bounds of the absolute first and second derivative between two frequencies of one piece.

        Parameters
        ----------
        low, high : numpy.ndarray
            Ends of intervals.
        """
        raise NotImplementedError(f"{type(self).__name__} does not know its derivatives")


class _Band(Target):
    """Steps up and down, each with a transition band."""

    transition: float

    @abstractmethod
    def _steps(self) -> tuple[float | None, float | None]:
        """Return where the target rises from 0 to 1 and where it falls; None for never."""

    @property
    def features(self) -> tuple[float, ...]:
        half = self.transition / 2
        cutoffs = [c for c in self._steps() if c is not None]
        return tuple(sorted({edge for c in cutoffs for edge in (c - half, c + half)}))

    def __call__(self, eigenvalues: ArrayLike) -> FloatArray:
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        rise, fall = self._steps()
        values = np.ones(lam.shape)
        if rise is not None:
            values = np.minimum(values, self._step(lam - rise))
        if fall is not None:
            values = np.minimum(values, self._step(fall - lam))
        return values

    def response(self) -> Response:
        """Return the smooth steps that stand for the target: of its transition, or of a default one if that is 0."""
        rise, fall = self._steps()
        transition = self.transition or None
        if rise is None:
            assert fall is not None
            return responses.LowPass(fall, transition)
        return responses.HighPass(rise, transition) if fall is None else responses.BandPass(rise, fall, transition)

    def _step(self, beyond: FloatArray) -> FloatArray:
        """Return 0 far below the cutoff, 1 from there on, and a ramp across the transition band."""
        if self.transition == 0:
            return (beyond >= 0).astype(np.float64)
        return np.clip(beyond / self.transition + 0.5, 0.0, 1.0)

    def weight(self, eigenvalues: ArrayLike) -> FloatArray:
        lam = check_eigenvalues(eigenvalues)
        matters = np.ones(lam.shape)
        for cutoff in self._steps():
            if cutoff is not None:
                matters[np.abs(lam - cutoff) < self.transition / 2] = 0.0
        return matters

    def pieces(self, lmax: float) -> tuple[Piece, ...]:
        half = self.transition / 2
        rise, fall = self._steps()
        ends = [(0.0 if rise is None else rise + half, np.inf if fall is None else fall - half, 1.0)]
        if rise is not None:
            ends.append((0.0, rise - half, 0.0))
        if fall is not None:
            ends.append((fall + half, np.inf, 0.0))
        solid = [Piece(float(low), float(min(high, lmax)), value) for low, high, value in sorted(ends) if low <= lmax]
        return tuple(piece for piece in solid if piece.low < piece.high or self._has_value(piece))

    def _has_value(self, piece: Piece) -> bool:
        """Return whether a piece of one frequency is one: a step has only one of its two values at its cutoff."""
        return bool(self(piece.low) == piece.value)

    def slope(self, eigenvalues: ArrayLike) -> FloatArray:
        return np.zeros(np.shape(eigenvalues))

    def slope_bounds(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        return np.zeros(low.shape), np.zeros(low.shape)

    def _check_transition(self, room: float) -> None:
        width = check_real(self.transition, "transition")
        if not 0 <= width < room:
            raise ValueError(
                f"`transition` must be at least 0 and below {room:g}, the room left by the band edges, got {width:g}"
            )


@dataclass(frozen=True)
class LowPass(_Band):
    r"""1 up to the cutoff, 0 above.

    Parameters
    ----------
    cutoff : float
        The last frequency to pass, > 0.
    transition : float
        Width of a band around the cutoff in which any value will do, below twice the cutoff. With 0 the target is an
        ideal step: a continuous fit misses it by 1/2 somewhere, if the weight reaches up to it.

    Examples
    --------
    >>> from cayleygsp.design import LowPass
    >>> LowPass(0.5)([0.0, 0.5, 0.6])
    array([1., 1., 0.])
    """

    name: ClassVar[str] = "low-pass"
    cutoff: float
    transition: float = 0.0

    def __post_init__(self) -> None:
        self._check_transition(2 * check_positive(self.cutoff, "cutoff"))

    def _steps(self) -> tuple[float | None, float | None]:
        return None, self.cutoff


@dataclass(frozen=True)
class HighPass(_Band):
    """0 below the cutoff, 1 from there on.

    Parameters
    ----------
    cutoff : float
        The first frequency to pass, > 0.
    transition : float
        Width of a band around the cutoff in which any value will do, below twice the cutoff.

    Examples
    --------
    >>> from cayleygsp.design import HighPass
    >>> HighPass(0.5)([0.4, 0.5, 9.0])
    array([0., 1., 1.])
    """

    name: ClassVar[str] = "high-pass"
    cutoff: float
    transition: float = 0.0

    def __post_init__(self) -> None:
        self._check_transition(2 * check_positive(self.cutoff, "cutoff"))

    def _steps(self) -> tuple[float | None, float | None]:
        return self.cutoff, None


@dataclass(frozen=True)
class BandPass(_Band):
    """1 from ``low`` to ``high``, 0 elsewhere.

    Parameters
    ----------
    low, high : float
        Ends of the band, 0 ≤ low < high.
    transition : float
        Width of a band around each end in which any value will do; less than the band, and less than twice ``low``
        unless that is 0.

    Examples
    --------
    >>> from cayleygsp.design import BandPass
    >>> BandPass(0.2, 0.4)([0.1, 0.3, 0.5])
    array([0., 1., 0.])
    """

    name: ClassVar[str] = "band-pass"
    low: float
    high: float
    transition: float = 0.0

    def __post_init__(self) -> None:
        _check_band(self.low, self.high)
        self._check_transition(min(self.high - self.low, 2 * self.low if self.low else np.inf))

    def _steps(self) -> tuple[float | None, float | None]:
        return self.low or None, self.high


@dataclass(frozen=True)
class Indicator(_Band):
    """1 on the closed band [low, high], 0 elsewhere, without a transition.

    Parameters
    ----------
    low, high : float
        Ends of the band, 0 ≤ low < high.

    Examples
    --------
    >>> from cayleygsp.design import Indicator
    >>> Indicator(0, 1.2)([0.0, 1.2, 1.3])
    array([1., 1., 0.])
    """

    name: ClassVar[str] = "indicator"
    transition: ClassVar[float] = 0.0  # type: ignore[misc]
    low: float
    high: float

    def __post_init__(self) -> None:
        _check_band(self.low, self.high)

    def _steps(self) -> tuple[float | None, float | None]:
        return self.low or None, self.high


class _Scaled(Target):
    """One shape, stretched along the axis of frequencies."""

    scale: float

    def __post_init__(self) -> None:
        check_positive(self.scale, "scale")

    @abstractmethod
    def _shape(self, x: FloatArray) -> FloatArray:
        """Return the value at x = sλ."""

    @property
    def features(self) -> tuple[float, ...]:
        return (1 / self.scale,)

    def __call__(self, eigenvalues: ArrayLike) -> FloatArray:
        return self._shape(self.scale * check_eigenvalues(eigenvalues).astype(np.float64))

    def pieces(self, lmax: float) -> tuple[Piece, ...]:
        return (Piece(0.0, lmax),)


@dataclass(frozen=True)
class Heat(_Scaled):
    r"""The heat kernel :math:`e^{-s\lambda}`.

    Parameters
    ----------
    scale : float
        s > 0, the time of the diffusion.

    Examples
    --------
    >>> from cayleygsp.design import Heat
    >>> Heat(2.0)([0.0, 0.5]).round(3)
    array([1.   , 0.368])
    """

    name: ClassVar[str] = "heat"
    scale: float

    def response(self) -> Response:
        """Return the heat kernel as a response with proved errors."""
        return responses.Heat(self.scale)

    def _shape(self, x: FloatArray) -> FloatArray:
        return np.exp(-x)

    def slope(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return the derivative at the given frequencies."""
        return -self.scale * self(eigenvalues)

    def slope_bounds(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return upper bounds of the absolute first and second derivative between two frequencies."""
        largest = self.scale * self(low)
        return largest, self.scale * largest


@dataclass(frozen=True)
class MexicanHat(_Scaled):
    r"""The wavelet :math:`s\lambda\, e^{1 - s\lambda}`: 0 at λ = 0, and 1 at its peak λ = 1/s.

    Parameters
    ----------
    scale : float
        s > 0.

    Examples
    --------
    >>> from cayleygsp.design import MexicanHat
    >>> MexicanHat(2.0)([0.0, 0.5, 5.0]).round(3)
    array([0.   , 1.   , 0.001])
    """

    name: ClassVar[str] = "mexican-hat"
    scale: float

    def response(self) -> Response:
        """Return the wavelet as a response with proved errors."""
        return responses.MexicanHat(self.scale)

    def _shape(self, x: FloatArray) -> FloatArray:
        return x * np.exp(1 - x)

    def slope(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return the derivative at the given frequencies."""
        x = self.scale * np.asarray(eigenvalues, dtype=np.float64)
        return self.scale * (1 - x) * np.exp(1 - x)

    def slope_bounds(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return upper bounds of the absolute first and second derivative between two frequencies."""
        x0, x1 = self.scale * low, self.scale * high
        largest = self.scale * np.exp(1 - x0)
        first = largest * np.maximum(np.abs(1 - x0), np.abs(1 - x1))
        return first, self.scale * largest * np.maximum(np.abs(2 - x0), np.abs(2 - x1))


def _check_band(low: float, high: float) -> None:
    b = check_positive(high, "high")
    if not 0 <= check_real(low, "low") < b:
        raise ValueError(f"`low` must be at least 0 and below `high` = {b:g}, got {low:g}")
