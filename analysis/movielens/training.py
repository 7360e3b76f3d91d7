"""Training of one network, and what is kept of it."""

from __future__ import annotations

import dataclasses
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from analysis._networks import learned_zooms, set_zooms
from analysis._runner import Run, one_thread, seconds_in_turns
from analysis._script import Document
from analysis._training import Checkpoint, Fit
from analysis.movielens.data import load_ratings, part_ratings
from analysis.movielens.network import Network, start_factors
from analysis.movielens.objective import Objective, Places, predict, root_mean_square
from analysis.movielens.settings import VALIDATION, Config
from cayleygsp._typing import IntArray


def train(config: Config, run: Run, checkpoint: Checkpoint, device: torch.device) -> dict[str, Any]:
    """Train one network and return its numbers.

    The network is looked at every few steps. The one that is kept is that with the lowest training loss in the paper's
    protocol, and that with the lowest error on the validation ratings in the other. Test errors are written down on
    the way and decide nothing.
    """
    ratings, protocol = load_ratings(config.data), run.setting["protocol"]
    parts = part_ratings(ratings, config.validation_share if protocol == VALIDATION else 0.0, run.seed)
    start = start_factors(ratings, parts.start, config.rank)
    with torch.random.fork_rng():
        torch.manual_seed(run.seed)
        network = Network(ratings, start, run.setting["model"], config, device)
    objective = Objective(ratings, parts.fitted, config.gamma, device)

    def at(places: IntArray) -> tuple[Places, Tensor]:
        values = torch.as_tensor(ratings.values(places), device=device)
        return Places(places, ratings.matrix.shape[1], device), values

    test, validation = at(ratings.test), at(parts.validation)
    seen: dict[str, float] = {}

    def look() -> float:
        W, H = network()
        seen["loss"] = float(objective.loss(W, H))
        seen["test_rmse"] = root_mean_square(predict(W, H, test[0]) - test[1])
        if protocol == VALIDATION:
            seen["validation_rmse"] = root_mean_square(predict(W, H, validation[0]) - validation[1])
        return -seen["validation_rmse" if protocol == VALIDATION else "loss"]

    with torch.no_grad():
        look()
    at_start = dict(seen)
    optimizer = torch.optim.Adam(network.parameters(), lr=config.lr)
    fit = Fit(
        network,
        optimizer,
        lambda indices: objective.loss(*network()),
        look,
        n_samples=config.every,
        batch=1,
        epochs=config.steps // config.every,
        observe=lambda: dict(seen),
    )
    history = fit.run(run.seed, checkpoint)
    return summary(network, history, at_start, config)


def train_so_far(config: Config, run: Run, path: Path, device: torch.device) -> dict[str, Any] | None:
    """Return the numbers of an unfinished run as if it ended where its checkpoint is, None before the first look.

    The checkpoint is only read.
    """
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = Checkpoint(Path(shutil.copy(path, folder)))
        state = checkpoint.load()
        n_looks = state["epoch"] if state else 0
        if not n_looks:
            return None
        return train(dataclasses.replace(config, steps=n_looks * config.every), run, checkpoint, device)


def summary(network: Network, history: dict[str, Any], at_start: dict[str, float], config: Config) -> dict[str, Any]:
    """Return the numbers of a run: the error of the network that was kept, the course of the training, and times."""
    best = history["best_epoch"]
    curves = {name: history[name] for name in at_start}
    return {
        "rmse": history["test_rmse"][best],
        "steps": config.steps,
        "best_step": (best + 1) * config.every,
        "last_rmse": history["test_rmse"][-1],
        "at_start": at_start,
        **curves,
        "n_parameters": sum(parameter.numel() for parameter in network.parameters()),
        "zooms": learned_zooms(network) or None,
        "timing": history["timing"],
    }


def measure_costs(config: Config, zooms: Mapping[str, Sequence[float]], device: torch.device, rounds: int) -> Document:
    """Return processor times, medians of rounds taken in turns.

    Parameters
    ----------
    config : Config
        With the sizes.
    zooms : mapping
        The networks, each with its learned zooms, on which the length of series depends; empty for those without.
    device : torch.device
        Where to compute.
    rounds : int
        How often each is measured.

    Returns
    -------
    dict
        ``rounds``; ``networks``: ``step_seconds`` and ``test_seconds`` of each, for loss with gradients and for the
        factors alone.
    """
    ratings = load_ratings(config.data)
    start = start_factors(ratings, part_ratings(ratings, 0.0, 0).start, config.rank)
    objective = Objective(ratings, ratings.train, config.gamma, device)
    calls: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {}
    with one_thread(), torch.random.fork_rng():
        for model, learned in zooms.items():
            network = Network(ratings, start, model, config, device)
            set_zooms(network, learned)

            def step(network: Network = network) -> None:
                network.zero_grad(set_to_none=True)
                objective.loss(*network()).backward()

            calls[model] = step, torch.no_grad()(network.forward)
        return {"rounds": rounds, "networks": seconds_in_turns(calls, rounds)}
