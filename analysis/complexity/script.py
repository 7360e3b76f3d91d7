"""The command line of the timing study."""

from __future__ import annotations

import argparse

from analysis._document import Document
from analysis._networks import N_COMMUNITIES, ORDERS
from analysis._script import Script, add_repeats, check_repeats
from analysis._tables import Table
from analysis.complexity import settings
from analysis.complexity.figure import draw
from analysis.complexity.page import markdown, table
from analysis.complexity.times import measure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    add_repeats(parser, settings.REPEATS, settings.QUICK_REPEATS)
    parser.add_argument("--orders", type=int, nargs="+", metavar="R", help="orders (default: 1 3 … 13, quick: 1 3)")
    parser.add_argument("--sizes", type=int, nargs="+", metavar="N", help="vertices (default: 300 … 100,000)")


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject invalid options, and fill in what was not given."""
    check_repeats(parser, args)
    quick = args.quick
    args.orders = sorted(set(args.orders or (settings.QUICK_ORDERS if quick else ORDERS)))
    args.sizes = sorted(set(args.sizes or (settings.QUICK_SIZES if quick else settings.SIZES)))
    if min(args.orders) < 1:
        parser.error(f"--orders must be 1 or more, got {min(args.orders)}")
    if min(args.sizes) < 3 * N_COMMUNITIES:
        parser.error(f"--sizes must be {3 * N_COMMUNITIES} or more, got {min(args.sizes)}")
    args.order_vertices = settings.QUICK_ORDER_VERTICES if quick else settings.ORDER_VERTICES
    args.batch = settings.QUICK_BATCH if quick else settings.BATCH
    args.size_batch = settings.QUICK_BATCH if quick else settings.SIZE_BATCH
    args.budget = settings.QUICK_BUDGET if quick else settings.BUDGET


def tables(document: Document) -> list[Table]:
    """Return the tables."""
    kinds = settings.KINDS
    by_order = [Table(f"Against the order, {kind}", *table(document["by_order"], kind, "order")) for kind in kinds]
    by_size = [Table(f"Against the size, {kind}", *table(document["by_size"], kind, "n_vertices")) for kind in kinds]
    return by_order + by_size


SCRIPT = Script(
    "complexity",
    "Time Cayley and Chebyshev layers against order and size. Run it on a quiet machine.",
    measure,
    markdown,
    draw,
    tables=tables,
    steps=lambda args: len(args.orders) + len(args.sizes),
    arguments=add_arguments,
    check=check_arguments,
)
compute, main = SCRIPT.compute, SCRIPT.main
