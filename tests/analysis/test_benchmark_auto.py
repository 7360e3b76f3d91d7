"""The benchmark of the choice: every case has a best method, and the choice is certified."""

from __future__ import annotations

from analysis import benchmark_auto
from tests.analysis.helpers import run


def test_every_case_is_measured_and_certified(tmp_path):
    document, page = run(benchmark_auto, tmp_path)
    assert len(document["rows"]) == 2 * 2 * 2 * 2
    for row in document["rows"]:
        assert row["certified"]
        assert row["seconds"][row["best"]] == min(t for m, t in row["seconds"].items() if t and m != "auto")
        assert row["ratio"] == row["seconds"]["auto"] / row["seconds"][row["best"]]
    assert "of 16 cases" in page
