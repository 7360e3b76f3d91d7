"""A training step of the paper's whole ChebNet against the same network with layers of PyTorch Geometric."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from analysis._comparison import Side, compare
from analysis._document import Document
from analysis._mnist_network import N_CLASSES, GraphNetwork, Stage, mnist_tree
from analysis._script import Step
from analysis.benchmark_nn.networks import cheb_layer
from analysis.benchmark_nn.problems import exact_copy, finish, relative_error, signals, weighted_edges
from analysis.benchmark_nn.settings import CHEBYSHEV_LIMIT, TERMS, Sizes
from cayleygsp._typing import Array
from cayleygsp.coarsening import Coarsening
from cayleygsp.nn import ChebConv

_N_IMAGES = 60_000


class PygLayer(nn.Module):
    """A ChebConv of PyTorch Geometric on a level of a tree.

    Parameters
    ----------
    tree : Coarsening
        The levels.
    level, in_channels, out_channels : int
        Which level, and the channels.
    """

    edge_index: Tensor
    edge_weight: Tensor

    def __init__(self, tree: Coarsening, level: int, in_channels: int, out_channels: int) -> None:
        super().__init__()
        chebyshev = importlib.import_module("torch_geometric.nn").ChebConv
        self.layer = chebyshev(in_channels, out_channels, TERMS, bias=False)
        for name, tensor in zip(("edge_index", "edge_weight"), weighted_edges(tree.real_graph(level)), strict=True):
            self.register_buffer(name, tensor)

    def forward(self, x: Tensor, graph: object) -> Tensor:
        """Filter signals; the graph is that of the layer."""
        out: Tensor = self.layer(x, self.edge_index, self.edge_weight, None, 2.0)
        return out


def training_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare training steps of the ChebNet, and what it would bring to read the first layer's basis from memory."""
    step("training step of the whole network")
    tree = mnist_tree(sizes.side, args.seed)
    x = signals(args.seed, sizes.batch, tree.n_vertices, 1, device=args.device)
    labels = torch.arange(sizes.batch, device=args.device) % N_CLASSES
    ours, theirs = chebnet_pair(tree, sizes, args.seed)
    with torch.no_grad():
        reference = F.cross_entropy(exact_copy(ours)(x.double().cpu()), labels.cpu()).reshape(1).numpy()
    sides = [
        Side("ours", descent_step(ours.to(args.device), x, labels), CHEBYSHEV_LIMIT),
        Side("PyTorch Geometric's ChebConv", descent_step(theirs.to(args.device), x, labels), CHEBYSHEV_LIMIT),
    ]
    work = f"MNIST ChebNet, {TERMS} terms, batch {sizes.batch}: training step"
    note = "errors are those of the loss; both networks pool alike and have no fake vertices"
    rows = compare(work, sides, relative_error(reference), [(0, 1, 4.0)], args.repeats, note=note)
    return [*rows, *_basis_rows(sizes, args, step)]


def chebnet_pair(tree: Coarsening, sizes: Sizes, seed: int) -> tuple[nn.Module, nn.Module]:
    """Return the ChebNet with our layers and with those of PyTorch Geometric, with the same weights."""
    torch.manual_seed(seed)
    ours = GraphNetwork(tree, cheb_layer(exact=True), sizes.features, sizes.hidden)
    theirs = GraphNetwork(tree, lambda *which: PygLayer(tree, *which), sizes.features, sizes.hidden)
    with torch.no_grad():
        for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            other.copy_(mine)
    return ours, theirs


def descent_step(network: nn.Module, x: Tensor, labels: Tensor) -> Callable[[], Array]:
    """Return a call that makes a step of steepest descent with momentum and returns the loss before it."""
    optimizer = torch.optim.SGD(network.parameters(), lr=1e-3, momentum=0.9, fused=True)

    def step() -> Array:
        optimizer.zero_grad()
        loss = F.cross_entropy(network(x), labels)
        loss.backward()
        optimizer.step()
        finish(x)
        return loss.detach().reshape(1).cpu().numpy()

    return step


def _basis_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare the first layer with one that reads the terms of its inputs, computed once, in half precision."""
    step("basis of the first layer from memory")
    tree = mnist_tree(sizes.side, args.seed)
    network = GraphNetwork(tree, cheb_layer(exact=True), sizes.features, sizes.hidden).to(args.device)
    stage = network.stages[0]
    assert isinstance(stage, Stage)
    layer, graph = stage.convolution, stage.graph
    assert isinstance(layer, ChebConv)
    x = signals(args.seed, 5 * sizes.batch, tree.n_vertices, 1, device=args.device)
    unit = ChebConv(1, TERMS, TERMS, bias=False).to(args.device)
    with torch.no_grad():
        for k, parameter in enumerate(unit.parameters()):
            parameter.copy_(torch.eye(TERMS)[:, k : k + 1])
        kept = unit(x, graph).half()
    chosen = torch.arange(0, len(x), 5, device=args.device)

    def training(filtered: Callable[[], Tensor]) -> Callable[[], Array]:
        def call() -> Array:
            layer.zero_grad()
            y = filtered()
            y.square().sum().backward()
            finish(y)
            return y.detach().cpu().numpy()

        return call

    sides = [
        Side("computed", training(lambda: layer(x[chosen], graph)), CHEBYSHEV_LIMIT),
        Side("read", training(lambda: kept[chosen].float() @ layer.weight[:, 0]), 1e-2),
    ]
    with torch.no_grad():
        reference = exact_copy(layer)(x[chosen].double(), graph).cpu().numpy()
    n_bytes = _N_IMAGES * kept[0].numel() * kept.element_size()
    work = f"MNIST ChebNet, first layer, batch {sizes.batch}, forward and backward: basis computed against read"
    note = f"the basis of {_N_IMAGES:,} images takes {n_bytes / 1e9:.2g} GB in half precision: it is computed"
    return compare(work, sides, relative_error(np.asarray(reference)), [(0, 1, 0.5)], args.repeats, note=note)
