r"""Chebyshev series of a response on [lmin, lmax], with bounds of what they leave out and of their rounding.

A series is :math:`\sum_k a_k T_k(\tilde\lambda)` with
:math:`\tilde\lambda = 2(\lambda - \lambda_{min})/(\lambda_{max} - \lambda_{min}) - 1`. The interval starts at 0, or
just below it where rounded entries of a given Laplacian put eigenvalues there. The first coefficient is not halved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.polynomial import chebyshev
from scipy import fft

from cayleygsp._format import ShortRepr
from cayleygsp._typing import Array, FloatArray

Certificate: TypeAlias = Literal["proved", "sampled"]

# More samples than this mean that a series is the wrong tool.
MAX_SAMPLES = 2**22

# Points per degree at which a series is looked at for its extremes, and how many at most: between them it is at most
# 1/cos(π/8192) times as far from the middle of its range, 7e-8 of it.
_POINTS_PER_DEGREE = 4096
_MOST_POINTS = 2**23

# Up to this degree the sensitivity to rounding is computed sharply, in time proportional to its square.
_SHARP_DEGREE = 6000


@dataclass(frozen=True, eq=False, repr=False)
class ChebyshevSeries(ShortRepr):
    """Coefficients a_0 ... a_K on [lmin, lmax], and an upper bound of their distance from the response.

    The bound is proved by the form of the response, or was seen on samples of a function of which no more is known.
    """

    coeffs: FloatArray
    lmax: float
    error: float
    certificate: Certificate = "proved"
    lmin: float = 0.0

    @classmethod
    def constant(cls, value: float, error: float = 0.0, certificate: Certificate = "proved") -> ChebyshevSeries:
        """Return the one term that is left of a response on the interval [0, 0]."""
        return cls(np.array([value]), 0.0, error, certificate)

    @property
    def length(self) -> float:
        """The length of the interval."""
        return self.lmax - self.lmin

    @cached_property
    def degree(self) -> int:
        """The degree K."""
        return self.coeffs.size - 1

    def __call__(self, lam: Array) -> Array:
        """Return the value of the series."""
        if self.length == 0:
            return np.full(np.shape(lam), self.coeffs[0])
        return chebyshev.chebval(2 * (np.asarray(lam) - self.lmin) / self.length - 1, self.coeffs)

    @cached_property
    def size(self) -> float:
        """The sum of the sizes of the coefficients, which no value on the interval exceeds."""
        return float(np.abs(self.coeffs).sum())

    @cached_property
    def sup(self) -> float:
        """An upper bound of the values on the interval that is at most √2 times too large."""
        if self.length == 0 or self.degree == 0:
            return self.size
        seen = float(np.abs(self.at_nodes(2 * self.degree + 2)).max())
        # a polynomial of degree K is nowhere larger than √2 times its maximum on 2K Chebyshev points
        return min(self.size, np.sqrt(2) * seen + 2**-50 * (self.degree + 1) * self.size)

    def at_nodes(self, n_nodes: int) -> FloatArray:
        """Return the values at the n > K points of :func:`chebyshev_nodes`, by one cosine transform."""
        a = np.zeros(n_nodes)
        a[: self.coeffs.size] = self.coeffs
        a[1:] /= 2
        return fft.dct(a, type=3)

    def range(self, points_per_degree: int = _POINTS_PER_DEGREE) -> tuple[float, float]:
        r"""Return an interval that holds all that the response of the series is on its interval.

        A polynomial of degree K is nowhere larger than :math:`1/\cos(\pi K/2N)` times its maximum on N Chebyshev points
        (Ehlich and Zeller, 1964); this is used about the middle of the values that are seen.
        """
        if self.length == 0 or self.degree == 0:
            return float(self.coeffs[0]) - self.error, float(self.coeffs[0]) + self.error
        n_points = max(min(points_per_degree * self.degree, _MOST_POINTS), 2 * self.degree + 2)
        values = self.at_nodes(n_points)
        middle = (float(values.max()) + float(values.min())) / 2
        rounding = 2**-50 * float(np.log2(n_points) + 4) * self.size
        reach = (float(np.abs(values - middle).max()) + rounding) / np.cos(np.pi * self.degree / (2 * n_points))
        reach = float(reach) + rounding + self.error
        return middle - reach, middle + reach

    def tails(self, n_degrees: int) -> FloatArray:
        """Bound what is left out beyond the degrees 0 … n - 1."""
        beyond = np.append(np.cumsum(np.abs(self.coeffs[:0:-1]))[::-1], 0.0) + self.error
        return beyond[np.minimum(np.arange(n_degrees), self.degree)]

    @cached_property
    def steepest_slope(self) -> float:
        """An upper bound of the slope of the series on its interval: the sum of its derivative's coefficients."""
        return self.slope_beyond(self.lmin, self.lmax)

    def slope_beyond(self, lmin: float, lmax: float) -> float:
        """Bound the slope on another interval."""
        if self.length == 0 or self.degree == 0:
            return 0.0
        derivative = np.abs(chebyshev.chebder(self.coeffs))
        with np.errstate(over="ignore", invalid="ignore"):
            return float(2 / self.length * (derivative @ self.growth(lmin, lmax)[:-1]) * (1 + 1e-10))

    def growth(self, lmin: float, lmax: float) -> FloatArray:
        """Return the maxima of the polynomials T_0 ... T_K on an interval that may be longer."""
        x = max(2 * (lmax - self.lmin) / self.length - 1, 1 - 2 * (lmin - self.lmin) / self.length, 1.0)
        with np.errstate(over="ignore"):
            return np.cosh(np.arange(self.coeffs.size) * np.arccosh(x))

    @cached_property
    def sensitivity(self) -> float:
        r"""How much errors of size one in every step of the recurrence can add up to.

        An error made in step j reaches the result multiplied by
        :math:`B_j(\tilde\Delta) = \sum_{k \ge j} a_k U_{k-j}(\tilde\Delta)`, whether the series is summed
        forwards or by Clenshaw's rule. The sum of the maxima of :math:`|B_j|` on [-1, 1] is returned.
        """
        K = self.degree
        if K > _SHARP_DEGREE:
            k = np.arange(K + 1, dtype=np.float64)
            return float((k + 1) * (k + 2) / 2 @ np.abs(self.coeffs))
        n_points = 2 * K + 2
        x2 = 2 * np.cos((np.arange(n_points) + 0.5) * np.pi / n_points)
        B1, B2 = np.zeros(n_points), np.zeros(n_points)
        total = 0.0
        for a in self.coeffs[::-1]:
            B1, B2 = a + x2 * B1 - B2, B1
            total += max(B1.max(), -B1.min())
        # a polynomial of degree K is nowhere larger than √2 times its maximum on 2K Chebyshev points
        return float(np.sqrt(2) * total)

    def sensitivity_beyond(self, lmin: float, lmax: float) -> float:
        """Bound the same for a spectrum that may reach beyond the interval of the series."""
        growth = self.growth(lmin, lmax)  # of T_k, and U_k is at most (k + 1) times that
        if not np.isfinite(growth[-1]):
            return np.inf
        k = np.arange(self.coeffs.size)
        return max(self.sensitivity, float((k + 1) ** 2 * growth @ np.abs(self.coeffs) * growth[-1]))


