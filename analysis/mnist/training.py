"""Training of one network, and what is kept of it."""

from __future__ import annotations

import math
import statistics
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from analysis._checkpoint import Checkpoint
from analysis._mnist_network import n_parameters
from analysis._ranks import Ranks
from analysis._runner import Run
from analysis._training import Fit
from analysis.mnist.data import Digits, Part, load_digits
from analysis.mnist.filters import learned_filters
from analysis.mnist.networks import make_network
from analysis.mnist.settings import CAYLEYNET, JACOBI, Config, epochs_of
from cayleygsp.nn import CayleyConv

_TEST_BATCH = 500

# Steps of which the mean loss is kept.
LOSS_STEPS = 50


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


def learned_zooms(network: nn.Module) -> list[float]:
    """Return the zooms of the layers of Cayley filters."""
    return [float(layer.zoom.detach()) for layer in network.modules() if isinstance(layer, CayleyConv)]
