"""A small experiment: a regression with dropout, which uses torch's random numbers."""

from __future__ import annotations

import dataclasses

import numpy as np
import torch
from torch import nn

from analysis._training import Fit, cosine


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
    return Fit(model, optimizer, loss, evaluate, 50, 8, config.epochs, cosine), steps
