"""The citation network in small: its quick form, options, files, killing and records."""

from __future__ import annotations

import json

import pytest

from analysis import cora
from analysis.cora.settings import (
    CAYLEY16,
    CHEBNET,
    EXTENDED,
    HALVED,
    MODELS,
    RECIPES,
    STANDARD,
)
from tests.analysis.helpers import run
from tests.analysis.stopped_runs import kill_when
from tests.analysis.test_planetoid import write


def test_the_quick_form_trains_and_says_so(tmp_path):
    document, page = run(cora, tmp_path, "--workers", "1", "--work", str(tmp_path / "work"))
    assert {row["model"] for row in document["rows"]} == {run["setting"]["model"] for run in document["runs"]}
    assert all(row["paper"] is None and row["n"] == 1 for row in document["rows"])  # the paper has no such graph
    best = max(row["mean"] for row in document["rows"])
    assert best > 45  # of four classes
    assert "The graph is generated." in page


def test_orders_and_responses_in_small(tmp_path):
    common = ["--quick", "--workers", "1", "--epochs", "1", "--work", str(tmp_path / "work")]
    for show in ("orders", "responses", "starts", "decoupled"):
        folder = tmp_path / show
        assert cora.main([*common, "--show", show, "--results", str(folder)]) == 0
        document = json.loads((folder / "cora.json").read_text(encoding="utf-8"))
        assert cora.SCRIPTS[show].markdown(document) == (folder / "cora.md").read_text(encoding="utf-8")
        assert (folder / "cora.png").stat().st_size > 1000
        if show == "responses":
            assert {one["split"] for one in document["learned"]} == {STANDARD, EXTENDED}


def test_killed_and_started_again_the_numbers_are_the_same(tmp_path):
    argv = ["--quick", "--model", CHEBNET, "--runs", "3", "--epochs", "40", "--workers", "1"]
    finished = (tmp_path / "killed").glob
    kill_when(lambda: any(finished("*/model=*.json")), "analysis.cora", [*argv, "--work", str(tmp_path / "killed")])
    documents = []
    for work in ("killed", "whole"):
        documents.append(cora.compute([*argv, "--work", str(tmp_path / work)], quiet=True)[1])
    numbers = [[run["numbers"] for run in document["runs"]] for document in documents]
    assert len(numbers[0]) == 3
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--dropout", "1.5"], "`dropout` must be at least 0 and less than 1"),
        (["--split", "half"], "`split` must be one of standard"),
        (["--hidden", "0"], "`hidden` must be positive"),
        (["--model", "resnet"], "invalid choice: 'resnet'"),
        (["--model", CAYLEY16, "--laplacian", "shifted"], "`laplacian` must be normalized for cayleynet-16"),
    ],
)
def test_invalid_options_are_named(argv, message, capsys):
    with pytest.raises(SystemExit):
        cora.main(["--quick", *argv])
    assert message in capsys.readouterr().err


def test_damaged_files_and_files_of_other_results_are_named_before_anything_is_computed(tmp_path, capsys):
    write(tmp_path, index="8\n5\n")
    (tmp_path / "none.json").write_text("[]")
    (tmp_path / "other.json").write_text(json.dumps({"config": {"dataset": "cora"}, "rows": [], "runs": []}))
    (tmp_path / "text.json").write_text("no JSON")
    for argv, message in (
        (["--dataset", "citeseer", "--data", str(tmp_path)], "features and labels must be as many"),
        (["--quick", "--recorded", str(tmp_path / "none.json")], "none.json must be the JSON file of a result"),
        (["--quick", "--recorded", str(tmp_path / "other.json")], "a result with the data drawn, got cora"),
        (["--quick", "--recorded", str(tmp_path / "text.json")], "text.json must be the JSON file of a result"),
        (["--quick", "--beside", str(tmp_path / "nothing.json")], "--beside must be a file"),
        (["--quick", "--beside", str(tmp_path / "text.json")], "got no JSON"),
        (["--quick", "--beside", str(tmp_path / "other.json")], "a table of the split halved or swapped, got None"),
    ):
        with pytest.raises(SystemExit):
            cora.main(argv)
        assert message in capsys.readouterr().err
    write(tmp_path)
    (tmp_path / "ind.citeseer.ty").write_bytes(b"")
    with pytest.raises(SystemExit):
        cora.main(["--dataset", "citeseer", "--data", str(tmp_path)])
    assert "ind.citeseer.ty: the file is damaged" in capsys.readouterr().err


def test_missing_files_are_named_before_anything_is_computed(tmp_path, capsys):
    with pytest.raises(SystemExit):
        cora.main(["--dataset", "pubmed", "--data", str(tmp_path)])
    assert "no file ind.pubmed.graph" in capsys.readouterr().err


def test_every_model_has_a_recipe_and_finished_runs_alone_are_written(tmp_path):
    assert {model for model, _ in RECIPES} == set(MODELS)
    argv = ["--quick", "--model", CHEBNET, "--workers", "1", "--work", str(tmp_path / "work")]
    cora.compute([*argv, "--runs", "1"], quiet=True)
    _, document = cora.compute([*argv, "--runs", "2", "--finished"], quiet=True)
    assert [row["n"] for row in document["rows"]] == [1]


def test_tables_with_other_halves_are_told_beside(tmp_path):
    argv = ["--quick", "--model", CHEBNET, "--workers", "1", "--epochs", "1", "--work", str(tmp_path / "work")]
    assert cora.main([*argv, "--split", HALVED, "--json", str(tmp_path / "halved.json")]) == 0
    beside = ["--beside", str(tmp_path / "halved.json")]
    _, document = cora.compute([*argv, "--split", EXTENDED, *beside], quiet=True)
    (other,) = document["other_halves"]
    assert other["split"] == HALVED
    assert set(other["rows"]) == {CHEBNET}