def chebyshev_nodes(n_nodes: int, lmax: float, lmin: float = 0.0) -> FloatArray:
    """Return the n Chebyshev points of [lmin, lmax], descending, those near ``lmin`` without cancellation."""
    return lmin + (lmax - lmin) * np.sin((n_nodes - np.arange(n_nodes) - 0.5) * (np.pi / (2 * n_nodes))) ** 2


def chebyshev_coefficients(values: Array) -> FloatArray:
    """Return the coefficients of the polynomial through the values at :func:`chebyshev_nodes`."""
    a = fft.dct(values, type=2, axis=-1) / np.shape(values)[-1]
    a[..., 0] /= 2
    return a


def cut(a: FloatArray, atol: float, fixed: float) -> tuple[int, float]:
    """Return how many terms of the series in the rows of ``a`` are needed, and a bound of the error in the worst row.

    With all terms it is at most ``fixed``. What is left out may be a tenth of that, also where ``atol`` does not allow
    as much.
    """
    left_out = np.cumsum(np.abs(a[..., ::-1]), axis=-1)[..., ::-1]
    tail = np.append(left_out.reshape(-1, a.shape[-1]).max(axis=0), 0.0)  # tail[k] = |a_k| + |a_{k+1}| + ...
    n_terms = max(int(np.argmax(tail <= max(atol - fixed, 0.1 * fixed))), 1)
    return n_terms, float(tail[n_terms]) + fixed


def interpolation_error(n_samples: int, gain: float, *, beyond: float, sample_error: float) -> float:
    """Bound the error of an interpolating series that was computed from rounded samples.

    It is wrong by twice the sum ``beyond`` of the coefficients that the samples do not see, values count by the
    Lebesgue constant, and the cosine transform by the logarithm of their number.
    """
    lebesgue = 1 + 2 / np.pi * np.log(n_samples + 1)
    transform = 2**-51 * np.log2(n_samples + 1) * np.sqrt(2 * n_samples) * gain
    return float(2 * beyond + lebesgue * sample_error + transform)


def series_from_samples(
    values: FloatArray,
    lmax: float,
    atol: float,
    *,
    beyond: float,
    sample_error: float = 0.0,
    certificate: Certificate = "proved",
    lmin: float = 0.0,
) -> ChebyshevSeries:
    """Cut the series through the samples as early as the allowed error lets it, or keep all terms that matter.

    ``values`` are those at the N Chebyshev points, each off by at most ``sample_error``; the sum of the coefficients
    from N on is at most ``beyond``, which the certificate is about.
    """
    a = chebyshev_coefficients(values)
    gain = float(np.abs(values).max())
    fixed = interpolation_error(values.size, gain, beyond=beyond, sample_error=sample_error)
    n_terms, error = cut(a, atol, fixed)
    return ChebyshevSeries(a[:n_terms].copy(), lmax, error, certificate, lmin)
