"""The command ``features``."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from cayleygsp.cli.errors import BadInput
from cayleygsp.cli.inputs import graph_line, need_edges
from cayleygsp.cli.options import GraphOptions, OutputOptions
from cayleygsp.cli.polynomial import check_positive_option
from cayleygsp.cli.task_frame import TaskOptions, finish_task, listed, load_task, pictures, task_results, timed
from cayleygsp.tasks import smooth_features

# More bands than this would end below all that double precision tells apart.
_MOST_BANDS = 50

_DEFAULT_BANDS = 4


def features_command(
    graph: GraphOptions,
    signal: TaskOptions,
    outputs: OutputOptions,
    bands: Annotated[
        int | None,
        typer.Option(
            "--bands",
            min=2,
            max=_MOST_BANDS,
            help=f"Number of bands; they meet at 1/2, 1/4, 1/8 ... of the spectrum. Default: {_DEFAULT_BANDS}.",
        ),
    ] = None,
    edges: Annotated[
        list[float],
        typer.Option("--edge", help="A frequency at which two bands meet; can be given several times, increasing."),
    ] = [],  # noqa: B006
    transition: Annotated[
        float, typer.Option("--transition", help="Width of the steps between bands, relative to where they meet.")
    ] = 0.5,
    tol: Annotated[float, typer.Option("--tol", help="Allowed error of each band, relative to its gain.")] = 1e-6,
) -> None:
    """Split signals into bands of frequency: features for a classifier.

    Each signal becomes one column per band, from low to high frequencies; all bands of the first signal come first. The
    bands of a signal add up to it. --figure draws the bands and the features of the first signal.
    """
    results = task_results(outputs, signal)
    check_positive_option(tol, "--tol")
    check_positive_option(transition, "--transition")
    if transition > 2:
        raise BadInput(f"--transition must be at most 2, got {transition:g}")
    if bands is not None and edges:
        raise BadInput("--bands and --edge must not both be given")
    for edge in edges:
        check_positive_option(edge, "--edge")
    if edges != sorted(set(edges)):
        raise BadInput(f"--edge must be given in increasing order, got {', '.join(f'{edge:g}' for edge in edges)}")
    with results.progress(3) as step:
        step("graph")
        G, L, X = load_task(graph, signal)
        need_edges(L, "bands of frequency")
        if edges and edges[-1] >= L.lmax:
            raise BadInput(f"--edge must be below the end of the spectrum, {L.lmax:.6g}, got {edges[-1]:g}")
        step("features")
        cut = edges or bands or _DEFAULT_BANDS
        done, seconds, messages = timed(lambda: smooth_features(L, X, cut, transition=transition, tol=tol))
        step("files")
        results.write(lambda ending: pictures().features_figure(G, done, L.lmax) if ending == ".png" else done.values)
    first, second = done.summary().splitlines()
    facts = {"graph": graph_line(G.name, L), "features": f"{first}, {seconds:.3g} s", "error bound": second}
    numbers = listed(done, "names", "edges") | listed(done.info, "method", "n_matvecs", "certificate", "converged")
    results.show(numbers | {"error_bound": np.max(done.info.error_bound).item(), "seconds": seconds}, facts)
    finish_task(done.info.converged, messages)
