"""One call on a graph so small that it is nearly all overhead."""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np

import cayleygsp as cg
from analysis import _problems, _timing
from analysis._comparison import Side, make_row, side_of
from analysis._document import Document
from analysis._script import Step
from analysis.benchmark_peers.grid import grid_reference
from analysis.benchmark_peers.settings import CAYLEY_ORDER, ORDER, TOL, ZOOM_LMAX, Sizes
from cayleygsp import gallery
from cayleygsp._typing import Array, FloatArray


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
