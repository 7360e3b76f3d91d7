"""Chebyshev filters on a grid: against PyGSP and scipy, in both precisions, with one thread and two."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numba
import numpy as np
from numpy.polynomial import chebyshev
from scipy import fft

import cayleygsp as cg
from analysis import _problems, _timing
from analysis._comparison import Side, compare, make_row, side_of
from analysis._script import Document, Step
from analysis.benchmark_peers.settings import CAYLEY_ORDER, N_SIGNALS, ORDER, TOL, ZOOM_LMAX, Sizes
from cayleygsp import gallery
from cayleygsp._typing import Array, FloatArray

# A measurement is long beside the turns that the system gives to processes, which no program can choose: the shorter it
# is, the farther one thread is off itself.
MEASUREMENT_SECONDS = 5.0


def chebyshev_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare order 30 on a grid with PyGSP and scipy, single with double precision, two threads with one."""
    from pygsp import filters
    from pygsp.filters import approximations

    step(f"grid {sizes.grid}²")
    graph = gallery.grid(sizes.grid)
    G = graph.to_pygsp()
    G.estimate_lmax()
    lmax = float(G.lmax)
    heat = filters.Filter(G, lambda x: np.exp(-10 * x / lmax))
    c = approximations.compute_cheby_coeff(heat, m=ORDER)
    coeffs = np.append(c[0] / 2, c[1:])  # PyGSP halves the first one when it uses them
    L = cg.laplacian(graph)
    g = cg.ChebyshevFilter(L, coeffs, lmax)
    rows = []
    for m, target in ((N_SIGNALS, 8.0), (1, 3.0)):
        step(f"Chebyshev, {m} signals")
        f = np.random.default_rng(args.seed).standard_normal((graph.n_vertices, m))
        f = f[:, 0] if m == 1 else f
        reference = grid_reference(f, sizes.grid, coeffs, lmax)
        peers = [
            Side("PyGSP cheby_op", lambda f=f: approximations.cheby_op(G, c, f), 1e-12),  # type: ignore[misc]
            Side("PyGSP Filter.filter", lambda f=f: heat.filter(f, order=ORDER), 1e-12),  # type: ignore[misc]
            Side("plain scipy loop", _scipy_loop(L, lmax, coeffs, f.reshape(f.shape[0], -1)), 1e-12),
        ]
        sides = [Side("ours, float64", lambda f=f: g.filter(f), 1e-12), *peers, *_variants(g, f)]  # type: ignore[misc]
        pairs = [(0, 1, target), (0, 2, None), (0, 3, None), (4, 0, 1.0), (6, 5, 1.0)]
        if numba.get_num_threads() < 2:
            sides, pairs = sides[:-2], pairs[:-1]
        work = f"Chebyshev order {ORDER}, {sizes.grid}² grid, {m} signal{'s' if m > 1 else ''}"

        def error_of(y: Array, reference: FloatArray = reference, f: FloatArray = f) -> float:
            return _problems.relative_error(y, reference, g.gain, f)

        rows += compare(work, sides, error_of, pairs, args.repeats)
    return rows


def _variants(g: cg.ChebyshevFilter, f: FloatArray) -> list[Side]:
    """Return our filter in single precision, with one thread and with two."""
    f32 = f.astype(np.float32)
    return [
        Side("ours, float32", lambda: g.filter(f32), 1e-4),
        Side("ours, 1 thread", with_threads(1, lambda: g.filter(f)), 1e-12),
        Side("ours, 2 threads", with_threads(2, lambda: g.filter(f)), 1e-12),
    ]


def grid_reference(f: Array, side: int, coeffs: FloatArray, lmax: float) -> FloatArray:
    """Return the Chebyshev filter of signals on a square grid by the discrete cosine transform, its eigenbasis."""
    one = 2 - 2 * np.cos(np.pi * np.arange(side) / side)
    lam = one[:, None] + one[None, :]
    g = chebyshev.chebval(2 * lam / lmax - 1, coeffs)
    images = f.astype(np.float64).reshape(side, side, -1)
    spectrum = fft.dctn(images, type=2, norm="ortho", axes=(0, 1))
    return fft.idctn(g[:, :, None] * spectrum, type=2, norm="ortho", axes=(0, 1)).reshape(f.shape)


def _scipy_loop(L: cg.Laplacian, lmax: float, coeffs: FloatArray, block: FloatArray) -> Callable[[], Array]:
    return lambda: _problems.sum_series_by_scipy(L.matrix, lmax, coeffs[None], block)[0]


