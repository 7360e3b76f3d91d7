"""Runs that are stopped in the middle and go on from what they saved."""

from __future__ import annotations

import importlib
import os
import signal
import time
from contextlib import redirect_stderr, redirect_stdout

import pytest
import torch

from analysis._runner import worker_context
from analysis._training import Checkpoint

CPU = torch.device("cpu")


class StoppingCheckpoint(Checkpoint):
    """Save after every step, and stop the program after some."""

    def __init__(self, path, n_saves):
        super().__init__(path, seconds=0.0)
        self.left = n_saves

    def save(self, state):
        super().save(state)
        self.left -= 1
        if not self.left:
            raise KeyboardInterrupt


def whole_and_resumed(train, config, run, folder, stops):
    """Return the numbers, without times, of a run in one go and of one that is stopped after some steps, and again."""
    whole = train(config, run, Checkpoint(folder / "whole.pt"), CPU)
    for n_saves in stops:
        with pytest.raises(KeyboardInterrupt):
            train(config, run, StoppingCheckpoint(folder / "part.pt", n_saves), CPU)
    resumed = train(config, run, Checkpoint(folder / "part.pt"), CPU)
    whole.pop("timing"), resumed.pop("timing")
    return whole, resumed


def kill_when(is_due, name, argv):
    """Start a script in another process, and kill it as soon as it is due, by a signal that nothing can catch."""
    process = worker_context().Process(target=_run, args=(name, argv))
    process.start()
    deadline = time.monotonic() + 60
    while not is_due() and process.is_alive() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.kill()
    process.join(30)
    assert process.exitcode == -signal.SIGKILL


def _run(name, argv):
    """Run a script that saves after every step, and prints nothing."""
    Checkpoint.__init__.__defaults__ = (0.0,)
    with open(os.devnull, "w", encoding="utf-8") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        importlib.import_module(name).main(argv)
