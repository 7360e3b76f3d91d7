"""The command ``bound``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from cayleygsp.cli.errors import BadInput, input_errors
from cayleygsp.cli.loading import graph_line, load, rows_bytes, written
from cayleygsp.cli.options import (
    MOST_SWEEPS,
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
from cayleygsp.cli.outputs import check_outputs, png_bytes, write_outputs
from cayleygsp.cli.polynomial import PolynomialOptions, check_positive
from cayleygsp.cli.printing import print_facts, print_json, print_table, progress

if TYPE_CHECKING:
    from cayleygsp.report.bound_numbers import BoundRow


def bound_command(
    graph: GraphArgument,
    zoom: ZoomOption = None,
    order: OrderOption = None,
    coeffs: CoeffsOption = None,
    target: TargetOption = None,
    sweeps: Annotated[int | None, typer.Option("--sweeps", min=0, help="Jacobi sweeps K to look at.")] = None,
    tol: Annotated[float, typer.Option("--tol", help="Error, relative to the signal, for what it takes.")] = 1e-6,
    output: Outputs = [],  # noqa: B006
    kind: KindOption = Kind.combinatorial,
    variable: VariableOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Error bounds of Jacobi sweeps and of a Chebyshev series, and what an error takes.

    The filter has equal coefficients of total gain one, unless --coeffs or --target is given. With -o the bounds are
    drawn beside errors measured on a random signal (.png), or the table is written (.csv).
    """
    check_outputs(output, (".png", ".csv"), force)
    check_positive(tol, "--tol")
    asked = PolynomialOptions(coeffs, target, zoom, order)
    if sweeps is not None and sweeps * asked.n_powers > MOST_SWEEPS:
        raise BadInput(f"--sweeps times the order {asked.n_powers:,} must be at most {MOST_SWEEPS:,}, got {sweeps:,}")
    G, L = load(graph, kind, variable, seed)
    from cayleygsp import bounds
    from cayleygsp.report.bound_numbers import MORE_SWEEPS, SWEEPS, bound_rows, needs
    from cayleygsp.report.bound_text import bound_table, gain_text, kappa_text, needs_text

    with progress(3) as step:
        step("filter")
        p = asked.polynomial(L, seed)
        step("bounds")
        draws = any(path.suffix.lower() == ".png" for path in output)
        signal = np.random.default_rng(seed).standard_normal(L.n_vertices) if draws else None
        counts = [*SWEEPS, *MORE_SWEEPS]
        if sweeps is not None:
            counts = [*(count for count in counts if count < sweeps), sweeps]
        with input_errors():  # not every zoom is one that bounds can be computed for
            rows = bound_rows(L, p, counts, signal)
            needed = needs(L, p, tol, counts[-1])
            kappa = bounds.kappa(L, p.zoom)
        step("files")
        write_outputs({path: _file_bytes(rows, path.suffix.lower()) for path in output})
    if json:
        head = {"kappa": kappa, "order": p.order, "zoom": p.zoom}
        print_json(head | {"rows": [asdict(row) for row in rows], "needs": asdict(needed)})
        return
    said = f"{asked.said}, order {p.order}, zoom {p.zoom:.6g}"
    print_facts({"graph": graph_line(G, L), "filter": said, "κ": kappa_text(L, p.zoom)})
    print_table(bound_table(rows))
    print(gain_text(rows))
    print(needs_text(needed))
    if output:
        print_facts(written(output))


def _file_bytes(rows: list[BoundRow], suffix: str) -> bytes:
    if suffix == ".csv":
        return rows_bytes(rows)
    from cayleygsp.report.bound_figure import draw_bounds

    return png_bytes(draw_bounds(rows))
