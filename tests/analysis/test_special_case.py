"""The special case: equal on regular graphs, not on others."""

from __future__ import annotations

from analysis import special_case
from tests.analysis.helpers import run


def test_filters_are_equal_where_the_diagonal_is_constant(tmp_path):
    document, _ = run(special_case, tmp_path)
    same = [row for row in document["rows"] if row["constant_diagonal"]]
    other = [row for row in document["rows"] if not row["constant_diagonal"]]
    assert {row["graph"] for row in same if row["kind"] == "combinatorial"} == {
        "ring",
        "random regular, degree 4",
        "random regular, degree 10",
    }
    assert all(row["kind"] == "combinatorial" for row in other)
    assert max(row["difference"] for row in same) < 1e-12
    assert min(row["difference"] for row in other) > 1e-3
