"""A training step against the paper's Jacobi scheme, in time and memory."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import cayleygsp as cg
from analysis import _timing
from analysis._comparison import Side, compare
from analysis._networks import level_laplacian, mnist_tree
from analysis._script import Document, Step
from analysis.benchmark_nn.problems import (
    CAYLEY_LIMIT,
    CHEBYSHEV_LIMIT,
    EDGE_LIMIT,
    JACOBI_LIMIT,
    ORDER,
    SWEEPS,
    TERMS,
    TOL,
    Sizes,
    activation_bytes,
    dense_chebyshev,
    exact_copy,
    finish,
    memory_row,
    peak_bytes,
    relative_error,
    signals,
    training_step,
    weighted_edges,
)
from cayleygsp import gallery
from cayleygsp._typing import Array
from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian
from cayleygsp.nn.ops.operation import torch_operations
from cayleygsp.responses.basis import power_coefficients

# Terms of the short and the long series whose memory is compared.
SHORT, LONG = 13, 222

# Channels and terms of a layer: small, so that preparing the graph is felt.
CHANNELS, SHORT_SERIES = 16, 4

# One word in eighty is there, as in Cora.
DENSITY = 1 / 80


def step_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare a training step of the first layer with the paper's Jacobi scheme, in time and memory."""
    step("training step against Jacobi")
    L = cg.laplacian(gallery.mnist_grid(sizes.side), "normalized")
    graph = GraphLaplacian.from_laplacian(L, dtype=torch.float32, device=args.device)
    x = signals(args.seed, sizes.batch, L.n_vertices, 1, device=args.device)
    ours = CayleyConv(1, sizes.features[0], ORDER, tol=TOL)
    ours.reset_parameters(torch.Generator().manual_seed(args.seed))
    jacobi = CayleyConv(1, sizes.features[0], ORDER, method="jacobi", n_iter=SWEEPS)
    jacobi.load_state_dict(ours.state_dict())
    ours, jacobi = ours.to(args.device), jacobi.to(args.device)
    with torch.no_grad():
        reference = exact_copy(ours)(x.double(), graph).cpu().numpy()
    work = f"CayleyConv training step, r={ORDER}, n={L.n_vertices}, batch {sizes.batch}"
    sides = [
        Side(f"ours, tol {TOL:g}", training_step(ours, x, graph), CAYLEY_LIMIT),
        Side(f"the paper's Jacobi, K={SWEEPS}", training_step(jacobi, x, graph), JACOBI_LIMIT),
    ]
    error_of = relative_error(reference)
    rows = compare(work, sides, error_of, [(0, 1, 10.0)], args.repeats)
    kept = [activation_bytes(lambda layer=layer: layer(x, graph)) for layer in (ours, jacobi)]  # type: ignore[misc]
    note = f"{kept[0]:,} bytes kept for the backward pass, against {kept[1]:,}"
    errors = [(error_of(side.call()), side.error_limit) for side in sides]
    names = [side.name for side in sides]
    rows.append(memory_row(f"{work}: memory", names, kept, "× less", 4.0, note, errors))
    return [*rows, *_degree_rows(sizes, args, step)]


def _degree_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare the memory of a step with a long series with that of a short one."""
    step("memory and degree")
    L = cg.laplacian(gallery.mnist_grid(sizes.side), "normalized")
    graph = GraphLaplacian.from_laplacian(L, dtype=torch.float32, device=args.device)
    x = signals(args.seed, sizes.batch, L.n_vertices, sizes.features[0], device=args.device)
    peaks, degrees = [], []
    for zoom in (0.2, 35.0):
        layer = CayleyConv(sizes.features[0], sizes.features[1], ORDER, zoom=zoom, tol=TOL).to(args.device)
        call = training_step(layer, x, graph)
        call()
        degrees.append(power_coefficients(ORDER + 1, zoom, L.lmax, tol=TOL).degree)
        peaks.append(peak_bytes(call, args.device))
    note = f"peak of a training step: {peaks[1]:,} bytes at degree {degrees[1]}, {peaks[0]:,} at degree {degrees[0]}"
    work = f"CayleyConv {sizes.features[0]} to {sizes.features[1]} channels: peak memory, long series over short"
    return [memory_row(work, [f"degree {d}" for d in degrees[::-1]], peaks[::-1], "times", 1.1, note)]


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
    note = f"peak of a step with edge gradients: {peaks[1]:,} bytes with {LONG} terms, {peaks[0]:,} with {SHORT}"
    work = f"ChebConv {channels} to {channels} with gradients in edge weights: peak memory, {LONG} terms over {SHORT}"
    return [memory_row(work, [f"{LONG} terms", f"{SHORT} terms"], peaks[::-1], "times", 1.2, note)]


def zoom_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare a training step of a layer with a zoom for each channel with that of a layer with one zoom."""
    step("a zoom for each channel")
    L = cg.laplacian(gallery.sensor(sizes.growth_vertices, rng=args.seed), "normalized")
    graph = GraphLaplacian.from_laplacian(L, dtype=torch.float32, device=args.device)
    channels = 2 * sizes.growth_channels
    x = signals(args.seed, sizes.growth_batch, L.n_vertices, channels, device=args.device)
    sides = []
    for name, many in (("a zoom for each", True), ("one zoom", False)):
        layer = CayleyConv(channels, channels, 4, tol=TOL, zoom_per_channel=many)
        layer.reset_parameters(torch.Generator().manual_seed(args.seed))
        layer = layer.to(args.device)
        with torch.no_grad():
            error_of = relative_error(exact_copy(layer)(x.double(), graph).cpu().numpy())
        sides.append(Side(name, training_step(layer, x, graph), CAYLEY_LIMIT, error_of=error_of))
    work = f"CayleyConv {channels} to {channels}, order 4, n={L.n_vertices}: a zoom for each channel over one zoom"
    return compare(work, sides, None, [(0, 1, 4.0)], args.repeats, at_most=True)


def measure_growth(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Measure how the time of a training step grows with zoom, order, vertices and channels."""
    base = {"zoom": 1.0, "order": 4, "vertices": sizes.growth_vertices, "channels": sizes.growth_channels}
    series = []
    for name in base:
        step(f"growth with {name}")
        points, medians = [], []
        for factor in sizes.factors:
            at = {**base, name: base[name] * factor}
            samples, degree = _step_time(at, sizes, args)
            seconds = _timing.summary(samples)
            points.append({"at": at[name], "degree": degree, "seconds": seconds})
            medians.append(seconds["median"])
        exponent = _timing.fit_exponent([base[name] * factor for factor in sizes.factors], medians)
        series.append({"name": name, "points": points, "exponent": exponent})
    return series


def _step_time(at: dict[str, float], sizes: Sizes, args: argparse.Namespace) -> tuple[list[float], int]:
    L = cg.laplacian(gallery.sensor(int(at["vertices"]), rng=args.seed), "normalized")
    graph = GraphLaplacian.from_laplacian(L, dtype=torch.float32, device=args.device)
    channels, order = int(at["channels"]), int(at["order"])
    layer = CayleyConv(channels, channels, order, zoom=at["zoom"], tol=TOL).to(args.device)
    x = signals(args.seed, sizes.growth_batch, L.n_vertices, channels, device=args.device).requires_grad_()
    call = training_step(layer, x, graph)
    call()
    degree = power_coefficients(order + 1, at["zoom"], L.lmax, tol=TOL).degree
    return _timing.interleave({"step": call}, args.repeats)["step"], degree


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
