r"""The largest distance of a polynomial from its target: an upper bound that holds at every frequency.

Polynomials of both families are trigonometric ones of an angle u that grows with frequency,

.. math:: p = a_0 + \mathrm{Re} \sum_{j=1}^r a_j e^{iju},

Cayley polynomials with :math:`u = 2\arctan(h\lambda)`, Chebyshev polynomials with
:math:`\lambda = \lambda_{max} \sin^2(u/2)`. Intervals of the angle are halved until the bound on each is near the
largest distance seen. On one of half width d around m, Taylor's formula gives for the distance f = p - t

.. math:: |f| \le |f(m)| + |f'(m)|\,d + \sum_{k=2}^{K} |p^{(k)}(m)| \frac{d^k}{k!}
                  + M_{K+1} \frac{d^{K+1}}{(K+1)!} + \sup|t''|\,\frac{d^2}{2},

where :math:`M_{K+1} = \sum_j j^{K+1} |a_j|` bounds the next derivative of the polynomial everywhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import factorial
from typing import cast

import numpy as np

from cayleygsp._typing import ArrayLike, ComplexArray, FloatArray
from cayleygsp.design.problem import Problem, interval_quadrature
from cayleygsp.design.target import SmoothPiece, Target
from cayleygsp.responses.cayley import CayleyPolynomial
from cayleygsp.responses.chebyshev import ChebyshevPolynomial
from cayleygsp.responses.series import Certificate

# Derivatives in Taylor's formula, and how far above the largest distance seen the bound may be.
_DERIVATIVES = 5
_EXCESS = 2e-3

# Halvings, and intervals at once, after which the bound is taken as it is.
_MAX_ROUNDS = 60
_MAX_CELLS = 500_000

_EPS = float(np.finfo(np.float64).eps)

# Numbers in a table of waves that is made at once.
_TABLE = 2**21


class Wave(ABC):
    """A trigonometric polynomial: a_0 (``constant``), a_1 ... a_r (``harmonics``) and a bound of its rounding."""

    constant: float
    harmonics: ComplexArray
    rounding: float

    @abstractmethod
    def angle(self, lam: ArrayLike) -> FloatArray:
        """Return the angle of frequencies."""

    @abstractmethod
    def frequency(self, u: FloatArray) -> FloatArray:
        """Return the frequency at angles."""

    @abstractmethod
    def speed_bounds(self, u0: FloatArray, u1: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return upper bounds of dλ/du, itself where u0 = u1, and |d²λ/du²| between the angles u0 ≤ u1."""

    def derivatives(self, u: FloatArray, n_derivatives: int) -> FloatArray:
        """Return value and derivatives with respect to the angle, shape (n_derivatives + 1, m)."""
        j = np.arange(1, self.harmonics.size + 1)
        terms = self.harmonics[:, None] * (1j * j[:, None]) ** np.arange(n_derivatives + 1)
        step = max(_TABLE // self.harmonics.size, 1)
        parts = [np.exp(1j * np.outer(u[k : k + step], j)) @ terms for k in range(0, u.size, step)]
        values = np.concatenate(parts).real.T if parts else np.zeros((n_derivatives + 1, 0))
        values[0] += self.constant
        return values

    def derivative_bound(self, n: int) -> float:
        """Return an upper bound of the n-th derivative on the whole circle."""
        return float(np.arange(1.0, self.harmonics.size + 1) ** n @ np.abs(self.harmonics))


class _CayleyWave(Wave):
    def __init__(self, polynomial: CayleyPolynomial) -> None:
        c = polynomial.coeffs
        self.zoom = polynomial.zoom
        self.constant = float(c[0].real)
        # C(hλ) = -exp(iu)
        self.harmonics = 2 * c[1:] * (-1.0) ** np.arange(1, c.size)
        self.rounding = 16 * _EPS * float(abs(c[0]) + (1 + np.arange(c.size)) @ (2 * np.abs(c)))

    def angle(self, lam: ArrayLike) -> FloatArray:
        return 2 * np.arctan(self.zoom * np.asarray(lam, dtype=np.float64))

    def frequency(self, u: FloatArray) -> FloatArray:
        return np.tan(np.clip(u, 0.0, np.pi) / 2) / self.zoom

    def speed_bounds(self, u0: FloatArray, u1: FloatArray) -> tuple[FloatArray, FloatArray]:
        x = np.tan(np.clip(u1, 0.0, np.pi) / 2)
        first = (1 + x**2) / (2 * self.zoom)
        return first, x * first


class _ChebyshevWave(Wave):
    def __init__(self, polynomial: ChebyshevPolynomial) -> None:
        a = polynomial.coeffs
        k = np.arange(a.size)
        self.lmax = float(polynomial.lmax)
        self.constant = float(a[0])
        self.harmonics = (a * (-1.0) ** k)[1:].astype(np.complex128)
        # 2λ/lmax - 1 is rounded before T_k, whose slope is k² at the ends, is evaluated
        self.rounding = 4 * _EPS * float((2 + k**2) @ np.abs(a))

    def angle(self, lam: ArrayLike) -> FloatArray:
        if self.lmax == 0:
            return np.zeros(np.shape(lam))
        return 2 * np.arcsin(np.sqrt(np.clip(np.asarray(lam, dtype=np.float64) / self.lmax, 0.0, 1.0)))

    def frequency(self, u: FloatArray) -> FloatArray:
        return self.lmax * np.sin(np.clip(u, 0.0, np.pi) / 2) ** 2

    def speed_bounds(self, u0: FloatArray, u1: FloatArray) -> tuple[FloatArray, FloatArray]:
        steepest = np.minimum(np.abs(np.sin((u0 + u1) / 2)) + (u1 - u0) / 2, 1.0)
        return self.lmax / 2 * steepest, np.full(u0.shape, self.lmax / 2)


def wave_of(polynomial: CayleyPolynomial | ChebyshevPolynomial) -> Wave:
    """Return a fitted polynomial as a function of its angle."""
    form = polynomial.cayley_form
    return _CayleyWave(form) if form is not None else _ChebyshevWave(cast(ChebyshevPolynomial, polynomial))


def largest_distance(wave: Wave, problem: Problem) -> tuple[float, Certificate]:
    """Return the largest distance from the target over what the problem says, its points or the interval; if proved."""
    target = problem.target
    if problem.over != "interval":
        known = target.is_known or problem.uncertainty == 0
        return _at_points(wave, problem), "proved" if known else "sampled"
    if target.is_known:
        return _over_pieces(wave, target, target.pieces(problem.lmax)), "proved"
    return _at_samples(wave, problem), "sampled"


def largest_response(wave: Wave, lmax: float) -> float:
    """Return an upper bound of the absolute response over [0, lmax]."""
    return _over_pieces(wave, None, [SmoothPiece(0.0, lmax, 0.0)])


def _over_pieces(wave: Wave, target: Target | None, pieces: Sequence[SmoothPiece]) -> float:
    """Return a bound over intervals on each of which the target is smooth."""
    seen, bound = 0.0, 0.0
    floor = 4 * wave.rounding
    for piece in pieces:
        # some intervals for every wave; what rounding may have cut off the ends of the piece is added
        a, b = (wave.angle([piece.low, piece.high]) + 8 * _EPS * np.array([-1.0, 1.0])).tolist()
        edges = np.linspace(a, b, int(np.ceil((b - a) * 2 * wave.harmonics.size)) + 5)
        left, right = edges[:-1], edges[1:]
        for _ in range(_MAX_ROUNDS):
            value, upper = _cell_bounds(wave, target, piece, left, right)
            seen = max(seen, float(value.max()))
            is_open = upper > max(seen * (1 + _EXCESS), seen + floor, bound)
            bound = max(bound, float(upper[~is_open].max(initial=0.0)))
            if not is_open.any():
                break
            left, right, upper = left[is_open], right[is_open], upper[is_open]
            if left.size > _MAX_CELLS:
                bound = max(bound, float(upper.max()))
                break
            middle = (left + right) / 2
            left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        else:
            bound = max(bound, float(upper.max()))
    return bound + wave.rounding


def _cell_bounds(
    wave: Wave, target: Target | None, piece: SmoothPiece, left: FloatArray, right: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the distance in the middle of intervals of the angle, and an upper bound on all of each."""
    middle, d = (left + right) / 2, (right - left) / 2
    p = wave.derivatives(middle, _DERIVATIVES)
    n = _DERIVATIVES + 1
    upper = wave.derivative_bound(n) * d**n / factorial(n)
    for k in range(2, n):
        upper += np.abs(p[k]) * d**k / factorial(k)
    if piece.value is not None or target is None:
        distance = np.abs(p[0] - (piece.value or 0.0))
        return distance, upper + distance + np.abs(p[1]) * d
    lam = wave.frequency(middle)
    low, high = (np.clip(wave.frequency(u), piece.low, piece.high) for u in (left, right))
    slopes = target.response.slopes(lam, low, high)
    assert slopes is not None
    # the bounds of the speed hold up to the end of the interval, beyond which there is no frequency
    first, second = wave.speed_bounds(left, np.minimum(right, wave.angle(piece.high)))
    bend = slopes[2] * first**2 + slopes[1] * second
    distance, slope = np.abs(p[0] - target(lam)), slopes[0] * wave.speed_bounds(middle, middle)[0]
    upper += distance + np.abs(p[1] - slope) * d + bend * d**2 / 2
    # the frequency in the middle is rounded, and so is the target there
    upper += 16 * _EPS * (1 + np.abs(slope))
    return distance, np.where(np.isnan(upper), np.inf, upper)


def _at_points(wave: Wave, problem: Problem) -> float:
    """Return a bound over the points, each of which may be off by the uncertainty, but for those at zero."""
    eps = np.where(problem.points > 0, problem.uncertainty, 0.0)
    near = [np.clip(problem.points + side * eps, 0.0, problem.lmax) for side in (-1, 0, 1)]
    turn = np.max([np.abs(wave.angle(lam) - wave.angle(near[1])) for lam in near])
    lam = np.concatenate(near)
    distance = np.abs(wave.derivatives(wave.angle(lam), 0)[0] - problem.target(lam))
    return float((distance * problem.target.weight(lam)).max()) + wave.derivative_bound(1) * float(turn) + wave.rounding


def _at_samples(wave: Wave, problem: Problem) -> float:
    """Return the largest distance seen at many frequencies."""
    r, lmax = wave.harmonics.size, problem.lmax
    panels = interval_quadrature(lmax, problem.target.features, lambda a, b: 24 + 4 * r)[0]
    even = wave.frequency(np.linspace(0.0, float(wave.angle(lmax)), 40 * r + 2001))
    lam = np.concatenate([panels, np.clip(even, 0.0, lmax), problem.nodes, [0.0, lmax]])
    values = wave.derivatives(wave.angle(lam), 0)[0]
    return float(np.abs(values - problem.target(lam)).max(initial=0.0)) + wave.rounding
