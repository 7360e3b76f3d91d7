r"""The largest distance of a polynomial from its target: an upper bound that holds at every frequency.

Intervals of the angle are halved until the bound on each is near the largest distance seen. On an interval of half
width d around m, Taylor's formula gives for the distance f = p - t

.. math:: |f| \le |f(m)| + |f'(m)|\,d + \sum_{k=2}^{K} |p^{(k)}(m)| \frac{d^k}{k!}
                  + M_{K+1} \frac{d^{K+1}}{(K+1)!} + \sup|t''|\,\frac{d^2}{2},

where :math:`M_{K+1} = \sum_j j^{K+1} |a_j|` bounds the next derivative of the polynomial everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import factorial
from typing import Any, Literal, TypeAlias

import numpy as np

from cayleygsp._typing import FloatArray
from cayleygsp.design.problem import Problem, interval_quadrature
from cayleygsp.design.targets import Piece, Target
from cayleygsp.design.waves import Wave
from cayleygsp.responses.function import KernelResponse

Certificate: TypeAlias = Literal["proved", "sampled"]

# Derivatives in Taylor's formula, and how far above the largest distance seen the bound may be.
_DERIVATIVES = 5
_EXCESS = 2e-3

# Halvings, and intervals at once, after which the bound is taken as it is.
_MAX_ROUNDS = 60
_MAX_CELLS = 500_000

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Distance:
    """An upper bound of a distance and what it rests on.

    Attributes
    ----------
    value : float
        The largest distance.
    certificate : {"proved", "sampled"}
        Whether no frequency can be further from its target, or none that was looked at.
    """

    value: float
    certificate: Certificate


def largest_distance(wave: Wave, problem: Problem) -> Distance:
    """Return the largest distance from the target over what the problem says: its points, or the whole interval.

    Parameters
    ----------
    wave : Wave
        The polynomial.
    problem : Problem
        With the target, the interval, and the points if these are all that count.
    """
    target = problem.target
    pieces = target.pieces(problem.lmax) if isinstance(target, Target) else None
    if problem.over != "interval":
        certificate: Certificate = "sampled" if pieces is None and problem.uncertainty > 0 else "proved"
        return Distance(_at_points(wave, problem), certificate)
    if pieces is None:
        return Distance(_at_samples(wave, problem), "sampled")
    assert isinstance(target, Target)
    return Distance(_over_pieces(wave, target, pieces), "proved")


def largest_response(wave: Wave, lmax: float) -> float:
    """Return an upper bound of the absolute response over [0, lmax].

    Parameters
    ----------
    wave : Wave
        The polynomial.
    lmax : float
        Right end of the interval.
    """
    return _over_pieces(wave, None, [Piece(0.0, lmax, 0.0)])


def _over_pieces(wave: Wave, target: Target | None, pieces: Sequence[Piece]) -> float:
    """Return a bound over intervals on each of which the target is smooth."""
    seen, bound = 0.0, 0.0
    floor = 4 * wave.rounding
    for piece in pieces:
        left, right = _first_cells(wave, piece)
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


def _first_cells(wave: Wave, piece: Piece) -> tuple[FloatArray, FloatArray]:
    """Cut a piece into some intervals for every wave; what rounding may have cut off its ends is added."""
    a, b = wave.angle([piece.low, piece.high]).tolist()
    a, b = a - 8 * _EPS, b + 8 * _EPS
    edges = np.linspace(a, b, int(np.ceil((b - a) * 2 * wave.degree)) + 5)
    return edges[:-1], edges[1:]


def _cell_bounds(
    wave: Wave, target: Target | None, piece: Piece, left: FloatArray, right: FloatArray
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
    distance, slope = np.abs(p[0] - target(lam)), target.slope(lam) * wave.speed(middle)
    upper += distance + np.abs(p[1] - slope) * d + _target_bend(wave, target, piece, left, right) * d**2 / 2
    # the frequency in the middle is rounded, and so is the target there
    upper += 16 * _EPS * (1 + np.abs(slope))
    return distance, np.where(np.isnan(upper), np.inf, upper)


def _target_bend(wave: Wave, target: Target, piece: Piece, left: FloatArray, right: FloatArray) -> FloatArray:
    """Return an upper bound of the target's second derivative with respect to the angle."""
    low, high = (np.clip(wave.frequency(u), piece.low, piece.high) for u in (left, right))
    steepest, most_bent = target.slope_bounds(low, high)
    # the bounds of the speed hold up to the end of the interval, beyond which there is no frequency
    first, second = wave.speed_bounds(left, np.minimum(right, wave.angle(piece.high)))
    return most_bent * first**2 + steepest * second


def _at_points(wave: Wave, problem: Problem) -> float:
    """Return a bound over the points, each of which may be off by the uncertainty, but for those at zero."""
    eps = np.where(problem.points > 0, problem.uncertainty, 0.0)
    near = [np.clip(problem.points + side * eps, 0.0, problem.lmax) for side in (-1, 0, 1)]
    turn = np.max([np.abs(wave.angle(lam) - wave.angle(near[1])) for lam in near])
    lam = np.concatenate(near)
    free = ~_counts(problem.target, lam)
    distance = np.abs(wave.derivatives(wave.angle(lam), 0)[0] - KernelResponse(problem.target)(lam))
    return float(np.where(free, 0.0, distance).max()) + wave.derivative_bound(1) * float(turn) + wave.rounding


def _at_samples(wave: Wave, problem: Problem) -> float:
    """Return the largest distance seen at many frequencies."""
    r, lmax = wave.degree, problem.lmax
    panels = interval_quadrature(lmax, problem.features, lambda a, b: 24 + 4 * r)[0]
    even = wave.frequency(np.linspace(0.0, float(wave.angle(lmax)), 40 * r + 2001))
    lam = np.concatenate([panels, np.clip(even, 0.0, lmax), problem.nodes, [0.0, lmax]])
    lam = lam[_counts(problem.target, lam)]
    values = wave.derivatives(wave.angle(lam), 0)[0]
    return float(np.abs(values - KernelResponse(problem.target)(lam)).max(initial=0.0)) + wave.rounding


def _counts(target: Callable[..., Any], lam: FloatArray) -> Any:
    """Return which frequencies lie outside the transition bands of the target."""
    return target.weight(lam) > 0 if isinstance(target, Target) else np.ones(lam.shape, dtype=bool)
