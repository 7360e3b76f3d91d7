"""What the runs show: accuracies beside the paper's, the recipes, and sentences on the paper's claims."""

from __future__ import annotations

import dataclasses
import json
import math
import statistics
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from analysis._experiment import beside, beside_paper, grouped, without
from analysis._figures import new_axes, plain_axes
from analysis._script import Blocks, Columns, Document, Table, format_seconds, table_of
from analysis.cora.settings import (
    CAYLEY,
    CAYLEY16,
    CAYLEY64,
    CHEBNET,
    DCNN,
    DRAWN,
    EXTENDED,
    EXTENDED_SPLITS,
    GCN,
    HALVED,
    MODELS,
    NAMES,
    PAPER_ACCURACY,
    PAPER_PARAMETERS,
    PUBLISHED,
    PUBLISHED_ELSEWHERE,
    RANDOM,
    STANDARD,
    SWAPPED,
    USED_BY,
    Recipe,
)

# How the extended split is halved otherwise, with a link to the page.
OTHER_HALVES = {
    HALVED: "[halves that are drawn](cora_halved.md)",
    SWAPPED: "[the halves swapped](cora_swapped.md)",
}

# Distance from the paper's figure within which a baseline should be, in points.
MARGIN = 1.5

# What pages tell of each split: its vertices, and how settings were chosen.
_SPLITS = json.loads(Path(__file__).with_name("splits.json").read_text(encoding="utf-8"))

_CHOICE = "Networks are chosen with validation vertices; test vertices are looked at once in a run, at its end."

# Where to look for why an accuracy is far from the paper's, by split and model.
_STUDIED = {
    (STANDARD, DCNN): "[what decides its accuracy](cora_dcnn.md) has one setting changed at a time",
}


def collect(recipes: dict[str, Recipe], results: Sequence[Document]) -> Document:
    """Return one row per model with its recipe, and every run."""
    rows = [_row(row, results, recipes) for row in grouped(results, "accuracy")]
    return {"rows": rows, "runs": without(results, ("responses",))}


def run_lines(document: Document) -> list[str]:
    """Say in Markdown what was asked for; recipes stand with the models."""
    workers = "one process" if document["workers"] == 1 else f"{document['workers']} processes"
    return [
        f"- Data set: {document['config']['dataset']}",
        f"- Runs: up to {document['n_runs']} of each kind, by {workers} on {document['device']}; "
        "a page of finished runs has as many as there were. The paper has 50.",
    ]


def _row(row: Document, results: Sequence[Document], recipes: dict[str, Recipe]) -> Document:
    model = row["setting"]["model"]
    recipe = recipes[model]
    same = [run for run in results if run["setting"] == row["setting"]]
    known = recipe.dataset == "cora"
    return {
        "model": model,
        "mean": 100 * row["mean"],
        "sd": 100 * row["sd"],
        "n": row["n"],
        "validation": 100 * statistics.fmean(run["numbers"]["validation"] for run in same),
        "paper": PAPER_ACCURACY.get(_paper_split(recipe), {}).get(model) if known else None,
        "n_parameters": same[0]["numbers"]["n_parameters"],
        "paper_parameters": PAPER_PARAMETERS.get(_paper_split(recipe), {}).get(model) if known else None,
        "epochs": statistics.fmean(run["numbers"]["epochs"] for run in same),
        "cpu_seconds": statistics.median(_cpu_seconds(run) for run in same),
        "zooms": [run["numbers"]["zooms"] for run in same if "zooms" in run["numbers"]],
        "recipe": dataclasses.asdict(recipe),
    }


def _cpu_seconds(run: Document) -> float:
    """Return the processor time of a run; that of the figure is recorded without what else a run says of its time."""
    return run["timing"]["cpu_seconds"] if "timing" in run else run["cpu_seconds"]


def _paper_split(recipe: Recipe) -> str:
    """Return the split of the paper's that a split may be: it does not say how the extended one is halved."""
    return EXTENDED if recipe.split in EXTENDED_SPLITS else recipe.split


def _parameters(row: Document) -> str:
    theirs = "" if row["paper_parameters"] is None else f" ({row['paper_parameters']:,})"
    return f"{row['n_parameters']:,}{theirs}"


ACCURACY_COLUMNS: Columns = {
    "model": lambda row: NAMES[row["model"]],
    "test accuracy, % (the paper's, difference)": beside_paper,
    "runs": "{n}",
    "validation": "{validation:.2f}",
    "parameters (the paper's)": _parameters,
    "epochs": "{epochs:.0f}",
    "processor time of a run": lambda row: format_seconds(row["cpu_seconds"]),
    "zooms, mean by layer": lambda row: ", ".join(f"{np.mean(zooms):.3g}" for zooms in zip(*row["zooms"], strict=True)),
}


