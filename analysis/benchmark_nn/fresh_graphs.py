"""A new graph at every call: what preparing it costs, beside PyTorch Geometric."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable

import torch
from torch import Tensor, nn

from analysis._comparison import Side, compare
from analysis._document import Document
from analysis._script import Step
from analysis.benchmark_nn.edge_gradients import sensor_edges
from analysis.benchmark_nn.problems import finish, relative_error, signals
from analysis.benchmark_nn.settings import CHEBYSHEV_LIMIT, Sizes
from cayleygsp._typing import Array
from cayleygsp.nn import ChebConv

# Channels and terms of a layer: small, so that preparing the graph is felt.
CHANNELS, SHORT_SERIES = 16, 4


def fresh_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare two layers of ChebConv on edges that are new tensors at every call with those of PyTorch Geometric."""
    step("a new graph at every call")
    PygChebConv = importlib.import_module("torch_geometric.nn").ChebConv
    rows = []
    for normalization in ("sym", None):
        for n in sizes.fresh:
            torch.manual_seed(args.seed)
            settings = CHANNELS, CHANNELS, SHORT_SERIES, normalization
            theirs = nn.ModuleList(PygChebConv(*settings) for _ in range(2)).to(args.device)
            ours = nn.ModuleList(ChebConv(*settings) for _ in range(2)).to(args.device)
            ours.load_state_dict(theirs.state_dict())
            edge_index, edge_weight = sensor_edges(n, args)
            x = signals(args.seed, n, CHANNELS, device=args.device)
            exact = nn.ModuleList(PygChebConv(*settings) for _ in range(2)).double().to(args.device)
            exact.load_state_dict(theirs.state_dict())
            error_of = relative_error(fresh_step(exact, x.double(), edge_index, edge_weight.double())())
            sides = [
                Side("ours", fresh_step(ours, x, edge_index, edge_weight), CHEBYSHEV_LIMIT),
                Side("PyTorch Geometric", fresh_step(theirs, x, edge_index, edge_weight), CHEBYSHEV_LIMIT),
            ]
            work = f"two ChebConv {CHANNELS} to {CHANNELS}, {SHORT_SERIES} terms, {normalization}, n={n}, new edges"
            rows += compare(f"{work} at every step", sides, error_of, [(0, 1, 1.0)], args.repeats)
    return rows


def fresh_step(layers: nn.ModuleList, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Callable[[], Array]:
    """Return a call that runs all layers forwards and backwards on new tensors of the same edges."""

    def step() -> Array:
        layers.zero_grad()
        edges = edge_index.clone(), edge_weight.clone()
        y = x
        for layer in layers:
            y = layer(y, *edges)
        y.square().sum().backward()
        finish(y)
        return y.detach().cpu().numpy()

    return step
