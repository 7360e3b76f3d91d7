"""The protocol of responses, which methods, bounds and filters rely on; sums and products of responses."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from cayleygsp._typing import Array, ArrayLike, ComplexArray, FloatArray
from cayleygsp.responses.series import (
    MAX_SAMPLES,
    Certificate,
    ChebyshevSeries,
    chebyshev_nodes,
    cut,
    series_from_samples,
)

# Share of the allowed error that parts of a sum or product may use up; the rest is for putting them together.
_PARTS_SHARE = 0.5


# The least number above zero, which the rounding of numbers below the least normal one may be.
_LEAST, _LEAST_NORMAL = 5e-324, 2.3e-308

# Rounding of the values of a response that says nothing of it, relative to the largest of them.
_VALUE_ROUNDING = 32 * 2**-52


class Response(ABC):
    """A real function of frequency that can be expanded in Chebyshev polynomials.

    A new response needs :meth:`__call__`, :meth:`series` and :meth:`degree_bound`; the rest says "nothing is known"
    unless it is overridden.

    Attributes
    ----------
    certificate : {"proved", "sampled"}
        Whether bounds of its series follow from its form, or from samples of it.
    lowest_frequency : float
        Where the function starts to exist; below, it is taken to have the value that it has there, to accept
        eigenvalues that rounding puts just outside. Graphs are refused if it is above 0.
    highest_frequency : float
        Up to where it is known; graphs with a spectrum that may reach beyond are refused.
    least_gain : float
        What tolerances are relative to at least: 1 for the parts of a tight frame, some of which may lie above all
        frequencies of a graph.
    is_zero : bool
        Whether it is 0 everywhere by its form, as ``g - g`` is.
    from_samples : bool
        Whether the series is made of samples and must be computed to know its degree.
    transition : float or None
        Width of the bands about its :attr:`jumps` that were asked for.
    """

    certificate: Certificate = "proved"
    lowest_frequency: float = -np.inf
    highest_frequency: float = np.inf
    least_gain: float = 0.0
    is_zero: bool = False
    from_samples: bool = False
    transition: float | None = None

    @abstractmethod
    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""

    @abstractmethod
    def series(self, lmax: float, atol: float, *, lmin: float = 0.0) -> ChebyshevSeries:
        """Return a series on [lmin, lmax] with its error; ``atol`` is allowed."""

    @abstractmethod
    def degree_bound(self, lmax: float, atol: float, *, lmin: float = 0.0) -> float:
        """Return a degree that the series does not exceed, infinite where there is none."""

    @property
    def cayley_form(self) -> Any:
        """The response as a :class:`CayleyPolynomial`, for methods that solve with hΔ + iI; None if it is none."""
        return None

    @property
    def rational_form(self) -> Any:
        """The response as a :class:`Rational`, for methods that solve with Δ - pI; None if it is none."""
        return None

    @property
    def poles(self) -> ComplexArray | None:
        """Where the response is not analytic; empty for polynomials, None if it is not known."""
        return None

    @property
    def jumps(self) -> tuple[tuple[float, int], ...]:
        """Where the sharp steps that smooth ones stand for go up (1) and down (-1), ascending: fits aim at those."""
        return ()

    @property
    def features(self) -> tuple[float, ...]:
        """Frequencies at which it changes; fits look closely there."""
        half = (self.transition or 0.0) / 2
        return tuple(sorted({end for place, _ in self.jumps for end in (place - half, place + half)}))

    def lipschitz_bound(self, lmin: float, lmax: float) -> float | None:
        """Return a number that slopes on [lmin, lmax] do not exceed for certain; None if none is known."""
        low, high = np.array([lmin]), np.array([lmax])
        slopes = self.slopes(low, low, high)
        return None if slopes is None else float(slopes[1][0])

    def slopes(self, lam: FloatArray, low: FloatArray, high: FloatArray) -> tuple[FloatArray, ...] | None:
        """Return the slope at frequencies, and bounds of abs(g') and abs(g'') between others; None if not known."""
        return None

    def places(self, lmin: float, lmax: float) -> FloatArray:
        """Return frequencies that must be looked at wherever the response is sampled."""
        return np.zeros(0)

    def gain(self, lmin: float, lmax: float, *, n_points: int = 2048) -> float:
        """Return sup abs(g) on [lmin, lmax] as many frequencies show it: never overestimated, infinite out of range."""
        points = np.concatenate([chebyshev_nodes(n_points, lmax, lmin), [lmin, lmax], self.places(lmin, lmax)])
        with np.errstate(over="ignore", invalid="ignore"):
            largest = float(np.abs(self.on_spectrum(points)).max())
        return largest if np.isfinite(largest) else np.inf

    def rounding_at(self, eigenvalues: FloatArray) -> float:
        """Bound the rounding of the values at the given frequencies; by default it is taken to be some tens of units.

        What is counted is the distance from the value at the frequency as it is given, in double precision.
        """
        return _VALUE_ROUNDING * largest_value(self, eigenvalues)

    def on_spectrum(self, eigenvalues: FloatArray) -> FloatArray:
        """Return the response at eigenvalues, which rounding may have put below the lowest frequency."""
        return self(np.maximum(eigenvalues, self.lowest_frequency))

    def on_interval(self, lmin: float, lmax: float) -> ChebyshevSeries:
        """Return the series on an interval that holds the spectrum, as long as rounding lets its terms matter."""
        return self.series(lmax, 0.0, lmin=lmin)

    def tails(self, lmax: float, n_degrees: int, *, lmin: float = 0.0) -> FloatArray:
        """Bound what the series on [lmin, lmax] leaves out beyond the degrees 0 … n - 1."""
        if lmax == lmin:  # one frequency: every response is constant
            return np.zeros(n_degrees)
        return self.on_interval(lmin, lmax).tails(n_degrees)

    def tail_degree(self, lmax: float, atol: float, *, lmin: float = 0.0) -> int:
        """Return a degree beyond which :meth:`tails` does not get smaller, or is certain to be at most ``atol``."""
        return self.on_interval(lmin, lmax).degree + 1

    def __add__(self, other: Any) -> SumResponse:
        return SumResponse([self, other], [1.0, 1.0]) if isinstance(other, Response) else NotImplemented

    def __sub__(self, other: Any) -> SumResponse:
        return SumResponse([self, other], [1.0, -1.0]) if isinstance(other, Response) else NotImplemented

    def __neg__(self) -> SumResponse:
        return SumResponse([self], [-1.0])

    def __mul__(self, other: Any) -> Response:
        if isinstance(other, Response):
            return product_of([self, other])
        return SumResponse([self], [float(other)]) if is_real_number(other) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> SumResponse:
        return SumResponse([self], [1 / float(other)]) if is_real_number(other) and other != 0 else NotImplemented

    def __pow__(self, exponent: Any) -> Response:
        if isinstance(exponent, bool) or not isinstance(exponent, int | np.integer):
            return NotImplemented
        if exponent < 1:
            raise ValueError(f"the power of a response must be at least 1, got {exponent}")
        return product_of([self] * int(exponent))


def check_fields(response: Response, **checks: Callable[[Any, str], float]) -> None:
    """Check fields of a frozen response by functions of a value and a name, and keep what these return."""
    for name, check in checks.items():
        object.__setattr__(response, name, check(getattr(response, name), name))


def largest_value(response: Response, eigenvalues: FloatArray) -> float:
    """Return the largest absolute value of a response at some frequencies."""
    return float(np.abs(response.on_spectrum(eigenvalues)).max(initial=0.0))


def is_real_number(value: Any) -> bool:
    """Return whether a value is one real number."""
    return np.ndim(value) == 0 and np.asarray(value).dtype.kind in "iuf"


class ExpandedResponse(Response):
    """A response whose series is computed once for each interval and error."""

    def __init__(self) -> None:
        self._series: dict[tuple[float, float, float], ChebyshevSeries] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Leave the series behind: they are made again when they are needed."""
        return {**self.__dict__, "_series": {}}

    @abstractmethod
    def expand(self, lmin: float, lmax: float, atol: float) -> ChebyshevSeries:
        """Compute a series on [lmin, lmax] with its error; ``atol`` is allowed."""

    def series(self, lmax: float, atol: float, *, lmin: float = 0.0) -> ChebyshevSeries:
        """Return the series on [lmin, lmax] with its error; ``atol`` is allowed."""
        key = (lmin, lmax, atol)
        if key not in self._series:
            self._series[key] = self.expand(*key)
        return self._series[key]


class _Combination(Response):
    """Responses put together; of each that counts, the product or sum knows as much as the one that knows least."""

    parts: tuple[Response, ...]

    def _combine(self, parts: Iterable[Response], *, is_zero: bool) -> None:
        self.parts, self.is_zero = tuple(parts), is_zero
        proved = is_zero or all(g.certificate == "proved" for g in self.parts)
        self.certificate = "proved" if proved else "sampled"
        self.lowest_frequency = max(g.lowest_frequency for g in self.parts)
        self.highest_frequency = min(g.highest_frequency for g in self.parts)
        self.from_samples = any(g.from_samples for g in self.parts)

    def places(self, lmin: float, lmax: float) -> FloatArray:
        """Return what the parts name."""
        return np.concatenate([g.places(lmin, lmax) for g in self.parts])


class SumResponse(_Combination):
    r"""A linear combination :math:`\sum_i w_i g_i` of responses: what ``g + h``, ``g - h`` and ``2 * g`` give.

    Weights are added and multiplied exactly, and rounded once: nothing is lost on the way to a small sum.
    """

    def __init__(self, parts: Sequence[Response], weights: Sequence[float | Fraction]) -> None:
        if not all(isinstance(w, Fraction) or np.isfinite(w) for w in weights):
            raise ValueError(f"`weights` must be finite, got {tuple(weights)}")
        # equal parts are one, and sums among them are taken apart
        merged: dict[Response, Fraction] = {}
        for g, w in zip(parts, weights, strict=True):
            for part, v in g.exact.items() if isinstance(g, SumResponse) else [(g, Fraction(1))]:
                merged[part] = merged.get(part, Fraction(0)) + Fraction(w) * v
        # a sum of which nothing is left keeps one part to know its frequencies by
        self.exact: dict[Response, Fraction] = {g: w for g, w in merged.items() if w} or {parts[0]: Fraction(0)}
        try:
            self.weights = tuple(float(w) for w in self.exact.values())
        except OverflowError:
            raise ValueError("`weights` must be finite, got some that leave the range of numbers together") from None
        self._combine(self.exact, is_zero=not any(self.exact.values()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SumResponse) and self.exact == other.exact

    def __hash__(self) -> int:
        return hash(frozenset(self.exact.items()))

    def __repr__(self) -> str:
        return "SumResponse(" + " + ".join(f"{w:g}·{g!r}" for g, w in self.terms()) + ")"

    def terms(self) -> Iterator[tuple[Response, float]]:
        """Return the parts with their weights."""
        return zip(self.parts, self.weights, strict=True)

    def _share(self, atol: float) -> float:
        return _PARTS_SHARE * atol / max(sum(map(abs, self.weights)), 1e-300)

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        terms = [w * g(eigenvalues) for g, w in self.terms()]
        return sum(terms[1:], start=terms[0])

    def rounding_at(self, eigenvalues: FloatArray) -> float:
        """Add up that of the parts, and that of rounding the weights and adding them up, underflow included."""
        adding, total = (len(self.parts) + 1) * 2**-52, 0.0
        for g, w in () if self.is_zero else self.terms():
            largest = largest_value(g, eigenvalues)
            total += abs(w) * (g.rounding_at(eigenvalues) + adding * largest)
            if largest and abs(w) * largest < _LEAST_NORMAL:
                total += _LEAST
        return total

    def lipschitz_bound(self, lmin: float, lmax: float) -> float | None:
        """Return the weighted sum of those of the parts."""
        slopes = [g.lipschitz_bound(lmin, lmax) for g in self.parts]
        if self.is_zero or None in slopes:
            return 0.0 if self.is_zero else None
        return sum(abs(w) * s for w, s in zip(self.weights, slopes, strict=True) if s is not None)

    def series(self, lmax: float, atol: float, *, lmin: float = 0.0) -> ChebyshevSeries:
        """Add up the series of the parts, each to its share of the error."""
        if self.is_zero:
            return ChebyshevSeries(np.zeros(1), lmax, 0.0, self.certificate, lmin)
        series = [series_on_interval(g, lmax, self._share(atol), lmin) for g in self.parts]
        coeffs = np.zeros(max(one.coeffs.size for one in series))
        size, error = 0.0, 0.0
        for w, one in zip(self.weights, series, strict=True):
            coeffs[: one.coeffs.size] += w * one.coeffs
            size += abs(w) * one.size
            error += abs(w) * one.error
        error += (len(series) + 1) * 2**-52 * size
        n_terms, error = cut(coeffs, atol, error)
        return ChebyshevSeries(coeffs[:n_terms].copy(), lmax, error, self.certificate, lmin)

    def degree_bound(self, lmax: float, atol: float, *, lmin: float = 0.0) -> float:
        """Return the largest degree among the parts."""
        return 0.0 if self.is_zero else max(g.degree_bound(lmax, self._share(atol), lmin=lmin) for g in self.parts)


def product_of(factors: Sequence[Response]) -> Response:
    """Return the product of responses, with the weights of multiples before it: one by one they may be tiny."""
    parts: list[Response] = []
    weight = Fraction(1)
    for g in factors:
        if isinstance(g, SumResponse) and len(g.parts) == 1 and not g.is_zero:
            ((g, w),) = g.exact.items()
            weight *= w
        parts += g.parts if isinstance(g, ProductResponse) else [g]
    one = ProductResponse(parts) if len(parts) > 1 else parts[0]
    return one if weight == 1 else SumResponse([one], [weight])


class ProductResponse(_Combination):
    r"""A product :math:`\prod_i g_i` of responses, filters one after the other: what ``g * h`` and ``g ** 2`` give."""

    def __init__(self, parts: Sequence[Response]) -> None:
        self._combine(parts, is_zero=any(g.is_zero for g in parts))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProductResponse) and Counter(self.parts) == Counter(other.parts)

    def __hash__(self) -> int:
        return hash(frozenset(Counter(self.parts).items()))

    def __repr__(self) -> str:
        return "ProductResponse(" + " · ".join(map(repr, self.parts)) + ")"

    def __call__(self, eigenvalues: ArrayLike) -> Array:
        """Return the response at the given frequencies, in their shape."""
        return math.prod((g(eigenvalues) for g in self.parts[1:]), start=self.parts[0](eigenvalues))

    def rounding_at(self, eigenvalues: FloatArray) -> float:
        """Multiply that of the parts by the others, and add that of the products."""
        total, size = 0.0, 1.0
        for g in self.parts:
            error, largest = g.rounding_at(eigenvalues), largest_value(g, eigenvalues)
            total = total * (largest + error) + size * error + 2**-52 * size * largest
            size *= largest
        return total

    def lipschitz_bound(self, lmin: float, lmax: float) -> float | None:
        """Return the sum over the parts of their slope times bounds of the others."""
        if self.is_zero:
            return 0.0
        if self.certificate != "proved":
            return None
        slopes = [g.lipschitz_bound(lmin, lmax) for g in self.parts]
        if None in slopes:
            return None
        series = [series_on_interval(g, lmax, 1e-2, lmin) for g in self.parts]
        sizes = [one.sup + one.error for one in series]
        return sum(s * math.prod(sizes[:q] + sizes[q + 1 :]) for q, s in enumerate(slopes) if s is not None)

    def series(self, lmax: float, atol: float, *, lmin: float = 0.0) -> ChebyshevSeries:
        r"""Multiply the series of the parts at as many points as determine the product.

        With :math:`|g_i - s_i| \le e_i` and :math:`|s_i| \le S_i` the product is off by at most
        :math:`\prod (S_i + e_i) - \prod S_i`.
        """
        if self.is_zero:
            return ChebyshevSeries(np.zeros(1), lmax, 0.0, self.certificate, lmin)
        shares = self._shares(lmax, atol, lmin)
        series = [series_on_interval(g, lmax, a, lmin) for g, a in zip(self.parts, shares, strict=True)]
        # without cancellation
        error, grown = 0.0, 1.0
        for one in series:
            error = error * (one.sup + one.error) + grown * one.error
            grown *= one.sup
        if lmax == lmin:
            value = math.prod(float(one.coeffs[0]) for one in series)
            return ChebyshevSeries(np.array([value]), lmax, error + 2**-50 * abs(value), self.certificate, lmin)
        n = max(sum(one.degree for one in series) + 1, 16)
        if n > MAX_SAMPLES:
            raise ValueError(f"the product of {len(series)} responses would need a Chebyshev series of {n:.3g} terms")
        values: FloatArray = np.prod([one.at_nodes(n) for one in series], axis=0)
        rounding = 2**-52 * math.prod(one.size for one in series) * (n + 4 * len(series))
        cut = series_from_samples(values, lmax, max(atol - error, 0.0), beyond=0.0, sample_error=rounding, lmin=lmin)
        return ChebyshevSeries(cut.coeffs, lmax, cut.error + error, self.certificate, lmin)

    def degree_bound(self, lmax: float, atol: float, *, lmin: float = 0.0) -> float:
        """Return the sum of the degrees of the parts."""
        if self.is_zero:
            return 0.0
        shares = self._shares(lmax, atol, lmin)
        return sum(g.degree_bound(lmax, a, lmin=lmin) for g, a in zip(self.parts, shares, strict=True))

    def _shares(self, lmax: float, atol: float, lmin: float) -> list[float]:
        """Return the error that each part may have, the others multiplying it."""
        sizes = [max(g.gain(lmin, lmax, n_points=256), 1e-300) for g in self.parts]
        others = [math.prod(sizes[:q] + sizes[q + 1 :]) for q in range(len(sizes))]
        return [_PARTS_SHARE * atol / (len(sizes) * max(other, 1e-300)) for other in others]


def series_on_interval(g: Response, lmax: float, atol: float, lmin: float) -> ChebyshevSeries:
    """Return a series on [lmin, lmax], also of a polynomial that has an interval of its own."""
    series = g.series(lmax, atol, lmin=lmin)
    return series if (series.lmax, series.lmin) == (lmax, lmin) else g.on_interval(lmin, lmax)
