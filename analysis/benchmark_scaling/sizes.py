"""One size: what building a graph, preparing a filter and filtering take."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

import cayleygsp as cg
from analysis import _problems, _timing
from analysis._document import Document
from analysis._tables import finite, format_seconds
from analysis.benchmark_scaling.compiling import warm_up
from analysis.benchmark_scaling.memory import MemoryPeak, filter_memory, memory_in_use, return_memory
from analysis.benchmark_scaling.settings import ORDER, PAPER_SWEEPS, REFERENCE_VERTICES, TOL, ZOOM_LMAX
from cayleygsp import bounds
from cayleygsp._typing import Array, FloatArray
from cayleygsp.methods.base import filter_gain
from cayleygsp.methods.choice import exact_seconds

if TYPE_CHECKING:
    pass


def measure_size(n_vertices: int, args: argparse.Namespace) -> Document:
    """Build a graph of one size, filter one signal on it, and measure what each step takes."""
    warm_up()
    graph_seconds, graph = _timing.timed(lambda: _problems.community_graph(n_vertices, args.seed))
    return_memory()
    base = memory_in_use()
    with MemoryPeak() as building:
        laplacian_seconds, L = _timing.timed(lambda: cg.laplacian(graph))
    n_entries = int(graph.W.nnz)
    p = _problems.cayley_polynomial(ORDER, ZOOM_LMAX / L.lmax, args.seed)
    f = np.random.default_rng(args.seed).standard_normal(n_vertices)

    def prepare() -> cg.CayleyFilter:
        L.kernel_graph(np.float64)
        return cg.CayleyFilter(L, p, method="chebyshev", tol=TOL)

    with MemoryPeak() as preparing:
        prepare_seconds, g = _timing.timed(prepare)
    info = g.filter(f, return_info=True)[1]
    samples = _timing.interleave({"ours": lambda: g.filter(f)}, args.repeats, budget=args.seconds)["ours"]
    measured = _problems.series_reference(L, p, f) if n_vertices <= REFERENCE_VERTICES else None
    methods = measure_methods(L, p, f, measured, args)
    error = None if measured is None else _problems.relative_error(g.filter(f), measured, g.gain, f)
    del measured
    filtering = filter_memory(g, f)
    peak = max(building.peak, preparing.peak, filtering.peak)
    return {
        "n_vertices": n_vertices,
        "n_entries": n_entries,
        "lmax": L.lmax,
        "zoom": p.zoom,
        "n_matvecs": info.n_matvecs,
        "graph_seconds": graph_seconds,
        "laplacian_seconds": laplacian_seconds,
        "prepare_seconds": prepare_seconds,
        "apply_seconds": _timing.summary(samples),
        "error_bound": float(info.relative_error_bound),
        "error": error,
        "arrays": filtering.beyond / f.nbytes,
        "filter_bytes": filtering.beyond,
        "graph_bytes": int(graph.W.data.nbytes + graph.W.indices.nbytes + graph.W.indptr.nbytes),
        "kernel_graph_bytes": L.kernel_graph(np.float64).n_bytes,
        "peak_bytes": peak,
        "peak_beyond_graph_bytes": peak - base,
        "memory_measured_by": building.how,
        "methods": methods,
    }


def measure_methods(
    L: cg.Laplacian, p: cg.CayleyPolynomial, f: FloatArray, reference: FloatArray | None, args: argparse.Namespace
) -> list[Document]:
    """Time Jacobi, with the paper's sweeps and to the tolerance, and the exact filter, where they end in time."""
    gain = filter_gain(L, p)

    def error_of(y: Array) -> float | None:
        return None if reference is None else _problems.relative_error(y, reference, gain, f)

    def jacobi(n_iter: int) -> tuple[float, Array]:
        return _timing.timed(lambda: cg.CayleyFilter(L, p, method="jacobi", tol=TOL, n_iter=n_iter).filter(f))

    def entry(method: str, predicted: float, run: Callable[[], tuple[float, Array]]) -> Document:
        skipped = {"method": method, "seconds": None, "error": None, "predicted_seconds": finite(predicted)}
        if not math.isfinite(predicted):
            return {**skipped, "reason": "would not fit into memory"}
        if predicted > args.seconds:
            return {**skipped, "reason": f"predicted to take {format_seconds(predicted)}"}
        seconds, y = run()
        return {**skipped, "seconds": seconds, "error": error_of(y), "reason": ""}

    start = jacobi(0)[0]
    sweep = max(jacobi(1)[0] - start, 0.0)
    few = entry(f"jacobi, K = {PAPER_SWEEPS}", start + PAPER_SWEEPS * sweep, lambda: jacobi(PAPER_SWEEPS))
    sweep = sweep if few["seconds"] is None else max(few["seconds"] - start, 0.0) / PAPER_SWEEPS
    sure = bounds.jacobi_sweeps(L, p, TOL * gain)
    assert sure is not None
    return [
        few,
        entry(f"jacobi, tol {TOL:.0e}, K = {sure}".replace("e-0", "e-"), start + sure * sweep, lambda: jacobi(sure)),
        entry(
            "exact",
            exact_seconds(L, with_factorisation=True),
            lambda: _timing.timed(lambda: cg.CayleyFilter(L, p, method="exact", tol=TOL).filter(f)),
        ),
    ]
