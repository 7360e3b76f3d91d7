"""What the runs of the methods show, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from analysis.report.runs import Run
from cayleygsp._format import format_tol


def describe_runs(runs: Sequence[Run]) -> list[str]:
    """Return in words what the numbers show; every statement is computed."""
    return [" ".join([_bounds_text(runs), _jacobi_text(runs)]), " ".join([_tolerance_text(runs), _auto_text(runs)])]


def _bounds_text(runs: Sequence[Run]) -> str:
    n_below = sum(run.measured_error <= run.certified_bound for run in runs)
    useless = [run.name for run in runs if run.certified_bound >= 1]
    first = f"The measured error is below the certified bound in {n_below} of {len(runs)} rows."
    if not useless:
        return first
    return f"{first} A bound of 1 or more certifies nothing; that is so for {_listed(useless)}."


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


def _auto_text(runs: Sequence[Run]) -> str:
    auto = next(run for run in runs if run.method == "auto")
    return f"The automatic choice was {auto.used} ({auto.reason})."


def _times(a: float, b: float) -> str:
    """Write a/b as a factor with two digits, as whole numbers from 10 on."""
    ratio = a / b if b else math.inf
    digits = f"{float(f'{ratio:.2g}'):,.0f}" if 10 <= ratio < 1e5 else f"{ratio:.2g}"
    return f"{digits} times"


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{'; '.join(words[:-1])} and {words[-1]}"
