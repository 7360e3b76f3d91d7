"""Training of one network, and what is kept of it."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import cayleygsp as cg
from analysis._networks import learned_zooms, n_parameters, set_zooms
from analysis._ranks import Ranks
from analysis._runner import Run, one_thread, seconds_in_turns
from analysis._script import Document
from analysis._training import Checkpoint, Fit
from analysis.mnist.data import SIDE, Digits, Part, load_digits
from analysis.mnist.networks import make_network
from analysis.mnist.settings import CAYLEYNET, JACOBI, Config, epochs_of
from cayleygsp import gallery
from cayleygsp._typing import FloatArray
from cayleygsp.nn import CayleyConv, ChebConv

# Filters of a layer that are kept, frequencies of their responses, and digits of all numbers.
N_FILTERS = 12

_N_FREQUENCIES = 201

_DIGITS = 4

_LEAST = 1e-12

_TEST_BATCH = 500

# Steps of which the mean loss is kept.
LOSS_STEPS = 50

ROUNDS = 15

TESTED = 100

# A learning rate that leaves the zooms where they are.
_NO_STEP = 1e-12


def learned_filters(network: nn.Module) -> list[Document]:
    """Return some learned filters of each layer of Chebyshev or Cayley filters.

    Returns
    -------
    list of dict
        ``zoom`` (None for Chebyshev filters), ``responses`` at the same frequencies from 0 to 2, one list per filter,
        and for the first layer ``images``: the filtered impulse in the middle of the grid, row by row. Filters are
        those of the largest norm, over pairs of channels, largest first.
    """
    layers = [m for m in network.modules() if isinstance(m, (CayleyConv, ChebConv))]
    return [_filters_of(layer, is_first=k == 0) for k, layer in enumerate(layers)]


def frequencies() -> FloatArray:
    """Return where responses are kept."""
    return np.linspace(0.0, 2.0, _N_FREQUENCIES)


def _filters_of(layer: CayleyConv | ChebConv, *, is_first: bool) -> Document:
    with torch.no_grad():
        responses = layer.responses(frequencies()).reshape(_N_FREQUENCIES, -1)
        largest = np.argsort(-np.linalg.norm(responses, axis=0), kind="stable")[:N_FILTERS]
        kept: Document = {
            "zoom": float(layer.zoom) if isinstance(layer, CayleyConv) else None,
            "responses": _rounded(responses[:, largest].T),
        }
        if is_first:
            L = cg.laplacian(gallery.mnist_grid(SIDE), "normalized")
            middle = (SIDE // 2) * SIDE + SIDE // 2
            at_eigenvalues = layer.responses(L.eigenvalues).reshape(L.n_vertices, -1)[:, largest]
            kept["images"] = _rounded((L.eigenvectors @ (L.eigenvectors[middle][:, None] * at_eigenvalues)).T)
    return kept


def _rounded(numbers: FloatArray) -> list[list[float]]:
    """Return numbers with some digits of the largest of their row: those far below it are what rounding leaves."""
    decimals = [_DIGITS - math.ceil(math.log10(max(largest, _LEAST))) for largest in np.abs(numbers).max(axis=1)]
    return [(np.round(row, d) + 0.0).tolist() for row, d in zip(numbers, decimals, strict=True)]


class Images:
    """Images of a part as networks take them, in the order of their pixels.

    Parameters
    ----------
    part : Part
        The images.
    order : Tensor
        Which pixel stands at each place.
    device : torch.device
        Where to compute.
    """

    def __init__(self, part: Part, order: Tensor, device: torch.device) -> None:
        self.pixels = part.images[:, order].contiguous().to(device)
        self.labels = part.labels.to(device)

    def take(self, indices: Tensor) -> Tensor:
        """Return images of shape (batch, 784, 1), pixels from 0 to 1."""
        return self.pixels[indices].to(torch.float32).div_(255)[..., None]

    def results(self, network: nn.Module) -> tuple[float, float]:
        """Return the share of right answers and the mean loss; processes that work together share the images."""
        ranks = Ranks()
        right, loss = 0.0, 0.0
        everything = torch.arange(len(self.labels), device=self.labels.device)
        for indices in ranks.share(everything).split(_TEST_BATCH):
            scores, labels = network(self.take(indices)), self.labels[indices]
            right += float((scores.argmax(1) == labels).sum())
            loss += float(F.cross_entropy(scores, labels, reduction="sum"))
        return ranks.total(right) / len(everything), ranks.total(loss) / len(everything)


def train(config: Config, run: Run, checkpoint: Checkpoint, device: torch.device) -> dict[str, Any]:
    """Train one network and return its numbers: those of the last state, as in the original code.

    Validation images are looked at after every epoch and decide nothing; test images once, at the end.
    """
    model, ranks = run.setting["model"], Ranks()
    digits = load_digits(config)
    network, order = make_network(model, config, run.seed)
    network.to(device)
    together = ranks.wrap(network)
    fitted, validation = (Images(part, order, device) for part in (digits.train, digits.validation))
    epochs = epochs_of(model, config)
    seen: dict[str, float] = {}

    def loss(indices: Tensor) -> Tensor:
        indices = indices.to(device)
        return F.cross_entropy(together(fitted.take(indices)), fitted.labels[indices])

    def look() -> float:
        accuracy, seen["validation_loss"] = validation.results(network)
        seen.update({f"zoom_{k + 1}": zoom for k, zoom in enumerate(learned_zooms(network))})
        return accuracy

    optimizer = make_optimizer(network, config, clips(model))
    fit = Fit(
        network,
        optimizer,
        loss,
        look,
        n_samples=config.n_train,
        batch=config.batch,
        epochs=epochs,
        schedule=lambda share: config.decay ** math.floor(share * epochs + 1e-9),
        observe=lambda: dict(seen),
        keep=lambda history: True,  # the last one
        keep_losses=True,
    )
    history = fit.run(run.seed, checkpoint)
    if ranks.is_first:
        Checkpoint(checkpoint.path.with_suffix(".weights.pt")).save(network.state_dict())
    return summary(network, history, Images(digits.test, order, device), digits)


def clips(model: str) -> bool:
    """Say whether the gradients of a network are cut: for Cayley filters alone, as in the authors' code."""
    return model in (CAYLEYNET, JACOBI)


