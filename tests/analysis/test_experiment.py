"""The runner: finished runs stay, killed ones go on to the same numbers, configurations do not mix."""

from __future__ import annotations

import argparse
import dataclasses
import json
import threading
from datetime import datetime

import numpy as np
import pytest
import torch
from torch import nn

from analysis import _experiment
from analysis._experiment import Checkpoint, Experiment, Fit, Run


@dataclasses.dataclass(frozen=True)
class Config:
    """A small one."""

    epochs: int = 3
    lr: float = 0.1
    widths: tuple[int, ...] = (2, 3)

    def __post_init__(self) -> None:
        if self.epochs < 1:
            raise ValueError(f"`epochs` must be 1 or more, got {self.epochs}")


class Interrupted(Exception):
    """Stands for a kill."""


def make_fit(config, seed, stop_after=None):
    """Return a regression with dropout, which uses torch's random numbers, that ends after some steps."""
    rng = np.random.default_rng(seed)
    x = torch.from_numpy(rng.standard_normal((50, 4))).float()
    y = x @ torch.tensor([1.0, -2.0, 0.5, 0.0])
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.3), nn.ReLU(), nn.Linear(8, 1))
    steps = []

    def loss(indices):
        if stop_after is not None and len(steps) == stop_after:
            raise Interrupted
        steps.append(indices.tolist())
        return (model(x[indices])[:, 0] - y[indices]).square().mean()

    optimizer = torch.optim.Adam(model.parameters(), lr=config.lr)
    evaluate = lambda: -float((model(x)[:, 0] - y).square().mean())  # noqa: E731
    return Fit(model, optimizer, loss, evaluate, 50, 8, config.epochs, _experiment.cosine), steps


def train(config, run, checkpoint, device):
    fit, _ = make_fit(config, run.seed)
    history = fit.run(run.seed, checkpoint)
    return {"score": history["best_validation"], "width": run.setting["width"], "timing": history["timing"]}


def make_experiment(config=None, n_seeds=2, function=train):
    runs = [Run({"width": width}, seed) for seed in range(n_seeds) for width in (2, 3)]
    return Experiment("small", config or Config(), runs, function)


def compute(experiment, folder, workers=1):
    return _experiment.compute(experiment, folder, workers=workers, device="cpu", quiet=True)


def numbers_of(results):
    return [(result["setting"], result["seed"], result["numbers"]) for result in results]


def test_results_come_in_order_with_settings_seeds_and_numbers(tmp_path):
    results = compute(make_experiment(), tmp_path)
    assert [(r["setting"]["width"], r["seed"]) for r in results] == [(2, 0), (3, 0), (2, 1), (3, 1)]
    assert all(r["numbers"]["width"] == r["setting"]["width"] for r in results)
    assert results[0]["numbers"]["score"] != results[2]["numbers"]["score"]
    assert all(r["timing"]["cpu_seconds"] > 0 for r in results)


def test_finished_runs_are_not_computed_again(tmp_path):
    first = compute(make_experiment(), tmp_path)

    def refuse(config, run, checkpoint, device):
        raise AssertionError(f"computed again: {run.key}")

    assert compute(make_experiment(function=refuse), tmp_path) == first
    with pytest.raises(AssertionError, match="width=2-seed=2"):
        compute(make_experiment(n_seeds=3, function=refuse), tmp_path)


def test_changed_configuration_gets_a_folder_of_its_own(tmp_path):
    one = compute(make_experiment(), tmp_path)
    other = compute(make_experiment(Config(lr=0.2)), tmp_path)
    assert numbers_of(one) != numbers_of(other)
    assert len(list(tmp_path.iterdir())) == 2
    assert compute(make_experiment(), tmp_path) == one


def test_workers_compute_what_one_process_does_and_errors_lose_no_finished_run(tmp_path):
    with pytest.raises(ZeroDivisionError):
        compute(make_experiment(function=fail_on_second), tmp_path, workers=2)
    by_worker = list(tmp_path.glob("*/width=2-seed=0.json"))
    assert by_worker
    assert not list(tmp_path.glob("*/width=3-*.json"))
    alone = compute(make_experiment(), tmp_path / "alone")
    assert json.loads(by_worker[0].read_text(encoding="utf-8"))["numbers"] == alone[0]["numbers"]


def fail_on_second(config, run, checkpoint, device):
    if run.setting["width"] == 3:
        raise ZeroDivisionError
    return train(config, run, checkpoint, device)


def test_folder_in_use_is_refused(tmp_path):
    experiment = make_experiment()
    entered, leave = threading.Event(), threading.Event()

    def hold():
        with _experiment._locked(tmp_path / experiment.folder_name):
            entered.set()
            leave.wait(30)

    thread = threading.Thread(target=hold)
    thread.start()
    entered.wait(30)
    try:
        with pytest.raises(RuntimeError, match="another process computes in"):
            compute(experiment, tmp_path)
    finally:
        leave.set()
        thread.join()


@pytest.mark.parametrize("stop_after", [0, 1, 6, 7, 8, 13, 20])
def test_interrupted_training_ends_as_if_it_had_not_been(tmp_path, stop_after):
    config = Config()  # three epochs of seven steps
    whole_fit, whole_steps = make_fit(config, 5)
    whole = whole_fit.run(5, Checkpoint(tmp_path / "whole.pt", seconds=1e9))
    checkpoint = Checkpoint(tmp_path / "cut.pt", seconds=0.0)
    cut_fit, cut_steps = make_fit(config, 5, stop_after)
    with pytest.raises(Interrupted):
        cut_fit.run(5, checkpoint)
    again_fit, again_steps = make_fit(config, 5)
    again = again_fit.run(5, checkpoint)
    assert cut_steps + again_steps == whole_steps
    for key in ("best_epoch", "best_validation", "validation"):
        assert again[key] == whole[key]
    for name, value in whole_fit.model.state_dict().items():
        torch.testing.assert_close(again_fit.model.state_dict()[name], value, rtol=0, atol=0)


