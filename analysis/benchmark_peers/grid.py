"""Chebyshev filters on a grid: against PyGSP and scipy, in both precisions, with one thread and two."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numba
import numpy as np
from numpy.polynomial import chebyshev
from scipy import fft

import cayleygsp as cg
from analysis import _problems
from analysis._comparison import Side, compare
from analysis._document import Document
from analysis._script import Step
from analysis.benchmark_peers.settings import N_SIGNALS, ORDER, Sizes
from cayleygsp import gallery
from cayleygsp._typing import Array, FloatArray
from cayleygsp.engine.reference import sum_series_by_scipy


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
    return lambda: sum_series_by_scipy(L.matrix, lmax, coeffs[None], block)[0]


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
