"""The networks: two kinds of filters on the graph of the pixels, and the convolutions of LeNet5."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from analysis._jacobi_layer import SpectralJacobiConv
from analysis._networks import N_CLASSES, GraphNetwork, mnist_tree
from analysis.mnist.data import SIDE
from analysis.mnist.settings import CHEBNET, EXACT, JACOBI, LENET, Config
from cayleygsp.nn import CayleyConv, ChebConv, GraclusPooling

_WINDOW = 5


class LeNet5(nn.Module):
    """Two convolutions by 5 × 5 windows with pooling by 2 × 2, then two dense layers.

    Parameters
    ----------
    config : Config
        With the sizes.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        first, second = config.features
        self.convolutions = nn.ModuleList(
            [nn.Conv2d(1, first, _WINDOW, padding="same"), nn.Conv2d(first, second, _WINDOW, padding="same")]
        )
        self.dense = nn.Linear((SIDE // 4) ** 2 * second, config.hidden)
        self.dropout = nn.Dropout(config.dropout)
        self.out = nn.Linear(config.hidden, N_CLASSES)

    def forward(self, x: Tensor) -> Tensor:
        """Classify images of shape (batch, 784, 1)."""
        x = x.view(-1, 1, SIDE, SIDE).contiguous(memory_format=torch.channels_last)
        for convolution in self.convolutions:
            x = F.max_pool2d(convolution(x), 2).relu_()
        return cast(Tensor, self.out(self.dropout(self.dense(x.flatten(1)).relu_())))


def make_convolution(model: str, config: Config, level: int, in_channels: int, out_channels: int) -> nn.Module:
    """Return the convolution of a level, without bias."""
    sizes, exact = (in_channels, out_channels), level > 0 and config.second == EXACT
    if model == CHEBNET:
        return ChebConv(*sizes, 2 * config.order + 1, bias=False, method="exact" if exact else "recurrence")
    options: dict[str, Any] = {"zoom": config.zoom, "parametrization": config.parametrization}
    if model == JACOBI:
        return SpectralJacobiConv(*sizes, config.order, config.sweeps, bias=False, **options)
    options |= {"tol": config.tol, "method": "exact" if exact else "chebyshev"}
    return CayleyConv(*sizes, config.order, bias=False, **options)


def make_network(model: str, config: Config, seed: int) -> tuple[nn.Module, Tensor]:
    """Return a network, its weights drawn from the seed as in the original code, and the order of its pixels.

    Parameters
    ----------
    model : str
        Which one.
    config : Config
        With the sizes.
    seed : int
        Of the weights.

    Returns
    -------
    network : nn.Module
        Takes images of shape (batch, 784, 1).
    order : Tensor, shape (784,)
        Which pixel stands at each place.
    """
    pixels = torch.arange(SIDE * SIDE)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        if model == LENET:
            network: nn.Module = LeNet5(config)
            order = pixels
        else:
            tree = mnist_tree(SIDE, config.tree)
            network = GraphNetwork(
                tree,
                lambda level, i, o: make_convolution(model, config, level, i, o),
                cast(tuple[int, int], config.features),
                config.hidden,
                config.dropout,
            )
            first = GraclusPooling(tree, padded=False)
            order = first.permute(pixels[:, None].double())[:, 0].long()
        draw_weights(network, config)
    return network, order


def draw_weights(network: nn.Module, config: Config) -> None:
    """Draw all weights and coefficients from a normal law that is cut at two deviations; set all biases."""
    with torch.no_grad():
        for module in network.modules():
            if isinstance(module, CayleyConv):
                c = torch.empty_like(module.weight)
                module.set_coefficients(_draw(c, config.spread))
            elif isinstance(getattr(module, "weight", None), nn.Parameter):
                _draw(cast(Tensor, module.weight), config.spread)
            if isinstance(getattr(module, "bias", None), nn.Parameter):
                cast(Tensor, module.bias).fill_(config.bias)


def _draw(weight: Tensor, spread: float) -> Tensor:
    return nn.init.trunc_normal_(weight, std=spread, a=-2 * spread, b=2 * spread)
