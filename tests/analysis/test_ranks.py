"""Processes that train together: a killed one does not change what comes out, nor does their number."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import torch

from analysis._ranks import Ranks, is_launched
from analysis._runner import Experiment, compute
from analysis.mnist.training import train
from tests.analysis import killed_rank

pytestmark = pytest.mark.skipif(not torch.distributed.is_available(), reason="this torch has no processes together")


def read(folder, name):
    (file,) = folder.glob(f"{name}-*/{killed_rank.RUN.key}.json")
    return json.loads(file.read_text(encoding="utf-8"))["numbers"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Train on two processes, one of which is killed and started again."""
    folder = tmp_path_factory.mktemp("ranks")
    command = [sys.executable, "-m", "tests.analysis.killed_rank", str(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert "exitcode: -9" in done.stderr or "SIGKILL" in done.stderr  # it was killed, and started again
    return folder


def test_killed_process_changes_nothing(folder):
    assert read(folder, "killed") == read(folder, "whole")
    assert not list(folder.glob("killed-*/*=0.pt"))  # nothing is left of the checkpoint


def test_two_processes_learn_what_one_learns(folder, tmp_path):
    experiment = Experiment("one", killed_rank.WITHOUT_DROPOUT, [killed_rank.RUN], train)
    alone = compute(experiment, tmp_path, workers=1, device="cpu", quiet=True)[0]["numbers"]
    together = read(folder, "without")
    assert together["loss"] == pytest.approx(alone["loss"], rel=1e-4)
    assert together["validation_loss"] == pytest.approx(alone["validation_loss"], rel=1e-3)


def test_shares_of_a_batch_make_it_up_and_weigh_as_it_does():
    indices = torch.arange(7)
    ranks = [Ranks() for _ in range(3)]
    for number, one in enumerate(ranks):
        one.rank, one.size = number, 3
    shares = [one.share(indices) for one in ranks]
    assert sorted(torch.cat(shares).tolist()) == indices.tolist()
    values = indices.double() ** 2
    mean = sum(one.weight(indices) * values[share].mean() for one, share in zip(ranks, shares, strict=True)) / 3
    assert float(mean) == pytest.approx(float(values.mean()))


def test_steps_have_random_numbers_of_their_own():
    drawn = []
    with torch.random.fork_rng():
        for number, step in ((0, 1), (1, 1), (0, 2), (0, 1)):
            ranks = Ranks()
            ranks.rank = number
            ranks.seed_step(5, step)
            drawn.append(float(torch.rand(())))
    assert drawn[0] == drawn[3]
    assert len(set(drawn)) == 3


def test_process_alone_is_the_first(monkeypatch):
    ranks = Ranks()
    assert (ranks.is_first, ranks.size, ranks.total(2.5), ranks.of_first("a")) == (True, 1, 2.5, "a")
    ranks.wait()
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    assert not is_launched()
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert is_launched()
