"""Times taken in turns, their spread, ratios and growth."""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Samples = list[float]

# A call shorter than this is repeated within a measurement.
_SHORTEST_SECONDS = 2e-3


def seconds_of(call: Callable[[], Any], number: int = 1, clock: Callable[[], float] = time.perf_counter) -> float:
    """Time one call, on the average of ``number``."""
    start = clock()
    for _ in range(number):
        call()
    return (clock() - start) / number


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """Return the time of a call and what it returned."""
    kept: list[Any] = []
    seconds = seconds_of(lambda: kept.append(call()))
    return seconds, kept[0]


def interleave(
    calls: Mapping[str, Callable[[], Any]],
    repeats: int,
    *,
    budget: float = math.inf,
    shortest: float | None = None,
    clock: Callable[[], float] = time.perf_counter,
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
    clock : callable
        ``time.process_time`` leaves out what other programs take.
    """
    shortest = _SHORTEST_SECONDS if shortest is None else shortest
    numbers = {
        name: max(math.ceil(shortest / max(seconds_of(call, 1, clock), 1e-7)), 1) for name, call in calls.items()
    }
    samples: dict[str, Samples] = {name: [] for name in calls}
    gc.collect()
    for _ in range(repeats):
        for name, call in calls.items():
            if sum(samples[name]) <= budget:
                samples[name].append(seconds_of(call, numbers[name], clock))
    return samples


def process_seconds(calls: Mapping[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Return the median processor time of each call, taken in turns; each is called once before."""
    for call in calls.values():
        call()
    samples = interleave(calls, repeats, clock=time.process_time)
    return {name: statistics.median(times) for name, times in samples.items()}


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


def fit_exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Return the slope of a straight line through the logarithms, by least squares.

    Examples
    --------
    >>> from analysis._timing import fit_exponent
    >>> round(fit_exponent([1, 10, 100], [3, 300, 30_000]), 12)
    2.0
    """
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])
