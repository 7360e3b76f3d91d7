"""Training of one network, and what is kept of it."""

from __future__ import annotations

import dataclasses
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from analysis._runner import Run, one_thread
from analysis._script import Document
from analysis._timing import interleave
from analysis._training import Checkpoint, Fit
from analysis.movielens.data import Ratings, load_ratings, part_ratings
from analysis.movielens.network import Network, start_factors
from analysis.movielens.objective import Objective, Places, predict, root_mean_square
from analysis.movielens.settings import CAYLEY, VALIDATION, Config
from cayleygsp._typing import IntArray
from cayleygsp.nn import CayleyConv, ChebConv

# Ways to compute the same network, and how the page calls them.
LOOPS, LAYERS, EIGENBASIS = "loops", "layers", "eigenbasis"

WAYS = {
    LOOPS: "series, all steps by the loops of this experiment",
    LAYERS: "series, layer by layer",
    EIGENBASIS: "eigenbasis, layer by layer",
}


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
        "zooms": learned_zooms(network),
        "timing": history["timing"],
    }


def learned_zooms(network: Network) -> list[float] | None:
    """Return the zooms of the user and of the movie graph, None for a network without."""
    layers = [network.users.conv, network.movies.conv]
    return [float(layer.zoom.detach()) for layer in layers if not isinstance(layer, ChebConv)] or None


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
        ``rounds``; ``networks``: ``step_seconds`` and ``test_seconds`` of each; ``ways``: the time of loss and
        gradients with Cayley filters, by each of :data:`WAYS`, if such a network is among them.
    """
    ratings = load_ratings(config.data)
    with one_thread(), torch.random.fork_rng():
        networks = {model: _network(model, config, learned, ratings, device) for model, learned in zooms.items()}
        steps = {model: _step(network, config, ratings, network.forward) for model, network in networks.items()}
        tests = {model: _test(network) for model, network in networks.items()}
        times = {"step_seconds": _medians(steps, rounds), "test_seconds": _medians(tests, rounds)}
        ways = _medians(_ways(networks[CAYLEY], config, ratings), rounds) if CAYLEY in networks else {}
    costs = {model: {name: t[model] for name, t in times.items()} for model in zooms}
    return {"rounds": rounds, "networks": costs, "ways": ways}


def _medians(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    for call in calls.values():
        call()
    samples = interleave(calls, rounds, clock=time.process_time)
    return {name: statistics.median(times) for name, times in samples.items()}


def _network(model: str, config: Config, zooms: Sequence[float], ratings: Ratings, device: torch.device) -> Network:
    start = start_factors(ratings, part_ratings(ratings, 0.0, 0).start, config.rank)
    network = Network(ratings, start, model, config, device)
    with torch.no_grad():
        for side, zoom in zip((network.users, network.movies), zooms, strict=False):
            assert not isinstance(side.conv, ChebConv)
            side.conv.log_zoom.copy_(torch.tensor(zoom).log())
    return network


def _step(
    network: Network, config: Config, ratings: Ratings, factors: Callable[[], tuple[Tensor, Tensor]]
) -> Callable[[], None]:
    """Return what computes the loss and its gradients."""
    objective = Objective(ratings, ratings.train, config.gamma, network.start[0].device)

    def step() -> None:
        network.zero_grad(set_to_none=True)
        objective.loss(*factors()).backward()

    return step


def _test(network: Network) -> Callable[[], object]:
    return torch.no_grad()(network.forward)


def _ways(network: Network, config: Config, ratings: Ratings) -> dict[str, Callable[[], object]]:
    def by_layers(method: str) -> Callable[[], tuple[Tensor, Tensor]]:
        def factors() -> tuple[Tensor, Tensor]:
            for side in (network.users, network.movies):
                assert isinstance(side.conv, CayleyConv)
                side.conv.method = method
            users, movies = network.start
            n_steps = network.diffusions
            return network.users.diffuse(users, n_steps), network.movies.diffuse(movies, n_steps)

        return factors

    ways = {LOOPS: network.forward, LAYERS: by_layers("chebyshev"), EIGENBASIS: by_layers("exact")}
    return {name: _step(network, config, ratings, factors) for name, factors in ways.items()}
