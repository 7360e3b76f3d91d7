"""What the page of a split says."""

from __future__ import annotations

from analysis.cora.results import reasons
from analysis.cora.settings import (
    APPNP,
    CAYLEY,
    DCNN,
    EXTENDED,
    GCN,
    HALVED,
    MONET,
    STANDARD,
    SWAPPED,
)


def test_a_page_says_where_a_reason_stands_or_that_none_was_found():
    def row(model, mean, theirs):
        return {"model": model, "mean": mean, "sd": 0.3, "paper": theirs}

    rows = [row(DCNN, 75.0, 72.3), row(GCN, 81.0, 81.6), row(MONET, 84.0, 81.7), row(APPNP, 83.0, None)]
    lines = reasons({"config": {"split": STANDARD}, "rows": rows})
    assert len(lines) == 2
    assert "DCNN" in lines[0]
    assert "(cora_dcnn.md)" in lines[0]
    assert lines[1] == "Why MoNet is not nearer to the paper's 81.7: no reason was found."
    rows = [row(GCN, 89.0, 86.64), row(CAYLEY, 90.0, 88.09)]
    (line,) = reasons({"config": {"split": EXTENDED}, "rows": rows})
    assert line.endswith("no reason was found.")
    others = [
        {"split": split, "rows": {GCN: {"mean": mean, "sd": 0.2, "n": 7}}}
        for split, mean in ((HALVED, 87.5), (SWAPPED, 86))
    ]
    (line,) = reasons({"config": {"split": EXTENDED}, "rows": rows, "other_halves": others})
    assert "(cora_halved.md) it is 87.50 ± 0.20 and with [the halves swapped](cora_swapped.md) it is 86.00" in line
