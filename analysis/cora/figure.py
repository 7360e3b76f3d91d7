"""The picture of a table: the accuracies of all models beside the paper's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from analysis._document import Document
from analysis._figures import plain_axes
from analysis.cora.settings import NAMES

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(document: Document) -> Figure:
    """Draw mean and deviation of every model, all runs as dots, and the paper's figures as ticks."""
    from matplotlib.figure import Figure

    rows = document["rows"]
    figure = Figure(figsize=(8, 1.4 + 0.42 * len(rows)), layout="constrained")
    ax = figure.subplots()
    rng = np.random.default_rng(0)
    for k, row in enumerate(reversed(rows)):
        values = [
            100 * run["numbers"]["accuracy"] for run in document["runs"] if run["setting"]["model"] == row["model"]
        ]
        ax.plot(values, k + rng.uniform(-0.2, 0.2, len(values)), ".", color="0.75", markersize=3, zorder=1)
        ax.errorbar(row["mean"], k, xerr=row["sd"], fmt="o", color="black", markersize=5, capsize=2)
        if row["paper"] is not None:
            ax.plot(row["paper"], k, "|", color="#D55E00", markersize=16, markeredgewidth=2)
    ax.set_yticks(range(len(rows)), [NAMES[row["model"]] for row in reversed(rows)], fontsize="small")
    ax.set(xlabel="test accuracy, % (dots: runs; tick: the paper)", ylim=(-0.6, len(rows) - 0.4))
    plain_axes(ax)
    return figure
