"""Page and picture of the comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from analysis._comparison import HEADER, format_number, notes, table_cells
from analysis._document import Document, page
from analysis._figures import against, draw_rows, ratio_axis
from analysis._tables import markdown_table


def markdown(document: Document) -> str:
    """Return the result as a page of Markdown."""
    return page(
        "Speed against peers",
        document,
        "Times are medians; ratios are medians over rounds in which both sides took turns, with the smallest and the "
        "largest. Errors are relative to gain times signal, against a reference by another way.",
        "",
        *markdown_table(HEADER, [table_cells(row) for row in document["rows"]]),
        "",
        *(f"- {note}" for note in notes(document)),
    )


TITLES = {"×": "times faster than the peer", "%": "share of the STREAM triad, %", "µs": "one call, µs"}


def draw(document: Document) -> Figure:
    """Draw ratios, calls and shares as dots with their spread, the targets as ticks."""
    panels = {unit: [row for row in document["rows"] if row["unit"] == unit] for unit in TITLES}
    panels = {unit: rows for unit, rows in panels.items() if rows}
    heights = [len(rows) + 1.5 for rows in panels.values()]
    figure = Figure(figsize=(9.5, 0.29 * sum(heights) + 0.6), layout="constrained")
    axes = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
    for ax, (unit, rows) in zip(axes, panels.items(), strict=True):
        _draw_panel(ax, unit, rows)
    return figure


def _draw_panel(ax: Any, unit: str, rows: Sequence[Document]) -> None:
    labels = [against(row) if unit == "×" else row["work"] for row in rows]
    signs = ["≥ " if row["lower_bound"] else "" for row in rows]
    texts = [sign + format_number(row["value"]["median"]) for sign, row in zip(signs, rows, strict=True)]
    draw_rows(ax, rows, labels, texts, TITLES[unit])
    if unit == "×":
        ratio_axis(ax)
    else:
        highest = max(row["value"]["high"] for row in rows)
        ax.set_xlim(0, 1.05 * max(highest, *(row["target"] * 1.25 for row in rows)))
