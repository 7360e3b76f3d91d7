"""One filter, applied by every method: measured errors, certified bounds, and what they show in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import cayleygsp as cg
from analysis.report.graph import Spectrum
from cayleygsp import plotting
from cayleygsp._format import format_bound, format_measured, format_tol
from cayleygsp._html import Picture, Section, Table, new_figure
from cayleygsp._typing import FloatArray, Method
from cayleygsp.report.application import timed_filter

TOLERANCES = (1e-3, 1e-6, 1e-10)
SWEEPS = (1, 5, 9, 13, 100)
SWEEPS_FULL = (1000,)
DEFAULT_TOL = 1e-6

# About what rounding does to the dense reference: some units of roundoff.
REFERENCE_ERROR = 1e-14


@dataclass(frozen=True)
class Run:
    """One filter applied by one method; errors are relative to gain times norm of the signal, times in seconds."""

    method: str
    setting: str
    tol: float
    n_iter: int | None
    n_matvecs: int
    prepare_seconds: float
    apply_seconds: float
    measured_error: float
    certified_bound: float
    converged: bool
    used: str
    reason: str

    @property
    def name(self) -> str:
        """Method and setting."""
        return f"{self.method}, {self.setting}" if self.setting else self.method


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
        y, info, *seconds = timed_filter(spectrum.graph, polynomial, f, method=method, tol=tol, n_iter=n_iter)
        prepare, apply = min(prepare, seconds[0]), min(apply, seconds[1])
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


def methods_section(runs: Sequence[Run]) -> tuple[Section, dict[str, Any]]:
    """Return the section that compares the methods, and its numbers."""
    text = (
        "The same filter on the same noisy signal by every method. A pass is one product of the Laplacian with the "
        "signal. Errors are ‖y − g(Δ)f‖ / (sup|g| ‖f‖): measured against a dense eigendecomposition by numpy, which is "
        f"itself off by about {format_tol(REFERENCE_ERROR)}, and as certified by the method, which knows nothing of "
        f"that. A run has converged if the bound is within the tolerance ({format_tol(DEFAULT_TOL)} where none is "
        "given). Times are from this machine; preparation starts from the adjacency matrix."
    )
    header = ["method", "setting", "passes", "prepare, ms", "apply, ms"]
    header += ["measured error", "certified bound", "converged"]
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
    figure = new_figure(0.9 + 0.27 * len(runs))
    plotting.error_bars(
        [run.name for run in runs],
        [run.measured_error for run in runs],
        [run.certified_bound for run in runs],
        floor=REFERENCE_ERROR,
        notes=[f"{run.n_matvecs:,} passes" for run in runs],
        ax=figure.subplots(),
    )
    picture = Picture.from_figure(
        "methods",
        figure,
        "For each method a dot, the measured error, left of a bar's end, the certified bound.",
        "Measured errors (dots) and certified bounds (ends of the bars), with the passes over the graph at the right. "
        "A bound above 1 certifies nothing.",
    )
    table = Table(header, rows, n_text=2)
    section = Section("One filter, every method", [text], [picture], table, describe_runs(runs))
    return section, {"methods": [asdict(run) for run in runs]}


def describe_runs(runs: Sequence[Run]) -> list[str]:
    """Return in words what the numbers show; every statement is computed."""
    auto = next(run for run in runs if run.method == "auto")
    chosen = f"The automatic choice was {auto.used} ({auto.reason})."
    return [f"{_bounds_text(runs)} {_jacobi_text(runs)}", f"{_tolerance_text(runs)} {chosen}"]


def _bounds_text(runs: Sequence[Run]) -> str:
    n_below = sum(run.measured_error <= run.certified_bound for run in runs)
    useless = [run.name for run in runs if run.certified_bound >= 1]
    first = f"The measured error is below the certified bound in {n_below} of {len(runs)} rows."
    if not useless:
        return first
    *others, last = useless
    named = f"{'; '.join(others)} and {last}" if others else last
    return f"{first} A bound of 1 or more certifies nothing; that is so for {named}."


def _jacobi_text(runs: Sequence[Run]) -> str:
    jacobi = [run for run in runs if run.method == "jacobi"]
    best = min(jacobi, key=lambda run: run.measured_error)
    cheb = next(run for run in runs if run.method == "chebyshev" and run.tol == best.tol)
    sentences = [
        f"The most accurate Jacobi run, K = {best.n_iter}, takes {_times(best.n_matvecs, cheb.n_matvecs)} the passes "
        f"of Chebyshev with tolerance {format_tol(cheb.tol)} ({best.n_matvecs:,} against {cheb.n_matvecs:,}), and its "
        f"error is {_times(best.measured_error, cheb.measured_error)} that of Chebyshev."
    ]
    for few, many in pairwise(jacobi):
        if many.measured_error > few.measured_error:
            sentences.append(
                f"More sweeps can make it worse: from K = {few.n_iter} to K = {many.n_iter} the error grows from "
                f"{few.measured_error:.1e} to {many.measured_error:.1e}."
            )
            break
    return " ".join(sentences)


def _tolerance_text(runs: Sequence[Run]) -> str:
    parts = []
    for method in ("chebyshev", "multigrid"):
        rows = [run for run in runs if run.method == method]
        growth = _times(rows[-1].n_matvecs, rows[0].n_matvecs)
        parts.append(f"{method} {growth} the passes ({rows[-1].n_matvecs:,} against {rows[0].n_matvecs:,})")
    tolerances = [run.tol for run in runs if run.method == "chebyshev"]
    first, last = format_tol(tolerances[0]), format_tol(tolerances[-1])
    return f"Going from tolerance {first} to {last} costs {' and '.join(parts)}."


def _times(a: float, b: float) -> str:
    """Write a/b as a factor with two digits, as whole numbers from 10 on."""
    ratio = a / b if b else math.inf
    digits = f"{float(f'{ratio:.2g}'):,.0f}" if 10 <= ratio < 1e5 else f"{ratio:.2g}"
    return f"{digits} times"
