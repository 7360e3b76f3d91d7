"""What the commands that filter signals share: their options, their work in time, and how they end."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np
import typer

from cayleygsp._text import printable
from cayleygsp._typing import Array
from cayleygsp.cli.errors import NOT_REACHED, BadInput, input_errors
from cayleygsp.cli.inputs import check_streams, load, load_signal
from cayleygsp.cli.options import GraphOptions, OutputOptions
from cayleygsp.cli.outputs import Results, warn
from cayleygsp.filters import ConvergenceWarning
from cayleygsp.graph import Graph
from cayleygsp.io.signals import SIGNAL_ENDINGS
from cayleygsp.laplacians import Laplacian

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class SignalOptions:
    """The signal of a command."""

    signal: Annotated[
        Path,
        typer.Argument(
            metavar="SIGNAL", help="One line per vertex: .npy, .csv or .txt; - for text or .npy on standard input."
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class TaskOptions(SignalOptions):
    """The signal of a task and its picture."""

    figure: Annotated[
        Path | None,
        typer.Option("--figure", metavar="FILE", help="Figure of the result: a .png, the same as -o FILE.png."),
    ] = None


def task_results(outputs: OutputOptions, task: TaskOptions) -> Results:
    """Return the results of a task; reject files that cannot be written before any work."""
    paths = list(outputs.output)
    if task.figure is not None:
        if task.figure.suffix.lower() != ".png":
            raise BadInput(f"--figure must end in .png, got '{printable(task.figure)}'")
        paths.append(task.figure)
    if not paths:
        raise BadInput("--output must be given: a file .npy, .csv, .txt or .png, or - for standard output")
    return Results(replace(outputs, output=paths), (*SIGNAL_ENDINGS, ".png"))


def load_task(graph: GraphOptions, task: TaskOptions, *, missing: bool = False) -> tuple[Graph, Laplacian, Array]:
    """Return graph, Laplacian and signal of a task."""
    check_streams(graph.graph, task.signal)
    G, L = load(graph)
    return G, L, load_signal(task.signal, L.n_vertices, G.labels, missing=missing)


def timed(compute: Callable[[], T]) -> tuple[T, float, list[str]]:
    """Return a result, how many seconds it took, and warnings of tolerances that were not reached.

    An error of the library becomes one line.
    """
    start = time.perf_counter()
    with input_errors(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        result = compute()
    return result, time.perf_counter() - start, [str(warning.message) for warning in caught]


def listed(result: object, *names: str) -> dict[str, Any]:
    """Return attributes of a result as they stand in JSON."""
    values = {name: getattr(result, name) for name in names}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def pictures() -> Any:
    """Return the module that draws what tasks return; it loads matplotlib."""
    from cayleygsp.plotting import tasks

    return tasks


def finish_task(converged: bool, messages: Sequence[str]) -> None:
    """Print the warnings, and exit with the code for a tolerance that was not reached."""
    for message in messages:
        warn(message)
    if not converged:
        raise typer.Exit(NOT_REACHED)
