"""The networks, each a map from the features of all vertices to the scores of all vertices."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from analysis.cora import settings
from analysis.cora.data import Inputs
from analysis.cora.layers import (
    Diffusion,
    ShiftedCayleyConv,
    SparseDropout,
    SparseLinear,
    diffused_features,
    transition,
)
from cayleygsp._typing import FloatArray
from cayleygsp.nn import CayleyConv, ChebConv
from cayleygsp.responses.basis import power_basis


class Layered(nn.Module):
    """Layers of one kind with dropout before each and a non-linearity between them.

    Parameters
    ----------
    layers : sequence of nn.Module
        Each is called with signals and ``graph``; the first gets sparse ones.
    graph : tuple
        What the layers take besides.
    dropout : float
        On the features and on the hidden layers.
    activation : callable
        Between the layers.
    """

    def __init__(
        self, layers: Any, graph: tuple[Any, ...], dropout: float, activation: Callable[[Tensor], Tensor] = torch.relu
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.first_dropout = SparseDropout(dropout)
        self.graph, self.dropout, self.activation = graph, dropout, activation

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of all vertices, shape (n, n_classes)."""
        x = self.layers[0](self.first_dropout(x), *self.graph)
        for layer in self.layers[1:]:
            x = nn.functional.dropout(self.activation(x), self.dropout, self.training)
            x = layer(x, *self.graph)
        return x


class Decoupled(nn.Module):
    """A perceptron of the features of each vertex, then one step that knows the graph."""

    def __init__(self, sizes: list[int], propagate: nn.Module, graph: Any, recipe: settings.Recipe) -> None:
        super().__init__()
        self.layers = nn.ModuleList(_perceptron(sizes, recipe.perceptron))
        self.first_dropout = SparseDropout(recipe.dropout)
        self.propagate, self.graph = propagate, graph
        self.dropout, self.score_dropout = recipe.dropout, recipe.score_dropout

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of all vertices, shape (n, n_classes)."""
        x = self.layers[0](self.first_dropout(x))
        for layer in self.layers[1:]:
            x = layer(nn.functional.dropout(torch.relu(x), self.dropout, self.training))
        if self.score_dropout:
            x = nn.functional.dropout(x, self.score_dropout, self.training)
        return self.propagate(x, self.graph)


class DiffusionNetwork(nn.Module):
    """Layers of DCNN; what the first one diffuses is known and computed once."""

    def __init__(self, inputs: Inputs, sizes: list[int], n_hops: int, *, binary: bool = False) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Diffusion(a, b, n_hops) for a, b in pairwise(sizes))
        self._dense: Tensor | None = None
        self.diffused = diffused_features(inputs, n_hops, binary=binary)
        P = transition(inputs).astype(np.float32).tocoo()
        index = torch.from_numpy(np.stack([P.row, P.col]).astype(np.int64))
        values = torch.from_numpy(P.data)
        self.transition = torch.sparse_coo_tensor(index, values, P.shape, is_coalesced=True, check_invariants=True)
        self.n_hops = n_hops

    def forward(self, x: Tensor, rows: Tensor | None = None) -> Tensor:
        """Return the scores of all vertices, shape (n, n_classes), or of some; the features are those it was made with.

        With one layer, scores of some vertices need nothing of the others.
        """
        if len(self.layers) == 1 and rows is not None:
            return self.layers[0](self._rows_at(rows))
        scores = self._whole()
        return scores if rows is None else scores[rows]

    def _rows_at(self, rows: Tensor) -> Tensor:
        """Return the diffused features of some vertices, dense; whole tensors of them are kept."""
        if self._dense is None:
            self._dense = self.diffused.to_dense()
        return self._dense[rows]

    def _whole(self) -> Tensor:
        x = self.layers[0](self.diffused)
        for layer in self.layers[1:]:
            hops = [torch.tanh(x)]
            for _ in range(self.n_hops):
                hops.append(torch.sparse.mm(self.transition, hops[-1]))
            x = layer(torch.cat(hops, dim=1))
        return x


def make_network(model: str, recipe: settings.Recipe, inputs: Inputs) -> nn.Module:
    """Return a network; weights are drawn from torch's own random numbers."""
    graph = inputs.graph
    sizes = [int(graph.features.shape[1]), *recipe.hidden, graph.n_classes]
    if model in (settings.CAYLEY16, settings.CAYLEY64, settings.CAYLEY, settings.CHEBNET):
        return Layered(*_spectral(model, recipe, inputs, sizes), recipe.dropout)
    if model in (settings.DECOUPLED, settings.FIXED):
        per_channel = recipe.zooms == settings.CHANNEL
        propagate = _cayley_layer(
            recipe, inputs, sizes[-1], sizes[-1], shared=not per_channel, filter_only=True, zoom_per_channel=per_channel
        )
        if model == settings.FIXED:
            propagate.requires_grad_(False)
        return Decoupled(sizes, propagate, inputs.with_loops(recipe.loops), recipe)
    if model == settings.DCNN:
        sizes = sizes if recipe.split in settings.EXTENDED_SPLITS else [sizes[0], sizes[-1]]
        return DiffusionNetwork(inputs, sizes, recipe.order, binary=recipe.words == settings.BINARY)
    return _by_pyg(model, recipe, inputs, sizes)


