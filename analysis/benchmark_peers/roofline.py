"""Bytes per second of the recurrence, against those of the STREAM triad."""

from __future__ import annotations

import argparse
from typing import Any

import numba
import numpy as np
from scipy import sparse

import cayleygsp as cg
from analysis import _problems, _timing
from analysis._comparison import make_row
from analysis._script import Document, Step, last_level_cache
from analysis.benchmark_peers.settings import N_SIGNALS, Sizes
from cayleygsp import gallery
from cayleygsp.engine.packed import KernelGraph
from cayleygsp.engine.recurrence import sum_series

TRIAD_BYTES, TRIAD_BYTES_ALLOCATED = 24, 32

# The two degrees whose difference gives the time of a pass; outputs are touched every third degree.
SHORT_DEGREE, LONG_DEGREE = 6, 36

IN_CACHE_DEGREE = 3000


@numba.njit(parallel=True)
def _triad(a, b, c, s):  # type: ignore[no-untyped-def]
    """Do the step of the STREAM benchmark."""
    for i in numba.prange(a.size):
        a[i] = b[i] + s * c[i]


def triad_rates(cache_multiple: float, repeats: int = 8) -> list[float]:
    """Return the bytes per second that a = b + s c moves on arrays far beyond the caches, several times."""
    n = int(cache_multiple * last_level_cache()) // 8
    a, b, c = np.zeros(n), np.ones(n), np.full(n, 2.0)
    _triad(a, b, c, 3.0)
    return [TRIAD_BYTES * n / _timing.seconds_of(lambda: _triad(a, b, c, 3.0)) for _ in range(repeats)]


