"""The picture: times against size, order, zoom and signals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from analysis._document import Document
from analysis._figures import plain_axes
from analysis.benchmark_scaling.settings import PAPER_SWEEPS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(document: Document) -> Figure:
    """Draw time against size, order, zoom and signals, one line per method."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.5, 6.2), layout="constrained")
    axes = figure.subplots(2, 2)
    _draw_sizes(axes[0, 0], [row for row in document["sizes"] if "failed" not in row])
    panels = {"order": "order r", "zoom": "h·λmax", "signals": "signals"}
    for ax, (name, label) in zip(axes.flat[1:], panels.items(), strict=True):
        rows = [row for row in document["variations"] if row["varied"] == name]
        x = [row["value"] for row in rows]
        ax.plot(x, [row["seconds"]["median"] for row in rows], "o-", color="black", label="chebyshev, tol 1e-6")
        ax.plot(x, [row["jacobi_seconds"]["median"] for row in rows], "s--", color="0.5", label="jacobi, K = 13")
        ax.set_yscale("log")
        if name != "order":
            ax.set_xscale("log")
        ax.set_xlabel(f"{label}, {document['varied_vertices']:,} vertices")
    for ax in axes.flat:
        ax.set_ylabel("seconds")
        plain_axes(ax, "0.9")
        ax.legend(fontsize="small", frameon=False)
    return figure


def _draw_sizes(ax: Any, rows: Sequence[Document]) -> None:
    n = [row["n_vertices"] for row in rows]
    ax.plot(n, [row["apply_seconds"]["median"] for row in rows], "o-", color="black", label="chebyshev, tol 1e-6")
    styles = {"jacobi, K": ("s--", "0.5"), "jacobi, tol": ("^-.", "0.35"), "exact": ("D:", "0.2")}
    for kind, (style, color) in styles.items():
        points = [
            (row["n_vertices"], entry["seconds"])
            for row in rows
            for entry in row["methods"]
            if entry["method"].startswith(kind) and entry["seconds"] is not None
        ]
        if points:
            label = f"jacobi, K = {PAPER_SWEEPS}" if kind == "jacobi, K" else kind.replace("tol", "tol 1e-6")
            ax.plot(*zip(*points, strict=True), style, color=color, label=label)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("vertices")
