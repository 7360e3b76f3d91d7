"""The command ``design``."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import typer

from cayleygsp.cli.errors import BadInput, input_errors
from cayleygsp.cli.inputs import load, need_edges
from cayleygsp.cli.options import TARGET_TEXTS, GraphOptions, LaplacianOptions, OutputOptions
from cayleygsp.cli.outputs import Results, array_bytes, json_text
from cayleygsp.cli.polynomial import check_fit_order, check_positive_option, check_product, check_target, target_name
from cayleygsp.design import Fit, parse_target
from cayleygsp.design.fit import MAX_CAYLEY_ORDER
from cayleygsp.report.design import compare_fits, draw_fits, fit_numbers, fit_table
from cayleygsp.report.frequencies import find_frequencies


def design_command(
    target: Annotated[str, typer.Option("--target", help=f"Target of the fit: {TARGET_TEXTS}")],
    laplacian: LaplacianOptions,
    outputs: OutputOptions,
    order: Annotated[
        int, typer.Option("--order", min=1, help=f"Order r of the Cayley polynomial, at most {MAX_CAYLEY_ORDER}.")
    ] = 4,
    graph: Annotated[
        str | None, typer.Option("--graph", help="Fit over the frequencies of this graph, file or built-in.")
    ] = None,
    lmax: Annotated[float | None, typer.Option("--lmax", help="Fit over all of [0, LMAX].")] = None,
    zoom: Annotated[float | None, typer.Option("--zoom", help="The spectral zoom h > 0.")] = None,
    minimax: Annotated[
        bool, typer.Option("--minimax", help="Minimise the largest distance, not the mean square.")
    ] = False,
) -> None:
    """Fit a Cayley polynomial, and a Chebyshev polynomial with as many parameters.

    With -o both are written (.json, which the filter command reads), the Cayley coefficients alone (.csv, .npy), or the
    responses are drawn (.png).
    """
    results = Results(outputs, (".json", ".csv", ".npy", ".png"))
    if (graph is None) == (lmax is None):
        raise BadInput("one of --graph and --lmax must be given, and not both")
    if graph is None:
        for given, name in ((laplacian.variable, "--variable"), (laplacian.symmetrize, "--symmetrize")):
            if given is not None:
                raise BadInput(f"{name} must be left out without --graph")
    check_fit_order(order)
    check_positive_option(lmax, "--lmax")
    check_positive_option(zoom, "--zoom")
    check_target(target)

    frequencies, weight, end = None, None, lmax or 0.0
    with results.progress(3) as step:
        step("frequencies")
        if graph is not None:
            _, L = load(GraphOptions(graph=graph, **vars(laplacian)))
            need_edges(L, "a design")
            frequencies = find_frequencies(L, laplacian.seed)
            weight, end = frequencies.density, L.lmax
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

        def content(ending: str) -> Any:
            if ending == ".png":
                return draw_fits(fits, frequencies)
            return json_text(numbers) if ending == ".json" else _coefficients(fits["Cayley"], ending)

        results.write(content)
    over = "all frequencies alike" if frequencies is None else f"the frequencies of {graph}"
    facts = {"target": target_name(goal), "over": f"[0, {end:.6g}], {over}", "made small": fits["Cayley"].norm}
    results.show(numbers, facts | {"distance, at most": fits["Cayley"].where}, fit_table(fits))


def _coefficients(fit: Fit, ending: str) -> Any:
    """Return the coefficients of a fit as an array, or as columns below the zoom."""
    c = fit.polynomial.coeffs
    if ending == ".npy":
        return c
    head = f"# Cayley polynomial of order {c.size - 1}, zoom {fit.zoom!r}: real and imaginary parts\n"
    return head.encode() + array_bytes(np.stack([c.real, c.imag], axis=1), ending)
