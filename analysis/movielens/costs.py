"""What a training step and a test cost, all networks measured in turns, and ways to compute the convolutions."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from analysis._document import Document
from analysis._runner import one_thread
from analysis._timing import interleave
from analysis.movielens.data import Ratings, load_ratings, part_ratings
from analysis.movielens.network import Network, start_factors
from analysis.movielens.objective import Objective
from analysis.movielens.settings import CAYLEY, Config
from cayleygsp.nn import CayleyConv, ChebConv

# Ways to compute the same network, and how the page calls them.
LOOPS, LAYERS, EIGENBASIS = "loops", "layers", "eigenbasis"
WAYS = {
    LOOPS: "series, all steps by the loops of this experiment",
    LAYERS: "series, layer by layer",
    EIGENBASIS: "eigenbasis, layer by layer",
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
