"""What the runs show: test errors beside the paper's, times, and its claims."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis._experiment import beside_paper, grouped, without
from analysis._figures import plain_axes
from analysis._script import Document, format_seconds
from analysis.movielens.settings import (
    CAYLEY,
    CHEB4,
    CHEB8,
    JACOBI,
    LOGGED,
    MODELS,
    MOVIELENS,
    NAMES,
    ORTHOGONAL,
    PAPER,
    PAPER_RMSE,
    PAPER_TEST_TIMES,
)

# Steps that the course of the training is shown at.
_SHOWN = (0, 100, 500, 1000, 2000, 5000)

# Networks that are compared with each other: with as many coefficients, and with fewer.
_COMPARED = ((CAYLEY, CHEB8), (JACOBI, CHEB8), (ORTHOGONAL, CHEB8), (CAYLEY, CHEB4), (CHEB8, CHEB4))

# Distance to the paper's figure that counts as the same.
MARGIN = 0.005

CURVES = ("loss", "test_rmse", "validation_rmse")

# How far from our errors a figure of the paper may be drawn.
_ROOM = 0.1

_STYLES: dict[str, dict[str, Any]] = {
    CHEB4: {"color": "#E69F00", "linestyle": ":"},
    CHEB8: {"color": "#009E73", "linestyle": "--"},
    CAYLEY: {"color": "#D55E00", "linestyle": "-"},
    JACOBI: {"color": "#0072B2", "linestyle": "-."},
    ORTHOGONAL: {"color": "#CC79A7", "linestyle": "-"},
}


def collect(data: str, networks: Sequence[Document], baselines: Sequence[Document]) -> Document:
    """Return one row per model and protocol, the course of the training, and every run without its course."""
    rows = [_row(row, networks, data) for row in grouped(networks, "rmse")]
    rows += [_row(row, baselines, data) for row in grouped(baselines, "rmse")]
    rows.sort(key=lambda row: MODELS.index(row["model"]))
    curves = [
        {**run["setting"], "seed": run["seed"], "every": run["numbers"]["best_step"] // (_best(run) + 1)}
        | {"at_start": run["numbers"]["at_start"]}
        | {name: run["numbers"][name] for name in CURVES if name in run["numbers"]}
        for run in networks
    ]
    return {"rows": rows, "curves": curves, "runs": without([*networks, *baselines], CURVES)}


def _best(run: Document) -> int:
    """Return at which look the network that was kept was found."""
    numbers = run["numbers"]
    chosen = numbers["validation_rmse"] if "validation_rmse" in numbers else numbers["loss"]
    return chosen.index(min(chosen))


def _row(row: Document, runs: Sequence[Document], data: str) -> Document:
    model, protocol = row["setting"]["model"], row["setting"].get("protocol")
    same = [run for run in runs if run["setting"] == row["setting"]]
    known = data == MOVIELENS and protocol in (None, PAPER)
    return {
        "model": model,
        "protocol": protocol,
        **{name: row[name] for name in ("mean", "sd", "n")},
        "paper": PAPER_RMSE.get(model) if known else None,
        "steps": same[0]["numbers"].get("steps"),
        "n_parameters": same[0]["numbers"].get("n_parameters"),
        "zooms": [run["numbers"]["zooms"] for run in same if run["numbers"].get("zooms")],
        "chosen": [run["numbers"]["chosen"] for run in same if "chosen" in run["numbers"]],
    }


def mean_zooms(document: Document) -> dict[str, list[float]]:
    """Return the networks of a document, each with the means of its learned zooms; empty for those without."""
    zooms: dict[str, list[float]] = {}
    for row in document["rows"]:
        if row["n_parameters"] is not None:
            zooms.setdefault(row["model"], [statistics.fmean(side) for side in zip(*row["zooms"], strict=True)])
    return zooms


def error_table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the test errors: one row per model, and a column for validation where there is some."""
    cells: dict[str, dict[Any, str]] = {}
    for row in document["rows"]:
        text = beside_paper(row, digits=4)
        text += f", {row['n']} seed{'s' if row['n'] > 1 else ''}"
        if row["steps"] not in (None, document["config"]["steps"]):
            text += f" after {row['steps']:,} steps of {document['config']['steps']:,}"
        cells.setdefault(row["model"], {})[row["protocol"]] = text
    rows = []
    for model, texts in cells.items():
        rows.append([NAMES[model], texts.get(PAPER, texts.get(None, "")), texts.get("validation", "")])
    header = ["model", "test RMSE (the paper's, difference)", "chosen by validation ratings"]
    n_columns = 3 if any(row[2] for row in rows) else 2
    return header[:n_columns], [row[:n_columns] for row in rows]