def accuracy_table(document: Document) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """Return header and rows of the accuracies, one row per model."""
    return table_of("", ACCURACY_COLUMNS, document["rows"])[1:3]


def recipe_table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the settings of every model, without those that are the same for all.

    A dash stands for a setting that a model does not have.
    """
    recipes = [row["recipe"] for row in document["rows"]]
    names = [name for name in (recipes[0] if recipes else {}) if len({str(r[name]) for r in recipes}) > 1]
    rows = [
        [
            NAMES[row["model"]],
            *(setting_text(row["recipe"][n]) if row["model"] in USED_BY.get(n, MODELS) else "–" for n in names),
        ]
        for row in document["rows"]
    ]
    return ["model", *(name.replace("_", " ") for name in names)], rows


def setting_text(value: Any) -> str:
    """Write a value of a recipe."""
    return (
        " ".join(map(str, value))
        if isinstance(value, list | tuple)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def are_apart(one: Document, other: Document) -> bool:
    """Whether two means differ by more than two standard errors of their difference; single runs do not tell."""
    if min(one["n"], other["n"]) < 2:
        return False
    error = math.sqrt(sum(row["sd"] ** 2 / (row["n"] - 1) for row in (one, other)))
    return abs(one["mean"] - other["mean"]) > 2 * error


def in_order(rows: Sequence[Document]) -> str:
    """Write the names of models by rising mean, with ≈ between those whose means are not apart."""
    rows = sorted(rows, key=lambda row: row["mean"])
    signs = [" < " if are_apart(one, other) else " ≈ " for one, other in pairwise(rows)]
    return "".join(NAMES[row["model"]] + sign for row, sign in zip(rows, [*signs, ""], strict=True))


def is_near(row: Document) -> bool:
    """Say whether a mean is as near to the paper's as it should be; a CayleyNet may be above it."""
    difference = row["mean"] - row["paper"]
    if row["model"] in (CAYLEY16, CAYLEY64, CAYLEY):
        return difference >= 0 or -difference <= row["sd"]
    return abs(difference) <= MARGIN


def findings(document: Document) -> list[str]:
    """Say what the accuracies show of the paper's claims, each in a sentence that may turn out either way."""
    rows = {row["model"]: row for row in document["rows"]}
    sentences = []
    for model, row in rows.items():
        if row["paper"] is None:
            continue
        difference = row["mean"] - row["paper"]
        if model in (CAYLEY16, CAYLEY64, CAYLEY):
            word = "at or above" if difference >= 0 else "within" if is_near(row) else "not within"
            of = "the paper's" if difference >= 0 else "one deviation of the paper's"
        else:
            word = "within" if is_near(row) else "not within"
            of = f"{MARGIN} points of the paper's"
        sentences.append(f"{NAMES[model]} is {word} {of} {row['paper']:g}: {mean_text(row)} ({difference:+.2f}).")
    spectral = [m for m in (CHEBNET, GCN, CAYLEY64, CAYLEY16, CAYLEY) if m in rows and rows[m]["paper"] is not None]
    if len(spectral) > 1:
        ours = in_order([rows[m] for m in spectral])
        theirs = " < ".join(NAMES[m] for m in sorted(spectral, key=lambda m: rows[m]["paper"]))
        sign = " (≈: not more than two standard errors apart)" if "≈" in ours else ""
        same = "as in the paper" if ours == theirs else f"in the paper {theirs}"
        sentences.append(f"Order of the spectral methods: {ours}{sign}; {same}.")
    return sentences + _halves(document) + _fifty_runs(rows)


def _fifty_runs(rows: dict[str, Document]) -> list[str]:
    """Say how long the paper's fifty runs of CayleyNet-16 take, by the processor time of those that were made."""
    row = rows.get(CAYLEY16)
    if row is None or "cpu_seconds" not in row:
        return []
    minutes = 50 * row["cpu_seconds"] / 60
    return [
        f"50 runs of {NAMES[CAYLEY16]} take {minutes:.1f} minutes of processor time, an estimate from the median of "
        f"{row['n']}: {minutes / 2:.1f} minutes on two cores that do nothing else."
    ]


def _halves(document: Document) -> list[str]:
    """Say how the halves of the extended split differ, which are for validation and test by our choice."""
    split = document.get("config", {}).get("split")
    if split not in EXTENDED_SPLITS or split == HALVED or not document["rows"]:
        return []
    apart = [row["mean"] - row["validation"] for row in document["rows"]]
    spectral = [row for row in document["rows"] if row["model"] in (CHEBNET, GCN, CAYLEY)]
    validated = "; ".join(f"{NAMES[row['model']]} {row['validation']:.2f}" for row in spectral)
    by_validation = [f"On the validation half the spectral methods have: {validated}."] if len(spectral) > 1 else []
    return [
        f"The two halves are not alike: the same networks have {min(apart):+.2f} to {max(apart):+.2f} points on the "
        "test half, compared with the validation half, which chose them. The paper does not say how it halves.",
        *by_validation,
        *_other_halves(document),
    ]


