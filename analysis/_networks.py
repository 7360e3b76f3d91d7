"""The networks of the paper's first experiment: names, sizes and how their curves are drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn

import cayleygsp as cg
from cayleygsp import gallery
from cayleygsp.coarsening import Coarsening, coarsen
from cayleygsp.nn import CayleyConv, GraclusPooling, GraphLaplacian

N_COMMUNITIES = 15

N_FEATURES = 32

ORDERS = (1, 3, 5, 7, 9, 11, 13)

SWEEPS = (1, 5, 9, 13)

EXACT, CHEBYSHEV, CHEBNET = "exact", "chebyshev", "ChebNet"

# Black for the reference, colours of Okabe and Ito for the rest; markers and dashes tell them apart in grey.
NETWORK_STYLES: dict[str, dict[str, Any]] = {
    EXACT: {"color": "#000000", "linestyle": "--", "marker": "o"},
    CHEBYSHEV: {"color": "#D55E00", "linestyle": "-", "marker": "x"},
    "jacobi 13": {"color": "#0072B2", "linestyle": "-", "marker": "v"},
    "jacobi 9": {"color": "#009E73", "linestyle": "-", "marker": "^"},
    "jacobi 5": {"color": "#56B4E9", "linestyle": "-", "marker": "s"},
    "jacobi 1": {"color": "#CC79A7", "linestyle": "-", "marker": "D"},
    CHEBNET: {"color": "#E69F00", "linestyle": ":", "marker": "*"},
}

N_CLASSES = 10

# Levels of the coarsening on which the convolutions are, and how many levels each pooling goes up.
LEVELS, POOLED = (0, 2), 2


def mnist_tree(side: int, seed: int) -> Coarsening:
    """Return the graph of the pixels with its coarsenings."""
    return coarsen(gallery.mnist_grid(side), levels=LEVELS[-1] + POOLED, rng=seed)


def level_laplacian(tree: Coarsening, level: int) -> cg.Laplacian:
    """Return the normalized Laplacian of the real vertices of a level."""
    return cg.laplacian(tree.real_graph(level), "normalized")


class Stage(nn.Module):
    """A convolution without bias, pooling, and then bias and ReLU.

    Both are increasing functions, so that it does not matter whether they come before or after the maximum; after it
    there is a quarter of the work.

    Parameters
    ----------
    convolution : nn.Module
        Takes signals and a Laplacian.
    tree : Coarsening
        The levels.
    level : int
        That of the convolution.
    features : int
        Channels that the convolution makes.
    """

    def __init__(self, convolution: nn.Module, tree: Coarsening, level: int, features: int) -> None:
        super().__init__()
        self.convolution = convolution
        self.pool = GraclusPooling(tree, POOLED, level=level, padded=False)
        self.bias = nn.Parameter(torch.zeros(features))
        self.graph = GraphLaplacian.from_laplacian(level_laplacian(tree, level), dtype=torch.float32)

    def forward(self, x: Tensor) -> Tensor:
        """Return signals on the level that is pooled to."""
        return cast(Tensor, (self.pool(self.convolution(x, self.graph)) + self.bias).relu_())


class GraphNetwork(nn.Module):
    """Two stages, then two dense layers with dropout between them.

    Parameters
    ----------
    tree : Coarsening
        See :func:`mnist_tree`.
    make : callable
        ``make(level, in_channels, out_channels)`` returns the convolution of a level, without bias.
    features : tuple of int
        Channels of the two convolutions.
    hidden : int
        Units of the dense layer between.
    dropout : float
        Share of them that is left out in training.

    Notes
    -----
    Images have one row for each real vertex of level 0, in the order of the tree: what ``permute`` of the first pooling
    makes of pixels. Nothing is computed for fake vertices.
    """

    def __init__(
        self,
        tree: Coarsening,
        make: Callable[[int, int, int], nn.Module],
        features: tuple[int, int] = (32, 64),
        hidden: int = 512,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        channels = (1, *features)
        self.stages = nn.ModuleList(
            Stage(make(level, channels[k], channels[k + 1]), tree, level, channels[k + 1])
            for k, level in enumerate(LEVELS)
        )
        flat = tree.sizes[-1] * features[1]
        self.dense = nn.Linear(flat, hidden)
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(hidden, N_CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        """Classify images of shape (batch, n, 1)."""
        for stage in self.stages:
            x = stage(x)
        return cast(Tensor, self.out(self.dropout(self.dense(x.flatten(1)).relu_())))


def n_parameters(network: nn.Module) -> int:
    """Return how many numbers a network learns."""
    return sum(parameter.numel() for parameter in network.parameters())


def cayley_layers(network: nn.Module) -> list[CayleyConv]:
    """Return the layers of Cayley filters, in order."""
    return [layer for layer in network.modules() if isinstance(layer, CayleyConv)]


def learned_zooms(network: nn.Module) -> list[float]:
    """Return the zooms of all layers of Cayley filters."""
    return [float(zoom) for layer in cayley_layers(network) for zoom in layer.zoom.detach().reshape(-1)]


def set_zooms(network: nn.Module, zooms: Sequence[float]) -> None:
    """Give each layer of Cayley filters its zoom."""
    with torch.no_grad():
        for layer, zoom in zip(cayley_layers(network), zooms, strict=True):
            layer.log_zoom.copy_(torch.tensor(zoom).log())
