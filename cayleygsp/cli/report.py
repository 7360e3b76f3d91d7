"""The command ``report``."""

from __future__ import annotations

import time
import warnings
from datetime import datetime, timezone
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from cayleygsp.cli.errors import input_errors
from cayleygsp.cli.loading import graph_line, load, vertices_text, written
from cayleygsp.cli.options import ForceOption, GraphArgument, JsonOption, Kind, KindOption, SeedOption, VariableOption
from cayleygsp.cli.outputs import check_outputs, write_outputs
from cayleygsp.cli.printing import counted, print_facts, print_json, progress
from cayleygsp.filters import ConvergenceWarning


def report_command(
    graph: GraphArgument,
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write, .html.")],
    order: Annotated[int, typer.Option("--order", min=1, help="Order of the filter that is designed.")] = 4,
    kind: KindOption = Kind.combinatorial,
    variable: VariableOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """All of it for one graph, as one page that needs no other file.

    Graph, frequencies, zoom, a filter designed for it, bounds, localization and cost. Large graphs take longer but
    nothing dense: no eigenvalues are computed of them.
    """
    check_outputs([output], (".html",), force)
    G, L = load(graph, kind, variable, seed)
    from cayleygsp import __version__
    from cayleygsp._html import render_page
    from cayleygsp.report.page import STEPS, report_on

    start = time.perf_counter()
    with progress(len(STEPS) + 1) as step, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what was reached stands in the tables
        with input_errors():
            found = report_on(G, L, order=order, rng=seed, step=step)
        step("page")
        seconds = time.perf_counter() - start
        lead = (
            f"{vertices_text(L.n_vertices)} and {counted(L.n_edges, 'edge')}: what the frequencies of this graph are, "
            "what a spectral zoom does to them, a Cayley filter designed for it, how far off it can be, how far it "
            "reaches, and what it costs."
        )
        foot = {
            "Command": f"cayleygsp report {graph} --laplacian {L.kind} --order {order} --seed {seed}",
            "Versions": f"cayleygsp {__version__}, numpy {np.__version__}",
            "Date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "Time": f"{seconds:.1f} s",
        }
        page = render_page(f"The graph {G.name or graph}", lead, found.sections, foot)
        # the name of a file can be no text
        write_outputs({output: page.encode(errors="replace")})
    if json:
        print_json(found.numbers | {"seconds": seconds})
    else:
        print_facts({"graph": graph_line(G, L), "time": f"{seconds:.1f} s"} | written([output]))
