"""Order, zoom and number of signals, varied one at a time on the same graph."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np

import cayleygsp as cg
from analysis import _problems, _timing
from analysis._document import Document
from analysis.benchmark_scaling.compiling import warm_up
from analysis.benchmark_scaling.memory import filter_memory
from analysis.benchmark_scaling.settings import (
    ORDER,
    ORDERS,
    PAPER_SWEEPS,
    QUICK_ORDERS,
    QUICK_SIGNALS,
    QUICK_ZOOMS,
    SIGNALS,
    TOL,
    ZOOM_LMAX,
    ZOOMS,
)
from cayleygsp._typing import FloatArray

if TYPE_CHECKING:
    pass


def variations(quick: bool) -> list[tuple[str, float]]:
    """List what is varied, one thing at a time, and to which values."""
    orders, zooms = (QUICK_ORDERS, QUICK_ZOOMS) if quick else (ORDERS, ZOOMS)
    signals = QUICK_SIGNALS if quick else SIGNALS
    return [
        *(("order", float(r)) for r in orders),
        *(("zoom", z) for z in zooms),
        *(("signals", float(m)) for m in signals),
    ]


def measure_variations(n_vertices: int, args: argparse.Namespace) -> list[Document]:
    """Measure one filter for each variation on the same graph."""
    warm_up()
    L = cg.laplacian(_problems.community_graph(n_vertices, args.seed))
    L.kernel_graph(np.float64)
    prepared = [prepare_variation(L, name, value, args) for name, value in variations(args.quick)]
    rows = [time_variation(L, *item, args) for item in prepared]
    # the allocator is made to give memory back only when nothing is timed any more
    for row, (_, _, g, f) in zip(rows, prepared, strict=True):
        row["filter_bytes"] = filter_memory(g, f).beyond
        row["arrays"] = row["filter_bytes"] / f.nbytes
    return rows


def prepare_variation(
    L: cg.Laplacian, name: str, value: float, args: argparse.Namespace
) -> tuple[str, float, cg.CayleyFilter, FloatArray]:
    """Make filter and signals."""
    order = int(value) if name == "order" else ORDER
    zoom_lmax = value if name == "zoom" else ZOOM_LMAX
    n_signals = int(value) if name == "signals" else 1
    p = _problems.cayley_polynomial(order, zoom_lmax / L.lmax, args.seed)
    f = np.random.default_rng(args.seed).standard_normal((L.n_vertices, n_signals))
    return name, value, cg.CayleyFilter(L, p, method="chebyshev", tol=TOL), f


def time_variation(
    L: cg.Laplacian, name: str, value: float, g: cg.CayleyFilter, f: FloatArray, args: argparse.Namespace
) -> Document:
    """Time the filter and the paper's scheme in turns, and measure both errors."""
    p = g.polynomial
    paper = cg.CayleyFilter(L, p, method="jacobi", tol=TOL, n_iter=PAPER_SWEEPS)
    y, info = g.filter(f, return_info=True)
    reference = _problems.series_reference(L, p, f)
    samples = _timing.interleave(
        {"ours": lambda: g.filter(f), "jacobi": lambda: paper.filter(f)}, args.repeats, budget=args.seconds / 4
    )
    # a block's error is measured over all signals together, its bound is that of the worst
    return {
        "varied": name,
        "value": value,
        "n_matvecs": info.n_matvecs,
        "seconds": _timing.summary(samples["ours"]),
        "error_bound": float(np.max(info.relative_error_bound)),
        "error": _problems.relative_error(y, reference, g.gain, f),
        "jacobi_seconds": _timing.summary(samples["jacobi"]),
        "jacobi_error": _problems.relative_error(paper.filter(f), reference, g.gain, f),
    }
