"""One filter, applied by every method."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

import cayleygsp as cg
from analysis.report.findings import describe_runs
from analysis.report.runs import Run
from analysis.report.spectrum import Spectrum
from cayleygsp import plotting
from cayleygsp._format import format_bound, format_measured, format_tol
from cayleygsp._html import Picture, Section, Table, new_figure
from cayleygsp._typing import FloatArray, Method

TOLERANCES = (1e-3, 1e-6, 1e-10)
SWEEPS = (1, 5, 9, 13, 100)
SWEEPS_FULL = (1000,)
DEFAULT_TOL = 1e-6

# About what rounding does to the dense reference: some units of roundoff.
REFERENCE_ERROR = 1e-14


def settings(quick: bool) -> list[tuple[Method, float, int | None]]:
    """Return what is compared: method, tolerance, and for Jacobi the number of sweeps."""
    rows: list[tuple[Method, float, int | None]] = [("exact", DEFAULT_TOL, None)]
    rows += [("chebyshev", tol, None) for tol in TOLERANCES]
    rows += [("multigrid", tol, None) for tol in TOLERANCES]
    rows += [("jacobi", DEFAULT_TOL, K) for K in SWEEPS + (() if quick else SWEEPS_FULL)]
    return [*rows, ("auto", DEFAULT_TOL, None)]


def run_method(
    spectrum: Spectrum, polynomial: cg.CayleyPolynomial, f: FloatArray, method: Method, tol: float, n_iter: int | None
) -> Run:
    """Apply the filter by one method and compare with the dense reference Φ g(Λ) Φᵀ f.

    Each time is the best of three runs that start from the graph, with nothing known of its spectrum.
    """
    prepare, apply = math.inf, math.inf
    for _ in range(3):
        start = time.perf_counter()
        g = cg.CayleyFilter(spectrum.graph, polynomial, method=method, tol=tol, n_iter=n_iter)
        prepared = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cg.ConvergenceWarning)
            y, info = g.filter(f, return_info=True)
        done = time.perf_counter()
        prepare, apply = min(prepare, prepared - start), min(apply, done - prepared)
    Phi = spectrum.eigenvectors
    reference = Phi @ (polynomial(spectrum.eigenvalues) * (Phi.T @ f))
    setting = f"K = {n_iter}" if n_iter is not None else "" if method == "exact" else f"tol = {format_tol(tol)}"
    return Run(
        method=method,
        setting=setting,
        tol=tol,
        n_iter=n_iter,
        n_matvecs=info.n_matvecs,
        prepare_seconds=prepare,
        apply_seconds=apply,
        measured_error=float(np.linalg.norm(y - reference) / (info.gain * np.linalg.norm(f))),
        certified_bound=float(info.error_bound / info.gain),
        converged=info.converged,
        used=info.method,
        reason=info.reason,
    )


def draw_errors(runs: Sequence[Run]) -> Figure:
    """Draw measured error and certified bound of every run."""
    figure = new_figure(0.9 + 0.27 * len(runs))
    notes = [f"{run.n_matvecs:,} passes" for run in runs]
    measured, bounds = [run.measured_error for run in runs], [run.certified_bound for run in runs]
    plotting.error_bars(
        [run.name for run in runs], measured, bounds, floor=REFERENCE_ERROR, notes=notes, ax=figure.subplots()
    )
    return figure


def methods_section(runs: Sequence[Run]) -> Section:
    """Return the section that compares the methods."""
    text = (
        "The same filter on the same noisy signal by every method. A pass is one product of the Laplacian with the "
        "signal. Errors are ‖y − g(Δ)f‖ / (sup|g| ‖f‖): measured against a dense eigendecomposition by numpy, which is "
        f"itself off by about {format_tol(REFERENCE_ERROR)}, and as certified by the method, which knows nothing of "
        f"that. A run has converged if the bound is within the tolerance ({format_tol(DEFAULT_TOL)} where none is "
        "given). Times are from this machine; preparation starts from the adjacency matrix."
    )
    header = [
        "method",
        "setting",
        "passes",
        "prepare, ms",
        "apply, ms",
        "measured error",
        "certified bound",
        "converged",
    ]
    rows = [
        [
            run.method,
            run.setting,
            f"{run.n_matvecs:,}",
            f"{1e3 * run.prepare_seconds:.1f}",
            f"{1e3 * run.apply_seconds:.1f}",
            format_measured(run.measured_error, REFERENCE_ERROR),
            format_bound(run.certified_bound) if math.isfinite(run.certified_bound) else "none",
            "yes" if run.converged else "no",
        ]
        for run in runs
    ]
    picture = Picture.from_figure(
        "methods",
        draw_errors(runs),
        "For each method a dot, the measured error, left of a bar's end, the certified bound.",
        "Measured errors (dots) and certified bounds (ends of the bars), with the passes over the graph at the right. "
        "A bound above 1 certifies nothing.",
    )
    return Section("One filter, every method", [text], [picture], Table(header, rows, n_text=2), describe_runs(runs))
