"""Speed against other ways to filter a graph signal in Python, and against the memory of the machine.

Run ``python -m analysis.benchmark_peers``. Every row is measured side by side in one process: the same input, errors
against a reference first, then times in turns. The exit code says nothing of the figures.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numba
import numpy as np
from matplotlib.figure import Figure
from numpy.polynomial import chebyshev
from scipy import fft, sparse
from scipy.sparse.linalg import splu

import cayleygsp as cg
from analysis import _bench, _results
from analysis._bench import Samples
from analysis._results import Document
from cayleygsp import bounds, gallery
from cayleygsp._typing import Array, FloatArray
from cayleygsp.engine.recurrence import KernelGraph, sum_series, sum_series_by_scipy

ORDER = 30
CAYLEY_ORDER = 8
ZOOM_LMAX = 30.0
TOL = 1e-6
N_SIGNALS = 16

# The two degrees whose difference gives the time of a pass; outputs are touched every third degree.
SHORT_DEGREE, LONG_DEGREE = 6, 36
IN_CACHE_DEGREE = 3000

TRIAD_BYTES, TRIAD_BYTES_ALLOCATED = 24, 32

HEADER = ("work", "ours", "peer", "ratio (spread)", "target", "met", "errors: ours, peer")


@dataclass(frozen=True)
class Sizes:
    """How large the problems are."""

    grid: int = 512
    cayley: int = 100_000
    exact: int = 1000
    factored: int = 20_000
    overhead: int = 100
    roofline: int = 2000
    triad_cache_multiple: int = 4


QUICK = Sizes(grid=96, cayley=5000, exact=200, factored=2000, roofline=250, triad_cache_multiple=1)


@dataclass(frozen=True)
class Side:
    """One of two ways to do the same.

    Attributes
    ----------
    name : str
        What it is called in the table.
    call : callable
        Does the work and returns the result.
    error_limit : float
        Largest error, relative to gain times signal, with which speed is compared at all.
    samples : list of float
        Times measured already; if there are any, none is measured.
    """

    name: str
    call: Callable[[], Array]
    error_limit: float
    samples: Samples = field(default_factory=list)


# --------------------------------------------------------------------------------------------------- rows


def compare(
    work: str,
    sides: Sequence[Side],
    error_of: Callable[[Array], float],
    pairs: Sequence[tuple[int, int, float | None]],
    repeats: int,
    *,
    budget: float = 60.0,
    lower_bound: bool = False,
    note: str = "",
) -> list[Document]:
    """Measure the errors of all sides, then their times in turns, and return a row for each pair.

    Parameters
    ----------
    work : str
        What is done.
    sides : sequence of Side
        All that do it.
    error_of : callable
        Error of a result.
    pairs : sequence of (int, int, float or None)
        Which side is ours, which the peer, and the ratio to reach.
    repeats, budget
        See :func:`analysis._bench.interleave`.
    lower_bound : bool
        Whether the peer was stopped before it was done.
    note : str
        Stands in every row.
    """
    errors = [error_of(side.call()) for side in sides]
    calls = {str(k): side.call for k, side in enumerate(sides) if not side.samples}
    measured = _bench.interleave(calls, repeats, budget=budget)
    samples = [side.samples or measured[str(k)] for k, side in enumerate(sides)]
    rows = []
    for ours, peer, target in pairs:
        said = [
            {
                "name": sides[k].name,
                "seconds": _bench.summary(samples[k]),
                "error": errors[k],
                "error_limit": sides[k].error_limit,
            }
            for k in (ours, peer)
        ]
        value = _bench.summary(_bench.ratios(samples[peer], samples[ours]))
        rows.append(make_row(work, said[0], said[1], "×", value, target, note=note, lower_bound=lower_bound))
    return rows


def make_row(
    work: str,
    ours: Document,
    peer: Document | None,
    unit: str,
    value: Document,
    target: float | None,
    *,
    at_most: bool = False,
    lower_bound: bool = False,
    note: str = "",
    **more: Any,
) -> Document:
    """Put a row together; a wrong result meets no target, and a lower bound below the target leaves it open."""
    checked = [ours] if peer is None or peer["error"] is None or lower_bound else [ours, peer]
    correct = all(side["error"] <= side["error_limit"] for side in checked)
    reached = None if target is None else value["median"] <= target if at_most else value["median"] >= target
    return {
        "work": work,
        "ours": ours,
        "peer": peer,
        "unit": unit,
        "value": value,
        "lower_bound": lower_bound,
        "target": target,
        "at_most": at_most,
        "correct": correct,
        "met": None if reached is None or (lower_bound and not reached) else bool(reached and correct),
        "note": note,
        **more,
    }


# ------------------------------------------------------------------------------- Chebyshev filters on a grid


def grid_reference(f: Array, side: int, coeffs: FloatArray, lmax: float) -> FloatArray:
    """Return the Chebyshev filter of signals on a square grid by the discrete cosine transform, its eigenbasis."""
    one = 2 - 2 * np.cos(np.pi * np.arange(side) / side)
    lam = one[:, None] + one[None, :]
    g = chebyshev.chebval(2 * lam / lmax - 1, coeffs)
    images = f.astype(np.float64).reshape(side, side, -1)
    spectrum = fft.dctn(images, type=2, norm="ortho", axes=(0, 1))
    return fft.idctn(g[:, :, None] * spectrum, type=2, norm="ortho", axes=(0, 1)).reshape(f.shape)


def chebyshev_rows(sizes: Sizes, args: argparse.Namespace, step: Callable[[str], None]) -> list[Document]:
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
        f32 = f.astype(np.float32)
        block = f.reshape(f.shape[0], -1)
        reference = grid_reference(f, sizes.grid, coeffs, lmax)
        sides = [
            Side("ours, float64", lambda f=f: g.filter(f), 1e-12),  # type: ignore[misc]
            Side("PyGSP cheby_op", lambda f=f: approximations.cheby_op(G, c, f), 1e-12),  # type: ignore[misc]
            Side("PyGSP Filter.filter", lambda f=f: heat.filter(f, order=ORDER), 1e-12),  # type: ignore[misc]
            Side("plain scipy loop", _scipy_loop(L, lmax, coeffs, block), 1e-12),
            Side("ours, float32", lambda f=f32: g.filter(f), 1e-4),  # type: ignore[misc]
            Side("ours, 1 thread", _with_threads(1, lambda f=f: g.filter(f)), 1e-12),  # type: ignore[misc]
            Side("ours, 2 threads", _with_threads(2, lambda f=f: g.filter(f)), 1e-12),  # type: ignore[misc]
        ]
        pairs = [(0, 1, target), (0, 2, None), (0, 3, None), (4, 0, 1.0), (6, 5, 1.0)]
        if numba.get_num_threads() < 2:
            sides, pairs = sides[:-2], pairs[:-1]
        work = f"Chebyshev order {ORDER}, {sizes.grid}² grid, {m} signal{'s' if m > 1 else ''}"

        def error_of(y: Array, reference: FloatArray = reference, f: FloatArray = f) -> float:
            return _bench.relative_error(y, reference, g.gain, f)

        rows += compare(work, sides, error_of, pairs, args.repeats)
    return rows


def _scipy_loop(L: cg.Laplacian, lmax: float, coeffs: FloatArray, block: FloatArray) -> Callable[[], Array]:
    return lambda: sum_series_by_scipy(L.matrix, lmax, coeffs[None], block)[0]


def _with_threads(n_threads: int, call: Callable[[], Array]) -> Callable[[], Array]:
    """Return the call, done with so many threads."""

    def limited() -> Array:
        before = numba.get_num_threads()
        numba.set_num_threads(n_threads)
        try:
            return call()
        finally:
            numba.set_num_threads(before)

    return limited


# ----------------------------------------------------------------------------- a Cayley filter against Jacobi


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
        seconds = _bench.seconds_of(lambda: y.append(run(n_iter)))
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


def cayley_rows(sizes: Sizes, args: argparse.Namespace, step: Callable[[str], None]) -> list[Document]:
    """Compare a Cayley filter by one Chebyshev series with the paper's Jacobi scheme to the same error."""
    n = sizes.cayley
    step(f"communities, n = {n:,}")
    L = cg.laplacian(_bench.community_graph(n, args.seed))
    p = _bench.cayley_polynomial(CAYLEY_ORDER, ZOOM_LMAX / L.lmax, args.seed)
    f = np.random.default_rng(args.seed).standard_normal(n)
    reference = _bench.cayley_reference(L, p, f)
    made: list[cg.CayleyFilter] = []

    def first() -> Array:
        made.append(cg.CayleyFilter(L, p, "chebyshev", TOL))
        return made[0].filter(f)

    first_seconds = _bench.seconds_of(first)
    g = made[0]
    info = g.filter(f, return_info=True)[1]
    sure = bounds.jacobi_sweeps(L, p, TOL * g.gain)
    assert sure is not None

    def jacobi(n_iter: int) -> Array:
        return cg.CayleyFilter(L, p, "jacobi", TOL, n_iter=n_iter).filter(f)

    def error_of(y: Array) -> float:
        return _bench.relative_error(y, reference, g.gain, f)

    step("Jacobi to the same error")
    found = find_sweeps(jacobi, error_of, TOL, args.jacobi_seconds)
    step("Chebyshev against Jacobi")
    stopped = "stopped at the target" if found.reached else f"stopped at the limit of {args.jacobi_seconds:g} s"
    peer = cg.CayleyFilter(L, p, "jacobi", TOL, n_iter=found.n_iter)
    sides = [
        Side(f"ours, chebyshev, degree {info.n_matvecs}", lambda: g.filter(f), float(info.relative_error_bound)),
        Side(f"Jacobi, K = {found.n_iter}", lambda: peer.filter(f), TOL, [] if found.reached else [found.seconds]),
    ]
    all_seconds = _results.format_seconds(found.seconds * (sure + 1) / (found.n_iter + 1))
    note = (
        f"Jacobi {stopped}; {sure:,} sweeps, about {all_seconds}, are certain to reach it. The certified error of ours "
        f"is {info.relative_error_bound:.1e}; preparation and first call took {_results.format_seconds(first_seconds)}."
    )
    work = f"Cayley r={CAYLEY_ORDER}, h·λmax={ZOOM_LMAX:g}, error ≤ {TOL:.0e}, {n:,} vertices".replace("e-0", "e-")
    rows = compare(
        f"{work}, error measured",
        sides,
        error_of,
        [(0, 1, 100.0)],
        args.repeats,
        budget=args.jacobi_seconds,
        lower_bound=not found.reached,
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
    peer = cg.CayleyFilter(g.laplacian, g.polynomial, "jacobi", TOL, n_iter=sure)
    limit = float(g.filter(f, return_info=True)[1].relative_error_bound)
    answer: list[Array] = []
    once = _bench.seconds_of(lambda: answer.append(peer.filter(f)))
    sides = [
        Side("ours, chebyshev", lambda: g.filter(f), limit),
        Side(f"Jacobi, K = {sure}", lambda: answer[0], TOL, [once]),
    ]
    return compare(work, sides, error_of, [(0, 1, 100.0)], args.repeats, note="Jacobi was run once.")


# ------------------------------------------------------------------------- exact filters and factorisations


def exact_rows(sizes: Sizes, args: argparse.Namespace, step: Callable[[str], None]) -> list[Document]:
    """Compare exact filters on a small graph, the eigenbasis being there already."""
    from pygsp import filters

    n = sizes.exact
    step(f"exact, n = {n:,}")
    graph = gallery.sensor(n, rng=args.seed)
    L = cg.laplacian(graph)
    p = _bench.cayley_polynomial(CAYLEY_ORDER, ZOOM_LMAX / L.lmax, args.seed)
    G = graph.to_pygsp()
    G.compute_fourier_basis()
    theirs = filters.Filter(G, p)
    g = cg.CayleyFilter(L, p, "exact", TOL)
    f = np.random.default_rng(args.seed).standard_normal((n, N_SIGNALS))
    reference = _bench.cayley_reference(L, p, f)
    sides = [
        Side("ours, exact", lambda: g.filter(f), 1e-10),
        Side("PyGSP Filter.filter, exact", lambda: theirs.filter(f, method="exact"), 1e-10),
    ]
    work = f"Cayley r={CAYLEY_ORDER}, eigenbasis known, sensor graph {n:,}, {N_SIGNALS} signals"
    return compare(work, sides, lambda y: _bench.relative_error(y, reference, g.gain, f), [(0, 1, None)], args.repeats)


def factored_rows(sizes: Sizes, args: argparse.Namespace, step: Callable[[str], None]) -> list[Document]:
    """Compare the Chebyshev series with a sparse factorisation of hΔ + iI, once prepared and from the start."""
    n = sizes.factored
    step(f"factorisation, n = {n:,}")
    L = cg.laplacian(gallery.sensor(n, rng=args.seed))
    p = _bench.cayley_polynomial(CAYLEY_ORDER, ZOOM_LMAX / L.lmax, args.seed)
    f = np.random.default_rng(args.seed).standard_normal(n)
    reference = _bench.cayley_reference(L, p, f)
    A = sparse.csc_array(p.zoom * L.matrix + 1j * sparse.eye_array(n))

    def powers(factors: Any) -> Array:
        total, y = p.coeffs[0].real * f, f.astype(complex)
        for c in p.coeffs[1:]:
            y = y - 2j * factors.solve(y)
            total = total + 2 * (c * y).real
        return total

    factors, g = splu(A), cg.CayleyFilter(L, p, "chebyshev", TOL)
    limit = float(g.filter(f, return_info=True)[1].relative_error_bound)

    def error_of(y: Array) -> float:
        return _bench.relative_error(y, reference, g.gain, f)

    prepared = [
        Side("ours, chebyshev", lambda: g.filter(f), limit),
        Side("scipy splu", lambda: powers(factors), 1e-10),
    ]
    fresh = [
        Side("ours, chebyshev", lambda: cg.CayleyFilter(L, p, "chebyshev", TOL).filter(f), limit),
        Side("scipy splu", lambda: powers(splu(A)), 1e-10),
    ]
    work = f"Cayley r={CAYLEY_ORDER}, h·λmax={ZOOM_LMAX:g}, sensor graph {n:,}"
    rows = compare(f"{work}, prepared", prepared, error_of, [(0, 1, None)], args.repeats)
    return rows + compare(f"{work}, with preparation", fresh, error_of, [(0, 1, None)], args.repeats)


# ----------------------------------------------------------------------------------------------- overhead


def overhead_rows(sizes: Sizes, args: argparse.Namespace, step: Callable[[str], None]) -> list[Document]:
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
    p = _bench.cayley_polynomial(CAYLEY_ORDER, ZOOM_LMAX / L.lmax, args.seed)
    plain, cayley = cg.ChebyshevFilter(L, coeffs, lmax), cg.CayleyFilter(L, p, "chebyshev", TOL)
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
            _bench.cayley_reference(L, p, f),
            None,
            TOL,
        ),
    ]
    rows = []
    for work, g, reference, theirs, limit in cases:
        calls: dict[str, Callable[[], Array]] = {"ours": lambda g=g: g.filter(f)}  # type: ignore[misc]
        if theirs is not None:
            calls["PyGSP cheby_op"] = theirs
        errors = {name: _bench.relative_error(call(), reference, g.gain, f) for name, call in calls.items()}
        samples = _bench.interleave(calls, 3 * args.repeats, shortest=10e-3)
        said = [
            {"name": name, "seconds": _bench.summary(samples[name]), "error": errors[name], "error_limit": limit}
            for name in calls
        ]
        value = _bench.summary([1e6 * t for t in samples["ours"]])
        peer = said[1] if theirs is not None else None
        rows.append(make_row(work, said[0], peer, "µs", value, 200.0, at_most=True))
    return rows


