"""The runner: finished runs stay, errors lose none, configurations do not mix."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import threading
from datetime import datetime

import pytest
import torch

from analysis import _runner
from analysis._runner import Experiment, Run
from tests.analysis.small_experiment import Config, make_fit


def train(config, run, checkpoint, device):
    fit, _ = make_fit(config, run.seed)
    history = fit.run(run.seed, checkpoint)
    return {"score": history["best_validation"], "width": run.setting["width"], "timing": history["timing"]}


def make_experiment(config=None, n_seeds=2, function=train):
    runs = [Run({"width": width}, seed) for seed in range(n_seeds) for width in (2, 3)]
    return Experiment("small", config or Config(), runs, function)


def compute(experiment, folder, workers=1):
    return _runner.compute(experiment, folder, workers=workers, device="cpu", quiet=True)


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


def fail_on_second(config, run, checkpoint, device):
    if run.setting["width"] == 3:
        raise ZeroDivisionError
    return train(config, run, checkpoint, device)


def test_workers_compute_what_one_process_does_and_errors_lose_no_finished_run(tmp_path):
    with pytest.raises(ZeroDivisionError):
        compute(make_experiment(function=fail_on_second), tmp_path, workers=2)
    by_worker = list(tmp_path.glob("*/width=2-seed=0.json"))
    assert by_worker
    assert not list(tmp_path.glob("*/width=3-*.json"))
    alone = compute(make_experiment(), tmp_path / "alone")
    assert json.loads(by_worker[0].read_text(encoding="utf-8"))["numbers"] == alone[0]["numbers"]


def test_folder_in_use_is_refused(tmp_path):
    experiment = make_experiment()
    entered, leave = threading.Event(), threading.Event()

    def hold():
        with _runner.locked(tmp_path / experiment.folder_name):
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


def test_progress_lines_go_to_stderr(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(_runner, "LINE_SECONDS", 0.01)

    def slow(config, run, checkpoint, device):
        threading.Event().wait(0.05)
        return {"score": 0.0}

    experiment = dataclasses.replace(make_experiment(), train=slow)
    _runner.compute(experiment, tmp_path, workers=1, device="cpu")
    output = capsys.readouterr()
    assert "small: 1 of 4 runs" in output.err
    assert output.out == ""


def test_torch_has_one_thread_inside_and_as_many_as_before_outside():
    program = (
        "import torch\nfrom analysis._runner import one_thread\ntorch.set_num_threads(1)\n"
        "with one_thread():\n    print(torch.get_num_threads())\nprint(torch.get_num_threads())\n"
    )
    environment = os.environ | {"NUMBA_NUM_THREADS": "2"}  # which numba's threads give to torch when they start
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout == "1\n1\n"
