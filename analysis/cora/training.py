"""Training of one network, and what is kept of it."""

from __future__ import annotations

import dataclasses
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from analysis._networks import cayley_layers, learned_zooms
from analysis._runner import Run
from analysis._training import Checkpoint, Fit, History
from analysis.cora.data import Inputs, load_inputs, split_of
from analysis.cora.networks import DiffusionNetwork, make_network
from analysis.cora.responses import frequencies, responses_at
from analysis.cora.settings import ALL, CHANNEL, DCNN, FIRST, LOSS, MARGIN, NORMALIZED, PATIENCE, SHIFTED, Recipe
from cayleygsp._typing import FloatArray
from cayleygsp.nn import CayleyConv


def train(
    config: Recipe,
    run: Run,
    checkpoint: Checkpoint,
    device: torch.device,
    data: Path | None = None,
    *,
    with_test: bool = True,
) -> dict[str, Any]:
    """Train one network and return its numbers.

    The test vertices are looked at once, with the network that the validation vertices have chosen, or not at all.
    """
    recipe = with_setting(config, run)
    model = run.setting["model"]
    inputs = load_inputs(recipe.dataset, data, device)
    split = split_of(inputs.graph, recipe.split, run.seed)
    training, validation, test = (
        torch.as_tensor(v, device=device) for v in (split.train, split.validation, split.test)
    )
    with torch.random.fork_rng():
        torch.manual_seed(run.seed)
        network = make_network(model, recipe, inputs).to(device)
    seen: dict[str, float] = {}

    def loss(indices: Tensor) -> Tensor:
        here = training if recipe.batch == 0 else training[indices.to(device)]
        return loss_of(scores_at(network, inputs.x, here), inputs.labels[here], recipe.objective)

    def evaluate() -> float:
        scores = scores_at(network, inputs.x, validation)
        labels = inputs.labels[validation]
        seen["loss"] = float(loss_of(scores, labels, recipe.objective))
        return float((scores.argmax(1) == labels).double().mean())

    fit = Fit(
        network,
        make_optimizer(network, model, recipe),
        loss,
        evaluate,
        n_samples=1 if recipe.batch == 0 else len(split.train),
        batch=max(recipe.batch, 1),
        epochs=recipe.epochs,
        observe=lambda: dict(seen),
        keep=lambda history: is_kept(history, recipe.rule),
        stop=lambda history: is_over(history, recipe.rule, recipe.patience),
    )
    history = fit.run(run.seed, checkpoint)
    tested = {}
    if with_test:
        with torch.no_grad():
            right = scores_at(network, inputs.x, test).argmax(1) == inputs.labels[test]
        tested = {"accuracy": float(right.double().mean())}
    return {
        **tested,
        "validation": history["best_validation"],
        "validation_loss": history["loss"][history["best_epoch"]],
        "best_epoch": history["best_epoch"],
        "epochs": len(history["loss"]),
        "n_parameters": sum(p.numel() for p in network.parameters() if p.requires_grad),
        **learned(network, recipe, inputs),
        "timing": history["timing"],
    }


def scores_at(network: nn.Module, x: Tensor, rows: Tensor) -> Tensor:
    """Return the scores of some vertices."""
    return network(x, rows) if isinstance(network, DiffusionNetwork) else network(x)[rows]


def loss_of(scores: Tensor, labels: Tensor, objective: str) -> Tensor:
    """Return the mean loss of scores, see :class:`~analysis.cora.settings.Recipe`."""
    if objective == MARGIN:
        p = scores.softmax(1)
        right = nn.functional.one_hot(labels, p.shape[1]).bool()
        return (1 + p.masked_fill(right, 0.0).amax(1) - p[right]).mean()  # at least 0: no probability is above 1
    return nn.functional.cross_entropy(scores, labels)


def with_setting(recipe: Recipe, run: Run) -> Recipe:
    """Return the recipe with what the setting of a run says besides the model."""
    return dataclasses.replace(recipe, **{name: value for name, value in run.setting.items() if name != "model"})


