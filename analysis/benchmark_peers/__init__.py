"""Speed against other ways to filter a graph signal in Python, and against the memory of the machine.

Run ``python -m analysis.benchmark_peers`` on a quiet machine. Every row is measured side by side in one process: the
same input, errors against a reference first, then times in turns. The exit code says nothing of the figures.

A group of rows is a function ``rows(sizes, args, step)``; ``PARTS`` lists them, and ``--only`` takes some.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from matplotlib.figure import Figure

from analysis._comparison import COLUMNS, format_number, notes
from analysis._figures import against, draw_rows, ratio_axis
from analysis._script import Blocks, Document, Script, Step, table_of
from analysis.benchmark_peers.cayley import cayley_rows, exact_rows, factored_rows, krylov_rows
from analysis.benchmark_peers.grid import busy_rows, chebyshev_rows, overhead_rows
from analysis.benchmark_peers.roofline import roofline_rows
from analysis.benchmark_peers.settings import QUICK, Sizes

# The groups of rows, and how many steps each tells of.
PARTS = {
    "grid": (chebyshev_rows, 3),
    "busy": (busy_rows, 1),
    "jacobi": (cayley_rows, 4),
    "exact": (exact_rows, 1),
    "factored": (factored_rows, 1),
    "krylov": (krylov_rows, 9),
    "overhead": (overhead_rows, 1),
    "roofline": (roofline_rows, 9),
}

TITLES = {"×": "times faster than the peer", "%": "share of the STREAM triad, %", "µs": "one call, µs"}


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Measure all groups of rows, or those that were asked for."""
    sizes = QUICK if args.quick else Sizes()
    return {"rows": [row for name in args.only or PARTS for row in PARTS[name][0](sizes, args, step)]}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    groups = ", ".join(PARTS)
    parser.add_argument("--only", nargs="+", choices=PARTS, metavar="GROUP", help=f"some of {groups} (default: all)")
    parser.add_argument(
        "--jacobi-seconds", type=float, help="longest run of Jacobi to the same error (default: 60, quick: 0.3)"
    )


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject invalid options, and fill in what was not given."""
    if args.jacobi_seconds is None:
        args.jacobi_seconds = 0.3 if args.quick else 60.0
    if not args.jacobi_seconds > 0:
        parser.error(f"--jacobi-seconds must be positive, got {args.jacobi_seconds}")


def page(document: Document) -> Blocks:
    """Return the title, how ratios are made, the table, and notes on its rows."""
    return [
        "Speed against peers",
        "Times are medians; ratios are medians over rounds in which both sides took turns, with the smallest and the "
        "largest. Errors are relative to gain times signal, against a reference by another way.",
        table_of("Speed against peers", COLUMNS, document["rows"]),
        notes(document),
    ]


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


SCRIPT = Script(
    "benchmark_peers",
    __doc__,
    measure,
    page,
    draw,
    steps=lambda args: sum(PARTS[name][1] for name in args.only or PARTS),
    repeats=(7, 3),
    arguments=add_arguments,
    check=check_arguments,
)


markdown = SCRIPT.markdown


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script; some of the groups alone get files of their own name."""
    only = SCRIPT.parse(sys.argv[1:] if argv is None else argv).only
    return replace(SCRIPT, output="_".join([SCRIPT.name, *(only or ())])).main(argv)
