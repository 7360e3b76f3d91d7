"""Options, files and warnings that the commands of tasks share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from cayleygsp._text import printable
from cayleygsp._typing import Array
from cayleygsp.cli.errors import BadInput, input_errors
from cayleygsp.cli.exit_codes import NOT_REACHED
from cayleygsp.cli.loading import load
from cayleygsp.cli.options import GraphOptions, OutputOptions
from cayleygsp.cli.outputs import array_bytes, png_bytes
from cayleygsp.cli.printing import warn
from cayleygsp.cli.results import Results
from cayleygsp.cli.signals import SIGNAL_ENDINGS, STANDARD_INPUT, load_signal
from cayleygsp.filters import ConvergenceWarning
from cayleygsp.graph import Graph
from cayleygsp.laplacians import Laplacian


@dataclass(frozen=True, kw_only=True)
class SignalOptions:
    """The signal of a command and its picture."""

    signal: Annotated[
        Path,
        typer.Argument(
            metavar="SIGNAL", help="One line per vertex: .npy, .csv or .txt; - for text or .npy on standard input."
        ),
    ]
    figure: Annotated[
        Path | None,
        typer.Option("--figure", metavar="FILE", help="Figure of the result: a .png, the same as -o FILE.png."),
    ] = None


def task_results(outputs: OutputOptions, signal: SignalOptions) -> Results:
    """Return the results of a task; reject files that cannot be written before any work."""
    paths = list(outputs.output)
    if signal.figure is not None:
        if signal.figure.suffix.lower() != ".png":
            raise BadInput(f"--figure must end in .png, got '{printable(signal.figure)}'")
        paths.append(signal.figure)
    if not paths:
        raise BadInput("--output must be given: a file .npy, .csv, .txt or .png, or - for standard output")
    return Results(replace(outputs, output=paths), (*SIGNAL_ENDINGS, ".png"))


def load_task(graph: GraphOptions, signal: SignalOptions, *, missing: bool = False) -> tuple[Graph, Laplacian, Array]:
    """Return graph, Laplacian and signal of a task."""
    if graph.graph == "-" and signal.signal == STANDARD_INPUT:
        raise BadInput("GRAPH and SIGNAL must not both be -: there is one standard input")
    G, L = load(graph)
    f = load_signal(signal.signal, L.n_vertices, G.labels, missing=missing)
    if f.size == 0:
        raise BadInput(f"'{printable(signal.signal)}' must hold at least one signal, got an array of shape {f.shape}")
    return G, L, f


@contextmanager
def task_work() -> Iterator[list[str]]:
    """Turn errors into one line each, and collect the warnings of tolerances that were not reached."""
    messages: list[str] = []
    with input_errors(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        yield messages
    messages += [str(warning.message) for warning in caught]


def write_task(results: Results, values: Array, draw: Callable[[], Any]) -> None:
    """Write the resulting signals and their picture."""
    results.write(lambda ending: png_bytes(draw()) if ending == ".png" else array_bytes(values, ending))


def finish_task(converged: bool, messages: list[str]) -> None:
    """Print the warnings, and exit with the code for a tolerance that was not reached."""
    for message in messages:
        warn(message)
    if not converged:
        raise typer.Exit(NOT_REACHED)
