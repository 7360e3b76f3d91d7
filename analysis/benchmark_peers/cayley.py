"""A Cayley filter by one Chebyshev series against the paper's Jacobi scheme."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import expm_multiply, funm_multiply_krylov, splu

import cayleygsp as cg
from analysis import _problems, _timing
from analysis._comparison import Side, compare
from analysis._script import Document, Step, format_seconds
from analysis.benchmark_peers.settings import CAYLEY_ORDER, N_SIGNALS, TOL, ZOOM_LMAX, Sizes
from cayleygsp import bounds, gallery
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


@dataclass(frozen=True)
class Search:
    """Jacobi sweeps until the target or the time limit: what was tried last."""

    n_iter: int
    seconds: float
    error: float
    reached: bool


def find_sweeps(run: Callable[[int], Array], error_of: Callable[[Array], float], target: float, limit: float) -> Search:
    """Look for the least number of sweeps that reaches the target, in runs of at most ``limit`` seconds.

    Sweeps are doubled until the target is reached; then the place is found from the errors before and after, which
    fall geometrically. If no run within the limit reaches the target, the longest one is returned.
    """
    tried: list[Search] = []

    def attempt(n_iter: int) -> Search:
        y: list[Array] = []
        seconds = _timing.seconds_of(lambda: y.append(run(n_iter)))
        error = error_of(y[0])
        tried.append(Search(n_iter, seconds, error, bool(error <= target)))
        return tried[-1]

    run(1)  # compiles, if anything is to be compiled
    now = attempt(16)
    while not now.reached:
        within_limit = int(0.95 * limit / now.seconds * (now.n_iter + 1))
        n_iter = min(2 * now.n_iter, within_limit)
        if n_iter < 1.1 * now.n_iter:
            return now
        now = attempt(n_iter)
    for _ in range(4):
        good = min((t for t in tried if t.reached), key=lambda t: t.n_iter)
        bad = max((t for t in tried if t.n_iter < good.n_iter), key=lambda t: t.n_iter, default=None)
        if bad is None or good.n_iter <= 1.03 * bad.n_iter + 1:
            break
        share = np.log(bad.error / target) / np.log(bad.error / good.error)
        guess = round(bad.n_iter + (1.02 * share) * (good.n_iter - bad.n_iter))
        attempt(int(np.clip(guess, bad.n_iter + 1, good.n_iter - 1)))
    return min((t for t in tried if t.reached), key=lambda t: t.n_iter)


def cayley_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare a Cayley filter by one Chebyshev series with the paper's Jacobi scheme to the same error."""
    n = sizes.cayley
    step(f"communities, n = {n:,}")
    L = cg.laplacian(_problems.community_graph(n, args.seed))
    p = _problems.cayley_polynomial(CAYLEY_ORDER, ZOOM_LMAX / L.lmax, args.seed)
    f = np.random.default_rng(args.seed).standard_normal(n)
    reference = _problems.series_reference(L, p, f)
    made: list[cg.CayleyFilter] = []

    def first() -> Array:
        made.append(cg.CayleyFilter(L, p, method="chebyshev", tol=TOL))
        return made[0].filter(f)

    first_seconds = _timing.seconds_of(first)
    g = made[0]
    info = g.filter(f, return_info=True)[1]
    sure = bounds.jacobi_sweeps(L, p, TOL * g.gain)
    assert sure is not None

    def jacobi(n_iter: int) -> Array:
        return cg.CayleyFilter(L, p, method="jacobi", tol=TOL, n_iter=n_iter).filter(f)

    def error_of(y: Array) -> float:
        return _problems.relative_error(y, reference, g.gain, f)

    step("Jacobi to the same error")
    search = find_sweeps(jacobi, error_of, TOL, args.jacobi_seconds)
    step("Chebyshev against Jacobi")
    stopped = "stopped at the target" if search.reached else f"stopped at the limit of {args.jacobi_seconds:g} s"
    peer = cg.CayleyFilter(L, p, method="jacobi", tol=TOL, n_iter=search.n_iter)
    sides = [
        Side(f"ours, chebyshev, degree {info.n_matvecs}", lambda: g.filter(f), float(info.relative_error_bound)),
        Side(f"Jacobi, K = {search.n_iter}", lambda: peer.filter(f), TOL, [] if search.reached else [search.seconds]),
    ]
    all_seconds = format_seconds(search.seconds * (sure + 1) / (search.n_iter + 1))
    note = (
        f"Jacobi {stopped}; {sure:,} sweeps, about {all_seconds}, are certain to reach it. The certified error of ours "
        f"is {info.relative_error_bound:.1e}; preparation and first call took {format_seconds(first_seconds)}."
    )
    work = f"Cayley r={CAYLEY_ORDER}, h·λmax={ZOOM_LMAX:g}, error ≤ {TOL:.0e}, {n:,} vertices".replace("e-0", "e-")
    rows = compare(
        f"{work}, error measured",
        sides,
        error_of,
        [(0, 1, 100.0)],
        args.repeats,
        budget=args.jacobi_seconds,
        lower_bound=not search.reached,
        note=note,
    )
    step("Chebyshev against Jacobi, both certified")
    return rows + certified_row(f"{work}, error certified", g, f, error_of, sure, args)


