"""Tasks: chosen strengths near the best ones, and inpainting with a proved error."""

from __future__ import annotations

from analysis import tasks
from tests.analysis.helpers import run


def test_chosen_strengths_are_compared_with_the_best(tmp_path):
    document, page = run(tasks, tmp_path)
    rows = document["denoising"]
    assert len(rows) == 2 * 3 * len(tasks.RULES)
    assert all(ratio >= 1 - 1e-4 for row in rows for ratio in row["ratios"])
    assert min(ratio for row in rows for ratio in row["ratios"]) < 1.05
    assert all(row["certificate"] == "proved" and row["converged"] for row in document["inpainting"]["rows"])
    assert "within 10 % of the least" in page