# ----------------------------------------------------------------------------------------------- roofline


@numba.njit(parallel=True)
def _triad(a, b, c, s):  # type: ignore[no-untyped-def]
    """Do the step of the STREAM benchmark."""
    for i in numba.prange(a.size):
        a[i] = b[i] + s * c[i]


def triad_rates(cache_multiple: int, repeats: int = 8) -> list[float]:
    """Return the bytes a second that a = b + s c moves on arrays far beyond the caches, several times."""
    n = cache_multiple * _results.last_level_cache() // 8
    a, b, c = np.zeros(n), np.ones(n), np.full(n, 2.0)
    _triad(a, b, c, 3.0)
    return [TRIAD_BYTES * n / _bench.seconds_of(lambda: _triad(a, b, c, 3.0)) for _ in range(repeats)]


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


def roofline_rows(sizes: Sizes, args: argparse.Namespace, step: Callable[[str], None]) -> list[Document]:
    """Compare the bytes a second of the recurrence with those of the STREAM triad right before and after it."""
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
    expected = sum_series_by_scipy(L.matrix, L.lmax, few, f.astype(np.float64))[0]
    gain = float(np.abs(few).sum())
    error = _bench.relative_error(sum_series(kernel_graph, L.lmax, few, f)[0], expected, gain, f)
    del expected
    samples = _bench.interleave(
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
        "rate": _bench.summary(rates),
        "whole_call_rate": _bench.summary(whole),
        "in_cache_share": 100 * seconds_in_cache(name, dtype, m, args) / (numba.get_num_threads() * seconds),
    }


