"""The command ``bound``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import numpy as np
import typer

from cayleygsp import bounds
from cayleygsp.cli.errors import BadInput, input_errors
from cayleygsp.cli.inputs import graph_line, load
from cayleygsp.cli.options import MOST_SWEEPS, FilterOptions, GraphOptions, OutputOptions
from cayleygsp.cli.outputs import Results
from cayleygsp.cli.polynomial import AskedPolynomial, check_positive_option
from cayleygsp.report.bounds import (
    MORE_SWEEPS,
    SWEEPS,
    bound_rows,
    bound_table,
    draw_bounds,
    gain_text,
    kappa_text,
    needs,
    needs_text,
)


def bound_command(
    graph: GraphOptions,
    polynomial: FilterOptions,
    outputs: OutputOptions,
    sweeps: Annotated[
        int | None, typer.Option("--sweeps", min=0, help="Largest number K of Jacobi sweeps in the table.")
    ] = None,
    tol: Annotated[
        float,
        typer.Option(
            "--tol",
            help="Tolerance, relative to the norm of the signal; the sweeps and the degree that reach it are reported.",
        ),
    ] = 1e-6,
) -> None:
    """Error bounds of Jacobi sweeps and of a Chebyshev series, and the sweeps or the degree that a tolerance needs.

    The filter has equal coefficients of total gain one, unless --coeffs or --target is given. With -o the bounds are
    drawn beside errors measured on a random signal (.png), or the table is written (.csv).
    """
    results = Results(outputs, (".png", ".csv"))
    check_positive_option(tol, "--tol")
    asked = AskedPolynomial(polynomial)
    if sweeps is not None and sweeps * asked.n_powers > MOST_SWEEPS:
        raise BadInput(f"--sweeps times the order {asked.n_powers:,} must be at most {MOST_SWEEPS:,}, got {sweeps:,}")
    with results.progress(4) as step:
        step("graph")
        G, L = load(graph)
        step("filter")
        p, _ = asked.fitted(L, graph.seed)
        step("bounds")
        signal = (
            np.random.default_rng(graph.seed).standard_normal(L.n_vertices)
            if ".png" in results.endings.values()
            else None
        )
        counts = [*SWEEPS, *MORE_SWEEPS]
        if sweeps is not None:
            counts = [*(count for count in counts if count < sweeps), sweeps]
        with input_errors():  # not every zoom is one that bounds can be computed for
            rows = bound_rows(L, p, counts, signal)
            needed = needs(L, p, tol, counts[-1])
            kappa = bounds.kappa(L, p.zoom)
        step("files")

        def content(ending: str) -> Any:
            if ending == ".csv":
                return rows
            with input_errors():  # errors that overflow cannot be drawn
                return draw_bounds(rows)

        results.write(content)
    results.show(
        {
            "kappa": kappa,
            "order": p.order,
            "zoom": p.zoom,
            "rows": [asdict(row) for row in rows],
            "needs": asdict(needed),
        },
        {"graph": graph_line(G.name, L), "filter": asked.words(p), "κ": kappa_text(L, p.zoom)},
        bound_table(rows),
        gain_text(rows),
        needs_text(needed),
    )
