"""Sentences on the paper's claims follow the numbers."""

from __future__ import annotations

from analysis.cora import results
from analysis.cora.settings import (
    CAYLEY,
    CAYLEY16,
    EXTENDED,
    GCN,
    HALVED,
    MONET,
    NAMES,
    PAPER_ACCURACY,
    STANDARD,
)


def test_findings_follow_the_numbers():
    def row(model, mean, sd=0.5):
        return {"model": model, "mean": mean, "sd": sd, "n": 50, "paper": PAPER_ACCURACY[STANDARD][model]}

    lines = results.findings({"rows": [row(CAYLEY16, 81.8), row(GCN, 81.5), row(MONET, 79.0)]})
    assert "within one deviation of the paper's 81.9" in lines[0]
    assert "GCN is within 1.5 points" in lines[1]
    assert "MoNet is not within 1.5 points" in lines[2]
    assert lines[3].endswith("as in the paper.")
    lines = results.findings({"rows": [row(CAYLEY16, 81.6), row(GCN, 81.5)]})
    assert f"GCN ≈ {NAMES[CAYLEY16]} (≈: not more than two standard errors apart); in the paper GCN <" in lines[2]
    single = [{**row(CAYLEY16, 80.0), "n": 1}, {**row(GCN, 81.5), "n": 1}]
    assert f"{NAMES[CAYLEY16]} ≈ GCN" in results.findings({"rows": single})[2]
    assert "81.9: 80.00 (-1.90)." in results.findings({"rows": single})[0]
    lines = results.findings({"rows": [row(CAYLEY16, 80.0), row(GCN, 81.5)]})
    assert "not within one deviation" in lines[0]
    assert "in the paper GCN <" in lines[2]
    lines = results.findings({"rows": [{**row(CAYLEY16, 80.0), "cpu_seconds": 6.0, "n": 3}]})
    assert "take 5.0 minutes of processor time" in lines[-1]
    assert "2.5 minutes on two cores" in lines[-1]
    one = {"model": CAYLEY, "mean": 88.0, "sd": 0.5, "n": 50, "paper": 88.09, "validation": 86.0}
    lines = results.findings({"rows": [one], "config": {"split": EXTENDED}})
    assert "+2.00 to +2.00 points on the test half" in lines[-1]
    for mean, n_near in ((87.0, 1), (86.5, 0)):
        other_halves = [{"split": HALVED, "rows": {CAYLEY: {"mean": mean, "sd": 0.5, "n": 9}}}]
        halves = {"rows": [one], "config": {"split": EXTENDED}, "other_halves": other_halves}
        line = results.findings(halves)[-1]
        assert f"(cora_halved.md) {n_near} of 1 methods of the paper are within 1.5 points" in line
        assert line.endswith(f"{NAMES[CAYLEY]} {mean:.2f} ± 0.50 (88.09).")
    other = {**one, "model": GCN, "mean": 88.5, "validation": 85.0}
    lines = results.findings({"rows": [one, other], "config": {"split": EXTENDED}})
    assert lines[-1].endswith(f"have: {NAMES[CAYLEY]} 86.00; GCN 85.00.")
