"""The benchmark of the choice: every case has a best method, and the choice is certified."""

from __future__ import annotations

import json
from pathlib import Path

from analysis import benchmark_auto
from tests.analysis.helpers import run

ROOT = Path(__file__).resolve().parents[2]


def test_every_case_is_measured_and_certified(tmp_path):
    document, page = run(benchmark_auto, tmp_path)
    assert len(document["rows"]) == 2 * 2 * 2 * 2
    for row in document["rows"]:
        assert row["certified"]
        assert row["seconds"][row["best"]] == min(t for m, t in row["seconds"].items() if t and m != "auto")
        assert row["ratio"] == row["seconds"]["auto"] / row["seconds"][row["best"]]
    assert "of 16 cases" in page


def test_the_page_on_speed_says_what_was_recorded():
    document = json.loads((ROOT / "docs" / "results" / "benchmark_auto.json").read_text(encoding="utf-8"))
    ratios = [row["ratio"] for row in document["rows"]]
    within = sum(ratio <= benchmark_auto.TARGET for ratio in ratios)
    text = " ".join((ROOT / "docs" / "howto" / "method.md").read_text(encoding="utf-8").split())
    assert document["repeats"] == 1
    assert "(../results/benchmark_auto.md), with one repeat" in text
    assert f"{within} of {len(ratios)} cases, and at most {max(ratios):.2f} times" in text
