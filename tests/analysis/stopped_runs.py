"""Runs that are stopped in the middle and go on from what they saved."""

from __future__ import annotations

import pytest
import torch

from analysis._checkpoint import Checkpoint

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
