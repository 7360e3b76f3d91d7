"""The command ``zoom``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cayleygsp._format import counted
from cayleygsp.cli.errors import BadInput, input_errors
from cayleygsp.cli.inputs import graph_line, load, need_edges
from cayleygsp.cli.options import GraphOptions, OutputOptions
from cayleygsp.cli.outputs import Results
from cayleygsp.cli.polynomial import check_positive_option, check_product
from cayleygsp.report.frequencies import certified_text, find_frequencies
from cayleygsp.report.zoom import draw_half_circles, suggested_zooms, zoom_rows, zoom_table

# How many of the lowest frequencies are looked at where no number is given, as in the paper's figure 1.
DEFAULT_LOWEST = 15


def zoom_command(
    graph: GraphOptions,
    outputs: OutputOptions,
    zooms: Annotated[
        list[float],
        typer.Option(
            "--zoom", help="A zoom h > 0; can be given several times. Default: three zooms chosen from the spectrum."
        ),
    ] = [],  # noqa: B006
    lowest: Annotated[
        int | None,
        typer.Option(
            "--lowest",
            min=1,
            help=f"Number of lowest frequencies. Default: {DEFAULT_LOWEST}, or all if fewer.",
        ),
    ] = None,
) -> None:
    """Show how much of the half circle the lowest frequencies take, and what each zoom resolves.

    With -o the half circles are drawn (.png) or the table is written (.csv).
    """
    for h in zooms:
        check_positive_option(h, "--zoom")
    results = Results(outputs, (".png", ".csv"))
    with results.progress(3) as step:
        step("graph")
        G, L = load(graph)
        need_edges(L, "a zoom")
        for h in zooms:
            check_product(h, L.lmax)
        n_lowest = min(DEFAULT_LOWEST, L.n_vertices) if lowest is None else lowest
        if n_lowest > L.n_vertices:
            raise BadInput(f"--lowest must be at most the number of vertices {L.n_vertices}, got {n_lowest}")
        step("frequencies")
        frequencies = find_frequencies(L, graph.seed)
        chosen = zooms or suggested_zooms(frequencies)
        with input_errors():
            rows = zoom_rows(frequencies, chosen, n_lowest)
        step("files")
        results.write(lambda ending: rows if ending == ".csv" else draw_half_circles(frequencies, chosen, n_lowest))
    how = {
        "exact": "",
        "at most": " (a Ritz value: the true one is not above)",
        "about": " (estimated from the spectral density)",
    }
    last = f"up to λ = {certified_text(rows[0].frequency, rows[0].certificate)}{how[rows[0].certificate]}"
    results.show(
        {"exact": frequencies.density.exact, "rows": [asdict(row) for row in rows]},
        {"graph": graph_line(G.name, L), "lowest": f"{counted(n_lowest, 'frequency', 'frequencies')}, {last}"},
        zoom_table(rows),
    )
