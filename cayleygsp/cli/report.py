"""The command ``report``."""

from __future__ import annotations

import shlex
import time
import warnings
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from cayleygsp import __version__
from cayleygsp._format import counted
from cayleygsp._html import render_page
from cayleygsp._text import printable
from cayleygsp.cli.errors import input_errors
from cayleygsp.cli.inputs import graph_line, load, vertices_text
from cayleygsp.cli.options import GraphOptions, OutputOptions
from cayleygsp.cli.outputs import page_results
from cayleygsp.cli.polynomial import check_fit_order
from cayleygsp.design.fit import MAX_CAYLEY_ORDER
from cayleygsp.filters import ConvergenceWarning
from cayleygsp.report.page import STEPS, report_on


def report_command(
    graph: GraphOptions,
    outputs: OutputOptions,
    order: Annotated[
        int, typer.Option("--order", min=1, help=f"Order of the designed filter, at most {MAX_CAYLEY_ORDER}.")
    ] = 4,
) -> None:
    """Write a self-contained HTML report on a graph.

    It covers the graph, its frequencies, the zoom, a filter designed for it, error bounds, localization and cost; -o
    names the .html file. Eigenvalues of large graphs are not computed.
    """
    results = page_results(outputs)
    check_fit_order(order)
    with results.progress(len(STEPS) + 2) as step, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what was reached stands in the tables
        step("reading")
        G, L = load(graph)
        start = time.perf_counter()
        with input_errors():
            report = report_on(G, L, order=order, rng=graph.seed, step=step)
        step("page")
        seconds = time.perf_counter() - start
        lead = (
            f"{vertices_text(L.n_vertices)} and {counted(L.n_edges, 'edge')}: what the frequencies of this graph are, "
            "what a spectral zoom does to them, a Cayley filter designed for it, how far off it can be, how far it "
            "reaches, and what it costs."
        )
        title = printable(f"The graph {G.name or Path(graph.graph).name}")
        foot = {
            "Command": command_text(graph, order),
            "Versions": f"cayleygsp {__version__}, numpy {np.__version__}",
            "Date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "Time": f"{seconds:.1f} s",
        }
        results.write(lambda ending: render_page(title, lead, report.sections, foot))
    results.show(report.numbers | {"seconds": seconds}, {"graph": graph_line(G.name, L), "time": f"{seconds:.1f} s"})


def command_text(options: GraphOptions, order: int) -> str:
    """Return the command that makes a report again, with the name alone of a path that is absolute."""
    path = Path(options.graph)
    words = ["cayleygsp", "report", path.name if path.is_absolute() else options.graph]
    words += ["--laplacian", options.kind.value, "--order", str(order), "--seed", str(options.seed)]
    if options.symmetrize is not None:
        words += ["--symmetrize", options.symmetrize.value]
    if options.variable is not None:
        words += ["--variable", options.variable]
    return printable(shlex.join(words))