def seconds_in_cache(name: str, dtype: Any, m: int, args: argparse.Namespace) -> float:
    """Return the time of a degree and vertex in one thread, on a graph that stays in the cache of a core."""
    side = 60 if m == 1 else 15  # so small that no threads are started
    L = cg.laplacian(gallery.grid(side) if name == "unweighted" else weighted_grid(side, args.seed))
    f = np.ones((L.n_vertices, m), dtype)
    coeffs = np.ones((1, IN_CACHE_DEGREE + 1)) / IN_CACHE_DEGREE
    graph = L.kernel_graph(dtype)
    samples = _bench.interleave({"ours": lambda: sum_series(graph, L.lmax, coeffs, f)}, args.repeats)
    return float(np.median(samples["ours"])) / (IN_CACHE_DEGREE * L.n_vertices)


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


# ------------------------------------------------------------------------------------------------- output


def table_cells(row: Document) -> list[str]:
    """Return the cells of one row."""
    value, unit, peer = row["value"], row["unit"], row["peer"]
    number = f"{_number(value['median'])} {unit} ({_number(value['low'])}–{_number(value['high'])})"
    sign = "≤" if row["at_most"] else "≥"
    errors = [side["error"] for side in (row["ours"], peer) if side is not None and side["error"] is not None]
    return [
        row["work"],
        _side(row["ours"]),
        "" if peer is None else _side(peer),
        f"≥ {number}" if row["lower_bound"] else number,
        "" if row["target"] is None else f"{sign} {row['target']:g} {unit}",
        "" if row["target"] is None else {True: "yes", False: "no", None: "open"}[row["met"]],
        ", ".join(map(_results.format_error, errors)) + ("" if row["correct"] else " WRONG"),
    ]


