"""The command line of the experiment."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence

from analysis import _runner
from analysis._document import Document
from analysis._experiment import add_experiment_arguments, check_experiment_arguments, experiment_facts
from analysis._ranks import is_launched, process_group
from analysis._runner import Experiment, Run
from analysis._script import Script, Step
from analysis._tables import Table
from analysis.mnist.data import is_there
from analysis.mnist.figure import draw
from analysis.mnist.page import markdown
from analysis.mnist.results import accuracy_table, collect, cost_table
from analysis.mnist.settings import ALL_MODELS, DRAWN, FULL, MODELS, QUICK, QUICK_MODELS
from analysis.mnist.training import train


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    add_experiment_arguments(parser, FULL, QUICK, runs=1, quick_runs=1)
    parser.add_argument(
        "--model",
        nargs="+",
        choices=ALL_MODELS,
        metavar="MODEL",
        help=f"of {', '.join(ALL_MODELS)} (default: {', '.join(MODELS)}; quick: {', '.join(QUICK_MODELS)})",
    )
    parser.add_argument("--finished", action="store_true", help="train nothing: write down the runs that are finished")


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject invalid options, and fill in what was not given."""
    if args.quick and args.data is None and not is_there():
        args.data = DRAWN
    if is_launched():
        if args.workers not in (None, 1):
            parser.error(f"--workers must be 1 under torchrun, got {args.workers}")
        args.workers = 1
    check_experiment_arguments(parser, args)
    args.model = list(dict.fromkeys(args.model or (QUICK_MODELS if args.quick else MODELS)))


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Train what is not done yet, unless that is not wanted, and return accuracies and every run."""
    seeds = range(args.seed, args.seed + args.runs)
    runs = [Run({"model": model}, seed) for seed in seeds for model in args.model]
    experiment = Experiment("mnist", args.config, runs, train)
    if args.finished:
        done = [run for run in runs if (args.work / experiment.folder_name / f"{run.key}.json").exists()]
        experiment = dataclasses.replace(experiment, runs=done)
    results = []
    if experiment.runs:
        results = _runner.compute(experiment, args.work, workers=args.workers, device=args.device, quiet=args.quiet)
    missing = [model for model in args.model if all(result["setting"]["model"] != model for result in results)]
    return experiment_facts(args) | collect(args.config, results) | {"missing": missing}


SCRIPT = Script(
    "mnist",
    "Classify the digits of MNIST by networks with Chebyshev and Cayley filters on the graph of the pixels and by "
    "LeNet5, and compare with the paper. Interrupt it whenever you like: the same command goes on where it was. With "
    "torchrun, several processes train each network together.",
    measure,
    markdown,
    draw,
    tables=lambda document: [
        Table("Test accuracy, %", *accuracy_table(document)),
        Table("Cost", *cost_table(document)),
    ],
    steps=lambda args: 0,  # the runs have a bar of their own
    arguments=add_arguments,
    check=check_arguments,
)
compute = SCRIPT.compute


def main(argv: Sequence[str] | None = None) -> int:
    """Run the script; of several processes that train together, the first one prints and writes."""
    argv = sys.argv[1:] if argv is None else argv
    if not is_launched():
        return SCRIPT.main(argv)
    with process_group(SCRIPT.parse(argv).device) as ranks:
        if ranks.is_first:
            return SCRIPT.main(argv)
        SCRIPT.compute(argv, quiet=True)
        return 0