def with_threads(n_threads: int, call: Callable[[], Array]) -> Callable[[], Array]:
    """Return the call, done with so many threads."""

    def limited() -> Array:
        before = numba.get_num_threads()
        numba.set_num_threads(n_threads)
        try:
            return call()
        finally:
            numba.set_num_threads(before)

    return limited


@contextmanager
def busy_processes(n_processes: int) -> Iterator[None]:
    """Keep so many processors busy with something else; the processes end in any case, even if this one is killed."""
    code = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(n_processes)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def busy_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare one signal on a grid with one thread and with PyGSP, beside as many busy processes as processors.

    One thread is measured twice in each round: how far it is off itself is what the spread of the others is worth.
    """
    from pygsp.filters import approximations

    n_processes = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    step(f"beside {n_processes} busy processes")
    graph = gallery.grid(sizes.grid)
    G = graph.to_pygsp()
    G.estimate_lmax()
    lmax = float(G.lmax)
    c = np.random.default_rng(args.seed).standard_normal(ORDER + 1)
    coeffs = np.append(c[0] / 2, c[1:])
    g = cg.ChebyshevFilter(graph, coeffs, lmax)
    f = np.random.default_rng(args.seed).standard_normal(graph.n_vertices)
    reference = grid_reference(f, sizes.grid, coeffs, lmax)
    sides = [
        Side("ours, float64", lambda: g.filter(f), 1e-12),
        Side("ours, 1 thread", with_threads(1, lambda: g.filter(f)), 1e-12),
        Side("PyGSP cheby_op", lambda: approximations.cheby_op(G, c, f), 1e-12),
        Side("the same again", with_threads(1, lambda: g.filter(f)), 1e-12),
    ]
    work = f"Chebyshev order {ORDER}, {sizes.grid}² grid, 1 signal, beside {n_processes} busy processes"
    pairs = [(0, 1, 0.9), (1, 3, None), (0, 2, None)]
    shortest = None if args.quick else MEASUREMENT_SECONDS
    with busy_processes(n_processes):
        return compare(
            work,
            sides,
            lambda y: _problems.relative_error(y, reference, g.gain, f),
            pairs,
            args.repeats,
            shortest=shortest,
        )


def overhead_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Time one call on a graph so small that it is nearly all overhead."""
    from pygsp.filters import approximations

    n = sizes.overhead
    step(f"overhead, n = {n}")
    side = round(n**0.5)
    graph = gallery.grid(side)
    G = graph.to_pygsp()
    G.estimate_lmax()
    L, lmax = cg.laplacian(graph), float(G.lmax)
    f = np.random.default_rng(args.seed).standard_normal(side**2)
    coeffs = np.random.default_rng(args.seed).standard_normal(ORDER + 1) / ORDER
    p = _problems.cayley_polynomial(CAYLEY_ORDER, ZOOM_LMAX / L.lmax, args.seed)
    plain, cayley = cg.ChebyshevFilter(L, coeffs, lmax), cg.CayleyFilter(L, p, method="chebyshev", tol=TOL)
    doubled = np.append(2 * coeffs[0], coeffs[1:])
    cases: list[tuple[str, cg.GraphFilter, FloatArray, Callable[[], Array] | None, float]] = [
        (
            f"one call, Chebyshev order {ORDER}, {side**2} vertices",
            plain,
            grid_reference(f, side, coeffs, lmax),
            lambda: approximations.cheby_op(G, doubled, f),
            1e-12,
        ),
        (
            f"one call, Cayley r={CAYLEY_ORDER}, degree {cayley.filter(f, return_info=True)[1].n_matvecs}, "
            f"{side**2} vertices",
            cayley,
            _problems.series_reference(L, p, f),
            None,
            TOL,
        ),
    ]
    rows = []
    for work, g, reference, theirs, limit in cases:
        calls: dict[str, Callable[[], Array]] = {"ours": lambda g=g: g.filter(f)}  # type: ignore[misc]
        if theirs is not None:
            calls["PyGSP cheby_op"] = theirs
        errors = {name: _problems.relative_error(call(), reference, g.gain, f) for name, call in calls.items()}
        samples = _timing.interleave(calls, 3 * args.repeats, shortest=10e-3)
        ours, *others = (side_of(Side(name, calls[name], limit), errors[name], samples[name]) for name in calls)
        value = _timing.summary([1e6 * t for t in samples["ours"]])
        rows.append(make_row(work, ours, others[0] if others else None, "µs", value, 200.0, at_most=True))
    return rows
