"""ChebConv against that of PyTorch Geometric."""

from __future__ import annotations

import argparse
import importlib

import torch

from analysis._comparison import Side, compare
from analysis._document import Document
from analysis._mnist_network import level_laplacian, mnist_tree
from analysis._script import Step
from analysis.benchmark_nn.problems import (
    dense_chebyshev,
    relative_error,
    signals,
    training_step,
    weighted_edges,
)
from analysis.benchmark_nn.settings import CHEBYSHEV_LIMIT, TERMS, Sizes
from cayleygsp.nn import ChebConv, GraphLaplacian


def pyg_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare ChebConv, forward and backward, with that of PyTorch Geometric on both layers of the MNIST network."""
    PygChebConv = importlib.import_module("torch_geometric.nn").ChebConv
    tree = mnist_tree(sizes.side, args.seed)
    rows = []
    for level, channels in ((0, (1, sizes.features[0])), (2, sizes.features)):
        step(f"PyTorch Geometric, level {level}")
        L = level_laplacian(tree, level)
        graph = GraphLaplacian.from_laplacian(L, dtype=torch.float32, device=args.device)
        edge_index, edge_weight = (t.to(args.device) for t in weighted_edges(tree.real_graph(level)))
        x = signals(args.seed, sizes.batch, L.n_vertices, channels[0], device=args.device)
        x.requires_grad_(level > 0)
        ours, theirs = ChebConv(*channels, TERMS, bias=False), PygChebConv(*channels, TERMS, bias=False)
        theirs.load_state_dict(ours.state_dict())
        ours, theirs = ours.to(args.device), theirs.to(args.device)
        sides = [
            Side("ours", training_step(ours, x, graph), CHEBYSHEV_LIMIT),
            Side("PyTorch Geometric", training_step(theirs, x, edge_index, edge_weight, None, 2.0), CHEBYSHEV_LIMIT),
        ]
        error_of = relative_error(dense_chebyshev(L, ours.weight.detach(), x))
        work = f"ChebConv {channels[0]} to {channels[1]}, {TERMS} terms, n={L.n_vertices}, batch {sizes.batch}"
        rows += compare(f"{work}, forward and backward", sides, error_of, [(0, 1, 4.0)], args.repeats)
    return rows
