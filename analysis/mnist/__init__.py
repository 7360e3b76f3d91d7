"""The paper's MNIST experiment: digits classified on the graph of their pixels.

Run ``python -m analysis.mnist``. A ChebNet and a CayleyNet with two convolutions and Graclus pooling are compared with
LeNet5, which knows the grid; each is trained as in the authors' code and its last state reported. Started by
``torchrun``, several processes train a network together. Interrupt it whenever you like: the same command goes on where
it was.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from analysis._experiment import (
    add_experiment_arguments,
    add_model_arguments,
    as_document,
    check_experiment_arguments,
    config_lines,
    experiment_facts,
    read_result,
    recorded_runs,
    seeds_of,
)
from analysis._ranks import is_launched, process_group
from analysis._runner import Experiment, Run, compute_or_read
from analysis._script import Blocks, Document, Script, Step, Table, bullets
from analysis.mnist.data import is_there
from analysis.mnist.results import COURSE, accuracy_table, collect, cost_table, draw, findings
from analysis.mnist.settings import ALL_MODELS, DRAWN, EXACT, FULL, MODELS, QUICK, QUICK_MODELS, settings_of
from analysis.mnist.training import ROUNDS, measure_costs, train
from cayleygsp.nn.coordinates import COEFFICIENTS, ORTHOGONAL

_LEARNED = {
    COEFFICIENTS: "the coefficients themselves, as in the paper, by the series and by the Jacobi scheme alike",
    ORTHOGONAL: "weights in orthogonal coordinates, the default of the layers",
}

__all__ = ["accuracy_table", "compute", "cost_table", "draw", "findings", "main", "markdown"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this script."""
    add_experiment_arguments(parser, FULL, QUICK, runs=1, quick_runs=1)
    add_model_arguments(parser, ALL_MODELS, f"{', '.join(MODELS)}; quick: {', '.join(QUICK_MODELS)}")


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
    """Train what is not done yet, unless that is not wanted, and return accuracies, costs and every run."""
    runs = [Run({"model": model}, seed) for seed in seeds_of(args) for model in args.model]
    results = compute_or_read(Experiment("mnist", args.config, runs, train), args, recorded_networks(args))
    missing = [model for model in args.model if all(result["setting"]["model"] != model for result in results)]
    zooms = {result["setting"]["model"]: result["numbers"]["zooms"] for result in reversed(results)}
    order = [model for model in args.model if model in zooms]
    costs = measure_costs(args.config, {model: zooms[model] for model in order}, args.device)
    return experiment_facts(args) | collect(args.config, results, costs) | {"missing": missing}


def recorded_networks(args: argparse.Namespace) -> list[Document]:
    """Return the recorded runs of networks whose settings are those that are asked for.

    A setting that a network does not have, such as the zoom of Cayley filters for LeNet5, may be another one, or
    missing. Of the filters there are those that the picture shows; runs after the first of a network have none.
    """
    wanted = as_document(args.config)

    def has_settings(document: Document, run: Document) -> bool:
        model = run["setting"]["model"]
        return settings_of(model, document["config"]) == settings_of(model, wanted)

    runs = recorded_runs(args.recorded, has_settings, COURSE)
    rows = read_result(args.recorded)["rows"] if runs else []
    filters = {row["model"]: row["filters"] for row in rows}
    for run in runs:
        run["numbers"]["filters"] = filters.pop(run["setting"]["model"], [])
    return runs


def page(document: Document) -> Blocks:
    """Return the title, accuracies and costs, what they show, and how it was done."""
    config = document["config"]
    many = f", mean ± population standard deviation over {document['n_runs']} seeds" if document["n_runs"] > 1 else ""
    second = (
        "in the eigenbasis of its graph, where a filter costs the same whatever its order is"
        if config["second"] == EXACT
        else "by the recurrences of the layers"
    )
    done = [
        f"{config['n_train']:,} images are for training, the first {config['n_validation']:,} of the training file "
        f"for validation, which decides nothing in a run, {config['n_test']:,} for the test, which is made once, at "
        "the end.",
        "Convolutions are on the 8-nearest-neighbour graph of the pixels and on its second coarsening; each is "
        "followed by pooling over four vertices. Fake vertices take no part.",
        f"Chebyshev filters have {2 * config['order'] + 1} terms, Cayley filters the order {config['order']}: as "
        "many coefficients, and a zoom per layer. The first layer computes by recurrences (Cayley filters by series "
        f"with an error of at most {config['tol']:g}), the second {second}.",
        f"Cayley filters learn {_LEARNED[config['parametrization']]}.",
        "Weights and coefficients start normal, cut at two deviations; steepest descent with momentum; the learning "
        "rate falls after every epoch; squares of the dense layers are penalised; gradients are cut for Cayley filters "
        "alone, as in the authors' code.",
        "Jacobi sweeps are computed in the eigenbasis, where they are one function of the frequencies: the same "
        "numbers, but not the paper's time.",
    ]
    return [
        "Digits on the graph of the pixels",
        f"Test accuracy of the last state after {config['epochs']} epochs{many}; in brackets the paper's figure and "
        "the difference.",
        Table("Test accuracy, %", *accuracy_table(document)),
        findings(document),
        f"Processor time of one thread, the median of {ROUNDS} rounds in which the networks take turns, with the zooms "
        "that were learned.",
        Table("Cost", *cost_table(document)),
        "How it was done:",
        bullets(done),
    ]


def facts(document: Document) -> list[str]:
    """Say the configuration, and when the runs were finished, which may be long before the page was written."""
    dates = sorted(run["made"]["date"] for run in document["runs"])
    return config_lines(document) + ([f"- Runs were finished from {dates[0]} to {dates[-1]}"] if dates else [])


SCRIPT = Script("mnist", __doc__, measure, page, draw, facts, arguments=add_arguments, check=check_arguments)

compute, markdown = SCRIPT.compute, SCRIPT.markdown


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
