"""The network: one convolution, ReLU, mean over the vertices, linear classifier."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from analysis._networks import CHEBNET, CHEBYSHEV, EXACT, N_COMMUNITIES, N_FEATURES
from analysis.community.data import Data
from analysis.community.settings import Config
from cayleygsp.nn import (
    CayleyConv,
    ChebConv,
    EigenbasisFeatures,
    GraphLaplacian,
    JacobiFeatures,
    PrecomputedCayleyConv,
)


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
