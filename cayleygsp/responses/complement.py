r"""The response that completes a bank to a tight frame: :math:`\sqrt{b - \sum_i g_i^2}`.

Let p be a Chebyshev series of the sum with :math:`|\sum g_i^2 - p| \le e`, and :math:`q = b - p \ge m > e` on the
interval. For z on :math:`E_\rho` and the x below it on the interval,
:math:`|T_k(z) - T_k(x)| \le \sinh(k \log\rho)`, so that :math:`|q(z) - q(x)| \le D = \sum_k |p_k|\sinh(k\log\rho)`. As
long as D < m, q stays in the right half plane: its root is analytic there and at most :math:`\sqrt{\max q + D}`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from cayleygsp._typing import Array, ArrayLike, FloatArray
from cayleygsp.responses.base import ExpandedResponse, ProductResponse, Response, SumResponse
from cayleygsp.responses.series import MAX_SAMPLES, ChebyshevSeries, series_from_samples

# Which share of m is used for D: the nearer to one, the larger the ellipse.
_SHARE = 0.9

# Points per degree at which extremes are looked for: they are known to 2e-5.
_POINTS_PER_DEGREE = 256


class ComplementResponse(ExpandedResponse):
    r"""The response :math:`\sqrt{b - \sum_i g_i^2}`, which makes a tight frame of the :math:`g_i`.

    b must be larger than the sum of the squares at every frequency that is asked for.
    """

    def __init__(self, parts: Sequence[Response], bound: float) -> None:
        self.parts, self.bound = tuple(parts), float(bound)
        self.squares = SumResponse([ProductResponse([g, g]) for g in parts], [1.0] * len(parts))
        self.certificate = self.squares.certificate
        self.from_samples = self.squares.from_samples
        self.lowest_frequency = self.squares.lowest_frequency
        self.highest_frequency = self.squares.highest_frequency
        super().__init__()

    def __repr__(self) -> str:
        return f"ComplementResponse({', '.join(map(repr, self.parts))}; bound={self.bound:g})"

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        return np.sqrt(np.maximum(self.bound - self.squares(eigenvalues), 0.0))

    def rounding_at(self, eigenvalues: FloatArray) -> float:
        """Bound that of the root: an error of e in the sum is at most one of √e, and of e/√m where m is left."""
        e = self.squares.rounding_at(eigenvalues) + 2**-52 * self.bound
        m = float((self.bound - self.squares.on_spectrum(eigenvalues)).min())
        root = math.sqrt(e) if m <= e else e / math.sqrt(m)
        return root + 2**-52 * math.sqrt(self.bound)

    def places(self, lmin: float, lmax: float) -> Array:
        """Return what the parts name."""
        return self.squares.places(lmin, lmax)

    def lipschitz_bound(self, lmin: float, lmax: float) -> float | None:
        r"""Return :math:`\sqrt{S / (b - S)}\,(\sum_i \ell_i^2)^{1/2}`, the squares summing up to at most S < b.

        :math:`|g'| = |\sum_i g_i g_i'| / \sqrt{b - s}` with :math:`s = \sum_i g_i^2`, and
        :math:`|\sum_i g_i g_i'| \le \sqrt s\,(\sum_i \ell_i^2)^{1/2}`.
        """
        slopes = [g.lipschitz_bound(lmin, lmax) for g in self.parts]
        known = [slope for slope in slopes if slope is not None]
        if self.certificate != "proved" or len(known) < len(slopes):
            return None
        try:
            largest = self._largest_sum(lmin, lmax)
        except ValueError:  # no series is short enough to know it
            largest = np.inf
        if not largest < self.bound:
            return None
        return math.sqrt(largest / (self.bound - largest)) * math.hypot(*known) * (1 + 1e-12)

    def _largest_sum(self, lmin: float, lmax: float) -> float:
        """Return a number that the sum of the squares does not exceed."""
        return self.squares.series(lmax, 1e-6 * self.bound, lmin=lmin).range(_POINTS_PER_DEGREE)[1]

    def degree_bound(self, lmax: float, atol: float, *, lmin: float = 0.0) -> float:
        """Return the degree of the series, which must be computed to know it; infinite if it is too long."""
        try:
            return float(self.series(lmax, atol, lmin=lmin).degree)
        except ValueError:
            return np.inf

    def expand(self, lmin: float, lmax: float, atol: float) -> ChebyshevSeries:
        """Expand the root of the polynomial that is left of the bound, if that is proved to be above the squares."""
        least = self.bound - self._largest_sum(lmin, lmax)
        # an error of e in the sum is one of e/2√m in the root
        squares = self.squares.series(lmax, 0.5 * atol * math.sqrt(max(least, 0.0)), lmin=lmin)
        q = ChebyshevSeries(-squares.coeffs, lmax, 0.0, self.certificate, lmin)
        q.coeffs[0] += self.bound
        m, largest = q.range(_POINTS_PER_DEGREE)
        if not (least > 0 and m > squares.error):
            raise ValueError(
                f"`bound` must be above the sum of the squared responses, which may reach {self.bound - least:.12g}, "
                f"got {self.bound:.12g}"
            )
        missing = squares.error / (math.sqrt(least) + math.sqrt(m))
        if lmax == lmin:
            value = math.sqrt(float(q.coeffs[0]))
            return ChebyshevSeries(np.array([value]), lmax, missing + 2**-50 * value, self.certificate, lmin)
        eta, growth = _ellipse(q, _SHARE * m)
        M = math.sqrt(largest + growth)
        target = max(0.01 * atol, 1e-17 * M)
        n = max((math.log(2 * M / (target * math.expm1(eta))) + eta) / eta, q.degree + 1, 16)
        if n > MAX_SAMPLES:
            raise ValueError(
                f"{self!r} on [0, {lmax:.3g}] would need a Chebyshev series of about {n:.1g} terms: `bound` must leave "
                "more room above the sum of the squared responses"
            )
        n = math.ceil(n)
        values = q.at_nodes(n)
        rounding = 2**-50 * (math.log2(n) + 4) * q.size / (2 * math.sqrt(m))
        beyond = 2 * M * math.exp((1 - n) * eta) / math.expm1(eta)
        root = series_from_samples(
            np.sqrt(np.maximum(values, m)), lmax, max(atol - missing, 0.0), beyond=beyond, sample_error=rounding
        )
        return ChebyshevSeries(root.coeffs, lmax, root.error + missing, self.certificate, lmin)


def _ellipse(q: ChebyshevSeries, allowed: float) -> tuple[float, float]:
    """Return log ρ of an ellipse on which a polynomial is at most so far from its values below, and how far it is."""
    k, c = np.arange(1, q.coeffs.size), np.abs(q.coeffs[1:])
    if not c.any():
        return 10.0, 0.0
    low, high = 0.0, 10.0
    for _ in range(60):
        eta = (low + high) / 2
        with np.errstate(over="ignore", invalid="ignore"):
            growth = float(np.nan_to_num(c @ np.sinh(k * eta), nan=np.inf))
        low, high = (eta, high) if growth <= allowed else (low, eta)
    return low, allowed