def roofline_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare the bytes per second of the recurrence with those of the STREAM triad right before and after it."""
    step("STREAM triad")
    before = triad_rates(sizes.triad_cache_multiple)
    all_rates = list(before)
    measured: list[tuple[Document, float]] = []
    for name in ("unweighted", "weighted"):
        graph = gallery.grid(sizes.roofline) if name == "unweighted" else weighted_grid(sizes.roofline, args.seed)
        L = cg.laplacian(graph)
        del graph
        for dtype in (np.float64, np.float32):
            for m in (1, N_SIGNALS):
                step(f"roofline, {name}, {np.dtype(dtype).name}, {m} signals")
                row = roofline_row(L, name, dtype, m, args)
                after = triad_rates(sizes.triad_cache_multiple)
                measured.append((row, float(np.median(before + after))))
                all_rates += after
                before = after
    return [_with_share(row, triad, max(all_rates)) for row, triad in measured]


def roofline_row(L: cg.Laplacian, name: str, dtype: Any, m: int, args: argparse.Namespace) -> Document:
    """Measure the recurrence on one graph: the time of a degree is that of many less that of few."""
    kernel_graph = L.kernel_graph(dtype)
    f = np.random.default_rng(args.seed).standard_normal((L.n_vertices, m)).astype(dtype)
    coeffs = np.random.default_rng(args.seed).standard_normal((1, LONG_DEGREE + 1)) / LONG_DEGREE
    few = coeffs[:, : SHORT_DEGREE + 1]
    expected = _problems.sum_series_by_scipy(L.matrix, L.lmax, few, f.astype(np.float64))[0]
    gain = float(np.abs(few).sum())
    error = _problems.relative_error(sum_series(kernel_graph, L.lmax, few, f)[0], expected, gain, f)
    del expected
    samples = _timing.interleave(
        {
            "few": lambda: sum_series(kernel_graph, L.lmax, few, f),
            "many": lambda: sum_series(kernel_graph, L.lmax, coeffs, f),
        },
        args.repeats,
    )
    n_bytes = least_bytes(kernel_graph, m)
    whole = [LONG_DEGREE * n_bytes / t for t in samples["many"]]
    differences = [many - few for many, few in zip(samples["many"], samples["few"], strict=True)]
    # noise can exceed the difference on small graphs only
    rates = [(LONG_DEGREE - SHORT_DEGREE) * n_bytes / d for d in differences if d > 0] or whole
    seconds = n_bytes / float(np.median(rates)) / L.n_vertices
    work = f"recurrence, {name} grid of {L.n_vertices:,}, {np.dtype(dtype).name}, {m} signal{'s' if m > 1 else ''}"
    return {
        "work": work,
        "name": "ours",
        "error": error,
        "error_limit": 100 * float(np.finfo(dtype).eps),
        "bytes_per_degree": n_bytes,
        "rate": _timing.summary(rates),
        "whole_call_rate": _timing.summary(whole),
        "in_cache_share": 100 * seconds_in_cache(name, dtype, m, args) / (numba.get_num_threads() * seconds),
    }


def seconds_in_cache(name: str, dtype: Any, m: int, args: argparse.Namespace) -> float:
    """Return the time of a degree and vertex in one thread, on a graph that stays in the cache of a core."""
    side = 60 if m == 1 else 15  # so small that no threads are started
    L = cg.laplacian(gallery.grid(side) if name == "unweighted" else weighted_grid(side, args.seed))
    f = np.ones((L.n_vertices, m), dtype)
    coeffs = np.ones((1, IN_CACHE_DEGREE + 1)) / IN_CACHE_DEGREE
    graph = L.kernel_graph(dtype)
    samples = _timing.interleave({"ours": lambda: sum_series(graph, L.lmax, coeffs, f)}, args.repeats)
    return float(np.median(samples["ours"])) / (IN_CACHE_DEGREE * L.n_vertices)


def least_bytes(graph: KernelGraph, n_signals: int) -> float:
    """Return the bytes that a degree of the recurrence must move when graph and signals fit in no cache.

    The matrix is read; so is the newest term; the older one is read and overwritten; the sum is read and written, but
    only every third degree.
    """
    block = graph.n_vertices * n_signals * np.dtype(graph.dtype).itemsize
    return graph.n_bytes + block * (3 + 2 / 3)


def weighted_grid(side: int, seed: int) -> cg.Graph:
    """Return a grid with random weights from ½ to 1½."""
    upper = sparse.triu(gallery.grid(side).W, format="csr")
    upper.data = np.random.default_rng(seed).uniform(0.5, 1.5, upper.nnz)
    return cg.Graph(sparse.csr_array(upper + upper.T))


def _with_share(measured: Document, triad: float, best: float) -> Document:
    """Turn rates into shares of the triad's median next to it; the share of the best triad of the run stands beside."""
    rate, whole = measured["rate"], measured["whole_call_rate"]["median"]
    value = {key: number if key == "n" else 100 * number / triad for key, number in rate.items()}
    allocated = triad * TRIAD_BYTES_ALLOCATED / TRIAD_BYTES
    ours = {"name": "ours", "rate": rate, "error": measured["error"], "error_limit": measured["error_limit"]}
    peer = {"name": "STREAM triad", "rate": {"median": triad}, "error": None, "error_limit": None}
    note = (
        f"{measured['bytes_per_degree'] / 1e6:,.0f} MB a degree. With the whole call, first touch of the arrays "
        f"included: {100 * whole / triad:.0f} %. Of the triad with {TRIAD_BYTES_ALLOCATED} bytes an element, what is "
        f"written being read first ({allocated / 1e9:.3g} GB/s): {100 * rate['median'] / allocated:.0f} %. "
        f"Of the best triad of the run ({best / 1e9:.3g} GB/s): {100 * rate['median'] / best:.0f} %. "
        f"In the cache, where memory costs nothing, a vertex takes {measured['in_cache_share']:.0f} % of a core's time."
    )
    return make_row(
        measured["work"],
        ours,
        peer,
        "%",
        value,
        80.0,
        note=note,
        bytes_per_degree=measured["bytes_per_degree"],
        triad_bytes_per_second=triad,
        triad_bytes_per_second_write_allocate=allocated,
        whole_call_share=100 * whole / triad,
        in_cache_share=measured["in_cache_share"],
        share_write_allocate=100 * rate["median"] / allocated,
        best_triad_bytes_per_second=best,
        share_of_best_triad=100 * rate["median"] / best,
    )
