"""Exact filters: the eigenbasis against PyGSP's, the series against a sparse factorisation."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

import cayleygsp as cg
from analysis import _problems
from analysis._comparison import Side, compare
from analysis._document import Document
from analysis._script import Step
from analysis.benchmark_peers.settings import CAYLEY_ORDER, N_SIGNALS, TOL, ZOOM_LMAX, Sizes
from cayleygsp import gallery
from cayleygsp._typing import Array


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