def _side(side: Document) -> str:
    if "rate" in side:
        return f"{side['name']}: {side['rate']['median'] / 1e9:.3g} GB/s"
    return f"{side['name']}: {_results.format_seconds(side['seconds']['median'])}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def markdown(document: Document) -> str:
    """Return the result as a page of Markdown."""
    rows = document["rows"]
    notes = [f"- {row['work']}: {row['note']}" for row in rows if row["note"]]
    lines = [
        "# Speed against peers",
        "",
        *_results.header_lines(document),
        "",
        "Times are medians; ratios are medians over rounds in which both sides took turns, with the smallest and the "
        "largest. Errors are relative to gain times signal, against a reference by another way.",
        "",
        *_results.markdown_table(HEADER, [table_cells(row) for row in rows]),
        "",
        *notes,
    ]
    return "\n".join(lines).rstrip() + "\n"


TITLES = {"×": "times faster than the peer", "%": "share of the STREAM triad, %", "µs": "one call, µs"}


def draw(document: Document) -> Figure:
    """Draw ratios, calls and shares as dots with their spread, the targets as ticks."""
    panels = {unit: [row for row in document["rows"] if row["unit"] == unit] for unit in TITLES}
    panels = {unit: rows for unit, rows in panels.items() if rows}
    heights = [len(rows) + 1.5 for rows in panels.values()]
    figure = Figure(figsize=(9.5, 0.29 * sum(heights) + 0.6), layout="constrained")
    axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    for ax, (unit, rows) in zip(axes, panels.items(), strict=True):
        _draw_panel(ax, unit, rows)
    return figure


