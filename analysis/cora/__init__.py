"""The paper's citation network: papers are classified by their words and by whom they cite.

Run ``python -m analysis.cora``. Two splits of Cora, with CayleyNets, ChebNets, GCN, GAT, MoNet and DCNN as in the
paper's tables (``--split standard``, ``--split extended``), accuracy by order as in its figure (``--show orders``), and
what the CayleyNets learned (``--show responses``).
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis._experiment import add_experiment_arguments, check_experiment_arguments, experiment_facts
from analysis._runner import Experiment, Run, compute_or_read
from analysis._script import Document, Script, Step, Table
from analysis.cora import orders, responses, studies
from analysis.cora.data import data_name, load_graph
from analysis.cora.recorded import read_accuracies, recorded_runs
from analysis.cora.results import accuracy_table, collect, draw, findings, markdown
from analysis.cora.settings import (
    APPNP,
    APPNP_LONG,
    DECOUPLED,
    DRAWN,
    EXTENDED,
    FIXED,
    FULL,
    HALVED,
    MODELS,
    PAPER_MODELS,
    QUICK,
    QUICK_EPOCHS,
    QUICK_MODELS,
    SHIFTED,
    SWAPPED,
    Recipe,
    check_recipe,
    recipe_of,
)
from analysis.cora.training import train

TABLE, ORDERS, RESPONSES = "table", "orders", "responses"

__all__ = ["accuracy_table", "compute", "draw", "findings", "main", "markdown"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    add_experiment_arguments(parser, FULL, QUICK, runs=50, quick_runs=1)
    parser.add_argument(
        "--model", nargs="+", choices=MODELS, metavar="MODEL", help=f"of {', '.join(MODELS)} (default: the table's)"
    )
    parser.add_argument(
        "--show",
        choices=(TABLE, ORDERS, RESPONSES, *studies.STUDIES),
        default=TABLE,
        help="a table of models, the accuracy by order, the learned responses of both splits, or a comparison of "
        "settings (default: table)",
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folder of the data (default: CAYLEYGSP_DATA, a cache, a download)"
    )
    parser.add_argument(
        "--recorded",
        type=Path,
        metavar="FILE",
        help="take runs with the same recipe from this JSON file of a result in the place of training them",
    )
    parser.add_argument(
        "--beside",
        type=Path,
        nargs="+",
        metavar="FILE",
        default=[],
        help="JSON files of tables with other halves of the extended split, whose accuracies are told too",
    )
    parser.add_argument("--finished", action="store_true", help="train nothing: write down the runs that are finished")


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject invalid options, and fill in what was not given."""
    check_experiment_arguments(parser, args)
    for option, path in (("recorded", args.recorded), *(("beside", path) for path in args.beside)):
        if path and not path.is_file():
            parser.error(f"--{option} must be a file, got {path}")
    args.model = list(dict.fromkeys(args.model or default_models(args.config.split, args.quick)))
    try:
        for model in args.model:
            check_recipe(model, recipe_for(args, model), args.device)
    except ValueError as error:
        parser.error(str(error))
    try:
        args.data_name = data_name(args.config.dataset, args.data)
        load_graph(args.config.dataset, args.data)
        if args.recorded:
            recorded_runs(args.recorded, args.config, args.data_name)
        args.other_halves = [read_accuracies(path) for path in args.beside]
    except (OSError, ValueError, pickle.UnpicklingError) as error:
        parser.error(str(error))


def default_models(split: str, quick: bool) -> Sequence[str]:
    """Return the models of a table: those of the paper and what goes beyond it."""
    if quick:
        return QUICK_MODELS
    beyond = {EXTENDED: (DECOUPLED,), HALVED: (DECOUPLED,), SWAPPED: ()}.get(
        split, (APPNP, APPNP_LONG, DECOUPLED, FIXED)
    )
    return (*PAPER_MODELS[split], *beyond)


def recipe_for(args: argparse.Namespace, model: str, split: str | None = None) -> Recipe:
    """Return the recipe of a model with what the command line changes; in small, shorter and on a drawn graph."""
    recipe = recipe_of(model, split or args.config.split)
    if args.quick:
        recipe = dataclasses.replace(recipe, dataset=DRAWN, epochs=min(recipe.epochs, QUICK_EPOCHS))
    given = {field.name: getattr(args, field.name) for field in dataclasses.fields(recipe) if field.name != "split"}
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items() if v is not None}
    return dataclasses.replace(recipe, **given)


def results_of(
    args: argparse.Namespace, recipe: Recipe, runs: Sequence[Run], *, with_test: bool = True
) -> list[Document]:
    """Return the results of runs in their order: those that are recorded, and those that are or get finished."""
    experiment = Experiment(args.data_name, recipe, runs, functools.partial(train, data=args.data, with_test=with_test))
    known = recorded_runs(args.recorded, recipe, args.data_name) if args.recorded else []
    return compute_or_read(experiment, args, known)


