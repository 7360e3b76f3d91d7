"""Sparse signals in the first layer, such as the words of a citation graph, against the same as dense ones."""

from __future__ import annotations

import argparse

import torch

from analysis._comparison import Side, compare
from analysis._document import Document
from analysis._script import Step
from analysis.benchmark_nn.edge_gradients import sensor_edges
from analysis.benchmark_nn.problems import relative_error, signals, training_step
from analysis.benchmark_nn.settings import CAYLEY_LIMIT, CHEBYSHEV_LIMIT, Sizes
from cayleygsp.nn import CayleyConv, ChebConv

# One word in eighty is there, as in Cora.
DENSITY = 1 / 80


def sparse_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare training steps of a first layer on sparse and on dense signals."""
    step("sparse signals")
    n, words = sizes.sparse
    edges = sensor_edges(n, args)
    pattern = torch.rand(n, words, generator=torch.Generator().manual_seed(args.seed)) < DENSITY
    x = signals(args.seed, n, words, device=args.device) * pattern.to(args.device)
    rows = []
    torch.manual_seed(args.seed)
    for name, layer, limit in (
        ("ChebConv, 3 terms", ChebConv(words, 16, 3), CHEBYSHEV_LIMIT),
        ("CayleyConv, order 2", CayleyConv(words, 16, 2), CAYLEY_LIMIT),
    ):
        layer = layer.to(args.device)
        exact = type(layer)(words, 16, layer.order + 1 if isinstance(layer, ChebConv) else 2)
        exact.load_state_dict(layer.state_dict())
        exact = exact.double().to(args.device)
        error_of = relative_error(training_step(exact, x.double(), edges[0], edges[1].double())())
        sides = [
            Side("sparse", training_step(layer, x.to_sparse_csr(), *edges), limit),
            Side("dense", training_step(layer, x, *edges), limit),
        ]
        work = f"{name}, {words} to 16, n={n}: sparse signals against dense ones"
        rows += compare(work, sides, error_of, [(0, 1, 3.0)], args.repeats)
    return rows
