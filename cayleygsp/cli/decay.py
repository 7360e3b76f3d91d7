"""The command ``decay``."""

from __future__ import annotations

import warnings
from typing import Annotated

import typer

from cayleygsp._validation import check_vertex
from cayleygsp.cli.errors import input_errors
from cayleygsp.cli.inputs import graph_line, load
from cayleygsp.cli.options import FilterOptions, GraphOptions, OutputOptions
from cayleygsp.cli.outputs import Results
from cayleygsp.cli.polynomial import AskedPolynomial
from cayleygsp.filters import ConvergenceWarning
from cayleygsp.report.localization import (
    decay_columns,
    decay_numbers,
    decay_table,
    decay_text,
    draw_decay,
    filter_decay,
    typical_vertex,
)


def decay_command(
    graph: GraphOptions,
    polynomial: FilterOptions,
    outputs: OutputOptions,
    vertex: Annotated[
        int | None, typer.Option("--vertex", min=0, help="Vertex of the impulse. Default: one of median degree.")
    ] = None,
) -> None:
    """Decay of a filter around a vertex: measured, fitted, and with proved bounds.

    The filter has equal coefficients of total gain one, unless --coeffs or --target is given. With -o the curves are
    drawn (.png) or written (.csv).
    """
    results = Results(outputs, (".png", ".csv"))
    asked = AskedPolynomial(polynomial)
    with results.progress(4) as step:
        step("graph")
        G, L = load(graph)
        if vertex is not None:
            with input_errors():
                check_vertex(vertex, L.n_vertices)
        step("filter")
        p, _ = asked.fitted(L, graph.seed)
        step("localization")
        start = typical_vertex(L) if vertex is None else vertex
        with input_errors(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the floor of the curve says what was reached
            curve = filter_decay(L, p, start)
        step("files")
        results.write(lambda ending: decay_columns(curve) if ending == ".csv" else draw_decay(curve))
    results.show(
        decay_numbers(curve) | {"vertex": start, "order": p.order, "zoom": p.zoom},
        {"graph": graph_line(G.name, L), "filter": asked.words(p), "vertex": f"{start:,}"},
        decay_table(curve),
        decay_text(curve),
    )
