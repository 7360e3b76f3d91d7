"""The paper's citation network: papers are classified by their words and by whom they cite.

Run ``python -m analysis.cora``. Two splits of Cora, with CayleyNets, ChebNets, GCN, GAT, MoNet and DCNN as in the
paper's tables (``--split standard``, ``--split extended``), accuracy by order as in its figure (``--show orders``), and
what the CayleyNets learned (``--show responses``). Interrupt it whenever you like: the same command goes on where it
was.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import pickle
import sys
from collections.abc import Sequence
from pathlib import Path

from analysis._experiment import (
    add_experiment_arguments,
    add_model_arguments,
    as_document,
    check_experiment_arguments,
    experiment_facts,
    read_result,
    recorded_runs,
    seeds_of,
)
from analysis._runner import Experiment, Run, compute_or_read
from analysis._script import Document, Script, Step
from analysis.cora import orders, responses, settings, studies
from analysis.cora.data import data_name, load_graph
from analysis.cora.results import accuracy_table, collect, draw, findings, page, run_lines
from analysis.cora.training import train

__all__ = ["accuracy_table", "compute", "draw", "findings", "main", "markdown"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    add_experiment_arguments(parser, settings.FULL, settings.QUICK, runs=50, quick_runs=1)
    add_model_arguments(parser, settings.MODELS, "the table's")
    parser.add_argument(
        "--show",
        choices=("table", "orders", "responses", *studies.STUDIES),
        default="table",
        help="a table of models, the accuracy by order, the learned responses of both splits, or a comparison of "
        "settings (default: table)",
    )
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folder of the data (default: CAYLEYGSP_DATA, a cache, a download)"
    )
    parser.add_argument(
        "--beside",
        type=Path,
        nargs="+",
        metavar="FILE",
        default=[],
        help="JSON files of tables with other halves of the extended split, whose accuracies are told too",
    )


def check_arguments(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Reject invalid options, and fill in what was not given."""
    check_experiment_arguments(parser, args)
    for path in args.beside:
        if not path.is_file():
            parser.error(f"--beside must be a file, got {path}")
    args.model = list(dict.fromkeys(args.model or default_models(args.config.split, args.quick)))
    try:
        for model in args.model:
            settings.check_recipe(model, recipe_for(args, model), args.device)
    except ValueError as error:
        parser.error(str(error))
    try:
        args.data_name = data_name(args.config.dataset, args.data)
        load_graph(args.config.dataset, args.data)
        if args.recorded:
            runs_of_recipe(args, args.config)
        args.other_halves = [read_accuracies(path) for path in args.beside]
    except (OSError, ValueError, pickle.UnpicklingError) as error:
        parser.error(str(error))


def default_models(split: str, quick: bool) -> Sequence[str]:
    """Return the models of a table: those of the paper and what goes beyond it."""
    if quick:
        return settings.QUICK_MODELS
    beyond = {
        settings.EXTENDED: (settings.DECOUPLED,),
        settings.HALVED: (settings.DECOUPLED,),
        settings.SWAPPED: (),
    }.get(split, (settings.APPNP, settings.APPNP_LONG, settings.DECOUPLED, settings.FIXED))
    return (*settings.PAPER_MODELS[split], *beyond)


def recipe_for(args: argparse.Namespace, model: str, split: str | None = None) -> settings.Recipe:
    """Return the recipe of a model with what the command line changes; in small, shorter and on a drawn graph."""
    recipe = settings.recipe_of(model, split or args.config.split)
    if args.quick:
        recipe = dataclasses.replace(recipe, dataset=settings.DRAWN, epochs=min(recipe.epochs, settings.QUICK_EPOCHS))
    given = {field.name: getattr(args, field.name) for field in dataclasses.fields(recipe) if field.name != "split"}
    given = {name: tuple(v) if isinstance(v, list) else v for name, v in given.items() if v is not None}
    return dataclasses.replace(recipe, **given)


def results_of(
    args: argparse.Namespace, recipe: settings.Recipe, runs: Sequence[Run], *, with_test: bool = True
) -> list[Document]:
    """Return the results of runs in their order: those that are recorded, and those that are or get finished."""
    experiment = Experiment(args.data_name, recipe, runs, functools.partial(train, data=args.data, with_test=with_test))
    return compute_or_read(experiment, args, runs_of_recipe(args, recipe))


