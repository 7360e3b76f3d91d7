"""The choice of the learning rates, on graphs that no run of the experiment uses."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from analysis._document import Document, page
from analysis._experiment import beside, config_lines, grouped
from analysis._figures import plain_axes
from analysis._networks import STYLES
from analysis._runner import Run
from analysis._tables import markdown_table
from analysis.community.settings import NAMES, TUNING_MODELS, TUNING_ORDERS, TUNING_RATES, TUNING_SEED

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def tuning_runs(args: argparse.Namespace) -> list[Run]:
    """Return the runs that the learning rates are chosen by, on seeds of their own."""
    return [
        Run({"model": model, "order": order, "lr": lr}, TUNING_SEED + args.seed + k)
        for k in range(args.runs)
        for model in TUNING_MODELS
        for order in TUNING_ORDERS
        for lr in TUNING_RATES
        if order in args.orders
    ]


def tuning_document(results: Sequence[Document]) -> Document:
    """Return validation accuracies by model, order and learning rate; test signals play no part."""
    rows = grouped(results, "best_validation")
    return {
        "rows": [{**row["setting"], "mean": 100 * row["mean"], "sd": 100 * row["sd"], "n": row["n"]} for row in rows]
    }


def tuning_table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the validation accuracies."""
    rates = sorted({row["lr"] for row in document["rows"]})
    cells: dict[tuple[str, int], dict[float, str]] = {}
    for row in document["rows"]:
        text = beside(row["mean"], row["sd"], None)
        cells.setdefault((row["model"], row["order"]), {})[row["lr"]] = text
    header = ["model", "order r", *(f"lr {rate:g}" for rate in rates)]
    return header, [[NAMES[m], str(r), *(texts.get(x, "") for x in rates)] for (m, r), texts in cells.items()]


def tuning_markdown(document: Document) -> str:
    """Return the choice of the learning rates as a page of Markdown."""
    return page(
        "Community detection: learning rates",
        document,
        "Validation accuracy in % of the chosen epoch, on graphs and signals that no run of the experiment uses.",
        "",
        *markdown_table(*tuning_table(document)),
        facts=config_lines(document),
    )


def draw_tuning(document: Document) -> Figure:
    """Draw validation accuracy over learning rate, one line per order."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for ax, model in zip(figure.subplots(1, 2, sharey=True), TUNING_MODELS, strict=True):
        for k, order in enumerate(TUNING_ORDERS):
            rows = [row for row in document["rows"] if row["model"] == model and row["order"] == order]
            if rows:
                x, y, e = (np.array([row[key] for row in rows]) for key in ("lr", "mean", "sd"))
                style = list(STYLES.values())[k]
                ax.errorbar(x, y, e, label=f"r = {order}", capsize=2, markersize=4.5, **style)
        ax.set(xscale="log", xlabel="learning rate", title=NAMES[model])
        plain_axes(ax)
    figure.axes[0].set_ylabel("validation accuracy, %")
    figure.axes[1].legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure
