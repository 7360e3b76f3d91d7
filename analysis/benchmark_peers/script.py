"""The command line of the comparison, and the groups of rows that it measures."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace

from analysis._comparison import HEADER, notes, table_cells
from analysis._document import Document
from analysis._script import Script, Step, add_repeats, check_repeats
from analysis._tables import Table
from analysis.benchmark_peers.busy import busy_rows
from analysis.benchmark_peers.direct import exact_rows, factored_rows
from analysis.benchmark_peers.grid import chebyshev_rows
from analysis.benchmark_peers.jacobi import cayley_rows
from analysis.benchmark_peers.krylov import krylov_rows
from analysis.benchmark_peers.overhead import overhead_rows
from analysis.benchmark_peers.page import draw, markdown
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


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Measure all groups of rows, or those that were asked for."""
    sizes = QUICK if args.quick else Sizes()
    return {"rows": [row for name in args.only or PARTS for row in PARTS[name][0](sizes, args, step)]}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    add_repeats(parser)
    groups = ", ".join(PARTS)
    parser.add_argument("--only", nargs="+", choices=PARTS, metavar="GROUP", help=f"some of {groups} (default: all)")
    parser.add_argument(
        "--jacobi-seconds", type=float, help="longest run of Jacobi to the same error (default: 60, quick: 0.3)"
    )


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject invalid options, and fill in what was not given."""
    check_repeats(parser, args)
    if args.jacobi_seconds is None:
        args.jacobi_seconds = 0.3 if args.quick else 60.0
    if not args.jacobi_seconds > 0:
        parser.error(f"--jacobi-seconds must be positive, got {args.jacobi_seconds}")


SCRIPT = Script(
    "benchmark_peers",
    "Measure the filters against PyGSP, scipy, the Jacobi scheme and the memory of this machine, side by side, and "
    "print ratios with their targets. Run it on a quiet machine.",
    measure,
    markdown,
    draw,
    tables=lambda document: [Table("Speed against peers", HEADER, [table_cells(row) for row in document["rows"]])],
    lines=notes,
    steps=lambda args: sum(PARTS[name][1] for name in args.only or PARTS),
    arguments=add_arguments,
    check=check_arguments,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script; some of the groups alone get files of their own name."""
    only = SCRIPT.parse(sys.argv[1:] if argv is None else argv).only
    return replace(SCRIPT, output="_".join([SCRIPT.name, *(only or ())])).main(argv)