def runs_of_recipe(args: argparse.Namespace, recipe: settings.Recipe) -> list[Document]:
    """Return the recorded runs whose recipe is the one that is wanted.

    Settings that the file does not know are taken for the defaults. Learned responses are not recorded with a table.
    """
    wanted, defaults = as_document(recipe), as_document(settings.Recipe())

    def has_recipe(document: Document, run: Document) -> bool:
        model = run["setting"]["model"]
        known = document.get("recipes") or {row["model"]: row["recipe"] for row in document["rows"]}
        return model in known and {**defaults, **known[model]} == wanted

    if args.recorded:
        document = read_result(args.recorded)
        of = document.get("data", document["config"].get("dataset"))
        if of != args.data_name:
            raise ValueError(f"{args.recorded} must be a result with the data {args.data_name}, got {of}")
    return recorded_runs(args.recorded, has_recipe)


def read_accuracies(path: Path) -> Document:
    """Return split and accuracies of a table with other halves; raises ValueError if the file is none."""
    document = read_result(path)
    split = document["config"].get("split")
    if split not in (settings.HALVED, settings.SWAPPED):
        raise ValueError(f"{path} must be a table of the split {settings.HALVED} or {settings.SWAPPED}, got {split}")
    try:
        rows = {row["model"]: {name: row[name] for name in ("mean", "sd", "n")} for row in document["rows"]}
    except KeyError as error:
        raise ValueError(f"{path} must be the JSON file of a table, got one without {error}") from error
    return {"split": split, "rows": rows}


def facts_of(args: argparse.Namespace) -> Document:
    """Return what all results tell of how they came about."""
    return experiment_facts(args) | {"data": args.data_name, "recorded": args.recorded is not None}


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Train the models of a table, and return accuracies and every run."""
    recipes = {model: recipe_for(args, model) for model in args.model}
    results = []
    for model, recipe in recipes.items():
        results += results_of(args, recipe, [Run({"model": model}, seed) for seed in seeds_of(args)])
    return facts_of(args) | {"other_halves": args.other_halves} | collect(recipes, results)


def measure_orders(args: argparse.Namespace, step: Step) -> Document:
    """Train networks of all orders, and return accuracies and every run."""
    bars = orders.settings_of(args.quick)
    recipes = {model: recipe_for(args, model, orders.SPLIT) for model in orders.MODELS}
    of_figure = [setting for setting in bars if setting["laplacian"] != settings.SHIFTED]
    others = [setting for setting in bars if setting["laplacian"] == settings.SHIFTED]
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
        runs = [Run({"model": model}, seed) for seed in seeds_of(args)]
        results += [{"split": split, **result} for result in results_of(args, recipe, runs)]
    return facts_of(args) | responses.collect(args.config.dataset, args.data, results)


def measure_study(args: argparse.Namespace, step: Step) -> Document:
    """Train networks with changed recipes, on seeds of their own, and return accuracies."""
    study = studies.STUDIES[args.show]
    tried = studies.settings_of(study, args.quick)
    recipes = {setting["model"]: recipe_for(args, setting["model"], study.split) for setting in tried}
    results = []
    for setting in tried:
        runs = [Run(setting, studies.FIRST_SEED + seed) for seed in seeds_of(args)]
        results += results_of(args, recipes[setting["model"]], runs, with_test=study.with_test)
    return facts_of(args) | studies.collect(args.show, recipes, results)


SCRIPT = Script("cora", __doc__, measure, page, draw, run_lines, arguments=add_arguments, check=check_arguments)
_STUDY = dataclasses.replace(SCRIPT, measure=measure_study, page=studies.page, draw=studies.draw)
SCRIPTS = {
    "table": SCRIPT,
    "orders": dataclasses.replace(SCRIPT, measure=measure_orders, page=orders.page, draw=orders.draw),
    "responses": dataclasses.replace(SCRIPT, measure=measure_responses, page=responses.page, draw=responses.draw),
    **dict.fromkeys(studies.STUDIES, _STUDY),
}
compute, markdown = SCRIPT.compute, SCRIPT.markdown


def main(argv: Sequence[str] | None = None) -> int:
    """Train, print the tables, and write what was asked for."""
    argv = sys.argv[1:] if argv is None else argv
    args = SCRIPT.parse(argv)
    part = args.config.split if args.show == "table" else args.show
    name = SCRIPT.name if args.quick else f"{args.config.dataset}_{part}"
    return dataclasses.replace(SCRIPTS[args.show], output=name).main(argv)
