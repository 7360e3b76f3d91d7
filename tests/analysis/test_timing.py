"""Times in turns, their ratios and their growth."""

from __future__ import annotations

import numpy as np
import pytest

from analysis import _timing


def test_exponent_of_a_power_is_found():
    n = np.array([1e4, 1e5, 1e6])
    assert _timing.fit_exponent(n, 3 * n**1.3) == pytest.approx(1.3)


def test_slow_calls_are_not_repeated_beyond_the_budget():
    samples = _timing.interleave({"a": lambda: None, "b": lambda: sum(range(10**5))}, 5, budget=1e-9, shortest=0)
    assert len(samples["b"]) == 1
    assert _timing.ratios([4.0], [1.0, 2.0]) == [4.0, 2.0]
