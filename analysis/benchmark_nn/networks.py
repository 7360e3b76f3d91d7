"""The test time of a CayleyNet against that of a ChebNet, on the paper's MNIST network."""

from __future__ import annotations

import argparse
import copy
import importlib
import warnings
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import cayleygsp as cg
from analysis._comparison import Side, compare
from analysis._networks import N_CLASSES, GraphNetwork, Stage, mnist_tree, n_parameters
from analysis._script import Document, Step
from analysis.benchmark_nn.layers import DENSITY
from analysis.benchmark_nn.problems import (
    CAYLEY_LIMIT,
    CHEBYSHEV_LIMIT,
    ORDER,
    TERMS,
    TOL,
    Sizes,
    exact_copy,
    finish,
    relative_error,
    signals,
    weighted_edges,
)
from cayleygsp._typing import Array
from cayleygsp.coarsening import Coarsening
from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian

MOST_RATIO = 1.4

# How the two convolutions are computed, for both kinds of filters: by recurrences, or the second in the eigenbasis.
WAYS = (("by recurrences", False), ("second layer in the eigenbasis", True))

_N_IMAGES = 60_000

HIDDEN, CLASSES, DROPOUT = 16, 7, 0.6


def cheb_layer(exact: bool) -> Callable[[int, int, int], nn.Module]:
    """Return how Chebyshev layers are made: by recurrences, but for ``exact`` on coarse levels."""

    def make(level: int, in_channels: int, out_channels: int) -> nn.Module:
        is_exact = exact and level > 0
        return ChebConv(in_channels, out_channels, TERMS, bias=False, method="exact" if is_exact else "recurrence")

    return make


def cayley_layer(exact: bool) -> Callable[[int, int, int], nn.Module]:
    """Return how Cayley layers are made: by series, but for ``exact`` on coarse levels."""

    def make(level: int, in_channels: int, out_channels: int) -> nn.Module:
        sizes, is_exact = (in_channels, out_channels), exact and level > 0
        return CayleyConv(*sizes, ORDER, bias=False, method="exact" if is_exact else "chebyshev", tol=TOL)

    return make


def network_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare the test time of a CayleyNet with that of a ChebNet with as many parameters, computed in both ways."""
    tree = mnist_tree(sizes.side, args.seed)
    x = signals(args.seed, sizes.batch, tree.n_vertices, 1, device=args.device)
    rows = []
    for way, exact in WAYS:
        step(f"networks, {way}")
        torch.manual_seed(args.seed)
        cayley, cheb = (
            GraphNetwork(tree, make(exact), sizes.features, sizes.hidden).to(args.device).eval()
            for make in (cayley_layer, cheb_layer)
        )
        rows.append(_test_row(cayley, cheb, x, way, args.repeats))
    return rows


def _test_row(cayley: nn.Module, cheb: nn.Module, x: Tensor, way: str, repeats: int) -> Document:
    sides = []
    for name, net, limit in (("CayleyNet", cayley, CAYLEY_LIMIT), ("ChebNet", cheb, 1e-4)):
        with torch.no_grad():
            error_of = relative_error(exact_copy(net)(x.double()).cpu().numpy())
        sides.append(Side(name, _inference(net, x), limit, error_of=error_of))
    work = f"MNIST network, {len(x)} images, test time, {way}: CayleyNet over ChebNet"
    note = f"{n_parameters(cayley):,} parameters against {n_parameters(cheb):,}; the paper's ratio is 6.6"
    return compare(work, sides, None, [(0, 1, MOST_RATIO)], repeats, at_most=True, note=note)[0]


def _inference(net: nn.Module, x: Tensor) -> Callable[[], Array]:
    def call() -> Array:
        with torch.no_grad():
            return net(x).cpu().numpy()

    return call


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


class TwoLayers(nn.Module):
    """Two layers with dropout before each and ReLU between; features may be sparse by rows."""

    def __init__(self, make: Callable[[int, int], nn.Module], n_words: int, graph: Any) -> None:
        super().__init__()
        self.first, self.second, self.graph = make(n_words, HIDDEN), make(HIDDEN, CLASSES), graph

    def forward(self, x: Tensor) -> Tensor:
        """Return scores of all vertices."""
        hidden = self.first(_dropped(x) if self.training else x, self.graph).relu()
        return self.second(nn.functional.dropout(hidden, DROPOUT, self.training), self.graph)


def _dropped(x: Tensor) -> Tensor:
    """Return features after dropout; zeros of sparse ones stay zero either way."""
    if x.layout != torch.sparse_csr:
        return nn.functional.dropout(x, DROPOUT)
    values = nn.functional.dropout(x.values(), DROPOUT)
    return torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), values, size=x.shape, check_invariants=False)


def epoch(net: nn.Module, x: Tensor, labels: Tensor) -> Callable[[], Array]:
    """Return a call that trains a copy by one step of Adam on all vertices, and returns the scores before it."""
    with torch.no_grad():
        scores = net.eval()(x).cpu().numpy()
    trained = copy.deepcopy(net)
    optimizer = torch.optim.Adam(trained.parameters(), lr=0.005)

    def call() -> Array:
        trained.train()
        optimizer.zero_grad()
        nn.functional.cross_entropy(trained(x), labels).backward()
        optimizer.step()
        trained.eval()
        with torch.no_grad():
            finish(trained(x))
        return scores

    return call


def epoch_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare an epoch, a training step and an evaluation, on a graph and words of the size of Cora's."""
    step("epochs")
    pyg = importlib.import_module("torch_geometric.nn")
    n, n_words = sizes.sparse
    W = nx.to_scipy_sparse_array(nx.barabasi_albert_graph(n, 2, seed=args.seed), dtype=np.float64).tocoo()
    edges = torch.from_numpy(np.stack([W.row, W.col]).astype(np.int64)).to(args.device)
    L = cg.laplacian(W.tocsr(), "normalized")
    graph = GraphLaplacian.from_laplacian(L, dtype=torch.float32, device=args.device)
    generator = torch.Generator().manual_seed(args.seed)
    words = (torch.rand(n, n_words, generator=generator) < DENSITY).float().to(args.device)
    labels = torch.randint(CLASSES, (n,), generator=generator).to(args.device)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state", UserWarning)
        sparse = words.to_sparse_csr()
    torch.manual_seed(args.seed)
    ours = TwoLayers(lambda a, b: CayleyConv(a, b, 1, shared_filter=True), n_words, graph).to(args.device)
    theirs = TwoLayers(lambda a, b: pyg.GCNConv(a, b, cached=True), n_words, edges).to(args.device)
    with torch.no_grad():
        exact = exact_copy(ours).eval()(words.double()).cpu().numpy()
        exact_peer = copy.deepcopy(theirs).double().eval()(words.double()).cpu().numpy()
    of_peer = relative_error(exact_peer)
    sides = [
        Side("CayleyNet-16", epoch(ours, sparse, labels), CAYLEY_LIMIT, error_of=relative_error(exact)),
        Side("PyTorch Geometric's GCN, dense words", epoch(theirs, words, labels), CHEBYSHEV_LIMIT, error_of=of_peer),
        Side("PyTorch Geometric's GCN, sparse words", epoch(theirs, sparse, labels), CHEBYSHEV_LIMIT, error_of=of_peer),
    ]
    work = f"epoch of a network with 16 features, drawn graph, n={n}, {n_words} words: CayleyNet over GCN"
    return compare(work, sides, None, [(0, 1, 1.5), (0, 2, 1.5)], args.repeats, at_most=True)
