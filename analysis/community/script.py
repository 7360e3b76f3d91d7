"""The command line of the experiment, and of the choice of its learning rates."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence

from analysis import _runner
from analysis._document import Document
from analysis._experiment import add_experiment_arguments, check_experiment_arguments, experiment_facts
from analysis._networks import ORDERS
from analysis._runner import Experiment, Run
from analysis._script import Script, Step
from analysis._tables import Table
from analysis.community.figure import draw
from analysis.community.page import markdown
from analysis.community.results import collect, table
from analysis.community.settings import (
    FULL,
    MODELS,
    QUICK,
    QUICK_MODELS,
    QUICK_ORDERS,
    TUNING_MODELS,
    TUNING_ORDERS,
    TUNING_SEED,
)
from analysis.community.training import train
from analysis.community.tuning import draw_tuning, tuning_document, tuning_markdown, tuning_runs, tuning_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    add_experiment_arguments(parser, FULL, QUICK, runs=10, quick_runs=2)
    parser.add_argument("--models", nargs="+", choices=MODELS, metavar="MODEL", help=f"of {', '.join(MODELS)}")
    parser.add_argument("--orders", nargs="+", type=int, metavar="R", help="orders (default: 1 3 … 13, quick: 1 3)")
    parser.add_argument("--tune", action="store_true", help="try learning rates instead")


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject invalid options, and fill in what was not given."""
    check_experiment_arguments(parser, args)
    if args.tune and args.models:
        parser.error(f"--models must not be given with --tune, which tries {' and '.join(TUNING_MODELS)}")
    args.models = list(dict.fromkeys(args.models or (QUICK_MODELS if args.quick else MODELS)))
    args.orders = sorted(set(args.orders or (QUICK_ORDERS if args.quick else ORDERS)))
    if args.orders[0] < 1:
        parser.error(f"--orders must be 1 or more, got {args.orders[0]}")
    if args.tune and not set(args.orders) & set(TUNING_ORDERS):
        parser.error(f"--orders must have one of {', '.join(map(str, TUNING_ORDERS))} with --tune, got {args.orders}")
    if args.seed + args.runs > TUNING_SEED:
        parser.error(f"--seed must be below {TUNING_SEED - args.runs}: later seeds are for --tune, got {args.seed}")


def runs_of(args: argparse.Namespace) -> list[Run]:
    """Return all runs, a seed at a time, so that the data of a seed is drawn once."""
    return [
        Run({"model": model, "order": order}, args.seed + k)
        for k in range(args.runs)
        for model in args.models
        for order in args.orders
    ]


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Train what is not trained yet, and return accuracies and every run."""
    return experiment_facts(args) | collect(args, args.config, _results(args, runs_of(args)))


def measure_tuning(args: argparse.Namespace, step: Step) -> Document:
    """Train with several learning rates, and return validation accuracies."""
    return experiment_facts(args) | tuning_document(_results(args, tuning_runs(args)))


def _results(args: argparse.Namespace, runs: Sequence[Run]) -> list[Document]:
    experiment = Experiment("community", args.config, runs, train)
    return _runner.compute(experiment, args.work, workers=args.workers, device=args.device, quiet=args.quiet)


SCRIPT = Script(
    "community",
    "Train CayleyNets and ChebNets to tell on which of 15 communities a noisy step signal is, and compare with the "
    "paper. Interrupt it whenever you like: the same command goes on where it was.",
    measure,
    markdown,
    draw,
    tables=lambda document: [Table("Test accuracy, % (the paper's, difference)", *table(document))],
    steps=lambda args: 0,  # the runs have a bar of their own
    arguments=add_arguments,
    check=check_arguments,
)
TUNING = dataclasses.replace(
    SCRIPT,
    measure=measure_tuning,
    markdown=tuning_markdown,
    draw=draw_tuning,
    tables=lambda document: [Table("Validation accuracy, %", *tuning_table(document))],
    output="community_tuning",
)
compute = SCRIPT.compute


def main(argv: Sequence[str] | None = None) -> int:
    """Train, print the tables, and write what was asked for."""
    argv = sys.argv[1:] if argv is None else argv
    return (TUNING if SCRIPT.parse(argv).tune else SCRIPT).main(argv)
