"""How the start of shared filters and their learning rate matter, by validation vertices alone."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis._document import Document, page
from analysis._experiment import grouped
from analysis._figures import plain_axes
from analysis._tables import markdown_table
from analysis.cora.results import run_lines
from analysis.cora.settings import ALL, CAYLEY16, STANDARD, WEIGHTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MODEL, SPLIT = CAYLEY16, STANDARD

# Seeds from here on belong to the choice of settings.
FIRST_SEED = 1000

# Zoom, order, learning rate of the filters, and what weight decay acts on.
_TRIED = (
    (0.5, 1, 0.01, ALL),
    (1.0, 1, 0.01, ALL),
    (1.0, 1, 0.01, WEIGHTS),
    (2.0, 1, 0.01, ALL),
    (3.0, 1, 0.01, WEIGHTS),
    (1.0, 2, 0.01, ALL),
    (1.0, 1, 0.003, ALL),
    (1.0, 1, 0.001, ALL),
    (1.0, 1, 0.0, ALL),
)


def settings_of(quick: bool) -> list[dict[str, Any]]:
    """Return what is tried."""
    names = ("zoom", "order", "filter_lr", "decay_on")
    return [{"model": MODEL, **dict(zip(names, one, strict=True))} for one in _TRIED[:: 4 if quick else 1]]


def collect(results: Sequence[Document]) -> Document:
    """Return one row per setting; test accuracies are left out."""
    rows = []
    for row in grouped(results, "validation"):
        same = [run["numbers"] for run in results if run["setting"] == row["setting"]]
        rows.append(
            {
                **row["setting"],
                "mean": 100 * row["mean"],
                "sd": 100 * row["sd"],
                "n": row["n"],
                "loss": statistics.fmean(numbers["validation_loss"] for numbers in same),
                "best_epoch": statistics.fmean(numbers["best_epoch"] for numbers in same),
                "zooms": [statistics.fmean(z) for z in zip(*(numbers["zooms"] for numbers in same), strict=True)],
            }
        )
    return {"rows": rows}


def table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the validation accuracies."""
    rows = [
        [
            f"h = {row['zoom']:g}, r = {row['order']}",
            f"{row['filter_lr']:g}",
            "all" if row["decay_on"] == ALL else "weights alone",
            f"{row['mean']:.2f} ± {row['sd']:.2f}",
            str(row["n"]),
            f"{row['loss']:.3f}",
            f"{row['best_epoch']:.0f}",
            ", ".join(f"{zoom:.2f}" for zoom in row["zooms"]),
        ]
        for row in document["rows"]
    ]
    header = ["start", "learning rate of the filters", "weight decay on", "validation accuracy, %", "runs"]
    return [*header, "validation loss", "epoch that is kept", "zooms at the end"], rows


def markdown(document: Document) -> str:
    """Return the result as a page of Markdown."""
    return page(
        "Citation network: the start of shared filters",
        document,
        "Accuracy of the 500 validation vertices of the standard split; test vertices are not looked at, and the seeds "
        "are none of those of the tables. Filters start as 1/(1 + (hλ)²); the rest is the recipe of CayleyNet with 16 "
        "features.",
        "",
        *markdown_table(*table(document)),
        facts=run_lines(document),
    )


def draw(document: Document) -> Figure:
    """Draw the validation accuracies."""
    from matplotlib.figure import Figure

    rows = document["rows"]
    figure = Figure(figsize=(7, 1.2 + 0.35 * len(rows)), layout="constrained")
    ax = figure.subplots()
    position = np.arange(len(rows))[::-1]
    ax.errorbar([r["mean"] for r in rows], position, xerr=[r["sd"] for r in rows], fmt="o", color="black", markersize=4)
    names = [f"{cells[0]}, rate {cells[1]}, decay on {cells[2]}" for cells in table(document)[1]]
    ax.set_yticks(position, names, fontsize="small")
    ax.set(xlabel="validation accuracy, %")
    plain_axes(ax)
    return figure