def certified_row(
    work: str,
    g: cg.CayleyFilter,
    f: FloatArray,
    error_of: Callable[[Array], float],
    sure: int,
    args: argparse.Namespace,
) -> list[Document]:
    """Compare with as many sweeps as are certain to be enough, which is all that is known without the answer."""
    peer = cg.CayleyFilter(g.laplacian, g.polynomial, method="jacobi", tol=TOL, n_iter=sure)
    limit = float(g.filter(f, return_info=True)[1].relative_error_bound)
    answer: list[Array] = []
    once = _timing.seconds_of(lambda: answer.append(peer.filter(f)))
    sides = [
        Side("ours, chebyshev", lambda: g.filter(f), limit),
        Side(f"Jacobi, K = {sure}", lambda: answer[0], TOL, [once]),
    ]
    return compare(work, sides, error_of, [(0, 1, 100.0)], args.repeats, note="Jacobi was run once.")


def exact_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare exact filters on a small graph, the eigenbasis being there already."""
    from pygsp import filters

    n = sizes.exact
    step(f"exact, n = {n:,}")
    graph = gallery.sensor(n, rng=args.seed)
    L = cg.laplacian(graph)
    p = _problems.cayley_polynomial(CAYLEY_ORDER, ZOOM_LMAX / L.lmax, args.seed)
    G = graph.to_pygsp()
    G.compute_fourier_basis()
    theirs = filters.Filter(G, p)
    g = cg.CayleyFilter(L, p, method="exact", tol=TOL)
    f = np.random.default_rng(args.seed).standard_normal((n, N_SIGNALS))
    reference = _problems.series_reference(L, p, f)
    sides = [
        Side("ours, exact", lambda: g.filter(f), 1e-10),
        Side("PyGSP Filter.filter, exact", lambda: theirs.filter(f, method="exact"), 1e-10),
    ]
    work = f"Cayley r={CAYLEY_ORDER}, eigenbasis known, sensor graph {n:,}, {N_SIGNALS} signals"
    return compare(
        work, sides, lambda y: _problems.relative_error(y, reference, g.gain, f), [(0, 1, None)], args.repeats
    )


def factored_rows(sizes: Sizes, args: argparse.Namespace, step: Step) -> list[Document]:
    """Compare the Chebyshev series with a sparse factorisation of hΔ + iI, once prepared and from the start."""
    n = sizes.factored
    step(f"factorisation, n = {n:,}")
    L = cg.laplacian(gallery.sensor(n, rng=args.seed))
    p = _problems.cayley_polynomial(CAYLEY_ORDER, ZOOM_LMAX / L.lmax, args.seed)
    f = np.random.default_rng(args.seed).standard_normal(n)
    reference = _problems.series_reference(L, p, f)
    A = sparse.csc_array(p.zoom * L.matrix + 1j * sparse.eye_array(n))

    def powers(factors: Any) -> Array:
        total, y = p.coeffs[0].real * f, f.astype(complex)
        for c in p.coeffs[1:]:
            y = y - 2j * factors.solve(y)
            total = total + 2 * (c * y).real
        return total

    factors, g = splu(A), cg.CayleyFilter(L, p, method="chebyshev", tol=TOL)
    limit = float(g.filter(f, return_info=True)[1].relative_error_bound)

    def error_of(y: Array) -> float:
        return _problems.relative_error(y, reference, g.gain, f)

    prepared = [
        Side("ours, chebyshev", lambda: g.filter(f), limit),
        Side("scipy splu", lambda: powers(factors), 1e-10),
    ]
    fresh = [
        Side("ours, chebyshev", lambda: cg.CayleyFilter(L, p, method="chebyshev", tol=TOL).filter(f), limit),
        Side("scipy splu", lambda: powers(splu(A)), 1e-10),
    ]
    work = f"Cayley r={CAYLEY_ORDER}, h·λmax={ZOOM_LMAX:g}, sensor graph {n:,}"
    rows = compare(f"{work}, prepared", prepared, error_of, [(0, 1, None)], args.repeats)
    return rows + compare(f"{work}, with preparation", fresh, error_of, [(0, 1, None)], args.repeats)


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
