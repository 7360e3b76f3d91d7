"""The benchmark of the choice: every case has a best method, and the choice is certified."""

from __future__ import annotations

import json
from pathlib import Path

from analysis import benchmark_auto
from analysis.benchmark_auto import BUDGET, HOPELESS, LEAST_SECONDS, wants_turn
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


def test_short_cases_are_timed_more_often_and_hopeless_ones_are_not():
    short, long = 1e-3, LEAST_SECONDS / 2.5
    assert wants_turn({"exact": []}, "exact", 3, 25)
    assert wants_turn({"exact": [short] * 24}, "exact", 3, 25)
    assert not wants_turn({"exact": [short] * 25}, "exact", 3, 25)
    assert wants_turn({"exact": [short] + [3 * long] * 3}, "exact", 3, 25)  # disturbed, and still short
    assert wants_turn({"exact": [long] * 2}, "exact", 3, 25)
    assert not wants_turn({"exact": [long] * 3}, "exact", 3, 25)
    assert not wants_turn({"exact": [1.01 * BUDGET]}, "exact", 3, 25)
    far = {"exact": [1.01 * HOPELESS * short], "chebyshev": [short], "auto": [1.01 * HOPELESS * short]}
    assert [wants_turn(far, m, 1, 25) for m in far] == [False, True, True]
    assert [wants_turn(far, m, 2, 25) for m in far] == [True, True, True]


def test_the_page_on_speed_says_what_was_recorded():
    document = json.loads((ROOT / "docs" / "results" / "benchmark_auto.json").read_text(encoding="utf-8"))
    ratios = [row["ratio"] for row in document["rows"]]
    within = sum(ratio <= benchmark_auto.TARGET for ratio in ratios)
    text = " ".join((ROOT / "docs" / "howto" / "method.md").read_text(encoding="utf-8").split())
    assert f"{within} of {len(ratios)} cases, and at most {max(ratios):.2f} times" in text
