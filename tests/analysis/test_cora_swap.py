"""One line changed on Cora: the script runs where the data is, and says where it is not."""

from __future__ import annotations

import pytest

from analysis import cora_swap
from analysis._planetoid import find_folder
from tests.analysis.helpers import SHARED, run


def document(cheb, cayley):
    def runs(values):
        return [{"test": v, "validation": v, "zooms": [], "epochs": 1, "seed": 0} for v in values]

    return {"models": {"ChebConv": runs(cheb), "CayleyConv": runs(cayley)}, "order": 2}


def test_conclusions_follow_the_numbers():
    (line,) = cora_swap.conclusions(document([0.80, 0.82], [0.80, 0.81]))
    assert "below it, the difference 0.005 being within one deviation" in line
    (line,) = cora_swap.conclusions(document([0.80, 0.82], [0.70, 0.71]))
    assert "more than one deviation" in line
    (line,) = cora_swap.conclusions(document([0.80, 0.82], [0.82, 0.83]))
    assert "at or above it" in line


def test_missing_data_is_named_before_anything_is_computed(tmp_path, capsys):
    with pytest.raises(SystemExit):
        cora_swap.main(["--quick", "--data", str(tmp_path)])
    assert "no file ind.cora.graph" in capsys.readouterr().err


def test_both_networks_are_trained(tmp_path, monkeypatch):
    try:
        find_folder("cora")
    except FileNotFoundError as error:
        if not (SHARED / "cora").is_dir():
            pytest.skip(f"the data set is not here: {error}")
        monkeypatch.setenv("CAYLEYGSP_DATA", str(SHARED))
    numbers, _ = run(cora_swap, tmp_path)
    assert all(len(runs) == 1 and runs[0]["test"] > 0.3 for runs in numbers["models"].values())
