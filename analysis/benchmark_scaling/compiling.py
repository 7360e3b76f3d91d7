"""Loops that are compiled before anything is timed."""

from __future__ import annotations

import numpy as np

import cayleygsp as cg
from analysis import _problems
from analysis.benchmark_scaling.settings import TOL


def warm_up() -> None:
    """Compile, or load, every loop that is timed later, on a small graph."""
    graph = _problems.community_graph(3000, 0)
    L = cg.laplacian(graph)
    p = _problems.cayley_polynomial(2, 1.0 / L.lmax, 0)
    for n_signals in (1, 16):
        f = np.ones((L.n_vertices, n_signals))
        cg.CayleyFilter(L, p, method="chebyshev", tol=TOL).filter(f)
        cg.CayleyFilter(L, p, method="jacobi", tol=TOL, n_iter=2).filter(f)
    small = cg.laplacian(cg.gallery.ring(50))
    cg.CayleyFilter(small, p, method="chebyshev", tol=TOL).filter(np.ones((50, 1)))
    cg.CayleyFilter(small, p, method="chebyshev", tol=TOL).filter(np.ones((50, 16)))
