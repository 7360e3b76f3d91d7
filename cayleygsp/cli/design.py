"""The command ``design``."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from cayleygsp.cli.errors import BadInput, input_errors
from cayleygsp.cli.loading import load, need_edges, written
from cayleygsp.cli.options import (
    ForceOption,
    JsonOption,
    Kind,
    KindOption,
    Outputs,
    SeedOption,
    VariableOption,
    ZoomOption,
)
from cayleygsp.cli.outputs import array_bytes, check_outputs, png_bytes, write_outputs
from cayleygsp.cli.polynomial import check_positive, check_product, check_target, target_name
from cayleygsp.cli.printing import print_facts, print_json, print_table, progress
from cayleygsp.design import Fit, parse_target


def design_command(
    target: Annotated[
        str, typer.Option("--target", help="low:CUTOFF, high:CUTOFF, band:LOW:HIGH, heat:SCALE, mexican:SCALE, ...")
    ],
    order: Annotated[int, typer.Option("--order", min=1, help="Order r of the Cayley polynomial.")] = 4,
    graph: Annotated[
        str | None, typer.Option("--graph", help="Fit over the frequencies of this graph, file or built-in.")
    ] = None,
    lmax: Annotated[float | None, typer.Option("--lmax", help="Fit over all of [0, LMAX].")] = None,
    zoom: ZoomOption = None,
    minimax: Annotated[bool, typer.Option("--minimax", help="Make the largest distance small, not the mean.")] = False,
    output: Outputs = [],  # noqa: B006
    kind: KindOption = Kind.combinatorial,
    variable: VariableOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Fit a Cayley polynomial, and a Chebyshev polynomial with as many parameters.

    With -o both are written (.json, which the filter command reads), the Cayley coefficients alone (.csv, .npy), or the
    responses are drawn (.png).
    """
    check_outputs(output, (".json", ".csv", ".npy", ".png"), force)
    if (graph is None) == (lmax is None):
        raise BadInput("one of --graph and --lmax must be given, and not both")
    for value, name in ((lmax, "--lmax"), (zoom, "--zoom")):
        if value is not None:
            check_positive(value, name)
    check_target(target)
    from cayleygsp.report.design import compare_fits, draw_fits, fit_numbers, fit_table
    from cayleygsp.report.frequencies import find_frequencies

    frequencies, weight, end = None, None, lmax or 0.0
    with progress(3) as step:
        step("frequencies")
        if graph is not None:
            _, L = load(graph, kind, variable, seed)
            need_edges(L, "a design")
            frequencies = find_frequencies(L, seed)
            weight, end = frequencies.weight, L.lmax
        check_product(zoom, end)
        step("fit")
        with input_errors():
            goal = parse_target(target, end)
            fits = compare_fits(
                goal, order, end, weight, zoom=zoom or "auto", norm="minimax" if minimax else "least-squares"
            )
        step("files")
        numbers = {"target": target, "lmax": end, "norm": fits["Cayley"].norm}
        numbers |= {name.lower(): fit_numbers(fit) for name, fit in fits.items()}
        write_outputs(
            {
                path: png_bytes(draw_fits(goal, fits, end, frequencies))
                if path.suffix.lower() == ".png"
                else _coefficient_bytes(fits["Cayley"], numbers, path.suffix.lower())
                for path in output
            }
        )
    if json:
        print_json(numbers)
        return
    over = "all frequencies alike" if frequencies is None else f"the frequencies of {graph}"
    facts = {"target": target_name(goal), "over": f"[0, {end:.6g}], {over}", "made small": fits["Cayley"].norm}
    print_facts(facts | {"distance, at most": fits["Cayley"].where})
    print_table(fit_table(fits))
    if output:
        print_facts(written(output))


def _coefficient_bytes(fit: Fit, numbers: dict[str, Any], ending: str) -> bytes:
    """Return the fit as a file: all of it as JSON, the coefficients as an array, or as columns below the zoom."""
    import json

    if ending == ".json":
        return (json.dumps(numbers, indent=2, allow_nan=False) + "\n").encode()
    c = fit.polynomial.coeffs
    if ending == ".npy":
        return array_bytes(c, ending)
    head = f"# Cayley polynomial of order {c.size - 1}, zoom {fit.zoom!r}: real and imaginary parts\n"
    return head.encode() + array_bytes(np.stack([c.real, c.imag], axis=1), ending)
