"""PyGSP's errors beside ours, and the rows of the README."""

from __future__ import annotations

import json
from pathlib import Path

from analysis import pygsp_errors
from tests.analysis.helpers import run

ROOT = Path(__file__).resolve().parents[2]


def test_a_long_diffusion_is_wrong_in_pygsp_and_right_here(tmp_path):
    document, page = run(pygsp_errors, tmp_path, "--repeats", "1")
    rows = {row["filter"]: row for row in document["rows"]}
    assert rows["exp(−1000λ)"]["pygsp_error"] > 0.1
    assert rows["exp(−1000λ)"]["certificate"] == "proved"
    for row in document["rows"]:
        assert row["error"] <= 1e-3 or not row["converged"]
    assert "Rectangular" in page


def test_the_first_screen_of_the_readme_shows_what_was_recorded():
    document = json.loads((ROOT / "docs" / "results" / "pygsp_errors.json").read_text(encoding="utf-8"))
    assert not document["quick"]
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = "\n".join(pygsp_errors.readme_table(document))
    assert table in text, f"README.md must have these lines:\n{table}"
    assert text.index(table) < text.index("## Three commands")
    off = next(row["pygsp_error"] for row in document["rows"] if row["filter"] == "exp(−100λ)")
    assert f"y = g.filter(signal)  # {100 * off:.0f} % off" in text
    shown = [row for row in document["rows"] if row["filter"] in pygsp_errors.README_ROWS]
    for row in shown:
        line = next(line for line in table.splitlines() if line.startswith(f"| {row['filter']} |"))
        assert line.endswith(f"| {row['certificate']} |")
        assert (row["certificate"] == "proved") == row["filter"].startswith("exp")  # as the lines around it say
