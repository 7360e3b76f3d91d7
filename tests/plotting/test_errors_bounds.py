"""Pictures of bounds over sweeps: what is drawn, and what is marked."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from cayleygsp.plotting import bounds
from tests.plotting.helpers import named_lines


def test_draws_errors_and_bounds(ax):
    assert bounds([0, 5], [1e-1, 1e-3], {"paper": [1.0, 0.1], "mine": [0.5, np.inf]}, ax=ax) is ax
    drawn = named_lines(ax)
    assert list(drawn) == ["paper", "mine", "measured"]
    assert_allclose(drawn["paper"].get_ydata(), [1.0, 0.1])
    assert np.isnan(drawn["mine"].get_ydata()[1])
    assert ax.get_yscale() == "log"
    assert all(float(tick).is_integer() for tick in ax.get_xticks())


def test_line_at_the_gain_says_that_bounds_above_are_empty(ax):
    bounds([0, 5], [1e-1, 1e-3], {"sharp": [2.0, 0.1]}, gain=1.5, ax=ax)
    assert set(np.asarray(named_lines(ax)["gain: above it a bound is empty"].get_ydata())) == {1.5}
    assert ax.get_ylim()[1] < 1e4


def test_bounds_far_above_the_gain_are_triangles_at_the_edge(ax):
    bounds([0, 5], [1e-1, 1e-3], {"safe": [3e10, 2e9], "paper": [1e8, 1.0]}, gain=1.0, ax=ax)
    assert ax.get_ylim()[1] <= 1e4
    labels = list(named_lines(ax))
    assert "safe, off the scale: up to $10^{11}$" in labels
    assert "paper, off the scale: up to $10^{8}$" in labels
    edges = [line for line in ax.lines if line.get_label() == "_off the scale"]
    heights = [set(np.asarray(line.get_ydata())) for line in edges]
    assert [line.get_xdata().tolist() for line in edges] == [[0, 5], [0]]
    assert not heights[0] & heights[1]  # one does not hide the other


def test_errors_above_a_bound_are_ringed(ax):
    bounds([0, 1, 2], [3.0, 1.0, 0.5], {"paper": [2, 2, 0.4]}, ax=ax)
    assert_allclose(named_lines(ax)["above a bound"].get_xdata(), [0, 2])


def test_rounding_is_no_reason_for_a_ring(ax):
    bounds([0, 1], [3.0, 1e-15], {"paper": [4, 1e-20]}, rounding=[0, 1e-14], ax=ax)
    assert "above a bound" not in named_lines(ax)
    assert ax.get_ylim()[0] == pytest.approx(1e-16)


def test_errors_below_that_of_the_reference_are_not_drawn_as_measured(ax):
    bounds([0, 1], [3.0, 1e-15], {"sharp": [4, 1e-3]}, floor=1e-10, ax=ax)
    assert np.isnan(named_lines(ax)["measured"].get_ydata()[1])
    assert [patch.get_label() for patch in ax.patches] == ["error of the reference"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[0, 1]], [1, 2], {}), "`n_iter` must have shape"),
        (([], [], {}), "`n_iter` must have shape"),
        (([0, 1], [1], {}), "`measured` must have one entry per number of sweeps"),
        (([0, 1], [1, -1], {}), "`measured` must be finite and not negative"),
        (([0, 1], [1, 1], {"paper": [1]}), r"`curves\['paper'\]` must have one entry"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(ax, arguments, message):
    with pytest.raises(ValueError, match=message):
        bounds(*arguments, ax=ax)
