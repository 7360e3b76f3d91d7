"""The network: one convolution, ReLU, mean over the vertices, linear classifier."""

from __future__ import annotations

import dataclasses
import functools
import math
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import cayleygsp as cg
from analysis._networks import CHEBNET, CHEBYSHEV, EXACT, N_COMMUNITIES, N_FEATURES
from analysis._runner import Run
from analysis._training import Checkpoint, Fit, cosine
from analysis.community.settings import N_SHOWN, Config
from cayleygsp._typing import Array
from cayleygsp.nn import (
    CayleyConv,
    ChebConv,
    EigenbasisFeatures,
    GraphLaplacian,
    JacobiFeatures,
    PrecomputedCayleyConv,
)


@dataclasses.dataclass(frozen=True)
class Data:
    """A graph with signals on it: training, validation and test signals one after the other.

    Attributes
    ----------
    graph : Graph
        Labels tell the communities.
    laplacian : Laplacian
        The combinatorial one; its ``lmax`` is the largest eigenvalue, so that ChebNet has the whole interval.
    signals : ndarray, shape (n_vertices, n_signals)
        In single precision.
    labels : ndarray, shape (n_signals,)
        The community of each.
    """

    graph: cg.Graph
    laplacian: cg.Laplacian
    signals: Array
    labels: Array


@functools.lru_cache(maxsize=2)
def make_data(config: Config, seed: int) -> Data:
    """Draw the graph and the signals of a seed.

    Examples
    --------
    >>> from analysis.community.network import make_data
    >>> from analysis.community.settings import QUICK
    >>> data = make_data(QUICK, 0)
    >>> data.signals.shape, data.graph.n_vertices
    ((195, 1050), 195)
    """
    rng = np.random.default_rng(seed)
    graph = cg.gallery.communities(
        sizes=config.sizes, p_in=config.p_in, p_out=config.p_out, spread=config.spread, rng=rng
    )
    L = cg.laplacian(graph)
    L = L.with_lmax(float(L.eigenvalues[-1]) * (1 + 1e-9))
    n_signals = config.n_train + config.n_validation + config.n_test
    labels = rng.integers(N_COMMUNITIES, size=n_signals)
    assert graph.labels is not None
    signals = math.sqrt(config.noise) * rng.standard_normal((graph.n_vertices, n_signals))
    signals += graph.labels[:, None] == labels
    return Data(graph, L, signals.astype(np.float32), labels)


class Network(nn.Module):
    """One convolution, ReLU, mean over the vertices, linear classifier.

    Means over many vertices differ by little from signal to signal. They are standardised before the classifier, which
    a classifier without this could do by itself: what can be learned is the same, but it is learned in fewer steps.

    The convolution is a layer of :mod:`cayleygsp.nn`. The signals are known beforehand and need no gradient: the exact
    and the Jacobi layers take what can be computed of them once.
    """

    def __init__(self, data: Data, model: str, order: int, config: Config, device: torch.device) -> None:
        super().__init__()
        self.conv = make_layer(model, order, config)
        self.standardize = nn.BatchNorm1d(N_FEATURES, affine=False)
        self.classify = nn.Linear(N_FEATURES, N_COMMUNITIES)
        self.to(device)
        x = torch.from_numpy(data.signals).T[:, :, None].to(device)
        self._inputs = x if model in (CHEBYSHEV, CHEBNET) else precompute(model, x, data)
        self._graph = GraphLaplacian.from_laplacian(data.laplacian, dtype=torch.float32).to(device)

    def features(self, indices: Tensor) -> Tensor:
        """Return the pooled features of some signals, shape (batch, 32)."""
        if isinstance(self._inputs, Tensor):
            y = self.conv(self._inputs[indices].contiguous(), self._graph)
        else:
            y = self.conv(self._inputs, indices)
        return y.relu().mean(1)

    def forward(self, indices: Tensor) -> Tensor:
        """Return the scores of the classes, shape (batch, 15)."""
        return self.classify(self.standardize(self.features(indices)))


def make_layer(model: str, order: int, config: Config) -> CayleyConv | ChebConv:
    """Return the convolution of a model."""
    if model == CHEBNET:
        return ChebConv(1, N_FEATURES, order + 1, normalization=None)
    options: dict[str, Any] = {
        "zoom": config.zoom,
        "normalization": None,
        "parametrization": config.parametrization,
    }
    if model == CHEBYSHEV:
        return CayleyConv(1, N_FEATURES, order, tol=config.tol, **options)
    return PrecomputedCayleyConv(1, N_FEATURES, order, **options)


def precompute(model: str, x: Tensor, data: Data) -> EigenbasisFeatures | JacobiFeatures:
    """Return what a layer that needs no graph takes.

    Parameters
    ----------
    model : str
        "exact", or "jacobi" and the number of sweeps.
    x : Tensor, shape (n_signals, n, 1)
        All signals.
    data : Data
        With the graph.
    """
    if model == EXACT:
        return EigenbasisFeatures(x, data.laplacian)
    return JacobiFeatures(x, data.laplacian, n_iter=int(model.split()[1]))


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
