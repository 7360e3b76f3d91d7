"""Numbers as text never say more than the number does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cayleygsp as cg
from cayleygsp._format import (
    format_at_least,
    format_at_most,
    format_bound,
    format_measured,
    format_rate,
    format_tol,
)


@given(gap=st.floats(1e-300, 0.9999))
def test_rates_below_one_never_read_as_one(gap):
    text = format_rate(1 - gap, gap=gap)
    number = float(text) if "−" not in text else 1 - float(text.removeprefix("1 − ")) if gap > 1e-15 else 0.0
    assert number < 1
    assert text != "1"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0.5"), (1.0, "1"), (0.99999977, "1 − 2.3e-7"), (1.0000001, "1 + 1e-7"), (2.8284, "2.828"), (0.0, "0")],
)
def test_rates_are_short(value, text):
    assert format_rate(value) == text


@given(value=st.floats(0, 1e300))
def test_bounds_are_rounded_to_the_safe_side(value):
    assert float(format_bound(value)) >= value
    assert float(format_at_most(value)) >= value
    assert float(format_at_least(value)) <= value


@pytest.mark.parametrize("value", [0.0, 1e-300, 0.0612, 0.0999, 0.1, 0.995, 1.0, 123.4, 5.6e7])
def test_an_upper_bound_is_rounded_up_by_no_more_than_its_digits(value):
    assert value <= float(format_at_most(value, 2)) <= value * 1.11
    if float(f"{value:.2g}") == value:
        assert float(format_at_most(value, 2)) == float(format_bound(value)) == value


@given(value=st.floats(0, 1), floor=st.floats(1e-300, 1))
def test_what_is_not_above_the_floor_reads_as_below(value, floor):
    text = format_measured(value, floor)
    assert text.startswith("below ") == (value <= floor)
    if value <= floor:
        assert float(text.removeprefix("below ")) >= floor


@pytest.mark.parametrize(("tol", "text"), [(1e-3, "1e-3"), (1e-6, "1e-6"), (2.5e-10, "2.5e-10")])
def test_tolerances_are_short(tol, text):
    assert format_tol(tol) == text


def test_printed_results_say_the_shape_of_long_arrays_and_the_numbers_of_short_ones():
    graph = cg.gallery.grid(10)
    y = np.random.default_rng(0).standard_normal((100, 2))
    text = repr(cg.tasks.denoise(graph, y, strengths=[1.0, 2.0]))
    assert "signals=<array of shape (100, 2)>" in text
    assert "strengths=array([1., 2.])" in text
    assert len(text) < 1500
    info = cg.KernelFilter(graph, cg.responses.Heat(1.0)).filter(np.ones((100, 50)), return_info=True)[1]
    assert "error_bound=<array of shape (50,)>" in repr(info)
