"""What the benchmarks share: test problems and timing."""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

import cayleygsp as cg
from cayleygsp import gallery
from cayleygsp._typing import Array, FloatArray
from cayleygsp.engine.reference import sum_series_by_scipy
from cayleygsp.methods.base import filter_gain

Samples = list[float]

COMMUNITY_SIZE = 100
INNER_DEGREE = 9.0
OUTER_DEGREE = 1.0

# A call shorter than this is repeated within a measurement.
_SHORTEST_SECONDS = 2e-3


# ------------------------------------------------------------------------------------------- test problems


def community_graph(n_vertices: int, seed: int) -> cg.Graph:
    """Return communities of about 100 vertices with average degree 10, of which 9 stay inside."""
    n_communities = max(n_vertices // COMMUNITY_SIZE, 1)
    size = n_vertices / n_communities
    p_out = OUTER_DEGREE / max(n_vertices - size, OUTER_DEGREE)
    return gallery.communities(
        n_communities, n_vertices=n_vertices, p_in=INNER_DEGREE / (size - 1), p_out=p_out, rng=seed
    )


def cayley_polynomial(order: int, zoom: float, seed: int) -> cg.CayleyPolynomial:
    """Return a Cayley polynomial with random coefficients of equal size."""
    rng = np.random.default_rng((seed, order))
    c = (rng.standard_normal(order + 1) + 1j * rng.standard_normal(order + 1)) / math.sqrt(order + 1)
    c[0] = c[0].real
    return cg.CayleyPolynomial(c, zoom)


def cayley_reference(L: cg.Laplacian, p: cg.CayleyPolynomial, f: FloatArray) -> FloatArray:
    """Return g(Δ) f to nearly all digits, by scipy's products alone; f has shape (n,) or (n, m)."""
    series = p.series(L.lmax, 1e-13 * filter_gain(L, p))
    block = f.reshape(f.shape[0], -1)
    return sum_series_by_scipy(L.matrix, series.lmax, series.coeffs[None], block)[0].reshape(f.shape)


def relative_error(y: Array, reference: Array, gain: float, f: Array) -> float:
    """Return ‖y − reference‖ / (gain ‖f‖), all signals together."""
    difference = y.astype(np.float64).reshape(reference.shape) - reference
    return float(np.linalg.norm(difference) / (gain * np.linalg.norm(f)))


# ------------------------------------------------------------------------------------------------- timing


def seconds_of(call: Callable[[], Any], number: int = 1) -> float:
    """Time one call, on the average of ``number``."""
    start = time.perf_counter()
    for _ in range(number):
        call()
    return (time.perf_counter() - start) / number


def interleave(
    calls: Mapping[str, Callable[[], Any]], repeats: int, *, budget: float = math.inf, shortest: float | None = None
) -> dict[str, Samples]:
    """Time calls in turns, so that whatever else the machine does meets all of them alike.

    Parameters
    ----------
    calls : mapping of str to callable
        Each has been called before, so that nothing is compiled any more.
    repeats : int
        Rounds.
    budget : float
        Seconds after which a slow call is not repeated again.
    shortest : float, optional
        Least time of one measurement; shorter calls are repeated within it.
    """
    shortest = _SHORTEST_SECONDS if shortest is None else shortest
    numbers = {name: max(math.ceil(shortest / max(seconds_of(call), 1e-7)), 1) for name, call in calls.items()}
    samples: dict[str, Samples] = {name: [] for name in calls}
    gc.collect()
    for _ in range(repeats):
        for name, call in calls.items():
            if sum(samples[name]) <= budget:
                samples[name].append(seconds_of(call, numbers[name]))
    return samples


def summary(samples: Samples) -> dict[str, float]:
    """Return median, smallest and largest, and how many there are."""
    return {
        "median": statistics.median(samples),
        "low": min(samples),
        "high": max(samples),
        "n": len(samples),
    }


def ratios(slow: Samples, fast: Samples) -> Samples:
    """Divide round by round; where one was measured less often, its last measurement stands for the rest."""
    n = max(len(slow), len(fast))
    return [slow[min(k, len(slow) - 1)] / fast[min(k, len(fast) - 1)] for k in range(n)]
