"""The paper's recommender experiment: ratings of movies completed with a graph of the users and one of the movies.

Run ``python -m analysis.movielens``. The network has two factors of the matrix of ratings; convolutions on the two
graphs and a recurrent cell change them in ten steps. Chebyshev and Cayley filters are compared, and methods without
networks beside them. Two protocols choose the network: that of the authors' code (lowest training loss), and one with
validation ratings (``--protocol validation``). Interrupt it whenever you like: the same command goes on where it
was.
"""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from typing import Any

import torch

from analysis._experiment import (
    add_experiment_arguments,
    add_model_arguments,
    as_document,
    check_experiment_arguments,
    config_lines,
    experiment_facts,
    recorded_runs,
    seeds_of,
)
from analysis._runner import Experiment, Run, compute_or_read, folder_of
from analysis._script import Blocks, Document, Script, Step, Table, bullets, format_seconds
from analysis.movielens.baselines import search
from analysis.movielens.results import (
    CURVES,
    collect,
    course_table,
    draw,
    error_table,
    findings,
    mean_zooms,
    network_table,
)
from analysis.movielens.settings import (
    BASELINES,
    FULL,
    FULL_BASELINES,
    MODELS,
    MOVIELENS,
    NAMES,
    NETWORKS,
    PAPER,
    PAPER_STEPS,
    PROTOCOLS,
    PUBLISHED,
    QUICK,
    QUICK_BASELINES,
    QUICK_MODELS,
)
from analysis.movielens.training import measure_costs, train, train_so_far

__all__ = ["compute", "draw", "error_table", "findings", "main", "markdown", "network_table"]


# Ways to compute the same network that records have times of.
WAYS = {
    "loops": "series, all steps by the loops of this experiment",
    "layers": "series, layer by layer",
    "eigenbasis": "eigenbasis, layer by layer",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    add_experiment_arguments(parser, FULL, QUICK, runs=3, quick_runs=1)
    add_model_arguments(parser, MODELS, "all")
    parser.add_argument(
        "--protocol", nargs="+", choices=PROTOCOLS, default=[PAPER], help="how networks are chosen (default: paper)"
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
    if args.unfinished and not args.finished:
        parser.error("--unfinished must come with --finished, as nothing is trained")


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Train and solve what is not done yet, unless that is not wanted, and return errors and every run."""
    config = args.config
    networks = [
        Run({"model": model, "protocol": protocol}, seed)
        for seed in seeds_of(args)
        for model in args.model
        for protocol in args.protocol
        if model in NETWORKS
    ]
    baselines = [Run({"model": model}, seed) for seed in seeds_of(args) for model in args.model if model in BASELINES]
    others = dataclasses.replace(
        QUICK_BASELINES if args.quick else FULL_BASELINES, data=config.data, validation_share=config.validation_share
    )

    def is_network(document: Document, run: Document) -> bool:
        finished = run["numbers"].get("steps", config.steps) == config.steps
        return run["setting"]["model"] in NETWORKS and finished and document["config"] == as_document(config)

    def is_baseline(document: Document, run: Document) -> bool:
        return run["setting"]["model"] in BASELINES and document["baseline_config"] == as_document(others)

    experiment = Experiment("movielens", config, networks, train)
    trained = compute_or_read(experiment, args, recorded_runs(args.recorded, is_network, CURVES))
    if args.unfinished:
        trained = [*trained, *_unfinished(args, experiment, trained)]
    of_others = Experiment("movielens_baselines", others, baselines, search)
    completed = compute_or_read(of_others, args, recorded_runs(args.recorded, is_baseline))
    facts = {"baseline_config": dataclasses.asdict(others), "recorded": args.recorded is not None}
    document = experiment_facts(args) | facts | collect(config.data, trained, completed)
    rounds = 3 if args.quick else 15
    return document | {"costs": measure_costs(config, mean_zooms(document), torch.device(args.device), rounds)}


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


def page(document: Document) -> Blocks:
    """Return the title, errors and costs, what they show, the settings of the baselines, and how it was done."""
    config, costs = document["config"], document["costs"]
    published = ", ".join(f"{name} {error:.3f}" for name, error in PUBLISHED.items())
    header, networks = network_table(document)
    blocks: list[Any] = [
        "Matrix completion on MovieLens",
        "Root of the mean squared error over the test ratings, mean ± population standard deviation over the seeds; in "
        "brackets the paper's figure and the difference.",
        Table("Test error, RMSE", *error_table(document)),
        f"Published elsewhere for this data set, not computed here: {published}."
        if config["data"] == MOVIELENS
        else "",
        findings(document),
        *([Table("Along the training", *course_table(document))] if document["curves"] else []),
    ]
    if networks:
        blocks += [
            "Networks: parameters by counting; processor time of one thread for loss and gradients (training step) and "
            f"for the factors (test), medians of {costs['rounds']} rounds in which networks take turns, "
            "with the zooms that they learned; ratio of the test time to that of Chebyshev filters of order 4.",
            Table("Networks", header, networks),
        ]
    if costs.get("ways"):  # of records from when there were others
        blocks += [
            "A training step with Cayley filters by the series and by the eigenbasis, which gives the same numbers; "
            "the first is what is used:",
            Table("Ways", ["way", "time"], [[WAYS[way], format_seconds(t)] for way, t in costs["ways"].items()]),
        ]
    chosen = [f"{NAMES[row['model']]}: {_settings(row)}" for row in document["rows"] if row["chosen"]]
    if chosen:
        blocks += ["Settings of the others, chosen on validation ratings, one per seed:", bullets(chosen)]
    return [*blocks, "How it was done:", bullets(_remarks(document))]


def _remarks(document: Document) -> list[str]:
    config = document["config"]
    lines = [
        f"Networks are trained for {config['steps']:,} steps unless the table says otherwise; the authors' for "
        f"{PAPER_STEPS:,}.",
        f"The paper's protocol takes the network with the lowest training loss, looked at every {config['every']} "
        "steps, and its loss is over all training ratings. The other protocol "
        f"sets {config['validation_share']:.0%} of the training ratings aside and takes the network that does best on "
        "them. Test ratings decide nothing.",
        "Cayley filters learn the coefficients themselves, as in the paper, unless said otherwise.",
        "Jacobi iterations are polynomials of these Laplacians, which have ones on the diagonal. They are computed "
        f"by their Chebyshev series, with an error of at most {config['tol']:g} in each basis function: their time is "
        "not the paper's.",
        "The others: settings are chosen on validation ratings, then all training ratings are fitted; predictions "
        "are clipped to 1 and 5. The data set has no features of users and movies: IMC has eigenvectors of the graphs.",
        "The seed decides the division of the training ratings and the weights to begin with.",
    ]
    if document.get("recorded"):
        lines.append(
            "Runs of an earlier call with the same settings were taken over. The machine that made them may be "
            "another one; the JSON file has the date of each."
        )
    return lines


def _settings(row: Document) -> str:
    return "; ".join(
        ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in chosen.items()) for chosen in row["chosen"]
    )


SCRIPT = Script("movielens", __doc__, measure, page, draw, config_lines, arguments=add_arguments, check=check_arguments)

compute, main, markdown = SCRIPT.compute, SCRIPT.main, SCRIPT.markdown
