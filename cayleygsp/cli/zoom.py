"""The command ``zoom``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from cayleygsp.cli.errors import BadInput, input_errors
from cayleygsp.cli.loading import graph_line, load, need_edges, rows_bytes, written
from cayleygsp.cli.options import (
    ForceOption,
    GraphArgument,
    JsonOption,
    Kind,
    KindOption,
    Outputs,
    SeedOption,
    VariableOption,
)
from cayleygsp.cli.outputs import check_outputs, png_bytes, write_outputs
from cayleygsp.cli.polynomial import check_positive, check_product
from cayleygsp.cli.printing import counted, print_facts, print_json, print_table, progress


def zoom_command(
    graph: GraphArgument,
    zooms: Annotated[
        list[float], typer.Option("--zoom", help="A zoom h > 0; can be given several times. Else three that suit.")
    ] = [],  # noqa: B006
    lowest: Annotated[int, typer.Option("--lowest", min=1, help="How many of the lowest frequencies to look at.")] = 15,
    output: Outputs = [],  # noqa: B006
    kind: KindOption = Kind.combinatorial,
    variable: VariableOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """How much of the half circle the lowest frequencies take, and what each zoom resolves.

    With -o the half circles are drawn (.png) or the table is written (.csv).
    """
    for h in zooms:
        check_positive(h, "--zoom")
    check_outputs(output, (".png", ".csv"), force)
    G, L = load(graph, kind, variable, seed)
    need_edges(L, "a zoom")
    for h in zooms:
        check_product(h, L.lmax)
    if lowest > L.n_vertices:
        raise BadInput(f"--lowest must be at most the number of vertices {L.n_vertices}, got {lowest}")
    from cayleygsp.report.frequencies import find_frequencies
    from cayleygsp.report.zoom import draw_half_circles, zoom_table
    from cayleygsp.report.zoom_numbers import suggested_zooms, zoom_rows

    with progress(2) as step:
        step("frequencies")
        frequencies = find_frequencies(L, seed)
        chosen = zooms or suggested_zooms(frequencies)
        with input_errors():
            rows = zoom_rows(frequencies, chosen, lowest)
        step("files")
        write_outputs(
            {
                path: rows_bytes(rows)
                if path.suffix.lower() == ".csv"
                else png_bytes(draw_half_circles(frequencies, chosen, lowest))
                for path in output
            }
        )
    if json:
        print_json({"exact": frequencies.density.exact, "rows": [asdict(row) for row in rows]})
        return
    how = {
        "exact": "",
        "at most": " (a Ritz value: the true one is not above)",
        "about": " (estimated from the spectral density)",
    }
    last = f"up to λ = {rows[0].frequency_text}{how[rows[0].certificate]}"
    said = f"{counted(lowest, 'frequency', 'frequencies')}, {last}"
    print_facts({"graph": graph_line(G, L), "lowest": said})
    print_table(zoom_table(rows))
    if output:
        print_facts(written(output))
