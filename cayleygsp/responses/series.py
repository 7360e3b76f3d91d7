r"""Chebyshev series of a response on [0, lmax], with bounds of what they leave out and of their rounding.

A series is :math:`\sum_k a_k T_k(\tilde\lambda)` with :math:`\tilde\lambda = 2\lambda/\lambda_{max} - 1`. The
first coefficient is not halved.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.polynomial import chebyshev
from scipy import fft

from cayleygsp._typing import Array, FloatArray

# More samples than this mean that a series is the wrong tool.
MAX_SAMPLES = 2**22

# Up to this degree the sensitivity to rounding is computed sharply, in time proportional to its square.
_SHARP_DEGREE = 6000


@dataclass(frozen=True, eq=False)
class ChebyshevSeries:
    """Coefficients on [0, lmax] and a bound of the error that they make.

    Attributes
    ----------
    coeffs : numpy.ndarray, shape (K + 1,)
        a_0 ... a_K.
    lmax : float
        Right end of the interval.
    error : float
        An upper bound of the largest distance from the response on the interval.
    certificate : {"proved", "sampled"}
        Whether the error follows from the analytic form of the response, or was seen on samples of a function
        of which nothing else is known.
    """

    coeffs: FloatArray
    lmax: float
    error: float
    certificate: Literal["proved", "sampled"] = "proved"

    @classmethod
    def constant(cls, value: float, error: float = 0.0) -> ChebyshevSeries:
        """Return the one term that is left of a response on the interval [0, 0]."""
        return cls(np.array([value]), 0.0, error)

    @property
    def degree(self) -> int:
        """The degree K."""
        return self.coeffs.size - 1

    def __call__(self, lam: Array) -> Array:
        """Return the value of the series."""
        if self.lmax == 0:
            return np.full(np.shape(lam), self.coeffs[0])
        return chebyshev.chebval(2 * np.asarray(lam) / self.lmax - 1, self.coeffs)

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

    def sensitivity_beyond(self, lmax: float) -> float:
        """Bound the same for a spectrum that may reach up to ``lmax``, beyond the interval of the series."""
        x = max(2 * lmax / self.lmax - 1, 1.0)
        k = np.arange(self.coeffs.size)
        with np.errstate(over="ignore"):
            growth = np.cosh(k * np.arccosh(x))  # T_k(x), and U_k(x) is at most (k + 1) times that
        if not np.isfinite(growth[-1]):
            return np.inf
        return max(self.sensitivity, float((k + 1) ** 2 * growth @ np.abs(self.coeffs) * growth[-1]))


def chebyshev_nodes(n_nodes: int, lmax: float) -> FloatArray:
    """Return the n Chebyshev points of [0, lmax], descending, small ones without cancellation."""
    return lmax * np.sin((n_nodes - np.arange(n_nodes) - 0.5) * (np.pi / (2 * n_nodes))) ** 2


def chebyshev_coefficients(values: Array) -> FloatArray:
    """Return the coefficients of the polynomial through the values at :func:`chebyshev_nodes`."""
    a = fft.dct(values, type=2, axis=-1) / np.shape(values)[-1]
    a[..., 0] /= 2
    return a


def series_from_samples(
    values: FloatArray,
    lmax: float,
    atol: float,
    *,
    beyond: float,
    sample_error: float = 0.0,
    certificate: Literal["proved", "sampled"] = "proved",
) -> ChebyshevSeries:
    """Cut the series through the samples as early as the allowed error lets it.

    Parameters
    ----------
    values : numpy.ndarray, shape (N,)
        Response at the N Chebyshev points.
    lmax : float
        Right end of the interval.
    atol : float
        Largest error allowed. If even all N terms cannot reach it, all that matter are kept.
    beyond : float
        An upper bound of the sum of |a_k| for k ≥ N.
    sample_error : float
        An upper bound of the error in each value.
    certificate : {"proved", "sampled"}
        What ``beyond`` rests on.
    """
    n = values.size
    a = chebyshev_coefficients(values)
    gain = float(np.abs(values).max())
    # interpolation is wrong by twice what lies beyond, values count by the Lebesgue constant, the DCT by log n
    lebesgue = 1 + 2 / np.pi * np.log(n + 1)
    fixed = 2 * beyond + lebesgue * sample_error + 2**-51 * np.log2(n + 1) * np.sqrt(2 * n) * gain
    tail = np.append(np.cumsum(np.abs(a[::-1]))[::-1], 0.0)  # tail[k] = |a_k| + |a_{k+1}| + ...
    room = max(atol - fixed, 0.1 * fixed)
    n_terms = max(int(np.argmax(tail <= room)), 1)
    return ChebyshevSeries(a[:n_terms].copy(), lmax, float(tail[n_terms] + fixed), certificate)
