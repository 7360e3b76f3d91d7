"""What commands print, write and return as JSON is no more than was measured or proved."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from cayleygsp.cli import main


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_decay_calls_nothing_measured_that_the_method_may_have_made(capsys):
    arguments = ["decay", "@ring:128", "--zoom", "0.1", "--order", "1"]
    assert main([*arguments, "--json"]) == 0
    numbers = json.loads(capsys.readouterr().out)
    floor = numbers["floor"]
    assert floor > 1e-16
    assert all(mass is None or mass == 0 or mass > floor for mass in numbers["mass"])
    assert None in numbers["mass"]
    assert main([*arguments, "-o", "decay.csv"]) == 0
    printed = capsys.readouterr().out
    assert "below " in printed
    with Path("decay.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["mass"] == "" for row in rows] == numbers["below_floor"]
    assert all((row["below"] == "") != (row["mass"] == "") for row in rows)


def test_kappa_below_one_is_not_printed_as_one(capsys):
    assert main(["bound", "@ring:32", "--zoom", "1e6", "--order", "2"]) == 0
    printed = capsys.readouterr().out
    (line,) = [line for line in printed.splitlines() if line.startswith("κ")]
    assert re.fullmatch(r"κ\s+1 − \d(\.\d)?e-\d+", line)
    assert "A bound above it is empty" in printed


def test_vertices_without_edges_are_apart_from_the_range_of_degrees(capsys):
    Path("loops.csv").write_text("0,1\n1,2\n3,3\n")
    assert main(["info", "loops.csv"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("degrees")]
    assert "1 to 2, and 0 at 1 vertex without edges (self-loops not counted)" in line
