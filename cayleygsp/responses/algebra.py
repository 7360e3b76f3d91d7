"""Sums and products of responses, which are responses: proved if their parts are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from cayleygsp._typing import Array, ArrayLike, FloatArray
from cayleygsp.responses.series import MAX_SAMPLES, ChebyshevSeries, chebyshev_nodes, series_from_samples

# Share of the allowed error that the parts may use up; the rest is for putting them together.
_PARTS_SHARE = 0.5


class ResponseAlgebra:
    """What makes ``g + h``, ``g - h``, ``2 * g``, ``g * h``, ``g ** 2`` and ``-g`` of responses responses again."""

    def __add__(self, other: Any) -> SumResponse:
        return SumResponse([self, other], [1.0, 1.0]) if isinstance(other, ResponseAlgebra) else NotImplemented

    def __sub__(self, other: Any) -> SumResponse:
        return SumResponse([self, other], [1.0, -1.0]) if isinstance(other, ResponseAlgebra) else NotImplemented

    def __neg__(self) -> SumResponse:
        return SumResponse([self], [-1.0])

    def __mul__(self, other: Any) -> SumResponse | ProductResponse:
        if isinstance(other, ResponseAlgebra):
            return ProductResponse([self, other])
        return SumResponse([self], [float(other)]) if is_real_number(other) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> SumResponse:
        return SumResponse([self], [1 / float(other)]) if is_real_number(other) else NotImplemented

    def __pow__(self, exponent: Any) -> ProductResponse:
        if isinstance(exponent, bool) or not isinstance(exponent, int | np.integer):
            return NotImplemented
        if exponent < 1:
            raise ValueError(f"the power of a response must be at least 1, got {exponent}")
        return ProductResponse([self] * int(exponent))


def is_real_number(value: Any) -> bool:
    """Return whether a value is one real number."""
    return np.ndim(value) == 0 and np.asarray(value).dtype.kind in "iuf"


class SumResponse(ResponseAlgebra):
    r"""A linear combination :math:`\sum_i w_i g_i` of responses.

    Parameters
    ----------
    parts : sequence of Response
        The :math:`g_i`.
    weights : sequence of float
        The :math:`w_i`, finite.
    """

    def __init__(self, parts: Sequence[Any], weights: Sequence[float]) -> None:
        self.parts = tuple(parts)
        self.weights = tuple(float(w) for w in weights)
        if not np.isfinite(self.weights).all():
            raise ValueError(f"`weights` must be finite, got {self.weights}")

    def __repr__(self) -> str:
        return "SumResponse(" + " + ".join(f"{w:g}·{g!r}" for w, g in zip(self.weights, self.parts, strict=True)) + ")"

    @property
    def certificate(self) -> Literal["proved", "sampled"]:
        """Whether all parts are proved."""
        return weakest(self.parts)

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        return sum(w * g(eigenvalues) for w, g in zip(self.weights, self.parts, strict=True))

    def series(self, lmax: float, atol: float) -> ChebyshevSeries:
        """Add up the series of the parts, each to its share of the error."""
        scale = max(sum(map(abs, self.weights)), 1e-300)
        series = [on_interval(g.series(lmax, _PARTS_SHARE * atol / scale), lmax) for g in self.parts]
        coeffs = np.zeros(max(one.coeffs.size for one in series))
        for w, one in zip(self.weights, series, strict=True):
            coeffs[: one.coeffs.size] += w * one.coeffs
        total = sum(abs(w) * float(np.abs(one.coeffs).sum()) for w, one in zip(self.weights, series, strict=True))
        error = sum(abs(w) * one.error for w, one in zip(self.weights, series, strict=True))
        error += len(series) * 2**-52 * total
        return trimmed(coeffs, series[0].lmax, error, atol, worst(series))

    def degree_bound(self, lmax: float, atol: float) -> float:
        """Return the largest degree among the parts."""
        scale = max(sum(map(abs, self.weights)), 1e-300)
        return max(g.degree_bound(lmax, _PARTS_SHARE * atol / scale) for g in self.parts)


class ProductResponse(ResponseAlgebra):
    r"""A product :math:`\prod_i g_i` of responses; filters one after the other.

    Parameters
    ----------
    parts : sequence of Response
        The :math:`g_i`.
    """

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = tuple(parts)

    def __repr__(self) -> str:
        return "ProductResponse(" + " · ".join(map(repr, self.parts)) + ")"

    @property
    def certificate(self) -> Literal["proved", "sampled"]:
        """Whether all parts are proved."""
        return weakest(self.parts)

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        total = np.ones(())
        for g in self.parts:
            total = total * g(eigenvalues)
        return total

    def series(self, lmax: float, atol: float) -> ChebyshevSeries:
        r"""Multiply the series of the parts at as many points as determine the product.

        With :math:`|g_i - s_i| \le e_i` and :math:`|s_i| \le S_i` the product is off by at most
        :math:`\prod (S_i + e_i) - \prod S_i`.
        """
        series = self._part_series(lmax, atol)
        n = sum(one.degree for one in series) + 1
        if n > MAX_SAMPLES:
            raise ValueError(f"the product of {len(series)} responses would need a Chebyshev series of {n:.3g} terms")
        if series[0].lmax == 0:
            value = float(np.prod([one.coeffs[0] for one in series]))
            return ChebyshevSeries(np.array([value]), 0.0, _product_error(series), worst(series))
        nodes = chebyshev_nodes(max(n, 16), lmax)
        values = np.prod([one(nodes) for one in series], axis=0)
        error = _product_error(series)
        rounding = 2**-52 * float(np.prod([_size(one) for one in series])) * sum(one.degree + 4 for one in series)
        cut = series_from_samples(values, lmax, max(atol - error, 0.0), beyond=0.0, sample_error=rounding)
        return ChebyshevSeries(cut.coeffs, lmax, cut.error + error, worst(series))

    def degree_bound(self, lmax: float, atol: float) -> float:
        """Return the sum of the degrees of the parts."""
        return sum(g.degree_bound(lmax, self._share(lmax, atol, g)) for g in self.parts)

    def _part_series(self, lmax: float, atol: float) -> list[ChebyshevSeries]:
        return [on_interval(g.series(lmax, self._share(lmax, atol, g)), lmax) for g in self.parts]

    def _share(self, lmax: float, atol: float, part: Any) -> float:
        """Return the error that one part may have, the others multiplying it."""
        nodes: FloatArray = np.append(chebyshev_nodes(256, lmax), [0.0, lmax])
        others = float(np.prod([max(float(np.abs(g(nodes)).max()), 1e-300) for g in self.parts if g is not part]))
        same = sum(g is part for g in self.parts)
        own = float(np.abs(part(nodes)).max()) ** (same - 1)
        return _PARTS_SHARE * atol / (len(self.parts) * max(others * own, 1e-300))


def _size(series: ChebyshevSeries) -> float:
    return float(np.abs(series.coeffs).sum())


def _product_error(series: Sequence[ChebyshevSeries]) -> float:
    """Bound what the errors of the parts make of the product, term by term and without cancellation."""
    total, grown = 0.0, 1.0
    for one in series:
        size = _sup(one)
        total = total * (size + one.error) + grown * one.error
        grown *= size
    return total


def _sup(series: ChebyshevSeries) -> float:
    """Return an upper bound of a series on its interval: √2 times the largest of 2K points, or the sum of its terms."""
    if series.lmax == 0 or series.degree == 0:
        return _size(series)
    seen = float(np.abs(series(chebyshev_nodes(2 * series.degree + 2, series.lmax))).max())
    return min(_size(series), np.sqrt(2) * seen * (1 + 1e-9) + 2**-50 * series.degree * _size(series))


def on_interval(series: ChebyshevSeries, lmax: float) -> ChebyshevSeries:
    """Return the same polynomial as a series on [0, lmax], if it was one on another interval."""
    if series.lmax == lmax or series.degree == 0:
        return ChebyshevSeries(series.coeffs, lmax, series.error, series.certificate)
    if lmax == 0:
        return ChebyshevSeries(np.array([float(series(np.zeros(())))]), 0.0, series.error, series.certificate)
    nodes = chebyshev_nodes(max(series.degree + 1, 16), lmax)
    values = series(nodes)
    rounding = 2**-52 * (series.degree + 4) ** 2 * max(float(np.abs(values).max()), _size(series))
    again = series_from_samples(values, lmax, 0.0, beyond=0.0, sample_error=rounding)
    return ChebyshevSeries(again.coeffs, lmax, again.error + series.error, series.certificate)


def trimmed(
    coeffs: FloatArray, lmax: float, error: float, atol: float, certificate: Literal["proved", "sampled"]
) -> ChebyshevSeries:
    """Cut a series where what follows is worth less than the error that is still allowed."""
    tail = np.append(np.cumsum(np.abs(coeffs[::-1]))[::-1], 0.0)
    n_terms = max(int(np.argmax(tail <= max(atol - error, 0.1 * error))), 1)
    return ChebyshevSeries(coeffs[:n_terms].copy(), lmax, float(tail[n_terms]) + error, certificate)


def weakest(parts: Sequence[Any]) -> Literal["proved", "sampled"]:
    """Return "proved" if all parts are."""
    return "proved" if all(getattr(g, "certificate", "proved") == "proved" for g in parts) else "sampled"


def worst(series: Sequence[ChebyshevSeries]) -> Literal["proved", "sampled"]:
    """Return "proved" if all series are."""
    return "proved" if all(one.certificate == "proved" for one in series) else "sampled"