def _draw_panel(ax: Any, unit: str, rows: Sequence[Document]) -> None:
    position = np.arange(len(rows))[::-1]
    low, high = (np.array([row["value"][key] for row in rows]) for key in ("low", "high"))
    ax.hlines(position, low, high, color="0.55", linewidth=2)
    for k, row in zip(position, rows, strict=True):
        marker = ">" if row["lower_bound"] else "o"
        ax.plot(row["value"]["median"], k, marker, color="black", markersize=5, label="_")
        if row["target"] is not None:
            ax.plot(row["target"], k, "|", color="black", markersize=14, markeredgewidth=1.6)
        sign = "≥ " if row["lower_bound"] else ""
        ax.annotate(
            f"{sign}{_number(row['value']['median'])}",
            (1.0, k),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
        )
    ax.set_yticks(position, [_label(row) for row in rows])
    ax.tick_params(axis="y", labelsize=7, length=0)
    if unit == "×":
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
        ax.margins(x=0.08)
        ax.axvline(1, color="0.6", linewidth=1, zorder=0)
    else:
        ax.set_xlim(0, 1.05 * max(float(high.max()), *(row["target"] * 1.25 for row in rows)))
    ax.set_ylim(-0.7, len(rows) - 0.3)
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_title(f"{TITLES[unit]} (tick: target)", fontsize="small", loc="left")


