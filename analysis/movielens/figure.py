"""The picture: errors along the training, and those of all models beside the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from analysis._document import Document
from analysis._figures import plain_axes
from analysis.movielens.settings import CAYLEY, CHEB4, CHEB8, JACOBI, NAMES, ORTHOGONAL, PAPER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# How far from our errors a figure of the paper may be drawn.
_ROOM = 0.1

_STYLES: dict[str, dict[str, Any]] = {
    CHEB4: {"color": "#E69F00", "linestyle": ":"},
    CHEB8: {"color": "#009E73", "linestyle": "--"},
    CAYLEY: {"color": "#D55E00", "linestyle": "-"},
    JACOBI: {"color": "#0072B2", "linestyle": "-."},
    ORTHOGONAL: {"color": "#CC79A7", "linestyle": "-"},
}


def draw(document: Document) -> Figure:
    """Draw test errors along the training, and the errors of all models."""
    from matplotlib.figure import Figure

    n_rows = len(document["rows"])
    figure = Figure(figsize=(10, max(3.2, 1.2 + 0.32 * n_rows)), layout="constrained")
    if document["curves"]:
        left, right = figure.subplots(1, 2)
        _draw_curves(left, document)
    else:
        right = figure.subplots()
    _draw_errors(right, document)
    return figure


def _draw_curves(ax: Axes, document: Document) -> None:
    named = set()
    for curve in document["curves"]:
        if curve["protocol"] != PAPER:
            continue
        model = curve["model"]
        steps = curve["every"] * np.arange(1, len(curve["test_rmse"]) + 1)
        label = None if model in named else NAMES[model]
        ax.plot(steps, curve["test_rmse"], linewidth=1, label=label, **_STYLES[model])
        named.add(model)
    ax.set(xlabel="steps", ylabel="test RMSE", xscale="log", title="along the training, one curve per seed")
    ax.title.set_fontsize("small")
    if named:
        ax.legend(fontsize="x-small", frameon=False)
    plain_axes(ax)


def _draw_errors(ax: Axes, document: Document) -> None:
    rows = document["rows"]
    position = np.arange(len(rows))[::-1]
    names = [NAMES[row["model"]] + (", by validation" if row["protocol"] == "validation" else "") for row in rows]
    ax.errorbar(
        [row["mean"] for row in rows], position, xerr=[row["sd"] for row in rows], fmt="o", color="black", markersize=4
    )
    ends = ax.get_xlim()
    for k, row in zip(position, rows, strict=True):
        if row["paper"] is None:
            continue
        if row["paper"] <= ends[1] + _ROOM:
            ax.plot(row["paper"], k, "|", color="#D55E00", markersize=12, markeredgewidth=1.6)
        else:  # far from all others, which would be told apart no more
            ax.annotate(f"{row['paper']:.3f} →", (1.0, k), xycoords=("axes fraction", "data"), ha="right", va="bottom")
    ax.set_yticks(position, names, fontsize="x-small")
    ax.set(xlabel="test RMSE", title="all models (tick: the paper)")
    ax.title.set_fontsize("small")
    plain_axes(ax)
