"""Targets of fits, by name: Tikhonov regularisation and Gaussian bumps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cayleygsp import responses
from cayleygsp._typing import ArrayLike, FloatArray
from cayleygsp._validation import check_positive
from cayleygsp.design.targets import Piece, Target
from cayleygsp.responses.base import Response


@dataclass(frozen=True)
class Tikhonov(Target):
    r"""Tikhonov regularisation :math:`(1 + t\lambda)^{-\nu}`.

    Parameters
    ----------
    strength : float
        t > 0.
    power : float
        ν > 0; 1 if it is left out.

    Examples
    --------
    >>> from cayleygsp.design import Tikhonov
    >>> Tikhonov(3.0)([0.0, 1.0])
    array([1.  , 0.25])
    """

    name: ClassVar[str] = "tikhonov"
    strength: float
    power: float = 1.0

    def __post_init__(self) -> None:
        check_positive(self.strength, "strength")
        check_positive(self.power, "power")

    @property
    def features(self) -> tuple[float, ...]:
        """Where the response has fallen to a half, if it is the first power."""
        return (1 / self.strength,)

    def __call__(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return the value at the given frequencies, in their shape."""
        return self.response()(eigenvalues)

    def response(self) -> Response:
        """Return the regularisation as a response with proved errors."""
        return responses.Tikhonov(self.strength, self.power)

    def pieces(self, lmax: float) -> tuple[Piece, ...]:
        """Return the whole interval."""
        return (Piece(0.0, lmax),)

    def slope(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return the derivative at the given frequencies."""
        lam = np.asarray(eigenvalues, dtype=np.float64)
        return -self.power * self.strength * (1 + self.strength * lam) ** (-self.power - 1)

    def slope_bounds(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return upper bounds of the absolute first and second derivative between two frequencies."""
        first = np.abs(self.slope(low))
        return first, (self.power + 1) * self.strength * first / (1 + self.strength * low)


@dataclass(frozen=True)
class Gaussian(Target):
    r"""A bump :math:`e^{-((\lambda - m)/w)^2}` about the frequency m.

    Parameters
    ----------
    center : float
        m ≥ 0.
    width : float
        w > 0.

    Examples
    --------
    >>> from cayleygsp.design import Gaussian
    >>> Gaussian(1.0, 0.5)([0.5, 1.0, 2.0]).round(3)
    array([0.368, 1.   , 0.018])
    """

    name: ClassVar[str] = "gaussian"
    center: float
    width: float

    def __post_init__(self) -> None:
        self.response()

    @property
    def features(self) -> tuple[float, ...]:
        """The peak and the places beside it where the response has fallen to 1/e."""
        return tuple(lam for lam in (self.center - self.width, self.center, self.center + self.width) if lam >= 0)

    def __call__(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return the value at the given frequencies, in their shape."""
        return self.response()(eigenvalues)

    def response(self) -> Response:
        """Return the bump as a response with proved errors."""
        return responses.Gaussian(self.center, self.width)

    def pieces(self, lmax: float) -> tuple[Piece, ...]:
        """Return the whole interval."""
        return (Piece(0.0, lmax),)

    def slope(self, eigenvalues: ArrayLike) -> FloatArray:
        """Return the derivative at the given frequencies."""
        u = (np.asarray(eigenvalues, dtype=np.float64) - self.center) / self.width
        return -2 * u / self.width * np.exp(-u * u)

    def slope_bounds(self, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return upper bounds of the absolute first and second derivative between two frequencies."""
        left, right = (low - self.center) / self.width, (high - self.center) / self.width
        far = np.maximum(np.abs(left), np.abs(right))
        near = np.where(left * right <= 0, 0.0, np.minimum(np.abs(left), np.abs(right)))
        largest = np.exp(-near * near)
        second = np.maximum(np.abs(4 * far * far - 2), np.abs(4 * near * near - 2))
        return 2 * far / self.width * largest, second / self.width**2 * largest