def _label(row: Document) -> str:
    return f"{row['work']}\n{row['ours']['name']}, against {row['peer']['name']}" if row["unit"] == "×" else row["work"]


# --------------------------------------------------------------------------------------------------- main

PARTS = (chebyshev_rows, cayley_rows, exact_rows, factored_rows, overhead_rows, roofline_rows)


def parse_arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m analysis.benchmark_peers",
        description="Measure the filters against PyGSP, scipy, the Jacobi scheme and the memory of this machine, side "
        "by side, and print ratios with their targets. Run it on a quiet machine.",
    )
    _results.add_arguments(parser)
    _results.add_repeats(parser)
    parser.add_argument(
        "--jacobi-seconds", type=float, help="longest run of Jacobi to the same error (default: 60, quick: 0.3)"
    )
    args = parser.parse_args(argv)
    _results.check_arguments(parser, args)
    if args.jacobi_seconds is None:
        args.jacobi_seconds = 0.3 if args.quick else 60.0
    if not args.jacobi_seconds > 0:
        parser.error(f"--jacobi-seconds must be positive, got {args.jacobi_seconds}")
    return args


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print the table, and write what was asked for."""
    argv = sys.argv[1:] if argv is None else argv
    args = parse_arguments(argv)
    document = _results.new_document("analysis.benchmark_peers", argv, args)
    sizes = QUICK if args.quick else Sizes()
    rows: list[Document] = []
    with _results.progress_steps(17) as step:
        for part in PARTS:
            rows += part(sizes, args, step)
    document["rows"] = rows
    _results.print_table("Speed against peers", HEADER, [table_cells(row) for row in rows])
    for row in rows:
        if row["note"]:
            print(f"{row['work']}: {row['note']}")
    _results.write_outputs(args, "benchmark_peers", document, markdown, draw)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