def facts_of(args: argparse.Namespace) -> Document:
    """Return what all results tell of how they came about."""
    return experiment_facts(args) | {"data": args.data_name, "recorded": args.recorded is not None}


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Train the models of a table, and return accuracies and every run."""
    recipes = {model: recipe_for(args, model) for model in args.model}
    seeds = range(args.seed, args.seed + args.runs)
    results = []
    for model, recipe in recipes.items():
        results += results_of(args, recipe, [Run({"model": model}, seed) for seed in seeds])
    return facts_of(args) | {"other_halves": args.other_halves} | collect(recipes, results)


def measure_orders(args: argparse.Namespace, step: Step) -> Document:
    """Train networks of all orders, and return accuracies and every run."""
    settings = orders.settings_of(args.quick)
    recipes = {model: recipe_for(args, model, orders.SPLIT) for model in orders.MODELS}
    of_figure = [setting for setting in settings if setting["laplacian"] != SHIFTED]
    others = [setting for setting in settings if setting["laplacian"] == SHIFTED]
    results = []
    for wanted, n_runs in ((of_figure, args.runs), (others, min(args.runs, orders.SHIFTED_RUNS))):
        for seed in range(args.seed, args.seed + n_runs):  # a seed at a time, so that the picture is there early
            for model, recipe in recipes.items():
                runs = [Run(orders.changes(setting, recipe), seed) for setting in wanted if setting["model"] == model]
                results += results_of(args, recipe, runs)
    return facts_of(args) | orders.collect(recipes, results)


def measure_responses(args: argparse.Namespace, step: Step) -> Document:
    """Return what the CayleyNets of both tables have learned."""
    results = []
    for model, split in responses.SHOWN:
        recipe = recipe_for(args, model, split)
        runs = [Run({"model": model}, seed) for seed in range(args.seed, args.seed + args.runs)]
        results += [{"split": split, **result} for result in results_of(args, recipe, runs)]
    return facts_of(args) | responses.collect(args.config.dataset, args.data, results)


def measure_study(args: argparse.Namespace, step: Step) -> Document:
    """Train networks with changed recipes, on seeds of their own, and return accuracies."""
    study = studies.STUDIES[args.show]
    seeds = range(studies.FIRST_SEED + args.seed, studies.FIRST_SEED + args.seed + args.runs)
    settings = studies.settings_of(study, args.quick)
    recipes = {setting["model"]: recipe_for(args, setting["model"], study.split) for setting in settings}
    results = []
    for setting in settings:
        runs = [Run(setting, seed) for seed in seeds]
        results += results_of(args, recipes[setting["model"]], runs, with_test=study.with_test)
    return facts_of(args) | studies.collect(args.show, recipes, results)


SCRIPT = Script(
    "cora",
    "Classify the papers of a citation network by graph networks, and compare with the paper. Interrupt it whenever "
    "you like: the same command goes on where it was.",
    measure,
    markdown,
    draw,
    tables=lambda document: [Table("Test accuracy, %", *accuracy_table(document))],
    lines=findings,
    steps=lambda args: 0,  # the runs have a bar of their own
    arguments=add_arguments,
    check=check_arguments,
)

ORDERS_SCRIPT = dataclasses.replace(
    SCRIPT,
    measure=measure_orders,
    markdown=orders.markdown,
    draw=orders.draw,
    tables=lambda document: [Table("Test accuracy, % (the paper's, difference)", *orders.table(document))],
    lines=orders.findings,
)

RESPONSES_SCRIPT = dataclasses.replace(
    SCRIPT,
    measure=measure_responses,
    markdown=responses.markdown,
    draw=responses.draw,
    tables=lambda document: [Table("Learned zooms", *responses.table(document))],
    lines=lambda document: [],
)

STUDY_SCRIPT = dataclasses.replace(
    SCRIPT,
    measure=measure_study,
    markdown=studies.markdown,
    draw=studies.draw,
    tables=lambda document: [Table("Accuracy, %", *studies.table(document))],
    lines=studies.findings,
)

compute = SCRIPT.compute


def main(argv: Sequence[str] | None = None) -> int:
    """Train, print the tables, and write what was asked for."""
    argv = sys.argv[1:] if argv is None else argv
    args = SCRIPT.parse(argv)
    script = {TABLE: SCRIPT, ORDERS: ORDERS_SCRIPT, RESPONSES: RESPONSES_SCRIPT}.get(args.show, STUDY_SCRIPT)
    part = args.config.split if args.show == TABLE else args.show
    name = SCRIPT.name if args.quick else f"{args.config.dataset}_{part}"
    return dataclasses.replace(script, output=name).main(argv)
