"""How the time of a training step grows."""

from __future__ import annotations

import argparse

import torch

import cayleygsp as cg
from analysis import _timing
from analysis._document import Document
from analysis._script import Step
from analysis.benchmark_nn.problems import (
    signals,
    training_step,
)
from analysis.benchmark_nn.settings import TOL, Sizes
from cayleygsp import gallery
from cayleygsp.nn import CayleyConv, GraphLaplacian
from cayleygsp.responses.basis import power_coefficients


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
