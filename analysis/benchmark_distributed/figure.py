"""The picture: scaling and prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis._document import Document
from analysis._figures import plain_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(document: Document) -> Figure:
    """Draw times against workers, measured on the left and predicted on the right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2)
    styles = {("strong", "grid"): "o-", ("strong", "communities"): "s-", ("weak", "grid"): "o--"}
    styles |= {("weak", "communities"): "s--"}
    for (scaling, name), style in styles.items():
        runs = [run for run in document["runs"] if (run["scaling"], run["graph"]) == (scaling, name)]
        workers = [run["n_workers"] for run in runs]
        left.plot(workers, [run["ratio"]["median"] for run in runs], style, label=f"{name}, {scaling}")
    left.axhline(1.0, color="0.7", linewidth=0.8)
    left.set(xlabel="workers", ylabel="time over one process with as many threads")
    rows = document["predictions"]
    for name, line in (("grid", "-"), ("communities", "--")):
        for edges in dict.fromkeys(row["n_edges"] for row in rows):
            some = [row for row in rows if (row["graph"], row["n_edges"]) == (name, edges)]
            label = f"{name}, {edges:.0e} edges".replace("e+", "e")
            right.plot([row["n_workers"] for row in some], [row["seconds"] for row in some], line, label=label)
    right.set(xlabel="workers", ylabel="seconds of a degree, predicted", xscale="log", yscale="log")
    right.set_ylim(top=1e3 * max(row["seconds"] for row in rows))  # room for the names
    for ax in (left, right):
        plain_axes(ax)
        ax.legend(fontsize="small", frameon=False)
    return figure