def make_optimizer(network: nn.Module, config: Config, is_cut: bool) -> torch.optim.Optimizer:
    """Return steepest descent with momentum; the squares of dense layers, weights and biases, are penalised."""
    dense = [p for name in ("dense", "out") for p in getattr(network, name).parameters()]
    known = set(map(id, dense))
    others = [p for p in network.parameters() if id(p) not in known]
    groups: list[dict[str, Any]] = [{"params": dense, "weight_decay": config.penalty}, {"params": others}]
    optimizer = torch.optim.SGD(groups, lr=config.lr, momentum=config.momentum, fused=True)
    if is_cut:

        def clip(*_: Any) -> None:
            nn.utils.clip_grad_norm_(network.parameters(), config.clip)

        optimizer.register_step_pre_hook(clip)
    return optimizer


def summary(network: nn.Module, history: dict[str, Any], test: Images, digits: Digits) -> dict[str, Any]:
    """Return the numbers of a run: accuracies of the last state, the course of the training, filters and its times."""
    with torch.no_grad():
        accuracy, test_loss = test.results(network)
    losses = history["losses"]
    blocks = [losses[k : k + LOSS_STEPS] for k in range(0, len(losses), LOSS_STEPS)]
    return {
        "accuracy": 100 * accuracy,
        "test_loss": test_loss,
        "validation": [100 * value for value in history["validation"]],
        "validation_loss": history["validation_loss"],
        "loss": [statistics.fmean(block) for block in blocks],
        "n_parameters": n_parameters(network),
        "n_images": [len(digits.train), len(digits.validation), len(digits.test)],
        "zooms": learned_zooms(network),
        "filters": learned_filters(network),
        "timing": history["timing"],
    }


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
    with one_thread(), torch.random.fork_rng():
        calls = {m: _calls(m, config, learned, digits, torch.device(device)) for m, learned in zooms.items()}
        return seconds_in_turns(calls, ROUNDS)


def _calls(
    model: str, config: Config, zooms: Sequence[float], digits: Digits, device: torch.device
) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return a training step and a test of a network."""
    network, order = make_network(model, config, 0)
    set_zooms(network, zooms)
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

    return step, test
