"""The zoom at which a fit comes nearest to its target."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from cayleygsp.design.lawson import GRID_ROUNDS, SEARCH_ROUNDS
from cayleygsp.design.problem import Problem


def search_zoom(error: Callable[[float, int], float], problem: Problem, order: int) -> float:
    """Return the zoom of the least error: a grid over its logarithm, then a closer look around the best few.

    The error as a function of the zoom has several minima, more of them the higher the order; of equally good zooms
    the smallest is taken, which is the cheapest to apply.
    """
    from scipy import optimize  # slow to load, and needed for a search alone

    if problem.lmax == 0:
        return 1.0
    low, high = _zoom_range(problem)
    per_decade = min(8 + order, 20)
    grid = np.linspace(low, high, int(np.ceil((high - low) / np.log(10) * per_decade)) + 1)
    trials = [(error(float(np.exp(x)), GRID_ROUNDS), x) for x in grid]
    step = grid[1] - grid[0]
    for value, x in sorted(_local_minima(trials))[:3]:
        if value > 1e-13:
            closer = optimize.minimize_scalar(
                lambda y: error(float(np.exp(y)), SEARCH_ROUNDS),
                bounds=(x - step, x + step),
                method="bounded",
                options={"maxiter": 25},
            )
            trials.append((float(closer.fun), float(closer.x)))
    least = min(value for value, _ in trials)
    scale = float(np.abs(problem.values).max(initial=0.0))
    return float(np.exp(min(x for value, x in trials if value <= least * (1 + 1e-6) + 1e-13 * scale)))


def _zoom_range(problem: Problem) -> tuple[float, float]:
    """Return logarithms: from a zoom that sees all of [0, lmax] alike to one that sees the lowest features well."""
    lows = [f for f in problem.features if f > 0]
    if problem.nodes.size and not lows:
        lows = problem.nodes[problem.nodes > 1e-4 * problem.lmax].tolist()
    finest = min([*lows, problem.lmax])
    return float(np.log(0.1 / problem.lmax)), float(np.log(max(30 / finest, 1e4 / problem.lmax)))


def _local_minima(trials: list[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    for k, (value, x) in enumerate(trials):
        beside = [trials[j][0] for j in (k - 1, k + 1) if 0 <= j < len(trials)]
        if value <= min(beside):
            yield value, x