def test_run_killed_after_its_last_epoch_ends_with_the_same_model(tmp_path):
    """Dropout and batch normalisation compute otherwise in training: a resumed run must not be left in that mode."""
    outputs = []
    checkpoint = Checkpoint(tmp_path / "c.pt", seconds=0.0)
    for _ in range(2):  # the second finds the checkpoint of the finished first
        fit, steps = make_fit(Config(), 4)
        fit.run(4, checkpoint)
        outputs.append((fit.model(torch.linspace(-1, 1, 5)[:, None].expand(5, 4)).detach(), len(steps)))
    assert outputs[0][1] > 0 == outputs[1][1]
    assert torch.equal(outputs[0][0], outputs[1][0])


def test_training_leaves_the_first_best_model_and_torch_random_numbers_alone(tmp_path):
    before = torch.get_rng_state()
    fit, _ = make_fit(Config(epochs=5), 3)
    values, models = [1.0, 3.0, 2.0, 3.0, 0.0], []

    def evaluate():
        models.append({name: value.clone() for name, value in fit.model.state_dict().items()})
        return values[len(models) - 1]

    fit.evaluate = evaluate
    history = fit.run(3, Checkpoint(tmp_path / "c.pt", seconds=1e9))
    assert torch.equal(torch.get_rng_state(), before)
    assert (history["best_epoch"], history["best_validation"], history["validation"]) == (1, 3.0, values)
    assert all(torch.equal(value, models[1][name]) for name, value in fit.model.state_dict().items())
    assert not torch.equal(models[1]["0.weight"], models[3]["0.weight"])


def test_run_listed_twice_is_refused(tmp_path):
    runs = [Run({"width": 2}, 0), Run({"width": 3}, 0), Run({"width": 2}, 0)]
    with pytest.raises(ValueError, match=r"`runs` must differ, got width=2-seed=0 more than once"):
        compute(Experiment("small", Config(), runs, train), tmp_path)
    assert not list(tmp_path.iterdir())


def test_run_says_when_where_and_with_what_it_was_made(tmp_path):
    made = compute(make_experiment(n_seeds=1), tmp_path)[0]["made"]
    assert made["device"] == "cpu"
    assert made["versions"]["torch"] == torch.__version__
    assert datetime.fromisoformat(made["date"]).tzinfo is not None


def diverge(config, run, checkpoint, device):
    raise FloatingPointError("the loss is nan")


def test_run_that_diverges_is_named(tmp_path):
    with pytest.raises(FloatingPointError, match="width=2-seed=0: the loss is nan"):
        compute(make_experiment(function=diverge), tmp_path)


def test_training_stops_at_a_loss_that_is_not_finite(tmp_path):
    fit, _ = make_fit(Config(), 0)
    fit.loss = lambda indices: torch.tensor(float("nan"), requires_grad=True)
    with pytest.raises(FloatingPointError, match="learning rate"):
        fit.run(0, Checkpoint(tmp_path / "c.pt"))


def parser_of():
    parser = argparse.ArgumentParser()
    _experiment.add_arguments(parser, Config(), Config(epochs=1), runs=10, quick_runs=2)
    return parser


def test_command_line_sets_the_configuration():
    parser = parser_of()
    args = parser.parse_args(["--lr", "0.5", "--widths", "4", "5", "6", "--device", "cpu", "--workers", "3"])
    assert _experiment.check_arguments(parser, args) == Config(lr=0.5, widths=(4, 5, 6))
    assert (args.runs, args.workers, args.device) == (10, 3, "cpu")
    args = parser.parse_args(["--quick", "--seed", "7"])
    assert _experiment.check_arguments(parser, args) == Config(epochs=1)
    assert args.runs == 2
    document = _experiment.new_document("m", ["--quick"], args, Config(epochs=1))
    assert document["config"] == {"epochs": 1, "lr": 0.1, "widths": (2, 3)}
    assert "epochs 1, lr 0.1, widths 2 3" in _experiment.config_lines(json.loads(json.dumps(document)))[0]


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
    parser = parser_of()
    with pytest.raises(SystemExit):
        _experiment.check_arguments(parser, parser.parse_args(argv))
    assert message in capsys.readouterr().err


@pytest.mark.skipif(torch.cuda.is_available(), reason="this machine has CUDA, so that nothing is missing to be refused")
def test_missing_device_is_refused(capsys):
    parser = parser_of()
    with pytest.raises(SystemExit):
        _experiment.check_arguments(parser, parser.parse_args(["--device", "cuda"]))
    assert "--device must be cpu or auto" in capsys.readouterr().err


def test_progress_lines_go_to_stderr(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(_experiment, "_LINE_SECONDS", 0.01)

    def slow(config, run, checkpoint, device):
        threading.Event().wait(0.05)
        return {"score": 0.0}

    experiment = dataclasses.replace(make_experiment(), train=slow)
    _experiment.compute(experiment, tmp_path, workers=1, device="cpu")
    said = capsys.readouterr()
    assert "small: 1 of 4 runs" in said.err
    assert said.out == ""


def test_grouped_uses_the_population_deviation():
    results = [{"setting": {"r": r}, "numbers": {"a": r + k}} for k in (0.0, 2.0) for r in (1, 3)]
    rows = _experiment.grouped(results, "a")
    assert [(row["setting"]["r"], row["mean"], row["sd"], row["n"]) for row in rows] == [(1, 2, 1, 2), (3, 4, 1, 2)]
