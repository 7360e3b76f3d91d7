"""The command line, and the groups of rows that are measured."""

from __future__ import annotations

import argparse

import torch

from analysis._comparison import notes
from analysis._document import Document
from analysis._script import Script, Step, add_repeats, check_repeats
from analysis.benchmark_nn.edge_gradients import edge_rows
from analysis.benchmark_nn.epochs import epoch_rows
from analysis.benchmark_nn.figure import draw
from analysis.benchmark_nn.fresh_graphs import fresh_rows
from analysis.benchmark_nn.growth import measure_growth
from analysis.benchmark_nn.networks import network_rows
from analysis.benchmark_nn.page import markdown, tables
from analysis.benchmark_nn.pyg import pyg_rows
from analysis.benchmark_nn.settings import QUICK, Sizes
from analysis.benchmark_nn.sparse_input import sparse_rows
from analysis.benchmark_nn.steps import step_rows
from analysis.benchmark_nn.training import training_rows
from analysis.benchmark_nn.zooms import zoom_rows

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
