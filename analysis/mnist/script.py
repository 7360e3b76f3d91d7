"""The command line of the experiment."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis._document import Document
from analysis._experiment import add_experiment_arguments, check_experiment_arguments, experiment_facts
from analysis._ranks import is_launched, process_group
from analysis._runner import Experiment, Run, compute_or_read
from analysis._script import Script, Step
from analysis._tables import Table
from analysis.mnist.costs import measure_costs
from analysis.mnist.data import is_there
from analysis.mnist.figure import draw
from analysis.mnist.page import markdown
from analysis.mnist.recorded import recorded_runs
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
    parser.add_argument(
        "--recorded",
        type=Path,
        metavar="FILE",
        help="take the runs with the same settings from this mnist.json in the place of training them",
    )


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject invalid options, and fill in what was not given."""
    if args.quick and args.data is None and not is_there():
        args.data = DRAWN
    if is_launched():
        if args.workers not in (None, 1):
            parser.error(f"--workers must be 1 under torchrun, got {args.workers}")
        args.workers = 1
    check_experiment_arguments(parser, args)
    if args.recorded and not args.recorded.is_file():
        parser.error(f"--recorded must be a file, got {args.recorded}")
    args.model = list(dict.fromkeys(args.model or (QUICK_MODELS if args.quick else MODELS)))


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Train what is not done yet, unless that is not wanted, and return accuracies, costs and every run."""
    seeds = range(args.seed, args.seed + args.runs)
    runs = [Run({"model": model}, seed) for seed in seeds for model in args.model]
    recorded = recorded_runs(args.recorded, args.config) if args.recorded else []
    results = compute_or_read(Experiment("mnist", args.config, runs, train), args, recorded)
    missing = [model for model in args.model if all(result["setting"]["model"] != model for result in results)]
    zooms = {result["setting"]["model"]: result["numbers"]["zooms"] for result in reversed(results)}
    order = [model for model in args.model if model in zooms]
    costs = measure_costs(args.config, {model: zooms[model] for model in order}, args.device)
    return experiment_facts(args) | collect(args.config, results, costs) | {"missing": missing}


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
