"""The picture of the timing study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis import _networks
from analysis._document import Document
from analysis._figures import plain_axes
from analysis._networks import CHEBNET, SWEEPS
from analysis.complexity.settings import EIGENBASIS, INVERSION, KINDS, NAMES, SERIES, SIZE_ORDER

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES: dict[str, dict[str, Any]] = {
    INVERSION: _networks.STYLES[_networks.EXACT],
    EIGENBASIS: {"color": "0.45", "linestyle": "-.", "marker": "P"},
    **{f"jacobi {K}": _networks.STYLES[f"jacobi {K}"] for K in SWEEPS[::-1]},
    SERIES: _networks.STYLES[_networks.CHEBYSHEV],
    CHEBNET: _networks.STYLES[CHEBNET],
}


def draw(document: Document) -> Figure:
    """Draw times and ratios over the order, and times over the size, test above training."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7), layout="constrained")
    axes = figure.subplots(2, 3)
    for line, kind in zip(axes, KINDS, strict=True):
        _draw_curves(line[0], document["by_order"], kind, "order", lambda row: 1e3 * row["seconds"]["mean"])
        _draw_curves(line[1], document["by_order"], kind, "order", lambda row: row["ratio"])
        _draw_curves(line[2], document["by_size"], kind, "n_vertices", lambda row: 1e3 * row["seconds"]["mean"])
        line[0].set(ylabel="time, ms", title=f"{kind}: time")
        line[1].set(ylabel="time over that of ChebNet", title=f"{kind}: ratio (thin: the paper's)")
        _draw_linear(line[2], document["by_size"], kind)
        line[2].set(ylabel="time, ms", xscale="log", title=f"{kind}: time against size, r = {SIZE_ORDER}")
        _draw_paper(line[1], document["by_order"], kind)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize="small")
    return figure


def _draw_curves(ax: Axes, rows: Sequence[Document], kind: str, key: str, value: Callable[[Document], float]) -> None:
    for model, style in STYLES.items():
        same = [row for row in rows if row["model"] == model and row["kind"] == kind]
        ax.plot([row[key] for row in same], [value(row) for row in same], label=NAMES[model], markersize=4, **style)
    ax.set_xlabel("order r" if key == "order" else "vertices n")
    ax.set_yscale("log")
    if key == "order":
        ax.set_xticks(sorted({row[key] for row in rows}))
    ax.yaxis.set_major_formatter(lambda number, _: f"{number:g}")
    ax.title.set_fontsize("small")
    plain_axes(ax)


def _draw_linear(ax: Axes, rows: Sequence[Document], kind: str) -> None:
    """Draw a line of slope 1 through the last time of ChebNet."""
    same = [row for row in rows if row["model"] == CHEBNET and row["kind"] == kind]
    n = np.array([row["n_vertices"] for row in same])
    ax.plot(n, 1e3 * same[-1]["seconds"]["mean"] * n / n[-1], color="0.75", linewidth=1, zorder=0)
    ax.annotate("∝ n", (n[0], 1e3 * same[-1]["seconds"]["mean"] * n[0] / n[-1]), color="0.5", fontsize="small")


def _draw_paper(ax: Axes, rows: Sequence[Document], kind: str) -> None:
    for model, style in STYLES.items():
        same = [row for row in rows if row["model"] == model and row["kind"] == kind and row["paper_ratio"] is not None]
        x, y = [row["order"] for row in same], [row["paper_ratio"] for row in same]
        ax.plot(x, y, linewidth=0.6, marker=style["marker"], markersize=2, markerfacecolor="none", color=style["color"])
