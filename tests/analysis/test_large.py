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
        assert row["error"] <= row["bound"]
    assert "pyamg.ruge_stuben_solver over method='multigrid'" in page
