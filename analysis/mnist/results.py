"""What the runs show: test accuracies beside the paper's, costs, and its claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from analysis._experiment import beside_paper, grouped, without
from analysis._figures import plain_axes
from analysis._script import Document, format_seconds
from analysis.mnist.data import SIDE
from analysis.mnist.settings import (
    CAYLEYNET,
    CHEBNET,
    DRAWN,
    FULL,
    JACOBI,
    LENET,
    MNIST,
    NAMES,
    PAPER_ACCURACY,
    PAPER_TEST_SECONDS,
    Config,
)
from analysis.mnist.training import LOSS_STEPS, frequencies

# What is asked of the whole protocol: test accuracies in %, and the test time of a CayleyNet over that of a ChebNet.
LEAST = {LENET: 99.2, CHEBNET: 99.0, CAYLEYNET: 99.1}

MOST_RATIO = 1.4

# Filters of a layer in the picture: curves of responses, and images on the grid.
N_CURVES, N_IMAGES = 6, 8

COURSE = ("loss", "validation", "validation_loss")
_LONG = ("filters", *COURSE)

_STYLES: dict[str, dict[str, Any]] = {
    LENET: {"color": "#000000", "linestyle": "--"},
    CHEBNET: {"color": "#E69F00", "linestyle": ":"},
    CAYLEYNET: {"color": "#D55E00", "linestyle": "-"},
    JACOBI: {"color": "#0072B2", "linestyle": "-."},
}


def collect(config: Config, runs: Sequence[Document], costs: Mapping[str, Document]) -> Document:
    """Return one row per network, the course of each training, learned filters of the first seed, and every run."""
    is_known = config.data == MNIST and config.n_train == FULL.n_train
    rows = []
    for row in grouped(runs, "accuracy"):
        same = [run for run in runs if run["setting"] == row["setting"]]
        model = row["setting"]["model"]
        rows.append(
            {
                "model": model,
                **{name: row[name] for name in ("mean", "sd", "n")},
                "paper": PAPER_ACCURACY.get(model) if is_known else None,
                "n_parameters": same[0]["numbers"]["n_parameters"],
                **costs[model],
                "zooms": [run["numbers"]["zooms"] for run in same if run["numbers"]["zooms"]],
                "filters": [_shown(layer) for layer in same[0]["numbers"]["filters"]],
            }
        )
    curves = [
        {"model": run["setting"]["model"], "seed": run["seed"]} | {name: run["numbers"][name] for name in COURSE}
        for run in runs
    ]
    return {"rows": rows, "curves": curves, "frequencies": frequencies().tolist(), "runs": without(runs, _LONG)}


def _shown(layer: Document) -> Document:
    """Return of the filters of a layer those that the picture has."""
    most = {"responses": N_CURVES, "images": N_IMAGES}
    return {name: value[: most[name]] if name in most else value for name, value in layer.items()}


def accuracy_table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the test accuracies."""
    rows = []
    for row in document["rows"]:
        text = beside_paper(row)
        if row["n"] != document["n_runs"]:
            text += f", {row['n']} of {document['n_runs']} seeds"
        zooms = "; ".join(", ".join(f"{zoom:.3f}" for zoom in zooms) for zooms in row["zooms"])
        rows.append([NAMES[row["model"]], text, f"{row['n_parameters']:,}", zooms])
    return ["network", "test accuracy in % (the paper's, difference)", "parameters", "zoom of each layer"], rows


def cost_table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of what a network costs; times are processor time of one thread."""
    reference = _row_of(document, CHEBNET)
    rows = []
    for row in document["rows"]:
        cells = [NAMES[row["model"]]]
        for name in ("step_seconds", "test_seconds"):
            ratio = f" ({row[name] / reference[name]:.2f} × ChebNet)" if reference and row is not reference else ""
            cells.append(format_seconds(row[name]) + ratio)
        in_paper = PAPER_TEST_SECONDS.get(row["model"]) if row["paper"] is not None else None
        cells.append("" if in_paper is None else f"{in_paper / PAPER_TEST_SECONDS[CHEBNET]:.1f}")
        rows.append(cells)
    return ["network", "training step", "test of 100 images", "the paper's ratio to ChebNet"], rows


def findings(document: Document) -> list[str]:
    """Say what the accuracies and times show, each in a sentence that may turn out either way."""
    sentences = []
    if document["config"]["data"] == DRAWN:
        sentences.append("The digits are generated: accuracies are not to be compared with the paper's.")
    if document["missing"]:
        sentences.append(f"Not trained to the end yet: {', '.join(NAMES[model] for model in document['missing'])}.")
    for model, least in LEAST.items():
        row = _row_of(document, model)
        if row is not None and row["paper"] is not None:
            word = "at or above" if row["mean"] >= least else "below"
            sentences.append(f"{NAMES[model]} is {word} {least:.1f} %; the paper has {row['paper']:.2f} %.")
    cheb, cayley = _row_of(document, CHEBNET), _row_of(document, CAYLEYNET)
    if cheb and cayley:
        ratio = cayley["test_seconds"] / cheb["test_seconds"]
        word = "within" if ratio <= MOST_RATIO else "not within"
        apart = PAPER_TEST_SECONDS[CAYLEYNET] / PAPER_TEST_SECONDS[CHEBNET]
        step = cayley["step_seconds"] / cheb["step_seconds"]
        sentences.append(
            f"CayleyNet over ChebNet: {ratio:.2f} times the test time, {word} {MOST_RATIO}, and {step:.2f} times the "
            f"training step; the paper's test times are {apart:.1f} times apart."
        )
    return sentences + _jacobi_finding(document)


def _jacobi_finding(document: Document) -> list[str]:
    """Compare the loss curve of the paper's Jacobi scheme with that of the series, over as many steps."""
    curves = {curve["model"]: curve["loss"] for curve in reversed(document["curves"])}
    if JACOBI not in curves or CAYLEYNET not in curves:
        return []
    n = min(len(curves[JACOBI]), len(curves[CAYLEYNET]))
    ours, theirs = (curves[model][n - 1] for model in (CAYLEYNET, JACOBI))
    return [
        f"After as many steps the training loss is {ours:.4f} with our filters and {theirs:.4f} by the paper's Jacobi "
        "scheme."
    ]


