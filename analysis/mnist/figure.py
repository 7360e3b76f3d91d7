"""The picture: loss along the training, learned filters on the grid, and their responses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from analysis._document import Document
from analysis._figures import plain_axes
from analysis.mnist.data import SIDE
from analysis.mnist.settings import CAYLEYNET, CHEBNET, JACOBI, LENET, NAMES
from analysis.mnist.training import LOSS_STEPS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

_STYLES: dict[str, dict[str, Any]] = {
    LENET: {"color": "#000000", "linestyle": "--"},
    CHEBNET: {"color": "#E69F00", "linestyle": ":"},
    CAYLEYNET: {"color": "#D55E00", "linestyle": "-"},
    JACOBI: {"color": "#0072B2", "linestyle": "-."},
}


def draw(document: Document) -> Figure:
    """Draw the courses of the trainings, and below filters of each network on graphs."""
    from matplotlib.figure import Figure

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