def _other_halves(document: Document) -> list[str]:
    """Say how many of the paper's methods are near its figures with other halves."""
    theirs = {row["model"]: row["paper"] for row in document["rows"] if row.get("paper")}
    sentences = []
    for other in document.get("other_halves", []):
        known = [model for model in theirs if model in other["rows"]]
        near = [model for model in known if abs(other["rows"][model]["mean"] - theirs[model]) <= MARGIN]
        if known:
            sentences.append(
                f"With {OTHER_HALVES[other['split']]} {len(near)} of {len(known)} methods of the paper are within "
                f"{MARGIN} points of its figures: "
                + "; ".join(f"{NAMES[model]} {mean_text(other['rows'][model])} ({theirs[model]:g})" for model in known)
                + "."
            )
    return sentences


def mean_text(row: Document) -> str:
    """Write a mean with its deviation; one run has none."""
    return beside(row["mean"], row["sd"] if row["n"] > 1 else None, None)


def draw(document: Document) -> Figure:
    """Draw mean and deviation of every model, all runs as dots, and the paper's figures as ticks."""
    rows = document["rows"]
    figure, ax = new_axes((8, 1.4 + 0.42 * len(rows)))
    rng = np.random.default_rng(0)
    for k, row in enumerate(reversed(rows)):
        values = [
            100 * run["numbers"]["accuracy"] for run in document["runs"] if run["setting"]["model"] == row["model"]
        ]
        ax.plot(values, k + rng.uniform(-0.2, 0.2, len(values)), ".", color="0.75", markersize=3, zorder=1)
        ax.errorbar(row["mean"], k, xerr=row["sd"], fmt="o", color="black", markersize=5, capsize=2)
        if row["paper"] is not None:
            ax.plot(row["paper"], k, "|", color="#D55E00", markersize=16, markeredgewidth=2)
    ax.set_yticks(range(len(rows)), [NAMES[row["model"]] for row in reversed(rows)], fontsize="small")
    ax.set(xlabel="test accuracy, % (dots: runs; tick: the paper)", ylim=(-0.6, len(rows) - 0.4))
    plain_axes(ax)
    return figure


def reasons(document: Document) -> list[str]:
    """Say of every baseline that is not near the paper's where a reason was looked for, or that none was found."""
    split = document["config"]["split"]
    lines = []
    for row in document["rows"]:
        if row["paper"] is None or is_near(row):
            continue
        where = _STUDIED.get((split, row["model"]), "no reason was found")
        others = [
            f"with {OTHER_HALVES[other['split']]} it is {mean_text(other['rows'][row['model']])}"
            for other in document.get("other_halves", [])
            if row["model"] in other["rows"]
        ]
        if others:
            where = f"it depends on the halves, which the paper does not specify: {' and '.join(others)}"
        lines.append(f"Why {NAMES[row['model']]} is not nearer to the paper's {row['paper']:g}: {where}.")
    return lines


def page(document: Document) -> Blocks:
    """Return the title, the accuracies and what they show, and the settings of every model."""
    config = document["config"]
    split = _SPLITS[config["split"]]
    where = split["vertices"] if config["dataset"] != DRAWN else "The graph is generated."
    elsewhere = "; ".join(f"{name} {accuracy:g}" for name, accuracy in PUBLISHED.items())
    taken_over = (
        "Runs of an earlier table with the same settings were taken over with the times of the machine that made them, "
        "which may be another one; the JSON file has the date of each."
    )
    remarks = [
        _CHOICE,
        split["settings"],
        "Parameters are all that are learned; the paper's numbers leave out biases, zooms and filters of shared "
        "layers. Processor time is that of one thread on a machine that did other work too.",
        taken_over if document.get("recorded") else "",
    ]
    return [
        f"Citation network: the {config['split']} split",
        "Test accuracy in %, mean ± population standard deviation over the runs; in brackets the paper's figure and "
        f"the difference. {where}",
        Table("Test accuracy, %", *accuracy_table(document)),
        f"Published elsewhere for the standard split, not computed here: {elsewhere}. For other splits: "
        f"{'; '.join(PUBLISHED_ELSEWHERE)}."
        if config["dataset"] == "cora" and config["split"] in (STANDARD, RANDOM)
        else "",
        [*findings(document), *reasons(document)],
        "Settings that differ, see `analysis/cora/recipes.json`; a dash: the model has no such setting.",
        Table("Settings that differ", *recipe_table(document)),
        " ".join(filter(None, remarks)),
    ]
