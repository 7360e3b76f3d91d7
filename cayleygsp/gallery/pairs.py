"""Random pairs of vertices without repetition."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from cayleygsp._typing import IntArray


def count_pairs(n: IntArray) -> IntArray:
    """Return the number of pairs of n things."""
    return n * (n - 1) // 2


def range_starts(lengths: IntArray) -> IntArray:
    """Return where ranges of the given lengths start when they stand one after the other."""
    return np.cumsum(lengths) - lengths


def unrank_pairs(rank: IntArray) -> tuple[IntArray, IntArray]:
    r"""Return the pairs i < j with :math:`j(j-1)/2 + i` equal to the ranks 0, 1, 2, …: 01, 02, 12, 03, …."""
    j = ((1 + np.sqrt(8.0 * rank + 1)) / 2).astype(np.int64)
    # The square root may be off by rounding, by far less than one.
    j -= count_pairs(j) > rank
    j += count_pairs(j + 1) <= rank
    return rank - count_pairs(j), j


def draw_distinct(lengths: IntArray, counts: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw ``counts[b]`` distinct numbers of the b-th of consecutive ranges, each set equally likely.

    The ranges follow each other from 0 on and have the given lengths. The result is sorted. Of ranges of
    which more than half is wanted, the numbers left out are drawn instead.
    """
    inverted = 2 * counts > lengths
    n_drawn = np.where(inverted, lengths - counts, counts)
    drawn = _draw_with_redraws(lengths, n_drawn, rng)
    if not inverted.any():
        return drawn
    left_out = np.repeat(inverted, n_drawn)
    members = range_members(lengths, inverted)
    kept = np.delete(members, np.searchsorted(members, drawn[left_out]))
    result = np.concatenate([drawn[~left_out], kept])
    result.sort()
    return result


def _draw_with_redraws(lengths: IntArray, counts: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw with replacement as many as are missing, drop repetitions, and again until none is missing.

    The set is that of the first distinct values of a sequence of independent uniform draws; no number is
    preferred, so all sets of that many numbers are equally likely.
    """
    starts = range_starts(lengths)
    drawn = np.zeros(0, dtype=np.int64)
    missing = counts
    while missing.any():
        block = np.repeat(np.arange(len(lengths)), missing)
        new = rng.integers(lengths[block])
        new += starts[block]
        # np.unique takes several times as long from numpy 2.3 on, where it hashes before it sorts.
        new.sort()
        new = new[np.diff(new, prepend=-1) > 0]
        if drawn.size:
            position = np.searchsorted(drawn, new)
            known = drawn[np.minimum(position, drawn.size - 1)] == new
            new = np.insert(drawn, position[~known], new[~known])
        drawn = new
        ends = np.searchsorted(drawn, starts + lengths)
        missing = counts - np.diff(ends, prepend=0)
    return drawn


def range_members(lengths: IntArray, chosen: npt.NDArray[np.bool_]) -> IntArray:
    """Return all numbers of the chosen ranges among consecutive ranges that start at 0."""
    sizes = lengths[chosen]
    shift = range_starts(lengths)[chosen] - range_starts(sizes)
    return np.arange(sizes.sum()) + np.repeat(shift, sizes)