def _row_of(document: Document, model: str) -> Document | None:
    return next((row for row in document["rows"] if row["model"] == model), None)


def draw(document: Document) -> Figure:
    """Draw the courses of the trainings, and below filters of each network on graphs."""
    shown = [row for row in document["rows"] if row["filters"] and row["model"] != JACOBI]
    figure = Figure(figsize=(10, 3.2 + 3.9 * len(shown)), layout="constrained")
    parts: Any = figure.subfigures(1 + len(shown), 1, height_ratios=[3.2] + [3.9] * len(shown), squeeze=False)[:, 0]
    _draw_courses(parts[0], document)
    for part, row in zip(parts[1:], shown, strict=True):
        _draw_filters(part, row, np.array(document["frequencies"]))
    return figure


def _draw_courses(part: SubFigure, document: Document) -> None:
    left, right = part.subplots(1, 2)
    named: set[str] = set()
    for curve in document["curves"]:
        model = curve["model"]
        label = None if model in named else NAMES[model]
        named.add(model)
        steps = LOSS_STEPS * np.arange(1, len(curve["loss"]) + 1)
        left.plot(steps, curve["loss"], linewidth=1, label=label, **_STYLES[model])
        errors = 100 - np.array(curve["validation"])
        right.plot(np.arange(1, len(errors) + 1), errors, linewidth=1, marker=".", label=label, **_STYLES[model])
    left.set(xlabel="steps", ylabel="training loss", yscale="log", title=f"mean loss of {LOSS_STEPS} steps")
    right.set(xlabel="epochs", ylabel="validation error in %", yscale="log", title="validation images")
    for ax in (left, right):
        ax.title.set_fontsize("small")
        if named:
            ax.legend(fontsize="x-small", frameon=False)
        plain_axes(ax)


def _draw_filters(part: SubFigure, row: Document, frequencies: np.ndarray[Any, Any]) -> None:
    """Draw filters of the first layer on the grid, above the responses of both layers."""
    part.suptitle(f"{NAMES[row['model']]}: filters of the largest norm", fontsize="small")
    halves: Any = part.subfigures(2, 1, height_ratios=[1.2, 2.7])
    above, below = halves
    images = row["filters"][0]["images"]
    for ax, image in zip(np.atleast_1d(above.subplots(1, len(images))), images, strict=True):
        largest = max(map(abs, image)) or 1.0
        ax.imshow(np.reshape(image, (SIDE, SIDE)), cmap="RdBu_r", vmin=-largest, vmax=largest)
        ax.set_axis_off()
    for k, (ax, layer) in enumerate(zip(below.subplots(1, 2), row["filters"], strict=True)):
        _draw_responses(ax, layer, frequencies, k + 1)


def _draw_responses(ax: Axes, layer: Document, frequencies: np.ndarray[Any, Any], number: int) -> None:
    """Draw responses over the axis on which the filters are polynomials: the unrolled circle for Cayley filters."""
    zoom = layer["zoom"]
    if zoom is None:
        at = np.arccos(1 - frequencies)
        name, ends = "arccos(1 − λ): the Chebyshev axis", "layer {}"
    else:
        at = 2 * np.arctan(zoom * frequencies)
        name, ends = "π + arg C(hλ): the unrolled circle", f"layer {{}}, zoom {zoom:.3g}"
    for response in layer["responses"]:
        ax.plot(at, response, linewidth=1)
    ax.axvline(at[-1], color="0.6", linewidth=0.8, linestyle=":")
    ax.set(xlabel=name, ylabel="response", title=ends.format(number), xlim=(0, np.pi))
    ax.title.set_fontsize("small")
    plain_axes(ax)
