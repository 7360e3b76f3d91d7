"""Rows: a wrong result meets no target, and a lower bound may leave it open."""

from __future__ import annotations

from analysis import _comparison
from analysis._script import table_of


def cells(row):
    return table_of("", _comparison.COLUMNS, [row]).rows[0]


def row_with(error, value, **more):
    side = {"name": "a", "seconds": {"median": 1.0}, "error": error, "error_limit": 1e-6}
    return _comparison.make_row("w", side, side, "×", {"median": value, "low": 1.0, "high": 1e3}, 8.0, **more)


def test_wrong_result_meets_no_target():
    right, wrong = row_with(1e-7, 10.0), row_with(1e-5, 10.0)
    assert right["met"] is True
    assert wrong["met"] is False
    assert cells(wrong)[-1].endswith("WRONG")
    assert row_with(1e-7, 10.0, at_most=True)["met"] is False


def test_lower_bound_below_the_target_leaves_it_open():
    assert row_with(1e-7, 5.0, lower_bound=True)["met"] is None
    assert row_with(1e-7, 10.0, lower_bound=True)["met"] is True
    assert cells(row_with(1e-7, 5.0, lower_bound=True))[3:6] == [
        "≥ 5.00 × (1.00–1,000)",
        "≥ 8 ×",
        "open",
    ]
