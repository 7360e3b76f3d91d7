"""The frame: every script has the same options, writes all or nothing, and rejects what it cannot mean."""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import runpy
import sys
from pathlib import Path

import pytest
from matplotlib.figure import Figure

import analysis
from analysis._script import Script, Table

FOLDER = Path(analysis.__file__).parent
TABLE = Table("Numbers", ["a"], [["1"]])
SCRIPTS = [
    "benchmark_nn",
    "benchmark_peers",
    "benchmark_scaling",
    "bounds",
    "community",
    "complexity",
    "decay",
    "design",
    "figure_zoom",
    "profile_kernels",
    "special_case",
]


def make_script(**changes):
    parts = {
        "name": "small",
        "description": "Nothing much.",
        "measure": lambda args, step: {"value": args.seed + 1},
        "page": lambda document: ["Small", f"The value is {document['value']}.", ["small", "new"], "", TABLE],
        "draw": lambda document: Figure(figsize=(1, 1)),
    }
    return Script(**(parts | changes))


def test_files_are_made_from_the_numbers(tmp_path):
    assert make_script().main(["--seed", "4", "--results", str(tmp_path / "a" / "b")]) == 0
    folder = tmp_path / "a" / "b"
    assert {path.name for path in folder.iterdir()} == {"small.json", "small.md", "small.png"}
    document = json.loads((folder / "small.json").read_text(encoding="utf-8"))
    assert document["value"] == 5
    assert document["command"].startswith("python -m analysis.small --seed 4")
    text = (folder / "small.md").read_text(encoding="utf-8")
    assert text.startswith("# Small\n\n- Command: `python -m analysis.small --seed 4")
    assert text.endswith("\n\nThe value is 5.\n\n- small\n- new\n\n| a |\n| --- |\n| 1 |\n")


def test_tables_and_sentences_are_printed_and_facts_written(capsys):
    script = make_script(facts=lambda document: ["- Torch: none"])
    assert script.main([]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Numbers\n")
    assert out.endswith("small\nnew\n")
    assert "The value" not in out
    _, document = script.compute([], quiet=True)
    assert "\n- Torch: none\n\nThe value is 1." in script.markdown(document)


def test_a_picture_that_fails_leaves_no_file(tmp_path):
    def fail(document):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        make_script(draw=fail).main(["--results", str(tmp_path / "new"), "--json", str(tmp_path / "out.json")])
    assert not list(tmp_path.iterdir())


def test_nan_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        make_script(measure=lambda args, step: {"value": float("nan")}).main(["--json", str(tmp_path / "out.json")])
    assert not list(tmp_path.iterdir())


def test_options_of_a_script_are_checked_before_it_measures(capsys):
    def refuse(args, step):
        raise AssertionError("measured")

    script = make_script(measure=refuse, repeats=(7, 3))
    with pytest.raises(SystemExit):
        script.main(["--repeats", "0"])
    assert "--repeats must be 1 or more, got 0" in capsys.readouterr().err
    assert script.parse([]).repeats == 7
    assert script.parse(["--quick"]).repeats == 3


def test_steps_are_told_to_nobody_when_quiet():
    told = []
    script = make_script(measure=lambda args, step: {"value": step("one")}, steps=lambda args: told.append(1) or 1)
    args, document = script.compute([], quiet=True)
    assert isinstance(args, argparse.Namespace)
    assert document["value"] is None
    assert not told


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--seed", "-1"], "--seed must be 0 or more"),
        (["--json", "/"], "--json must be a file, got the folder /"),
        (["--unknown"], "unrecognized arguments: --unknown"),
    ],
)
def test_every_script_rejects_invalid_options(name, argv, message, capsys):
    script = pytest.importorskip(f"analysis.{name}")
    with pytest.raises(SystemExit) as stop:
        script.main(argv)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_results_must_not_be_a_file(tmp_path, capsys):
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(SystemExit):
        make_script().main(["--results", str(path)])
    assert "must be a folder" in capsys.readouterr().err
    assert path.read_text() == "mine"


def test_a_script_that_is_a_folder_can_be_run(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["mnist", "--help"])
    with pytest.raises(SystemExit) as stop:
        runpy.run_module("analysis.mnist", run_name="__main__")  # as python -m does
    assert stop.value.code == 0
    assert "usage: python -m analysis.mnist" in capsys.readouterr().out


def imported_scripts(path):
    """Yield scripts that a file imports, wherever it does."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module == "analysis":
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("analysis."):
            names = [node.module.split(".")[1]]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".")[1] for alias in node.names if alias.name.startswith("analysis.")]
        yield from (name for name in names if not name.startswith("_"))


@pytest.mark.parametrize("name", SCRIPTS)
def test_no_script_imports_a_script(name):
    files = list((FOLDER / name).glob("*.py")) or [FOLDER / f"{name}.py"]
    assert {other for path in files for other in imported_scripts(path)} <= {name}


def test_shared_files_import_no_script():
    assert not [other for path in FOLDER.glob("_*.py") for other in imported_scripts(path)]


RECORDED = [(name, name) for name in SCRIPTS]
RECORDED += [("benchmark_peers", "benchmark_peers_best_triad"), ("community", "equal_weights/community")]
RECORDED += [("community", "orthogonal/community"), ("movielens", "movielens")]


@pytest.mark.parametrize(("name", "file"), RECORDED)
def test_recorded_pages_are_made_from_their_numbers(name, file):
    script = importlib.import_module(f"analysis.{name}")
    results = FOLDER.parent / "docs" / "results"
    document = json.loads((results / f"{file}.json").read_text(encoding="utf-8"))
    assert script.markdown(document) == (results / f"{file}.md").read_text(encoding="utf-8")
    assert script.draw(document).axes or script.draw(document).subfigs
