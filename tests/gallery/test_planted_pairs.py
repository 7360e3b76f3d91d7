"""Pairs are drawn without repetition, each as often as any other."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from cayleygsp.gallery import planted


@given(st.integers(2, 60))
def test_unranking_covers_all_pairs_exactly_once(n):
    i, j = planted.unrank_pairs(np.arange(n * (n - 1) // 2))
    assert set(zip(i.tolist(), j.tolist(), strict=True)) == set(combinations(range(n), 2))


@given(st.integers(1, 2**30), st.integers(-2, 2))
def test_unranking_is_exact_for_large_ranks(j, shift):
    rank = j * (j - 1) // 2 + shift
    if rank < 0:
        return
    low, high = (int(part[0]) for part in planted.unrank_pairs(np.array([rank])))
    assert 0 <= low < high
    assert high * (high - 1) // 2 + low == rank


@given(st.lists(st.tuples(st.integers(0, 30), st.floats(0, 1)), min_size=1, max_size=6), st.integers(0, 99))
def test_distinct_draws_have_the_wanted_number_in_each_range(ranges, seed):
    lengths = np.array([length for length, _ in ranges])
    counts = np.array([int(length * share) for length, share in ranges])
    drawn = planted.draw_distinct(lengths, counts, np.random.default_rng(seed))
    assert np.all(np.diff(drawn) > 0)
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    assert_array_equal(np.diff(np.searchsorted(drawn, bounds)), counts)


@pytest.mark.parametrize("count", [2, 3])
def test_all_sets_are_drawn_equally_often(count):
    rng = np.random.default_rng(0)
    n_runs = 4000
    tally = {chosen: 0 for chosen in combinations(range(5), count)}
    for _ in range(n_runs):
        tally[tuple(planted.draw_distinct(np.array([5]), np.array([count]), rng).tolist())] += 1
    # Chi-square with 9 degrees of freedom stays below 33.7 but once in ten thousand.
    expected = n_runs / 10
    assert sum((k - expected) ** 2 / expected for k in tally.values()) < 33.7
