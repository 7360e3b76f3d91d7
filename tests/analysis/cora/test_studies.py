"""Comparisons of settings: what they show, and what they do not look at."""

from __future__ import annotations

import json

import pytest

from analysis._runner import Run
from analysis._training import Checkpoint
from analysis.cora import studies
from analysis.cora.settings import (
    CAYLEY16,
    INNER,
    recipe_of,
)
from analysis.cora.training import train
from tests.analysis.cora.small_runs import CPU, small


def test_a_study_shows_test_accuracies_only_where_nothing_is_chosen():
    for name, study in studies.STUDIES.items():
        assert len({json.dumps(change) for change in study.tried}) == len(study.tried)
        runs = [
            {
                "setting": change,
                "numbers": {"validation": 0.5 + k / 100, "validation_loss": 1.0, "best_epoch": 3}
                | ({"accuracy": 0.7} if study.with_test else {}),
            }
            for k, change in enumerate(study.tried)
        ]
        models = dict.fromkeys(change["model"] for change in study.tried)
        document = studies.collect(name, {model: recipe_of(model, study.split) for model in models}, runs)
        assert len(document["runs"]) == len(runs)
        assert all(("accuracy" in run["numbers"]) is study.with_test for run in document["runs"])
        _, header, rows, _ = studies.table(document)
        assert ("test accuracy, %" in header) is (study.with_test and study.split != INNER)
        assert all(len(row) == len(header) for row in rows)
        assert all(row["test"] == (pytest.approx(70) if study.with_test else None) for row in document["rows"])
        lines = studies.findings(document)
        if name == "dcnn":
            assert "below the paper's 72.3: as in the table (70.00);" in lines[0]
            assert lines[1] == "DCNN, at or above the paper's 72.3: none."
        elif not study.with_test or study.split == INNER:
            assert all("vertices is" in line for line in lines)
    assert studies.label({"change": {"filter_lr": 0.001, "decay_on": "all"}}) == "filter lr 0.001, decay on all"


def test_studies_for_choices_do_not_compute_test_accuracies(drawn, tmp_path):
    recipe, one = small(CAYLEY16), Run({"model": CAYLEY16}, 0)
    with_test = train(recipe, one, Checkpoint(tmp_path / "a.pt"), CPU)
    without = train(recipe, one, Checkpoint(tmp_path / "b.pt"), CPU, with_test=False)
    assert set(with_test) - set(without) == {"accuracy"}
    assert with_test["validation"] == without["validation"]
