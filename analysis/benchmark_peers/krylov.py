"""Heat and Tikhonov filters against scipy's matrix functions times a vector, at equal true error."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence

import networkx as nx
import numpy as np
from scipy import linalg
from scipy.sparse.linalg import expm_multiply, funm_multiply_krylov

import cayleygsp as cg
from analysis import _problems, _timing
from analysis._comparison import Side, compare
from analysis._document import Document
from analysis._script import Step
from analysis.benchmark_peers.settings import TOL, Sizes
from cayleygsp import gallery
from cayleygsp._typing import Array, FloatArray
from cayleygsp.responses.base import Response

# Strengths in units of 1/λ_max.
HEATS = (30.0, 3000.0)
STRENGTH = 1000.0

# Krylov vectors before a restart (scipy has 20 by default) and tolerances that are tried.
RESTARTS, QUICK_RESTARTS = (20, 50, 100, 200), (50,)
TOLERANCES = (1e-1, 1e-3, 1e-6)

# A call longer than this is the last that is tried.
LONGEST_SECONDS = 5.0


def graphs(side: int, seed: int) -> dict[str, cg.Graph]:
    """Return a grid, a scale-free graph and communities, of about as many vertices."""
    n = side * side
    return {
        f"{side}² grid": gallery.grid(side),
        f"scale-free graph, {n:,} vertices": cg.Graph(
            nx.to_scipy_sparse_array(nx.barabasi_albert_graph(n, 5, seed=seed), dtype=float)
        ),
        f"communities, {n:,} vertices": _problems.community_graph(n, seed),
    }


def tikhonov_matrix(X: Array) -> Array:
    """Return (I + X)^{-1} of a small dense matrix."""
    return np.linalg.inv(np.eye(X.shape[0]) + X)


def find_settings(
    run: Callable[[int, float], Array], error_of: Callable[[Array], float], restarts: Sequence[int]
) -> tuple[int, float]:
    """Return the restart and the tolerance that reach the true error fastest; those that come nearest if none does."""
    tried: list[tuple[bool, float, int, float]] = []
    for m in restarts:
        for rtol in TOLERANCES:
            seconds, y = _timing.timed(lambda m=m, rtol=rtol: run(m, rtol))  # type: ignore[misc]
            error = error_of(y)
            tried.append((error > TOL, seconds if error <= TOL else error, m, rtol))
            if error <= TOL or seconds > LONGEST_SECONDS:
                break
    return min(tried)[2:]


def cases(L: cg.Laplacian, quick: bool) -> Iterator[tuple[str, Response, Callable[[Array], Array], float]]:
    """Yield what is computed: its name, the response, and scipy's function of a multiple of the matrix."""
    for t in HEATS[:1] if quick else HEATS:
        yield f"exp(−tλ), t·λmax={t:g}", cg.responses.Heat(t / L.lmax), linalg.expm, -t / L.lmax
    if not quick:
        strength = STRENGTH / L.lmax
        yield f"1/(1 + tλ), t·λmax={STRENGTH:g}", cg.responses.Tikhonov(strength), tikhonov_matrix, strength


def krylov_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare on three graphs; scipy tells no true error, and where it is too large the row says so."""
    rows = []
    for name, graph in list(graphs(sizes.krylov, args.seed).items())[: 1 if args.quick else None]:
        L = cg.laplacian(graph)
        f = np.random.default_rng(args.seed).standard_normal(L.n_vertices)
        for work, response, function, t in cases(L, args.quick):
            step(f"{work}, {name}")
            rows += _compare(f"{work}, {name}", L, response, function, t, f, args)
    return rows


def _compare(
    work: str,
    L: cg.Laplacian,
    response: Response,
    function: Callable[[Array], Array],
    t: float,
    f: FloatArray,
    args: argparse.Namespace,
) -> list[Document]:
    """Return the rows of one response on one graph."""
    reference = _problems.series_reference(L, response, f)
    g = cg.KernelFilter(L, response, tol=TOL)
    info = g.filter(f, return_info=True)[1]

    def error_of(y: Array) -> float:
        return _problems.relative_error(y, reference, g.gain, f)

    def krylov(m: int | None = None, rtol: float = 1e-6) -> Array:
        return funm_multiply_krylov(function, L.matrix, f, assume_a="her", t=t, restart_every_m=m, rtol=rtol)

    m, rtol = find_settings(krylov, error_of, QUICK_RESTARTS if args.quick else RESTARTS)
    sides = [
        Side(f"ours, {info.method}", lambda: g.filter(f), TOL),
        Side("scipy funm_multiply_krylov, default", krylov, TOL),
        Side(f"scipy funm_multiply_krylov, restart after {m}, rtol={rtol:g}", lambda: krylov(m, rtol), TOL),
    ]
    if function is linalg.expm:
        A = t * L.matrix
        trace = float(A.diagonal().sum())
        sides.append(Side("scipy expm_multiply", lambda: expm_multiply(A, f, traceA=trace), TOL))
    pairs: list[tuple[int, int, float | None]] = [(0, k, None) for k in range(1, len(sides))]
    note = f"the certified error of ours is {info.relative_error_bound:.1e}; scipy certifies none."
    work = f"{work}, true error ≤ {TOL:.0e}".replace("e-0", "e-")
    return compare(work, sides, error_of, pairs, args.repeats, budget=20.0, note=note)
