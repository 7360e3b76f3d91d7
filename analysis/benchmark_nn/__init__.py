"""Speed and memory of the trainable layers: against the paper's scheme, PyTorch Geometric, and their own sizes.

Run ``python -m analysis.benchmark_nn`` on a quiet machine. Every row is measured side by side in one process: the same
input and weights, errors against a dense computation in double precision first, then times in turns. The exit code says
nothing of the figures.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import torch
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from analysis._comparison import COLUMNS, notes, side_text
from analysis._figures import against, draw_rows, plain_axes, ratio_axis
from analysis._script import Blocks, Columns, Document, Script, Step, format_seconds, table_of
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

AXIS_NAMES = {"zoom": "zoom h", "order": "order r", "vertices": "vertices n", "channels": "channels"}


def _ends(series: Document, text: Callable[[Document], str]) -> str:
    return " to ".join(text(point) for point in (series["points"][0], series["points"][-1]))


# What a row has in the place of a time is memory.
ROW_COLUMNS: Columns = COLUMNS | {
    "ours": lambda row: side_text(row["ours"], format_bytes),
    "peer": lambda row: side_text(row["peer"], format_bytes),
}
GROWTH_COLUMNS: Columns = {
    "size": "{name}",
    "from, to": lambda series: _ends(series, lambda point: f"{point['at']:g}"),
    "degree of the series": lambda series: _ends(series, lambda point: str(point["degree"])),
    "training step": lambda series: _ends(series, lambda point: format_seconds(point["seconds"]["median"])),
    "exponent": "{exponent:.2f}",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the option of this script."""
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where to compute (default: cpu)")


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject a device that is not there."""
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


def page(document: Document) -> Blocks:
    """Return the title, how ratios and errors are made, the rows with their notes, and the growth."""
    return [
        "Speed and memory of the layers",
        "Times are medians; ratios are medians over rounds in which both sides took turns, with the smallest and the "
        "largest. Errors are relative to the norm of a dense computation in double precision.",
        table_of("Speed and memory of the layers", ROW_COLUMNS, document["rows"]),
        notes(document),
        f"Growth of a training step of a CayleyConv, as many channels out as in, batch {document['growth_batch']}, "
        "from order 4, zoom 1:",
        table_of("Growth", GROWTH_COLUMNS, document["growth"]),
    ]


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
    __doc__,
    measure,
    page,
    draw,
    facts=lambda document: [f"- torch: {document['torch']}"],
    steps=lambda args: 18,
    repeats=(7, 3),
    arguments=add_arguments,
    check=check_arguments,
)

main, markdown = SCRIPT.main, SCRIPT.markdown
