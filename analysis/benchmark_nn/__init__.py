"""Speed and memory of the trainable layers: against the paper's scheme, PyTorch Geometric, and their own sizes.

Run ``python -m analysis.benchmark_nn``. Every row is measured side by side in one process: the same input and weights,
errors against a dense computation in double precision first, then times in turns. The exit code says nothing of the
figures.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import torch
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from analysis._comparison import HEADER, notes, table_cells
from analysis._figures import against, draw_rows, plain_axes, ratio_axis
from analysis._script import (
    Document,
    Script,
    Step,
    Table,
    add_repeats,
    check_repeats,
    format_seconds,
    markdown_table,
    page,
)
from analysis.benchmark_nn.layers import (
    edge_rows,
    fresh_rows,
    measure_growth,
    pyg_rows,
    sparse_rows,
    step_rows,
    zoom_rows,
)
from analysis.benchmark_nn.networks import epoch_rows, network_rows, training_rows
from analysis.benchmark_nn.problems import QUICK, Sizes
from cayleygsp._memory import format_bytes

PARTS = (
    step_rows,
    network_rows,
    training_rows,
    pyg_rows,
    edge_rows,
    zoom_rows,
    fresh_rows,
    sparse_rows,
    epoch_rows,
)

GROWTH_HEADER = ("size", "from, to", "degree of the series", "training step", "exponent")

AXIS_NAMES = {"zoom": "zoom h", "order": "order r", "vertices": "vertices n", "channels": "channels"}

__all__ = ["draw", "main", "markdown"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options: rounds, and where to compute."""
    add_repeats(parser)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where to compute (default: cpu)")


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject an invalid number of rounds, and a device that is not there."""
    check_repeats(parser, args)
    if args.device == "cuda" and not torch.cuda.is_available():
        parser.error("--device must be cpu on this machine, got cuda")


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Measure all groups of rows, and the growth."""
    sizes = QUICK if args.quick else Sizes()
    return {
        "torch": f"{torch.__version__}, {torch.get_num_threads()} threads, on {args.device}",
        "growth_batch": sizes.growth_batch,
        "rows": [row for part in PARTS for row in part(sizes, args, step)],
        "growth": measure_growth(sizes, args, step),
    }


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


SCRIPT = Script(
    "benchmark_nn",
    "Measure the trainable layers against the paper's Jacobi scheme and PyTorch Geometric, side by side, and print "
    "ratios with their targets. Run it on a quiet machine.",
    measure,
    markdown,
    draw,
    tables=tables,
    lines=notes,
    steps=lambda args: 18,
    arguments=add_arguments,
    check=check_arguments,
)

main = SCRIPT.main
