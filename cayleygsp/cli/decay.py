"""The command ``decay``."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated

import typer

from cayleygsp._validation import check_vertex
from cayleygsp.cli.errors import input_errors
from cayleygsp.cli.loading import graph_line, load
from cayleygsp.cli.options import FilterOptions, GraphOptions, OutputOptions
from cayleygsp.cli.outputs import csv_bytes, png_bytes
from cayleygsp.cli.polynomial import AskedPolynomial
from cayleygsp.cli.results import Results
from cayleygsp.filters import CayleyFilter, ConvergenceWarning

if TYPE_CHECKING:
    from cayleygsp.localization import Decay


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
        from cayleygsp.localization import decay_curve
        from cayleygsp.report.facts import typical_vertex
        from cayleygsp.report.mass_numbers import decay_numbers
        from cayleygsp.report.mass_text import decay_table, decay_text

        if vertex is not None:
            with input_errors():
                check_vertex(vertex, L.n_vertices)
        step("filter")
        p = asked.polynomial(L, graph.seed)
        step("localization")
        start = typical_vertex(L) if vertex is None else vertex
        with input_errors(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the floor of the curve says what was reached
            curve = decay_curve(CayleyFilter(L, p, tol=1e-10), start)
        step("files")
        results.write(lambda ending: _table(curve) if ending == ".csv" else _picture(curve))
    results.show(
        decay_numbers(curve) | {"vertex": start, "order": p.order, "zoom": p.zoom},
        {"graph": graph_line(G.name, L), "filter": asked.words(p), "vertex": f"{start:,}"},
        decay_table(curve),
        decay_text(curve),
    )


def _table(curve: Decay) -> bytes:
    from cayleygsp.report.mass_numbers import decay_columns

    columns = decay_columns(curve)
    return csv_bytes(list(columns), list(zip(*columns.values(), strict=True)))


def _picture(curve: Decay) -> bytes:
    from cayleygsp.report.mass_figure import draw_decay

    return png_bytes(draw_decay(curve))
