"""A training step against the paper's Jacobi scheme, in time and memory."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import torch

import cayleygsp as cg
from analysis._comparison import Side, compare, make_row
from analysis._document import Document
from analysis._script import Step
from analysis.benchmark_nn.memory import activation_bytes, peak_bytes
from analysis.benchmark_nn.problems import (
    exact_copy,
    relative_error,
    signals,
    training_step,
)
from analysis.benchmark_nn.settings import CAYLEY_LIMIT, JACOBI_LIMIT, ORDER, SWEEPS, TOL, Sizes
from cayleygsp import gallery
from cayleygsp.nn import CayleyConv, GraphLaplacian
from cayleygsp.responses.basis import power_coefficients


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
    rows.append(_memory_row(f"{work}: memory", sides, kept, [error_of(side.call()) for side in sides], 4.0, note))
    return [*rows, *_degree_rows(sizes, args, step)]


def _memory_row(
    work: str, sides: Sequence[Side], n_bytes: Sequence[int], errors: Sequence[float], target: float, note: str
) -> Document:
    ratio = n_bytes[1] / n_bytes[0]
    pair = [
        {"name": side.name, "rate": {"median": size}, "error": error, "error_limit": side.error_limit}
        for side, size, error in zip(sides, n_bytes, errors, strict=True)
    ]
    value = {"median": ratio, "low": ratio, "high": ratio, "n": 1}
    return make_row(work, pair[0], pair[1], "× less", value, target, note=note)


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
    ratio = peaks[1] / peaks[0]
    ours = {"name": f"degree {degrees[1]}", "rate": {"median": peaks[1]}, "error": 0.0, "error_limit": 0.0}
    peer = {"name": f"degree {degrees[0]}", "rate": {"median": peaks[0]}, "error": None, "error_limit": 0.0}
    value = {"median": ratio, "low": ratio, "high": ratio, "n": 1}
    note = f"peak of a training step: {peaks[1]:,} bytes at degree {degrees[1]}, {peaks[0]:,} at degree {degrees[0]}"
    work = f"CayleyConv {sizes.features[0]} to {sizes.features[1]} channels: peak memory, long series over short"
    return [make_row(work, ours, peer, "times", value, 1.1, at_most=True, note=note)]
