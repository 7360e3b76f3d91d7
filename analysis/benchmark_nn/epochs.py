"""A full-batch epoch of a small network for vertices, against one of PyTorch Geometric's GCN."""

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

import cayleygsp as cg
from analysis import _timing
from analysis._comparison import Side, make_row, side_of
from analysis._document import Document
from analysis._script import Step
from analysis.benchmark_nn.problems import exact_copy, finish, relative_error
from analysis.benchmark_nn.settings import CAYLEY_LIMIT, CHEBYSHEV_LIMIT, Sizes
from analysis.benchmark_nn.sparse_input import DENSITY
from cayleygsp._typing import Array
from cayleygsp.nn import CayleyConv, GraphLaplacian

HIDDEN, CLASSES, DROPOUT = 16, 7, 0.6


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
    sides = [
        Side("CayleyNet-16", epoch(ours, sparse, labels), CAYLEY_LIMIT),
        Side("PyTorch Geometric's GCN, dense words", epoch(theirs, words, labels), CHEBYSHEV_LIMIT),
        Side("PyTorch Geometric's GCN, sparse words", epoch(theirs, sparse, labels), CHEBYSHEV_LIMIT),
    ]
    errors = [relative_error(exact)(sides[0].call())]
    errors += [relative_error(exact_peer)(side.call()) for side in sides[1:]]
    measured = _timing.interleave({side.name: side.call for side in sides}, args.repeats)
    pair = [side_of(side, error, measured[side.name]) for side, error in zip(sides, errors, strict=True)]
    work = f"epoch of a network with 16 features, drawn graph, n={n}, {n_words} words: CayleyNet over GCN"
    rows = []
    for peer in pair[1:]:
        value = _timing.summary(_timing.ratios(measured[pair[0]["name"]], measured[peer["name"]]))
        rows.append(make_row(work, pair[0], peer, "times", value, 1.5, at_most=True))
    return rows
