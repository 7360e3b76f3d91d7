"""ChebConv against that of PyTorch Geometric."""

from __future__ import annotations

import argparse
import importlib

import numpy as np
import torch

from analysis._comparison import Side, compare
from analysis._document import Document
from analysis._script import Step
from analysis.benchmark_nn.problems import (
    dense_chebyshev,
    laplacian_of,
    mnist_tree,
    relative_error,
    signals,
    training_step,
)
from analysis.benchmark_nn.settings import CHEBYSHEV_LIMIT, TERMS, Sizes
from cayleygsp.nn import ChebConv, GraphLaplacian


def pyg_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare ChebConv, forward and backward, with that of PyTorch Geometric on both layers of the MNIST network."""
    PygChebConv = importlib.import_module("torch_geometric.nn").ChebConv
    tree = mnist_tree(sizes, args.seed)
    rows = []
    for level, channels in ((0, (1, sizes.features[0])), (2, sizes.features)):
        step(f"PyTorch Geometric, level {level}")
        L = laplacian_of(tree, level)
        graph = GraphLaplacian.from_laplacian(L, dtype=torch.float32, device=args.device)
        W = tree.graphs[level].W.tocoo()
        edge_index = torch.from_numpy(np.stack([W.row, W.col]).astype(np.int64)).to(args.device)
        edge_weight = torch.from_numpy(W.data).float().to(args.device)
        x = signals(args.seed, sizes.batch, L.n_vertices, channels[0], device=args.device)
        # fake vertices, which have no edges, are zero in both; PyTorch Geometric takes their eigenvalue to be 1
        x[:, torch.tensor(tree.is_fake[level], device=args.device)] = 0
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
