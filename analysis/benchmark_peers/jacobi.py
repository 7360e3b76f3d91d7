"""A Cayley filter by one Chebyshev series against the paper's Jacobi scheme."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import cayleygsp as cg
from analysis import _problems, _timing
from analysis._comparison import Side, compare
from analysis._document import Document
from analysis._script import Step
from analysis._tables import format_seconds
from analysis.benchmark_peers.settings import CAYLEY_ORDER, TOL, ZOOM_LMAX, Sizes
from cayleygsp import bounds
from cayleygsp._typing import Array, FloatArray


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
