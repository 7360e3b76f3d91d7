"""Training of one network, and what is kept of it."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from analysis._checkpoint import Checkpoint
from analysis._networks import N_COMMUNITIES
from analysis._runner import Run
from analysis._training import Fit, cosine
from analysis.community.data import Data, make_data
from analysis.community.network import Network
from analysis.community.settings import N_SHOWN, Config
from cayleygsp.nn import CayleyConv


def train(config: Config, run: Run, checkpoint: Checkpoint, device: torch.device) -> dict[str, Any]:
    """Train one network and return its numbers."""
    data = make_data(config, run.seed)
    model, order = run.setting["model"], run.setting["order"]
    with torch.random.fork_rng():
        torch.manual_seed(run.seed)
        network = Network(data, model, order, config, device)
    labels = torch.from_numpy(data.labels).to(device)
    ends = np.cumsum([0, config.n_train, config.n_validation, config.n_test])
    _, validation, test = (torch.arange(a, b, device=device) for a, b in pairwise(ends.tolist()))

    def accuracy(indices: Tensor) -> float:
        right = [(network(part).argmax(1) == labels[part]).sum() for part in indices.split(config.batch)]
        return float(sum(int(count) for count in right) / len(indices))

    def loss(indices: Tensor) -> Tensor:
        here = indices.to(device)
        return nn.functional.cross_entropy(network(here), labels[here])

    fit = Fit(
        network,
        make_optimizer(network, config, run.setting.get("lr")),
        loss,
        lambda: accuracy(validation),
        config.n_train,
        config.batch,
        config.epochs,
        cosine,
    )
    history = fit.run(run.seed, checkpoint)
    with torch.no_grad():
        numbers = {"accuracy": accuracy(test), **history, **learned(network, data)}
    return numbers


def make_optimizer(network: Network, config: Config, lr: float | None = None) -> torch.optim.Optimizer:
    """Return Adam with the learning rates of the configuration, or another one for all but the zoom."""
    zooms = [network.conv.log_zoom] if isinstance(network.conv, CayleyConv) else []
    others = [p for p in network.parameters() if all(p is not z for z in zooms)]
    if lr is None:
        lr = config.lr if zooms else config.cheb_lr
    groups: list[dict[str, Any]] = [{"params": others, "lr": lr}]
    if zooms:
        groups.append({"params": zooms, "lr": config.zoom_lr})
    return torch.optim.Adam(groups)


def learned(network: Network, data: Data) -> dict[str, Any]:
    """Return zoom, spectral gap, and the coefficients of the filters that matter most to the classifier."""
    variance = network.standardize.running_var
    assert variance is not None
    # a filter that is zero everywhere has no say, whatever its weight
    say = network.classify.weight.norm(dim=0) * (variance / (variance + network.standardize.eps)).sqrt()
    shown = say.argsort(descending=True)[:N_SHOWN].tolist()
    lam = np.maximum(data.laplacian.eigenvalues, 0.0)
    coefficients = network.conv.coefficients() if isinstance(network.conv, CayleyConv) else network.conv.weight
    return {
        "zoom": float(network.conv.zoom) if isinstance(network.conv, CayleyConv) else None,
        "gap": lam[N_COMMUNITIES - 1 : N_COMMUNITIES + 1].tolist(),
        "lmax": data.laplacian.lmax,
        "filters": coefficients.detach()[:, 0, shown].T.double().cpu().tolist(),
    }
