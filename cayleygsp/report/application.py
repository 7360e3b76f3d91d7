"""The section on the cost of applying a filter."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cayleygsp._format import counted, format_bound, format_tol
from cayleygsp._html import Section, Table
from cayleygsp._typing import FloatArray
from cayleygsp.filters import CayleyFilter, ConvergenceWarning
from cayleygsp.laplacians import Laplacian
from cayleygsp.responses.cayley import CayleyPolynomial


@dataclass(frozen=True)
class Application:
    """A filter applied to one signal with a tolerance.

    Attributes
    ----------
    tol : float
        Error allowed, relative to the gain.
    method : str
        What the automatic choice was.
    n_matvecs : int
        Products with the Laplacian.
    bound : float
        Error bound, relative to gain and signal.
    certificate : str
        What the bound rests on: "proved", or what else the filter says of it.
    converged : bool
        Whether that is within the tolerance.
    prepare_seconds, apply_seconds : float
        Times of one run, with what the graph's Laplacian already knew.
    """

    tol: float
    method: str
    n_matvecs: int
    bound: float
    certificate: str
    converged: bool
    prepare_seconds: float
    apply_seconds: float


def apply_filter(L: Laplacian, polynomial: CayleyPolynomial, signal: FloatArray, *, tol: float) -> Application:
    """Filter a signal; return what is known of the result.

    Parameters
    ----------
    L : Laplacian
        The graph.
    polynomial : CayleyPolynomial
        The response.
    signal : numpy.ndarray, shape (n,)
        What to filter.
    tol : float
        Error allowed, relative to the gain.
    """
    start = time.perf_counter()
    g = CayleyFilter(L, polynomial, tol=tol)
    prepared = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, info = g.filter(signal, return_info=True)
    done = time.perf_counter()
    bound = float(np.max(info.relative_error_bound))
    return Application(
        tol=tol,
        method=info.method,
        n_matvecs=info.n_matvecs,
        bound=bound,
        certificate=info.certificate,
        converged=info.converged,
        prepare_seconds=prepared - start,
        apply_seconds=done - prepared,
    )


def application_section(applications: Sequence[Application], n_vertices: int) -> Section:
    """Return cost and certificate for several tolerances."""
    text = (
        f"The same filter on one random signal of {counted(n_vertices, 'number')}. The error bound, relative to the "
        "gain of the filter and the norm of the signal, includes rounding; the method is the one with the least "
        "predicted cost. A product is one pass over the graph. Times are those of one run on this machine."
    )
    header = ["tolerance", "method", "products", "error at most", "certificate", "within", "prepare, ms", "apply, ms"]
    rows = [
        [
            format_tol(one.tol),
            one.method,
            f"{one.n_matvecs:,}",
            format_bound(one.bound),
            one.certificate,
            "yes" if one.converged else "no",
            f"{1e3 * one.prepare_seconds:,.1f}",
            f"{1e3 * one.apply_seconds:,.1f}",
        ]
        for one in applications
    ]
    return Section("What it takes to apply it", [text], [], Table(header, rows, n_text=2))
