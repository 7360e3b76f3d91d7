"""The command ``inpaint``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from cayleygsp._text import printable
from cayleygsp._typing import Array
from cayleygsp.cli.errors import BadInput
from cayleygsp.cli.inputs import STANDARD_INPUT, graph_line, load_signal
from cayleygsp.cli.options import GraphOptions, OutputOptions
from cayleygsp.cli.polynomial import check_positive_option
from cayleygsp.cli.task_frame import TaskOptions, finish_task, listed, load_task, pictures, task_results, timed
from cayleygsp.graph import Graph
from cayleygsp.tasks import Inpainted, inpaint


def inpaint_command(
    graph: GraphOptions,
    signal: TaskOptions,
    outputs: OutputOptions,
    mask: Annotated[
        Path | None,
        typer.Option("--mask", metavar="FILE", help="1 where a value is known and 0 elsewhere, one line per vertex."),
    ] = None,
    strength: Annotated[
        float,
        typer.Option(
            "--strength", help="Weight of smoothness beside the fit to the known values; 0 keeps these as they are."
        ),
    ] = 1.0,
    fill: Annotated[
        float | None,
        typer.Option("--fill", help="Value in components without known values. Default: such components are an error."),
    ] = None,
    tol: Annotated[float, typer.Option("--tol", help="Allowed relative error, in the energy norm.")] = 1e-6,
) -> None:
    """Fill in the missing values of a signal: the smooth signal that fits the known ones.

    Missing values are nan, or marked by --mask, which ignores the numbers in their place. The result has the least
    (distance from the known values)² + strength · (differences along edges)²; a bound of its error is proved, in the
    norm of that sum and at every vertex. --figure draws the known values and the result.
    """
    results = task_results(outputs, signal)
    check_positive_option(tol, "--tol")
    if not (math.isfinite(strength) and strength >= 0):
        raise BadInput(f"--strength must be at least 0 and finite, got {strength}")
    if fill is not None and not math.isfinite(fill):
        raise BadInput(f"--fill must be finite, got {fill}")
    if mask == STANDARD_INPUT:
        raise BadInput("--mask must be a file, got -")
    with results.progress(3) as step:
        step("graph")
        G, L, y = load_task(graph, signal, missing=True)
        known = None if mask is None else _load_mask(mask, G)
        step("inpaint")
        done, seconds, messages = timed(lambda: inpaint(L, y, known, strength, fill=fill, tol=tol))
        step("files")
        shown = ~np.isnan(y.reshape(G.n_vertices, -1)[:, 0]) if known is None else known
        results.write(lambda kind: pictures().inpainted_figure(G, y, shown, done) if kind == ".png" else done.signals)
    results.show(_numbers(done, seconds), {"graph": graph_line(G.name, L)} | _facts(done, seconds))
    finish_task(done.converged, messages)


def _load_mask(path: Path, graph: Graph) -> Array:
    values = load_signal(path, graph.n_vertices, graph.labels)
    if values.ndim != 1 or values.dtype.kind == "c" or not np.isin(values, (0, 1)).all():
        raise BadInput(f"--mask must hold one 0 or 1 per vertex, got other numbers in '{printable(path)}'")
    return values == 1


def _numbers(done: Inpainted, seconds: float) -> dict[str, Any]:
    largest = {name: np.max(getattr(done, name)).item() for name in ("error_bound", "largest_error")}
    names = ("strength", "n_known", "n_filled", "n_iterations", "tol", "certificate", "converged")
    return listed(done, *names) | largest | {"seconds": seconds}


def _facts(done: Inpainted, seconds: float) -> dict[str, str]:
    lines = done.summary().splitlines()
    names = ["inpainting", *(["filled"] if done.n_filled else []), "solver", "error bound"]
    facts = dict(zip(names, lines, strict=True))
    facts["solver"] += f", {seconds:.3g} s"
    return facts