def course_table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of test errors along the training, means over seeds, beside the log of the authors."""
    curves = [curve for curve in document["curves"] if curve["protocol"] == PAPER]
    last = max((curve["every"] * len(curve["test_rmse"]) for curve in curves), default=0)
    steps = sorted({step for step in (*_SHOWN, *LOGGED, last) if step <= last})
    rows = []
    if document["config"]["data"] == MOVIELENS:
        rows.append(["Chebyshev, r = 4, the authors' log"])
        rows[0] += [f"{LOGGED[step]:.3g}" if step in LOGGED else "" for step in steps]
    for model in dict.fromkeys(curve["model"] for curve in curves):
        same = [curve for curve in curves if curve["model"] == model]
        rows.append([NAMES[model], *(_at_step(same, step) for step in steps)])
    return ["test RMSE after steps", *(f"{step:,}" for step in steps)], rows


def _at_step(curves: Sequence[Document], step: int) -> str:
    """Return the mean of the test errors of curves at a step, empty where none was looked at."""
    errors = []
    for curve in curves:
        look, rest = divmod(step, curve["every"])
        if step == 0:
            errors.append(curve["at_start"]["test_rmse"])
        elif not rest and look <= len(curve["test_rmse"]):
            errors.append(curve["test_rmse"][look - 1])
    return f"{statistics.fmean(errors):.3f}" if errors else ""


def network_table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of what a network costs; times are processor time of one thread, taken in turns."""
    networks = [row for row in document["rows"] if row["n_parameters"] is not None]
    # the paper's protocol where there are both
    by_model = {row["model"]: row for row in networks}
    by_model |= {row["model"]: row for row in networks if row["protocol"] == PAPER}
    times = document["costs"]["networks"]
    rows = []
    for model, row in by_model.items():
        step, test = times[model]["step_seconds"], times[model]["test_seconds"]
        in_paper = PAPER_TEST_TIMES.get(model) if document["config"]["data"] == MOVIELENS else None
        ratio = f"{test / times[CHEB4]['test_seconds']:.2f}" if CHEB4 in times else ""
        ratio += f" ({in_paper:.1f})" if ratio and in_paper else ""
        zooms = ", ".join(f"{users:.2f} and {movies:.2f}" for users, movies in row["zooms"])
        rows.append(
            [NAMES[model], f"{row['n_parameters']:,}", format_seconds(step), format_seconds(test), ratio, zooms]
        )
    return ["network", "parameters", "training step", "test", "ratio (the paper's)", "zooms, users and movies"], rows