def _by_pyg(model: str, recipe: settings.Recipe, inputs: Inputs, sizes: list[int]) -> nn.Module:
    """Return a network of layers of PyTorch Geometric, the first of which multiplies sparse features."""
    pyg = importlib.import_module("torch_geometric.nn")
    pairs = list(pairwise(sizes))
    if model in (settings.APPNP, settings.APPNP_LONG):
        propagate = pyg.APPNP(recipe.order, recipe.alpha, cached=True)
        return Decoupled(sizes, propagate, inputs.edges, recipe)
    if model == settings.GCN:
        layers = [pyg.GCNConv(a, b, cached=True, bias=False) for a, b in pairs]
        layers[0].lin = SparseLinear(layers[0].lin.weight)
        return Layered(layers, (inputs.edges,), recipe.dropout)
    if model == settings.GAT and recipe.split in settings.EXTENDED_SPLITS:
        kinds = [False, True]  # attention in the second layer alone
        layers = [RootedConv(a, b, attention, recipe.dropout) for (a, b), attention in zip(pairs, kinds, strict=True)]
        return Layered(layers, (inputs.edges,), recipe.dropout, nn.functional.elu)
    if model == settings.GAT:
        heads, p = 8, recipe.dropout
        layers = [
            pyg.GATConv(sizes[0], sizes[1], heads, dropout=p),
            pyg.GATConv(heads * sizes[1], sizes[2], 1, concat=False, dropout=p),
        ]
        layers[0].lin = SparseLinear(layers[0].lin.weight)
        return Layered(layers, (inputs.edges,), recipe.dropout, nn.functional.elu)
    assert model == settings.MONET
    layers = [MixtureConv(a, b, inputs) for a, b in pairs]
    return Layered(layers, (inputs.edges,), recipe.dropout)


class RootedConv(nn.Module):
    """A layer X W₀ + Ã X W₁: the vertex itself, and the mean of its neighbours or attention to them by one head.

    That is how the paper has GAT on its extended split, with the number of parameters of the other networks.
    """

    def __init__(self, in_channels: int, out_channels: int, attention: bool, dropout: float) -> None:
        super().__init__()
        pyg = importlib.import_module("torch_geometric.nn")
        self.root = SparseLinear(_glorot(in_channels, out_channels))
        self.linear: nn.Module = nn.Identity() if attention else SparseLinear(_glorot(in_channels, out_channels))
        if attention:
            self.conv = pyg.GATConv(in_channels, out_channels, dropout=dropout, add_self_loops=False, bias=False)
        else:
            self.conv = pyg.SimpleConv(aggr="mean")

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        """Return features of shape (n, out_channels)."""
        return self.root(x) + self.conv(self.linear(x), edges)


class MixtureConv(nn.Module):
    """A layer of MoNet with one Gaussian of learned pseudo-coordinates, and the vertex itself with a matrix of its own.

    The pseudo-coordinates are 1/√d of both ends of an edge through a learned tanh layer, as in Monti et al. 2017.
    """

    def __init__(self, in_channels: int, out_channels: int, inputs: Inputs) -> None:
        super().__init__()
        pyg = importlib.import_module("torch_geometric.nn")
        self.conv = pyg.GMMConv(in_channels, out_channels, dim=2, kernel_size=1, aggr="mean", bias=False)
        nn.init.zeros_(self.conv.mu)
        nn.init.ones_(self.conv.sigma)  # a wide Gaussian, where PyTorch Geometric may draw one of no width
        self.coordinates = nn.Linear(2, 2)
        degree = torch.bincount(inputs.edges[0], minlength=inputs.x.shape[0]).clamp(min=1)
        self.register_buffer("ends", degree.rsqrt()[inputs.edges].T.contiguous(), persistent=False)

    def forward(self, x: Tensor, edges: Tensor) -> Tensor:
        """Return features of shape (n, out_channels)."""
        return self.conv(x, edges, torch.tanh(self.coordinates(self.ends)))


