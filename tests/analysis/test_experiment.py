"""Experiments: the command line sets the configuration, and means are those of the runs."""

from __future__ import annotations

import json

import pytest
import torch

from analysis import _experiment
from analysis._script import Script
from tests.analysis.small_experiment import Config

SCRIPT = Script(
    "small",
    "A small experiment.",
    lambda args, step: {},
    str,
    lambda document: None,
    arguments=lambda parser: _experiment.add_experiment_arguments(
        parser, Config(), Config(epochs=1), runs=10, quick_runs=2
    ),
    check=_experiment.check_experiment_arguments,
)


def test_command_line_sets_the_configuration():
    args = SCRIPT.parse(["--lr", "0.5", "--widths", "4", "5", "6", "--device", "cpu", "--workers", "3"])
    assert args.config == Config(lr=0.5, widths=(4, 5, 6))
    assert (args.runs, args.workers, args.device) == (10, 3, "cpu")
    args = SCRIPT.parse(["--quick", "--seed", "7"])
    assert args.config == Config(epochs=1)
    assert args.runs == 2
    facts = _experiment.experiment_facts(args)
    assert facts["config"] == {"epochs": 1, "lr": 0.1, "widths": (2, 3)}
    assert "epochs 1, lr 0.1, widths 2 3" in _experiment.config_lines(json.loads(json.dumps(facts)))[0]


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--runs", "0"], "--runs must be 1 or more, got 0"),
        (["--workers", "-1"], "--workers must be 1 or more, got -1"),
        (["--epochs", "0"], "`epochs` must be 1 or more, got 0"),
        (["--seed", "-1"], "--seed must be 0 or more"),
    ],
)
def test_impossible_arguments_are_refused(argv, message, capsys):
    with pytest.raises(SystemExit):
        SCRIPT.parse(argv)
    assert message in capsys.readouterr().err


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA, so that nothing is missing to be refused")
def test_missing_device_is_refused(capsys):
    with pytest.raises(SystemExit):
        SCRIPT.parse(["--device", "cuda"])
    assert "--device must be cpu or auto" in capsys.readouterr().err


def test_grouped_uses_the_population_deviation():
    results = [{"setting": {"r": r}, "numbers": {"a": r + k}} for k in (0.0, 2.0) for r in (1, 3)]
    rows = _experiment.grouped(results, "a")
    assert [(row["setting"]["r"], row["mean"], row["sd"], row["n"]) for row in rows] == [(1, 2, 1, 2), (3, 4, 1, 2)]
