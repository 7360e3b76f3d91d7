"""The same filter on the graph in parts, on a small cluster inside this process."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import cayleygsp as cg
from analysis._script import table_of
from analysis.report.graph import Spectrum
from cayleygsp._format import format_bound
from cayleygsp._html import Section, Table
from cayleygsp._memory import format_bytes
from cayleygsp._typing import FloatArray

TOL = 1e-6
PARTS = (1, 2, 4)
COLUMNS = {
    "parts": lambda run: str(run["n_parts"]) if run["n_parts"] else "one piece",
    "largest part": "{largest_part:,}",
    "largest halo": "{largest_halo:,}",
    "between parts": lambda run: format_bytes(run["n_bytes"]),
    "passes": "{n_matvecs:,}",
    "apply, ms": lambda run: f"{1e3 * run['seconds']:.1f}",
    "difference": "{difference:.1e}",
    "bound": lambda run: format_bound(run["bound"]),
}


def run_in_parts(spectrum: Spectrum, polynomial: cg.CayleyPolynomial, f: FloatArray) -> list[dict[str, Any]]:
    """Filter on the graph in one piece, and in parts on two workers; errors are relative to the gain."""
    from distributed import Client, LocalCluster

    from cayleygsp.distributed import DistributedLaplacian

    here = cg.CayleyFilter(spectrum.graph, polynomial, method="chebyshev", tol=TOL)
    wanted = here @ f
    whole = {"n_parts": 0, "largest_part": here.n_vertices, "largest_halo": 0, "n_bytes": 0}
    runs = [whole | _run(here, f, wanted)]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        for n_parts in PARTS:
            dL = DistributedLaplacian.from_graph(spectrum.graph, n_parts, client=client)
            there = cg.CayleyFilter(dL, polynomial, tol=TOL)
            there @ f  # times are those of a second call
            sizes = {
                "n_parts": n_parts,
                "largest_part": max(dL.part_sizes),
                "largest_halo": max(dL.halo_sizes()),
                "n_bytes": dL.exchanged_bytes(runs[0]["n_matvecs"]),
            }
            runs.append(sizes | _run(there, f, wanted))
    return runs


def _run(g: cg.CayleyFilter, f: FloatArray, wanted: FloatArray) -> dict[str, Any]:
    start = time.perf_counter()
    y, info = g.filter(f, return_info=True)
    seconds = time.perf_counter() - start
    return {
        "n_matvecs": info.n_matvecs,
        "seconds": seconds,
        "difference": float(np.linalg.norm(y - wanted) / (g.gain * np.linalg.norm(f))),
        "bound": float(np.max(info.relative_error_bound)),
        "reason": info.reason,
    }


def parts_section(runs: list[dict[str, Any]]) -> tuple[Section, dict[str, Any]]:
    """Return the section on the graph in parts, and its numbers."""
    text = (
        "The same filter on the graph in parts, as it would run on a cluster of machines: the parts exchange the "
        "values at their borders, and degree and certificate are those of the graph in one piece. The two workers are "
        "threads of this process, and on a graph of this size all of the time goes into handing out tasks; parts are "
        "for graphs that one machine cannot hold."
    )
    _, header, rows, _ = table_of("", COLUMNS, runs)
    worst = max(run["difference"] for run in runs)
    answers = f"differ by at most {worst:.1e} of the gain" if worst else "are identical"
    closing = f"In parts or not, answers {answers}, and the certificate is the same."
    return Section("The graph in parts", [text], [], Table(header, rows, n_text=1), [closing]), {"parts": runs}
