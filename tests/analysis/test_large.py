"""Large grids, in their small size."""

from __future__ import annotations

from analysis import large
from tests.analysis.helpers import run


def test_everything_is_certified_and_the_truth_is_below(tmp_path):
    document, page = run(large, tmp_path)
    rows = document["rows"]
    assert len(rows) == 7
    ours = [row for row in rows if row["bound"] is not None]
    assert len(ours) == 5
    for row in ours:
        assert row["certificate"] == "proved"
        assert row["converged"]
        # the coefficients of a reconstruction have an error of their own
        assert row["error"] <= row["bound"] + (5e-11 if "coefficients" in row["work"] else 1e-13)
    assert "pyamg.ruge_stuben_solver over method='multigrid'" in page
