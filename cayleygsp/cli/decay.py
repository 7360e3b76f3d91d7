"""The command ``decay``."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated

import typer

from cayleygsp._validation import check_vertex
from cayleygsp.cli.errors import input_errors
from cayleygsp.cli.loading import graph_line, load, written
from cayleygsp.cli.options import (
    CoeffsOption,
    ForceOption,
    GraphArgument,
    JsonOption,
    Kind,
    KindOption,
    OrderOption,
    Outputs,
    SeedOption,
    TargetOption,
    VariableOption,
    ZoomOption,
)
from cayleygsp.cli.outputs import check_outputs, csv_bytes, png_bytes, write_outputs
from cayleygsp.cli.polynomial import PolynomialOptions
from cayleygsp.cli.printing import print_facts, print_json, print_table, progress
from cayleygsp.filters import CayleyFilter, ConvergenceWarning

if TYPE_CHECKING:
    from cayleygsp.localization import Decay


def decay_command(
    graph: GraphArgument,
    vertex: Annotated[
        int | None, typer.Option("--vertex", min=0, help="Where to look; else a vertex of median degree.")
    ] = None,
    zoom: ZoomOption = None,
    order: OrderOption = None,
    coeffs: CoeffsOption = None,
    target: TargetOption = None,
    output: Outputs = [],  # noqa: B006
    kind: KindOption = Kind.combinatorial,
    variable: VariableOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """How far a filter reaches about a vertex: measured, fitted and proved.

    The filter has equal coefficients of total gain one, unless --coeffs or --target is given. With -o the curves are
    drawn (.png) or written (.csv).
    """
    check_outputs(output, (".png", ".csv"), force)
    asked = PolynomialOptions(coeffs, target, zoom, order)
    G, L = load(graph, kind, variable, seed)
    from cayleygsp.localization import decay_curve
    from cayleygsp.report.decay_numbers import decay_numbers
    from cayleygsp.report.decay_text import decay_table, decay_text
    from cayleygsp.report.facts import typical_vertex

    if vertex is not None:
        with input_errors():
            check_vertex(vertex, L.n_vertices)
    with progress(3) as step:
        step("filter")
        p = asked.polynomial(L, seed)
        step("localization")
        start = typical_vertex(L) if vertex is None else vertex
        with input_errors(), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the floor of the curve says what was reached
            curve = decay_curve(CayleyFilter(L, p, tol=1e-10), start)
        step("files")
        write_outputs({path: _file_bytes(curve, path.suffix.lower()) for path in output})
    if json:
        print_json(decay_numbers(curve) | {"vertex": start, "order": p.order, "zoom": p.zoom})
        return
    said = f"{asked.said}, order {p.order}, zoom {p.zoom:.6g}"
    print_facts({"graph": graph_line(G, L), "filter": said, "vertex": f"{start:,}"})
    print_table(decay_table(curve))
    print(decay_text(curve))
    if output:
        print_facts(written(output))


def _file_bytes(curve: Decay, suffix: str) -> bytes:
    from cayleygsp.report.decay_numbers import decay_columns

    if suffix == ".csv":
        columns = decay_columns(curve)
        return csv_bytes(list(columns), list(zip(*columns.values(), strict=True)))
    from cayleygsp.report.decay_figure import draw_decay

    return png_bytes(draw_decay(curve))
