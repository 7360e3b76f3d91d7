"""The paper's first experiment: which of 15 communities a noisy step signal is on, by CayleyNets and ChebNets.

Run ``python -m analysis.community``. A network is one convolution with 32 features, ReLU, the mean over the vertices
and a softmax; order and method of the convolution are varied. Every run has a graph, signals and weights of its own.
The model is the one of the epoch that did best on validation signals; test signals are looked at once.
Interrupt it whenever you like: the same command goes on where it was.

Learning rates are the same for all orders and methods of a kind of network. ChebNet has its own, so that it is not held
to what suits the other: ``--tune`` tries several for both kinds, on graphs that no run uses, by validation accuracy.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from analysis._experiment import (
    add_experiment_arguments,
    beside,
    check_experiment_arguments,
    config_lines,
    experiment_facts,
    grouped,
    seeds_of,
)
from analysis._figures import plain_axes
from analysis._networks import N_FEATURES, NETWORK_STYLES, ORDERS
from analysis._runner import Experiment, Run, compute_or_read
from analysis._script import Blocks, Document, Script, Step, Table, bullets, pivot
from analysis.community.network import train
from analysis.community.results import collect, draw, findings, table, zoom_table
from analysis.community.settings import (
    FULL,
    MODELS,
    NAMES,
    QUICK,
    QUICK_MODELS,
    QUICK_ORDERS,
    TUNING_MODELS,
    TUNING_ORDERS,
    TUNING_RATES,
    TUNING_SEED,
)

__all__ = ["N_FEATURES", "compute", "draw", "findings", "main", "markdown", "table"]


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


def measure(args: argparse.Namespace, step: Step) -> Document:
    """Train what is not trained yet, a seed at a time, so that its data is drawn once; return accuracies and runs."""
    settings = [{"model": model, "order": order} for model in args.models for order in args.orders]
    runs = [Run(setting, seed) for seed in seeds_of(args) for setting in settings]
    results = compute_or_read(Experiment("community", args.config, runs, train), args)
    return experiment_facts(args) | collect(args, args.config, results)


def measure_tuning(args: argparse.Namespace, step: Step) -> Document:
    """Train with several learning rates, on seeds of their own, and return validation accuracies.

    Test signals play no part.
    """
    settings = [
        {"model": model, "order": order, "lr": lr}
        for model in TUNING_MODELS
        for order in TUNING_ORDERS
        for lr in TUNING_RATES
        if order in args.orders
    ]
    runs = [Run(setting, TUNING_SEED + seed) for seed in seeds_of(args) for setting in settings]
    results = compute_or_read(Experiment("community", args.config, runs, train), args)
    rows = [
        {**row["setting"], "mean": 100 * row["mean"], "sd": 100 * row["sd"], "n": row["n"]}
        for row in grouped(results, "best_validation")
    ]
    return experiment_facts(args) | {"rows": rows}


def tuning_page(document: Document) -> Blocks:
    """Return the title and the accuracies by learning rate."""
    table = pivot(
        ["model", "order r"],
        document["rows"],
        lambda row: [NAMES[row["model"]], str(row["order"])],
        lambda row: row["lr"],
        lambda row: beside(row["mean"], row["sd"], None),
        "lr {:g}",
    )
    return [
        "Community detection: learning rates",
        "Validation accuracy in % of the chosen epoch, on graphs and signals that no run of the experiment uses.",
        Table("Validation accuracy, %", *table),
    ]


def draw_tuning(document: Document) -> Figure:
    """Draw validation accuracy over learning rate, one line per order."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    for ax, model in zip(figure.subplots(1, 2, sharey=True), TUNING_MODELS, strict=True):
        for k, order in enumerate(TUNING_ORDERS):
            rows = [row for row in document["rows"] if row["model"] == model and row["order"] == order]
            if rows:
                x, y, e = (np.array([row[key] for row in rows]) for key in ("lr", "mean", "sd"))
                style = list(NETWORK_STYLES.values())[k]
                ax.errorbar(x, y, e, label=f"r = {order}", capsize=2, markersize=4.5, **style)
        ax.set(xscale="log", xlabel="learning rate", title=NAMES[model])
        plain_axes(ax)
    figure.axes[0].set_ylabel("validation accuracy, %")
    figure.axes[1].legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def page(document: Document) -> Blocks:
    """Return the title, the accuracies and what they show, what was chosen here, and the learned zooms."""
    graph, config = document["graph"], document["config"]
    header, zooms = zoom_table(document)
    learned = "Learned zoom of the exact CayleyNet, beside 1/√(λ₁₅ λ₁₆), which spreads the gap between the frequencies "
    learned += "of the communities and the others most:"
    learning: Blocks = [learned, Table("Learned zooms", header, zooms)] if zooms else []
    chosen = [
        f"The graph: 15 communities of {config['smallest']} to {config['largest']} vertices, no two of a size, "
        f"{graph['n_vertices']} vertices in all; edges inside with probability {config['p_in']:g}, between with "
        f"{config['p_out']:g}; weights with spread {config['spread']:g} (0 is none: all edges weigh 1). The parameters "
        "were tried by hand on other graphs, until the contrast of the paper's figure was there.",
        f"The noise: variance {config['noise']:g}.",
        f"The training: Adam, learning rate {config['lr']:g} for CayleyNet and {config['cheb_lr']:g} for ChebNet, "
        f"each tried for itself, {config['n_train']} signals, {config['epochs']} epochs; features are standardised "
        "over the batch before the classifier. The model is that of the epoch with the best validation accuracy. All "
        "this is the same for all models.",
    ]
    return [
        "Community detection",
        f"Test accuracy in %, mean ± population standard deviation over {document['n_runs']} runs with "
        f"{config['n_test']} test signals each; in brackets the paper's mean and the difference. Every run has a "
        "graph, signals and weights of its own, so that the deviation is also that of the graphs.",
        Table("Test accuracy, % (the paper's, difference)", *table(document)),
        findings(document),
        "What was chosen here, as the paper does not say:",
        bullets(chosen),
        "Where our figures differ from the paper's, graph, noise and training may differ as well: it tells none of "
        "them in full.",
        *learning,
    ]


SCRIPT = Script("community", __doc__, measure, page, draw, config_lines, arguments=add_arguments, check=check_arguments)

TUNING = dataclasses.replace(
    SCRIPT, measure=measure_tuning, page=tuning_page, draw=draw_tuning, output="community_tuning"
)
compute, markdown = SCRIPT.compute, SCRIPT.markdown


def main(argv: Sequence[str] | None = None) -> int:
    """Train, print the tables, and write what was asked for."""
    argv = sys.argv[1:] if argv is None else argv
    return (TUNING if SCRIPT.parse(argv).tune else SCRIPT).main(argv)