def errors_at_equal_steps(document: Document, models: Sequence[str]) -> tuple[dict[str, float], int]:
    """Return the errors of networks with the lowest training loss within the steps that all have, and these steps.

    Where all are finished, these are the means of the table.
    """
    curves = [curve for curve in document["curves"] if curve["protocol"] == PAPER and curve["model"] in models]
    steps = min((curve["every"] * len(curve["loss"]) for curve in curves), default=0)
    errors: dict[str, list[float]] = {}
    for curve in curves:
        losses = curve["loss"][: steps // curve["every"]]
        errors.setdefault(curve["model"], []).append(curve["test_rmse"][losses.index(min(losses))])
    return {model: statistics.fmean(values) for model, values in errors.items()}, steps


def findings(document: Document) -> list[str]:
    """Say what the errors show of the paper's claims, each in a sentence that may turn out either way."""
    sentences = []
    for row in document["rows"]:
        if row["paper"] is not None and row["n_parameters"] is not None:
            difference = row["mean"] - row["paper"]
            word = "within" if abs(difference) <= MARGIN else "not within"
            when = "" if row["steps"] in (None, document["config"]["steps"]) else f" after {row['steps']:,} steps"
            sentence = f"{NAMES[row['model']]}{when} is {word} {MARGIN} of the paper's {row['paper']:.3f}."
            sentences.append(sentence + (_seeds_text(document, row) if word == "not within" else ""))
    sentences += _comparisons(document)
    for row in document["rows"]:
        if row["protocol"] in (None, PAPER):
            continue
        chosen, other = (_errors_by_seed(document, row["model"], protocol) for protocol in (row["protocol"], PAPER))
        seeds = sorted(chosen.keys() & other.keys())
        if seeds:
            change = statistics.fmean(chosen[seed] - other[seed] for seed in seeds)
            named = f"seed{'s' if len(seeds) > 1 else ''} {', '.join(map(str, seeds))}"
            sentences.append(
                f"{NAMES[row['model']]}: chosen by validation ratings instead of the training loss, and with fewer "
                f"ratings to learn from, the error changes by {change:+.4f} ({named})."
            )
    return sentences


def _errors_by_seed(document: Document, model: str, protocol: str) -> dict[int, float]:
    """Return the test error of every run of a network."""
    wanted = {"model": model, "protocol": protocol}
    return {run["seed"]: run["numbers"]["rmse"] for run in document["runs"] if run["setting"] == wanted}


def _seeds_text(document: Document, row: Document) -> str:
    """Return the error of every seed of a row, which may be what explains the difference to a single run."""
    by_seed = _errors_by_seed(document, row["model"], row["protocol"])
    errors = [f"{error:.4f} (seed {seed})" for seed, error in by_seed.items()]
    return (
        f" Seed by seed: {', '.join(errors)}. Seed 0 has the halves of the authors' code, whose figure is of one run."
        if len(errors) > 1
        else ""
    )


def _comparisons(document: Document) -> list[str]:
    """Compare networks with each other, after as many steps as both have."""
    sentences = []
    for pair in _COMPARED:
        errors, steps = errors_at_equal_steps(document, pair)
        if len(errors) == len(pair):
            first, second = (errors[model] for model in pair)
            when = "" if steps == document["config"]["steps"] else f"After {steps:,} steps, "
            word = "at or below" if first <= second else "above"
            names = f"{NAMES[pair[0]]} is {word} {NAMES[pair[1]]}"
            sentences.append(f"{when}{names}: {first:.4f} and {second:.4f}.")
    return sentences


def draw(document: Document) -> Figure:
    """Draw test errors along the training, and the errors of all models."""
    n_rows = len(document["rows"])
    figure = Figure(figsize=(10, max(3.2, 1.2 + 0.32 * n_rows)), layout="constrained")
    if document["curves"]:
        left, right = figure.subplots(1, 2)
        _draw_curves(left, document)
    else:
        right = figure.subplots()
    _draw_errors(right, document)
    return figure


def _draw_curves(ax: Axes, document: Document) -> None:
    named = set()
    for curve in document["curves"]:
        if curve["protocol"] != PAPER:
            continue
        model = curve["model"]
        steps = curve["every"] * np.arange(1, len(curve["test_rmse"]) + 1)
        label = None if model in named else NAMES[model]
        ax.plot(steps, curve["test_rmse"], linewidth=1, label=label, **_STYLES[model])
        named.add(model)
    ax.set(xlabel="steps", ylabel="test RMSE", xscale="log", title="along the training, one curve per seed")
    ax.title.set_fontsize("small")
    if named:
        ax.legend(fontsize="x-small", frameon=False)
    plain_axes(ax)


def _draw_errors(ax: Axes, document: Document) -> None:
    rows = document["rows"]
    position = np.arange(len(rows))[::-1]
    names = [NAMES[row["model"]] + (", by validation" if row["protocol"] == "validation" else "") for row in rows]
    ax.errorbar(
        [row["mean"] for row in rows], position, xerr=[row["sd"] for row in rows], fmt="o", color="black", markersize=4
    )
    ends = ax.get_xlim()
    for k, row in zip(position, rows, strict=True):
        if row["paper"] is None:
            continue
        if row["paper"] <= ends[1] + _ROOM:
            ax.plot(row["paper"], k, "|", color="#D55E00", markersize=12, markeredgewidth=1.6)
        else:  # far from all others, which would be told apart no more
            ax.annotate(f"{row['paper']:.3f} →", (1.0, k), xycoords=("axes fraction", "data"), ha="right", va="bottom")
    ax.set_yticks(position, names, fontsize="x-small")
    ax.set(xlabel="test RMSE", title="all models (tick: the paper)")
    ax.title.set_fontsize("small")
    plain_axes(ax)
