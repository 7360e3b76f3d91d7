"""The picture: ratios as dots, growth as lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from analysis._document import Document
from analysis._figures import against, draw_rows, plain_axes, ratio_axis

AXIS_NAMES = {"zoom": "zoom h", "order": "order r", "vertices": "vertices n", "channels": "channels"}


def draw(document: Document) -> Figure:
    """Draw the ratios as dots with their spread, the targets as ticks, and the growth as lines."""
    rows, series = document["rows"], document["growth"]
    figure = Figure(figsize=(9.5, 0.42 * len(rows) + 4.0), layout="constrained")
    halves: Any = figure.subfigures(2, 1, height_ratios=[0.42 * len(rows) + 0.8, 2.6])
    top, bottom = halves
    _draw_ratios(top.subplots(), rows)
    for ax, one in zip(bottom.subplots(1, len(series), sharey=True), series, strict=True):
        at = [point["at"] for point in one["points"]]
        ax.loglog(at, [1e3 * point["seconds"]["median"] for point in one["points"]], "o-", color="black", markersize=4)
        ax.set_xlabel(AXIS_NAMES[one["name"]])
        ax.set_xticks(at, [f"{x:g}" for x in at], fontsize="small")
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
        ax.minorticks_off()
        ax.set_title(f"exponent {one['exponent']:.2f}", fontsize="small", loc="left")
        plain_axes(ax, "0.9")
    bottom.axes[0].set_ylabel("training step, ms")
    return figure


def _draw_ratios(ax: Any, rows: Sequence[Document]) -> None:
    signs = ["≤" if row["at_most"] else "≥" for row in rows]
    texts = [f"{row['value']['median']:.3g} ({s} {row['target']:g})" for s, row in zip(signs, rows, strict=True)]
    draw_rows(ax, rows, [against(row) for row in rows], texts, "peer over ours, or as said")
    ratio_axis(ax)
