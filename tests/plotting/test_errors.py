"""Pictures of measured errors beside bounds: what is drawn, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from cayleygsp import plotting
from tests.plotting.helpers import named_lines


class TestErrorBars:
    def test_dots_and_bars_are_where_the_numbers_are(self, ax):
        plotting.error_bars(["a", "b"], [1e-3, 1e-9], [1e-2, 1e-8], notes=["x", "y"], ax=ax)
        drawn = {line.get_label(): line for line in ax.lines}
        assert drawn["measured error"].get_xdata().tolist() == [1e-3, 1e-9]
        assert drawn["certified bound"].get_xdata().tolist() == [1e-2, 1e-8]
        assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
        assert [text.get_text() for text in ax.texts] == ["x", "y"]
        assert ax.get_xscale() == "log"

    def test_zero_error_and_missing_bound_can_be_drawn(self, ax):
        plotting.error_bars(["a", "b"], [0.0, 1e-3], [1e-12, np.inf], ax=ax)
        drawn = {line.get_label(): line for line in ax.lines}
        assert drawn["measured error"].get_xdata().tolist() == [1e-3]
        assert drawn["error below this"].get_xdata().tolist() == [1e-17]
        assert drawn["certified bound"].get_xdata().tolist() == [1e-12]

    @pytest.mark.parametrize(
        ("measured", "bounds", "notes", "message"),
        [
            ([1.0], [1.0, 2.0], None, r"`measured` must have one entry per name, shape \(2,\), got \(1,\)"),
            ([1.0, 2.0], [1.0], None, "`bounds` must have one entry per name"),
            ([1.0, -2.0], [1.0, 2.0], None, "`measured` must be finite and not negative"),
            ([1.0, 2.0], [1.0, 2.0], ["x"], "`notes` must have one entry per name, 2, got 1"),
        ],
    )
    def test_rows_that_do_not_fit_are_refused(self, ax, measured, bounds, notes, message):
        with pytest.raises(ValueError, match=message):
            plotting.error_bars(["a", "b"], measured, bounds, notes=notes, ax=ax)

    def test_bounds_above_one_are_marked_empty_and_end_at_the_edge(self, ax):
        plotting.error_bars(["a", "b", "c"], [1e-3, 1e-2, 0.1], [1e-2, 5.0, 1e12], ax=ax)
        drawn = named_lines(ax)
        assert set(np.asarray(drawn["1: above it a bound is empty"].get_xdata())) == {1.0}
        assert ax.get_xlim()[1] <= 1e4
        assert drawn["certified bound"].get_xdata().tolist() == [1e-2, 5.0]
        assert drawn["bound off the scale"].get_ydata().tolist() == [2]

    def test_axis_is_left_alone_where_every_bound_says_something(self, ax):
        plotting.error_bars(["a"], [1e-3], [1e-2], ax=ax)
        assert "1: above it a bound is empty" not in named_lines(ax)

    def test_errors_below_that_of_the_reference_are_not_drawn_as_measured(self, ax):
        plotting.error_bars(["a", "b"], [1e-16, 1e-3], [1e-12, 1e-2], floor=1e-14, ax=ax)
        drawn = named_lines(ax)
        assert drawn["measured error"].get_xdata().tolist() == [1e-3]
        assert drawn["error below this"].get_data()[0].tolist() == [1e-14]