def _perceptron(sizes: list[int], kind: str) -> list[SparseLinear]:
    """Return dense layers, see :class:`~analysis.cora.settings.Recipe`."""
    if kind == settings.PLAIN:
        return [SparseLinear(_glorot(a, b)) for a, b in pairwise(sizes)]
    layers = []
    for a, b in pairwise(sizes):
        weight, bias = nn.Linear(a, b).parameters()
        layers.append(SparseLinear(weight, bias))
    return layers


def _glorot(n_in: int, n_out: int) -> nn.Parameter:
    """Return weights of shape (n_out, n_in), uniform with the variance of Glorot and Bengio."""
    bound = math.sqrt(6 / (n_in + n_out))
    return nn.Parameter(torch.empty(n_out, n_in).uniform_(-bound, bound))


def _spectral(
    model: str, recipe: settings.Recipe, inputs: Inputs, sizes: list[int]
) -> tuple[list[nn.Module], tuple[Any, ...]]:
    """Return layers with filters of a Laplacian, and that Laplacian."""
    laplacian = inputs.with_loops(recipe.loops) if recipe.laplacian == settings.NORMALIZED else inputs.combinatorial
    layers: list[nn.Module]
    if model == settings.CHEBNET:
        kind = "sym" if recipe.laplacian == settings.NORMALIZED else None
        layers = [ChebConv(a, b, recipe.order + 1, normalization=kind, bias=False) for a, b in pairwise(sizes)]
        return layers, (laplacian,)
    shared = model != settings.CAYLEY
    layers = [_cayley_layer(recipe, inputs, a, b, shared=shared) for a, b in pairwise(sizes)]
    return layers, (laplacian,)


def _cayley_layer(
    recipe: settings.Recipe,
    inputs: Inputs,
    n_in: int,
    n_out: int,
    *,
    shared: bool = True,
    filter_only: bool = False,
    zoom_per_channel: bool = False,
) -> CayleyConv:
    """Return a layer of Cayley filters with an explicit start.

    Parameters
    ----------
    recipe : Recipe
        Order, zoom and start.
    inputs : Inputs
        With the graph.
    n_in, n_out : int
        Channels.
    shared : bool
        One filter for all pairs.
    filter_only : bool
        The matrix that mixes channels at the start is the identity; that of a shared filter is not learned.
    zoom_per_channel : bool
        A zoom for each output channel.
    """
    normalized = recipe.laplacian == settings.NORMALIZED
    zoom = recipe.zoom
    if recipe.laplacian == settings.SCALED:
        zoom = recipe.scaled_zoom * 2 / float(inputs.combinatorial.lmax[0])
    make = ShiftedCayleyConv if recipe.laplacian == settings.SHIFTED else CayleyConv
    layer = make(
        n_in,
        n_out,
        recipe.order,
        normalization="sym" if normalized else None,
        bias=False,
        zoom=zoom,
        tol=1e-3,
        real_coeffs=recipe.coeffs == settings.REAL,
        shared_filter=shared,
        zoom_per_channel=zoom_per_channel,
    )
    start = torch.from_numpy(start_coefficients(recipe)).float()
    if recipe.start == settings.AT_RANDOM:
        start = start.square().mean().sqrt() * torch.randn_like(start)
    mixing = torch.eye(n_in) if filter_only else _glorot(n_in, n_out).detach().T
    if shared:
        layer.set_coefficients(start)
        with torch.no_grad():
            layer.weight.copy_(mixing)
    else:
        layer.set_coefficients(start[:, None, None] * mixing)
    if filter_only and shared:
        layer.weight.requires_grad_(False)
    return layer


def start_coefficients(recipe: settings.Recipe) -> FloatArray:
    """Return the coefficients that a shared filter starts from, for the normalized Laplacian.

    The response is 1/(1 + (hλ)²), which is (1 − Re C(hλ))/2, or the nearest to α/(α + (1 − α)λ) over [0, 2] in the mean
    square.
    """
    real = recipe.coeffs == settings.REAL
    lam = np.linspace(0, 2, 201)
    basis = power_basis(recipe.order, recipe.zoom * lam, real=real)
    if recipe.alpha == 0:
        target = 1 / (1 + (recipe.zoom * lam) ** 2)
    else:
        target = recipe.alpha / (recipe.alpha + (1 - recipe.alpha) * lam)
    return np.linalg.lstsq(basis, target, rcond=None)[0]
