"""The command line of the experiment."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from analysis._document import Document
from analysis._experiment import add_experiment_arguments, check_experiment_arguments, experiment_facts
from analysis._runner import Experiment, Run, compute_or_read, folder_of
from analysis._script import Script, Step
from analysis._tables import Table
from analysis.movielens.baselines.choice import search
from analysis.movielens.costs import measure_costs
from analysis.movielens.figure import draw
from analysis.movielens.page import markdown
from analysis.movielens.recorded import recorded_baselines, recorded_networks
from analysis.movielens.results import collect, error_table, learned_zooms, network_table
from analysis.movielens.settings import (
    BASELINES,
    FULL,
    FULL_BASELINES,
    MODELS,
    NETWORKS,
    PAPER,
    PROTOCOLS,
    QUICK,
    QUICK_BASELINES,
    QUICK_MODELS,
)
from analysis.movielens.training import train, train_so_far


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    add_experiment_arguments(parser, FULL, QUICK, runs=3, quick_runs=1)
    parser.add_argument(
        "--model", nargs="+", choices=MODELS, metavar="MODEL", help=f"of {', '.join(MODELS)} (default: all)"
    )
    parser.add_argument(
        "--protocol", nargs="+", choices=PROTOCOLS, default=[PAPER], help="how networks are chosen (default: paper)"
    )
    parser.add_argument("--finished", action="store_true", help="train nothing: write down the runs that are finished")
    parser.add_argument(
        "--recorded",
        type=Path,
        metavar="FILE",
        help="take the runs with the same settings from this movielens.json in the place of training them",
    )
    parser.add_argument(
        "--unfinished",
        action="store_true",
        help="with --finished: and networks as far as they are, where no seed of a model is finished",
    )


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject invalid options, and fill in what was not given."""
    check_experiment_arguments(parser, args)
    args.model = list(dict.fromkeys(args.model or (QUICK_MODELS if args.quick else MODELS)))
    args.protocol = list(dict.fromkeys(args.protocol))
    if args.recorded and not args.recorded.is_file():
        parser.error(f"--recorded must be a file, got {args.recorded}")
    if args.unfinished and not args.finished:
        parser.error("--unfinished must come with --finished, as nothing is trained")


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Train and solve what is not done yet, unless that is not wanted, and return errors and every run."""
    config = args.config
    seeds = range(args.seed, args.seed + args.runs)
    networks = [
        Run({"model": model, "protocol": protocol}, seed)
        for seed in seeds
        for model in args.model
        for protocol in args.protocol
        if model in NETWORKS
    ]
    baselines = [Run({"model": model}, seed) for seed in seeds for model in args.model if model in BASELINES]
    others = dataclasses.replace(
        QUICK_BASELINES if args.quick else FULL_BASELINES, data=config.data, validation_share=config.validation_share
    )
    facts = experiment_facts(args) | {
        "baseline_config": dataclasses.asdict(others),
        "recorded": args.recorded is not None,
    }
    experiment = Experiment("movielens", config, networks, train)
    trained = compute_or_read(experiment, args, recorded_networks(args.recorded, config))
    if args.unfinished:
        trained = [*trained, *_unfinished(args, experiment, trained)]
    document = facts | collect(
        config.data,
        trained,
        compute_or_read(
            Experiment("movielens_baselines", others, baselines, search),
            args,
            recorded_baselines(args.recorded, others),
        ),
    )
    rounds = 3 if args.quick else 15
    costs = measure_costs(config, learned_zooms(document), torch.device(args.device), rounds)
    return document | {"costs": costs}


def _unfinished(args: argparse.Namespace, experiment: Experiment[Any], trained: Sequence[Document]) -> list[Document]:
    """Return results of runs up to their checkpoints, of settings that have no finished run."""
    done = [result["setting"] for result in trained]
    results = []
    for run in experiment.runs:
        path = folder_of(experiment, args.work, args.device) / f"{run.key}.pt"
        if run.setting not in done and path.exists():
            numbers = train_so_far(args.config, run, path, torch.device(args.device))
            if numbers:
                timing = numbers.pop("timing")
                results.append({"setting": run.setting, "seed": run.seed, "numbers": numbers, "timing": timing})
    return results


SCRIPT = Script(
    "movielens",
    "Complete the ratings of MovieLens-100k by recurrent graph networks with Chebyshev and Cayley filters and by "
    "methods without networks, and compare with the paper. Interrupt it whenever you like: the same command goes on "
    "where it was.",
    measure,
    markdown,
    draw,
    tables=lambda document: [
        Table("Test error, RMSE", *error_table(document)),
        Table("Networks", *network_table(document)),
    ],
    steps=lambda args: 0,  # the runs have a bar of their own
    arguments=add_arguments,
    check=check_arguments,
)
compute, main = SCRIPT.compute, SCRIPT.main
