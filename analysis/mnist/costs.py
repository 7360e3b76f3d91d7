"""What a training step and a test cost, all networks measured in turns."""

from __future__ import annotations

import dataclasses
import statistics
import time
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import nn
from torch.nn import functional as F

from analysis._document import Document
from analysis._runner import one_thread
from analysis._timing import interleave
from analysis.mnist.data import Digits, load_digits
from analysis.mnist.networks import make_network
from analysis.mnist.settings import Config
from analysis.mnist.training import Images, clips, make_optimizer
from cayleygsp.nn import CayleyConv

ROUNDS = 15
TESTED = 100

# A learning rate that leaves the zooms where they are.
_NO_STEP = 1e-12


def measure_costs(config: Config, zooms: Mapping[str, Sequence[float]], device: str) -> dict[str, Document]:
    """Return the processor times of a training step and of a test of 100 images, medians of rounds taken in turns.

    Parameters
    ----------
    config : Config
        With the sizes.
    zooms : mapping
        The networks, each with the learned zooms of its layers, on which the length of series depends; empty for those
        without Cayley filters.
    device : str
        As torch names it.

    Returns
    -------
    dict
        ``step_seconds`` and ``test_seconds`` of each network.
    """
    digits = load_digits(config)
    steps: dict[str, Callable[[], object]] = {}
    tests: dict[str, Callable[[], object]] = {}
    with one_thread(), torch.random.fork_rng():
        for model, learned in zooms.items():
            steps[model], tests[model] = _calls(model, config, learned, digits, torch.device(device))
        times = {
            "step_seconds": interleave(steps, ROUNDS, clock=time.process_time),
            "test_seconds": interleave(tests, ROUNDS, clock=time.process_time),
        }
    return {model: {name: statistics.median(samples[model]) for name, samples in times.items()} for model in zooms}


def _calls(
    model: str, config: Config, zooms: Sequence[float], digits: Digits, device: torch.device
) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return a training step and a test of a network, each called once."""
    network, order = make_network(model, config, 0)
    _set_zooms(network, zooms)
    network.to(device)
    still = dataclasses.replace(config, lr=_NO_STEP)
    optimizer = make_optimizer(network, still, clips(model))
    fitted, tested = (Images(part, order, device) for part in (digits.train, digits.test))
    batch, x = torch.arange(config.batch), tested.take(torch.arange(min(TESTED, len(digits.test))))

    def step() -> None:
        network.train()
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(network(fitted.take(batch)), fitted.labels[batch]).backward()
        optimizer.step()

    @torch.no_grad()
    def test() -> None:
        network.eval()
        network(x)

    for call in (step, test):
        call()
    return step, test


def _set_zooms(network: nn.Module, zooms: Sequence[float]) -> None:
    layers = [layer for layer in network.modules() if isinstance(layer, CayleyConv)]
    with torch.no_grad():
        for layer, zoom in zip(layers, zooms, strict=True):
            layer.log_zoom.copy_(torch.tensor(zoom).log())
