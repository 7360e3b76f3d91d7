"""Tables and page."""

from __future__ import annotations

from analysis._comparison import HEADER, notes, table_cells
from analysis._document import Document, page
from analysis._tables import Table, format_seconds, markdown_table
from cayleygsp._memory import format_bytes

GROWTH_HEADER = ("size", "from, to", "degree of the series", "training step", "exponent")


def cells(row: Document) -> list[str]:
    """Return a row of the table; sizes in memory are written as such."""
    out = table_cells(row)
    for k, side in ((1, row["ours"]), (2, row["peer"])):
        if "rate" in side:
            out[k] = f"{side['name']}: {format_bytes(side['rate']['median'])}"
    return out


def growth_cells(series: Document) -> list[str]:
    """Return a row of the table of growth."""
    ends = (series["points"][0], series["points"][-1])
    return [
        series["name"],
        f"{ends[0]['at']:g} to {ends[1]['at']:g}",
        f"{ends[0]['degree']} to {ends[1]['degree']}",
        " to ".join(format_seconds(end["seconds"]["median"]) for end in ends),
        f"{series['exponent']:.2f}",
    ]


def tables(document: Document) -> list[Table]:
    """Return the tables."""
    return [
        Table("Speed and memory of the layers", HEADER, [cells(row) for row in document["rows"]]),
        Table("Growth", GROWTH_HEADER, [growth_cells(series) for series in document["growth"]]),
    ]


def markdown(document: Document) -> str:
    """Return the result as a page of Markdown."""
    rows, growth = tables(document)
    return page(
        "Speed and memory of the layers",
        document,
        "Times are medians; ratios are medians over rounds in which both sides took turns, with the smallest and the "
        "largest. Errors are relative to the norm of a dense computation in double precision.",
        "",
        *markdown_table(rows.header, rows.rows),
        "",
        *(f"- {note}" for note in notes(document)),
        "",
        f"Growth of a training step of a CayleyConv, as many channels out as in, batch {document['growth_batch']}, "
        "from order 4, zoom 1:",
        "",
        *markdown_table(growth.header, growth.rows),
        facts=[f"- torch: {document['torch']}"],
    )
