"""The same filter on the graph in parts, on a small cluster inside this process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

import cayleygsp as cg
from analysis.report.spectrum import Spectrum
from cayleygsp._format import format_bound
from cayleygsp._html import Section, Table
from cayleygsp._memory import format_bytes
from cayleygsp._typing import FloatArray

TOL = 1e-6
PARTS = (1, 2, 4)


@dataclass(frozen=True)
class PartsRun:
    """One run on the graph in parts.

    Attributes
    ----------
    n_parts : int
        Number of parts; 0 for the graph in one piece.
    largest_part, largest_halo : int
        Vertices of the largest part, and the most that a part takes from others for a degree.
    n_bytes : int
        Bytes between parts, by the count of the values.
    n_matvecs : int
        Products with the Laplacian.
    seconds : float
        Of the second call.
    difference : float
        From the graph in one piece, relative to the gain.
    bound : float
        Certified, relative to the gain.
    reason : str
        How it was done.
    """

    n_parts: int
    largest_part: int
    largest_halo: int
    n_bytes: int
    n_matvecs: int
    seconds: float
    difference: float
    bound: float
    reason: str


def run_in_parts(spectrum: Spectrum, polynomial: cg.CayleyPolynomial, f: FloatArray) -> list[PartsRun]:
    """Filter on the graph in one piece, and in parts on two workers."""
    from distributed import Client, LocalCluster

    from cayleygsp.distributed import DistributedLaplacian

    here = cg.CayleyFilter(spectrum.graph, polynomial, method="chebyshev", tol=TOL)
    wanted = here @ f
    runs = [_run(here, f, wanted, 0, here.n_vertices, 0, 0)]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        for n_parts in PARTS:
            dL = DistributedLaplacian.from_graph(spectrum.graph, n_parts, client=client)
            there = cg.CayleyFilter(dL, polynomial, tol=TOL)
            there @ f
            n_bytes = dL.exchanged_bytes(runs[0].n_matvecs)
            runs.append(_run(there, f, wanted, n_parts, max(dL.part_sizes), max(dL.halo_sizes()), n_bytes))
    return runs


def _run(
    g: cg.CayleyFilter, f: FloatArray, wanted: FloatArray, n_parts: int, part: int, halo: int, n_bytes: int
) -> PartsRun:
    start = time.perf_counter()
    y, info = g.filter(f, return_info=True)
    seconds = time.perf_counter() - start
    difference = float(np.linalg.norm(y - wanted) / (g.gain * np.linalg.norm(f)))
    bound = float(np.max(info.relative_error_bound))
    return PartsRun(n_parts, part, halo, n_bytes, info.n_matvecs, seconds, difference, bound, info.reason)


def parts_section(runs: Sequence[PartsRun]) -> Section:
    """Return the section on the graph in parts."""
    text = (
        "The same filter on the graph in parts, as it would run on a cluster of machines: the parts exchange the "
        "values at their borders, and degree and certificate are those of the graph in one piece. The two workers are "
        "threads of this process, and on a graph of this size all of the time goes into handing out tasks; parts are "
        "for graphs that one machine cannot hold."
    )
    header = ["parts", "largest part", "largest halo", "between parts", "passes", "apply, ms", "difference", "bound"]
    rows = [
        [
            str(run.n_parts) if run.n_parts else "one piece",
            f"{run.largest_part:,}",
            f"{run.largest_halo:,}",
            format_bytes(run.n_bytes),
            f"{run.n_matvecs:,}",
            f"{1e3 * run.seconds:.1f}",
            f"{run.difference:.1e}",
            format_bound(run.bound),
        ]
        for run in runs
    ]
    worst = max(run.difference for run in runs)
    closing = f"In parts or not, answers differ by at most {worst:.1e} of the gain, and the certificate is the same."
    return Section("The graph in parts", [text], [], Table(header, rows, n_text=1), [closing])
