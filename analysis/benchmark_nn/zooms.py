"""A zoom for each output channel against one zoom for all."""

from __future__ import annotations

import argparse

import torch

import cayleygsp as cg
from analysis import _timing
from analysis._comparison import Side, make_row, side_of
from analysis._document import Document
from analysis._script import Step
from analysis.benchmark_nn.problems import exact_copy, relative_error, signals, training_step
from analysis.benchmark_nn.settings import CAYLEY_LIMIT, TOL, Sizes
from cayleygsp import gallery
from cayleygsp.nn import CayleyConv, GraphLaplacian


def zoom_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare a training step of a layer with a zoom for each channel with that of a layer with one zoom."""
    step("a zoom for each channel")
    L = cg.laplacian(gallery.sensor(sizes.growth_vertices, rng=args.seed), "normalized")
    graph = GraphLaplacian.from_laplacian(L, dtype=torch.float32, device=args.device)
    channels = 2 * sizes.growth_channels
    x = signals(args.seed, sizes.growth_batch, L.n_vertices, channels, device=args.device)
    sides, errors = [], []
    for name, many in (("a zoom for each", True), ("one zoom", False)):
        layer = CayleyConv(channels, channels, 4, tol=TOL, zoom_per_channel=many)
        layer.reset_parameters(torch.Generator().manual_seed(args.seed))
        layer = layer.to(args.device)
        with torch.no_grad():
            reference = exact_copy(layer)(x.double(), graph).cpu().numpy()
        side = Side(name, training_step(layer, x, graph), CAYLEY_LIMIT)
        sides.append(side)
        errors.append(relative_error(reference)(side.call()))
    measured = _timing.interleave({side.name: side.call for side in sides}, args.repeats)
    pair = [side_of(side, error, measured[side.name]) for side, error in zip(sides, errors, strict=True)]
    value = _timing.summary(_timing.ratios(measured[sides[0].name], measured[sides[1].name]))
    work = f"CayleyConv {channels} to {channels}, order 4, n={L.n_vertices}: a zoom for each channel over one zoom"
    return [make_row(work, pair[0], pair[1], "times", value, 4.0, at_most=True)]
