"""The section on the cost of applying a filter."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from cayleygsp._format import counted, format_bound, format_tol
from cayleygsp._html import Section, Table
from cayleygsp._typing import FloatArray, GraphLike
from cayleygsp.filters import CayleyFilter, ConvergenceWarning, FilterInfo
from cayleygsp.laplacians import Laplacian
from cayleygsp.responses.cayley import CayleyPolynomial


def application_section(
    L: Laplacian, polynomial: CayleyPolynomial, signal: FloatArray, tolerances: Sequence[float]
) -> tuple[Section, dict[str, Any]]:
    """Return cost and certificate for several tolerances; times are those of one run."""
    runs: list[dict[str, Any]] = []
    for tol in tolerances:
        _, info, prepare_seconds, apply_seconds = timed_filter(L, polynomial, signal, tol=tol)
        runs.append(
            {
                "tol": tol,
                "method": info.method,
                "n_matvecs": info.n_matvecs,
                "bound": float(np.max(info.relative_error_bound)),
                "certificate": info.certificate,
                "converged": info.converged,
                "prepare_seconds": prepare_seconds,
                "apply_seconds": apply_seconds,
            }
        )
    text = (
        f"The same filter on one random signal of {counted(L.n_vertices, 'number')}. The error bound, relative to the "
        "gain of the filter and the norm of the signal, includes rounding; the method is the one with the least "
        "predicted cost. A product is one pass over the graph. Times are those of one run on this machine."
    )
    header = ["tolerance", "method", "products", "error at most", "certificate", "within", "prepare, ms", "apply, ms"]
    rows = [
        [
            format_tol(run["tol"]),
            run["method"],
            f"{run['n_matvecs']:,}",
            format_bound(run["bound"]),
            run["certificate"],
            "yes" if run["converged"] else "no",
            f"{1e3 * run['prepare_seconds']:,.1f}",
            f"{1e3 * run['apply_seconds']:,.1f}",
        ]
        for run in runs
    ]
    return Section("What it takes to apply it", [text], [], Table(header, rows, n_text=2)), {"application": runs}


def timed_filter(
    graph: GraphLike, polynomial: CayleyPolynomial, signal: FloatArray, **options: Any
) -> tuple[FloatArray, FilterInfo, float, float]:
    """Return a filtered signal, its info, and the seconds of preparing and of applying; nothing is warned of."""
    start = time.perf_counter()
    g = CayleyFilter(graph, polynomial, **options)
    prepared = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        y, info = g.filter(signal, return_info=True)
    return y, info, prepared - start, time.perf_counter() - prepared
