"""How pictures look: plain axes, and rows of a comparison as dots with their spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from analysis._script import Document
from cayleygsp.plotting import COLORS

# Of lines: yellow is too light for one.
LINE_COLORS = [color for color in COLORS if color != "#F0E442"]
MARKERS = "os^Dv<>"


def new_axes(size: tuple[float, float], *grid: int, **options: Any) -> tuple[Figure, Any]:
    """Return a figure of so many inches and its axes: one, or a grid of them, as ``Figure.subplots`` makes it."""
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(*grid, **options)


def plain_axes(ax: Any, grid: str = "0.92") -> None:
    """Draw a light grid below the curves, and no frame at the top and on the right."""
    ax.grid(color=grid, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def legend_below(figure: Any, ncols: int = 4) -> None:
    """Name the curves of the first panel below all of them."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=ncols, frameon=False, fontsize="small")


def draw_rows(ax: Any, rows: Sequence[Document], labels: Sequence[str], texts: Sequence[str], title: str) -> None:
    """Draw the value of each row as a dot with its spread and the target as a tick, the first row on top.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Where to draw.
    rows : sequence of dict
        Made by :func:`analysis._comparison.make_row`.
    labels, texts : sequence of str
        What stands on the left and on the right of each row.
    title : str
        What the values are.
    """
    position = np.arange(len(rows))[::-1]
    low, high = (np.array([row["value"][key] for row in rows]) for key in ("low", "high"))
    ax.hlines(position, low, high, color="0.55", linewidth=2)
    for k, row, text in zip(position, rows, texts, strict=True):
        ax.plot(row["value"]["median"], k, ">" if row["lower_bound"] else "o", color="black", markersize=5)
        if row["target"] is not None:
            ax.plot(row["target"], k, "|", color="black", markersize=14, markeredgewidth=1.6)
        ax.annotate(
            text,
            (1.0, k),
            xycoords=("axes fraction", "data"),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize="small",
        )
    ax.set_yticks(position, labels)
    ax.tick_params(axis="y", labelsize=7, length=0)
    ax.set_ylim(-0.7, len(rows) - 0.3)
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_title(f"{title} (tick: target)", fontsize="small", loc="left")


def ratio_axis(ax: Any) -> None:
    """Make the horizontal axis one of ratios: logarithmic, with a line at 1."""
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(lambda x, _: f"{x:g}")
    ax.margins(x=0.08)
    ax.axvline(1, color="0.6", linewidth=1, zorder=0)


def against(row: Document) -> str:
    """Return the label of a row that names both sides."""
    return f"{row['work']}\n{row['ours']['name']}, against {row['peer']['name']}"
