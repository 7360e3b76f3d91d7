"""Training steps with gradients in the edge weights, in time and memory."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from analysis._comparison import Side, compare, make_row
from analysis._document import Document
from analysis._script import Step
from analysis.benchmark_nn.memory import peak_bytes
from analysis.benchmark_nn.problems import finish, relative_error, signals
from analysis.benchmark_nn.settings import EDGE_LIMIT, TERMS, Sizes
from cayleygsp import gallery
from cayleygsp._typing import Array
from cayleygsp.nn import ChebConv
from cayleygsp.nn.modes import torch_operations

# Terms of the short and the long series whose memory is compared.
SHORT, LONG = 13, 222


def edge_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare a step of ChebConv with gradients in the edge weights with that of PyTorch Geometric."""
    step("gradients in edge weights")
    PygChebConv = importlib.import_module("torch_geometric.nn").ChebConv
    edge_index, edge_weight = sensor_edges(sizes.edge_vertices, args)
    channels = sizes.edge_channels
    x = signals(args.seed, sizes.edge_vertices, channels, device=args.device).requires_grad_()
    torch.manual_seed(args.seed)
    ours, theirs = ChebConv(channels, channels, TERMS), PygChebConv(channels, channels, TERMS)
    theirs.load_state_dict(ours.state_dict())
    exact = PygChebConv(channels, channels, TERMS).double()
    exact.load_state_dict(ours.state_dict())
    ours, theirs, exact = (layer.to(args.device) for layer in (ours, theirs, exact))
    error_of = relative_error(edge_step(exact, x.detach().double(), edge_index, edge_weight.double())())
    sides = [
        Side("ours", edge_step(ours, x, edge_index, edge_weight), EDGE_LIMIT),
        Side("PyTorch Geometric", edge_step(theirs, x, edge_index, edge_weight), EDGE_LIMIT),
    ]
    work = f"ChebConv {channels} to {channels}, {TERMS} terms, n={sizes.edge_vertices}, gradients in edge weights"
    rows = compare(work, sides, error_of, [(0, 1, 3.0)], args.repeats)
    if args.device == "cpu":
        by_torch = Side("torch operations", _by_torch(sides[0].call), EDGE_LIMIT)
        loops = Side("compiled loops", sides[0].call, EDGE_LIMIT)
        rows += compare(
            f"{work}: compiled loops against torch operations", [loops, by_torch], error_of, [(0, 1, 1.0)], args.repeats
        )
    return [*rows, *_memory_rows(sizes, args, step)]


def sensor_edges(n: int, args: argparse.Namespace) -> tuple[Tensor, Tensor]:
    """Return the edges of a sensor graph and their weights, on the device that is measured."""
    W = gallery.sensor(n, rng=args.seed).W.tocoo()
    edge_index = torch.from_numpy(np.stack([W.row, W.col]).astype(np.int64))
    return edge_index.to(args.device), torch.from_numpy(W.data).float().to(args.device)


def edge_step(layer: nn.Module, x: Tensor, edge_index: Tensor, edge_weight: Tensor) -> Callable[[], Array]:
    """Return a call that runs a layer forwards and backwards and returns the gradient in the edge weights."""
    weights = edge_weight.clone().requires_grad_()

    def step() -> Array:
        layer.zero_grad()
        x.grad = weights.grad = None
        layer(x, edge_index, weights).square().sum().backward()
        finish(x)
        assert weights.grad is not None
        return weights.grad.cpu().numpy()

    return step


def _by_torch(call: Callable[[], Any]) -> Callable[[], Any]:
    def inside() -> Any:
        with torch_operations():
            return call()

    return inside


def _memory_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare the memory of a step with many terms with that of a step with few."""
    step("memory of gradients in edge weights")
    edge_index, edge_weight = sensor_edges(sizes.edge_vertices, args)
    channels = sizes.edge_channels
    x = signals(args.seed, sizes.edge_vertices, channels, device=args.device).requires_grad_()
    peaks = []
    for terms in (SHORT, LONG):
        call = edge_step(ChebConv(channels, channels, terms).to(args.device), x, edge_index, edge_weight)
        call()
        peaks.append(peak_bytes(call, args.device))
    ours = {"name": f"{LONG} terms", "rate": {"median": peaks[1]}, "error": 0.0, "error_limit": 0.0}
    peer = {"name": f"{SHORT} terms", "rate": {"median": peaks[0]}, "error": None, "error_limit": 0.0}
    ratio = peaks[1] / peaks[0]
    value = {"median": ratio, "low": ratio, "high": ratio, "n": 1}
    note = f"peak of a step with edge gradients: {peaks[1]:,} bytes with {LONG} terms, {peaks[0]:,} with {SHORT}"
    work = f"ChebConv {channels} to {channels} with gradients in edge weights: peak memory, {LONG} terms over {SHORT}"
    return [make_row(work, ours, peer, "times", value, 1.2, at_most=True, note=note)]
