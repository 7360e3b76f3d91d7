"""Heat kernels, Mexican hats and Gaussians: entire functions of frequency."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayleygsp._typing import Array, ArrayLike, FloatArray
from cayleygsp._validation import check_eigenvalues, check_positive, check_real
from cayleygsp.responses.ellipse import UNIT, AnalyticResponse, half_axes


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
        object.__setattr__(self, "scale", check_positive(self.scale, "scale"))

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        return np.exp(-self.scale * check_eigenvalues(eigenvalues).astype(np.float64))

    def log_bounds(self, delta: FloatArray, lmin: float, lmax: float) -> FloatArray:
        """Return the logarithm of the bound on E_ρ."""
        return self.scale * (half_axes(delta, lmax - lmin)[0] - lmin)

    def value_error(self, lmin: float, lmax: float) -> float:
        """Return a bound of the rounding of values: x exp(-x) is at most 1/e."""
        return 8 * UNIT * float(np.exp(-self.scale * lmin))

    def lipschitz_bound(self, lmin: float, lmax: float) -> float:
        """Return the slope at the left end."""
        return self.scale * float(np.exp(-self.scale * lmin))


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
        object.__setattr__(self, "scale", check_positive(self.scale, "scale"))

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
        return 24 * UNIT * self._near_zero(lmin) * min(1.0, x * (1 + x))

    def lipschitz_bound(self, lmin: float, lmax: float) -> float:
        """Return the slope at the left end, which is the largest."""
        return float(np.e) * self.scale * self._near_zero(lmin)

    def _near_zero(self, lmin: float) -> float:
        """Return how much larger than at 0 slopes and values can be left of it."""
        x = -self.scale * lmin
        return (1 + x) * float(np.exp(x))


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
        object.__setattr__(self, "center", check_real(self.center, "center"))
        object.__setattr__(self, "width", check_positive(self.width, "width"))
        if not (np.isfinite(self.center) and self.center >= 0):
            raise ValueError(f"`center` must be at least 0 and finite, got {self.center!r}")

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

    def lipschitz_bound(self, lmin: float, lmax: float) -> float:
        """Return the largest slope of the bump, at a distance of w/√2 from the center."""
        return float(np.sqrt(2 / np.e)) / self.width


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
