"""Runs of recorded results are taken over, of the same settings and data alone."""

from __future__ import annotations

import json

import numpy as np
import pytest

from analysis import cora
from analysis.cora import orders
from analysis.cora.data import data_name
from analysis.cora.settings import (
    CHEBNET,
)
from tests.analysis.test_planetoid import write

ORDERS = cora.SCRIPTS["orders"]


def test_runs_of_a_recorded_figure_are_taken_over_as_they_are(tmp_path):
    argv = ["--quick", "--show", "orders", "--workers", "1", "--epochs", "1"]
    _, document = ORDERS.compute([*argv, "--work", str(tmp_path / "a")], quiet=True)
    path = tmp_path / "figure.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    again = [*argv, "--runs", "2", "--finished", "--recorded", str(path), "--work", str(tmp_path / "b")]
    _, more = ORDERS.compute(again, quiet=True)
    assert len(document["runs"]) == 14
    assert more["runs"] == document["runs"]
    assert more["rows"] == document["rows"]
    assert "were taken over" in ORDERS.markdown(more)
    assert "were taken over" not in ORDERS.markdown(document)
    changed = [{**row, "n": 50 if row["laplacian"] != orders.SHIFTED else 3} for row in document["rows"]]
    assert "over 50 runs of each bar (3 of the shifted Laplacian);" in ORDERS.markdown({**document, "rows": changed})


def test_runs_of_a_recorded_table_with_the_same_recipe_are_taken_over(tmp_path):
    argv = ["--quick", "--model", CHEBNET, "--workers", "1", "--epochs", "2"]
    _, document = cora.compute([*argv, "--runs", "2", "--work", str(tmp_path / "a")], quiet=True)
    path = tmp_path / "table.json"
    for row in document["rows"]:
        del row["recipe"]["words"]  # as in a table from before there was such a setting
    path.write_text(json.dumps(document), encoding="utf-8")
    again = [*argv, "--runs", "3", "--recorded", str(path), "--work", str(tmp_path / "b")]
    _, more = cora.compute(again, quiet=True)
    assert [run["numbers"] for run in more["runs"]][:2] == [run["numbers"] for run in document["runs"]]
    assert "were taken over" in cora.markdown(more)
    assert "were taken over" not in cora.markdown(document)
    assert len(list((tmp_path / "b").glob("*/model=*.json"))) == 1
    _, others = cora.compute([*again, "--finished", "--lr", "0.5"], quiet=True)
    assert others["rows"] == []
    with pytest.raises(SystemExit):
        cora.main(["--quick", "--recorded", str(tmp_path / "nothing.json")])


def test_runs_of_other_files_with_the_same_name_are_not_taken_over(tmp_path):
    names = set()
    for k in range(2):
        folder = tmp_path / f"data{k}"
        folder.mkdir()
        write(folder, y=np.eye(3, dtype=np.int32)[[0, 1, 2 - k]])
        names.add(data_name("citeseer", folder))
        assert data_name("citeseer", folder) in names
    assert len(names) == 2
    assert all(name.startswith("citeseer-") for name in names)
    argv = ["--dataset", "citeseer", "--model", CHEBNET, "--runs", "1", "--epochs", "1", "--workers", "1"]
    argv += ["--work", str(tmp_path / "work")]
    for k in range(2):
        cora.compute([*argv, "--data", str(tmp_path / f"data{k}")], quiet=True)
    assert len(list((tmp_path / "work").glob("citeseer-*/model=*.json"))) == 2