def is_kept(history: History, rule: str) -> bool:
    """Whether the last network is the one to keep so far, see :class:`~analysis.cora.settings.Recipe`."""
    accuracy, loss = history["validation"], history["loss"]
    if rule == PATIENCE:
        return accuracy[-1] >= max(accuracy) and loss[-1] <= min(loss)
    return rule != LOSS or loss[-1] < min(loss[:-1], default=float("inf"))


def is_over(history: History, rule: str, patience: int) -> bool:
    """Whether the training ends, see :class:`~analysis.cora.settings.Recipe`."""
    accuracy, loss = history["validation"], history.get("loss", [])
    if len(loss) <= patience:
        return False
    if rule == PATIENCE:
        return max(accuracy[-patience:]) < max(accuracy[:-patience]) and min(loss[-patience:]) > min(loss[:-patience])
    if rule == LOSS:
        return min(loss[-patience:]) >= min(loss[:-patience])
    return loss[-1] > statistics.fmean(loss[-patience - 1 : -1])


def make_optimizer(network: nn.Module, model: str, recipe: Recipe) -> torch.optim.Optimizer:
    """Return Adam, or Adagrad for DCNN, with a learning rate and a weight decay for each kind of parameters."""
    filters = [p for layer in cayley_layers(network) for p in _filter_parameters(layer)]
    first = list(network.get_submodule("layers.0").parameters())
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}
    for p in network.parameters():
        if not p.requires_grad:
            continue
        is_filter = any(p is q for q in filters)
        decayed = recipe.decay_on == ALL or (
            not is_filter and p.dim() > 1 and (recipe.decay_on != FIRST or any(p is q for q in first))
        )
        key = (recipe.filter_lr if is_filter else recipe.lr, recipe.decay if decayed else 0.0)
        groups.setdefault(key, []).append(p)
    kind = torch.optim.Adagrad if model == DCNN else torch.optim.Adam
    return kind([{"params": params, "lr": lr, "weight_decay": decay} for (lr, decay), params in groups.items()])


def _filter_parameters(layer: CayleyConv) -> list[Tensor]:
    """Return what is learned at the rate of the filters: with a zoom for each channel, the whole layer."""
    if layer.shared_filter:
        return [layer.log_zoom, layer.coeffs]
    return [layer.log_zoom, layer.weight] if layer.zoom_per_channel else [layer.log_zoom]


def learned(network: nn.Module, recipe: Recipe, inputs: Inputs) -> dict[str, Any]:
    """Return the zooms of Cayley layers, and for each layer a curve: its shared filter, or the root of the mean square.

    Responses are those of the Laplacian that the layer takes, the combinatorial one where it is scaled.
    """
    layers, zooms = cayley_layers(network), learned_zooms(network)
    if not layers or recipe.laplacian == SHIFTED or recipe.zooms == CHANNEL:
        return {"zooms": zooms} if layers else {}
    kind = NORMALIZED if recipe.laplacian == NORMALIZED else "combinatorial"
    lmax = float(inputs.combinatorial.lmax[0])
    lam = frequencies(kind, lmax)
    curves = []
    for layer in layers:
        c = layer.coefficients().detach().double().cpu().numpy()
        curves.append(_curve(c, float(layer.zoom.detach()), lam, layer.order).tolist())
    shown = {"kind": kind, "frequencies": lam.tolist(), "curves": curves, "zoom": layers[0].initial_zoom}
    return {"zooms": zooms, "responses": shown}


def _curve(coefficients: FloatArray, zoom: float, lam: FloatArray, order: int) -> FloatArray:
    """Return the response of one filter, or the root of the mean square of those of many, of shape (k, ...)."""
    if coefficients.ndim == 1:
        return responses_at(coefficients, zoom, lam, order)
    c = coefficients.reshape(len(coefficients), -1)
    # k filters with the same sum of squares at every frequency
    _, few = np.linalg.qr(c.T / np.sqrt(c.shape[1]))
    return np.linalg.norm(responses_at(few.T, zoom, lam, order), axis=1)
