"""What the runs show: accuracies beside the paper's, the recipes, and sentences on the paper's claims."""

from __future__ import annotations

import dataclasses
import math
import statistics
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from analysis._document import Document
from analysis._experiment import beside, grouped
from analysis._tables import format_seconds
from analysis.cora import paper
from analysis.cora.settings import (
    CAYLEY,
    CAYLEY16,
    CAYLEY64,
    CHEBNET,
    EXTENDED,
    EXTENDED_SPLITS,
    GCN,
    HALVED,
    MODELS,
    NAMES,
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


def collect(recipes: dict[str, Recipe], results: Sequence[Document]) -> Document:
    """Return one row per model with its recipe, and every run."""
    rows = [_row(row, results, recipes) for row in grouped(results, "accuracy")]
    return {"rows": rows, "runs": without_curves(results)}


def accuracy_text(row: Document) -> str:
    """Write a mean with its deviation beside the paper's; one run has none."""
    text = beside(row["mean"], row["sd"], row["paper"])
    return text if row["n"] > 1 else text.replace(" ± 0.00", "", 1)


def run_lines(document: Document) -> list[str]:
    """Say in Markdown what was asked for; recipes stand with the models."""
    workers = "one process" if document["workers"] == 1 else f"{document['workers']} processes"
    return [
        f"- Data set: {document['config']['dataset']}",
        f"- Runs: up to {document['n_runs']} of each kind, by {workers} on {document['device']}; "
        "a page of finished runs has as many as there were. The paper has 50.",
    ]


def without_curves(results: Sequence[Document]) -> list[Document]:
    """Return the runs without the learned responses, which have a picture and a file of their own."""
    return [
        {**run, "numbers": {name: value for name, value in run["numbers"].items() if name != "responses"}}
        for run in results
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
        "paper": paper.ACCURACY.get(_paper_split(recipe), {}).get(model) if known else None,
        "n_parameters": same[0]["numbers"]["n_parameters"],
        "paper_parameters": paper.PARAMETERS.get(_paper_split(recipe), {}).get(model) if known else None,
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


def accuracy_table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the accuracies, one row per model."""
    rows = []
    for row in document["rows"]:
        text = f"{row['n_parameters']:,}"
        if row["paper_parameters"] is not None:
            text += f" ({row['paper_parameters']:,})"
        rows.append(
            [
                NAMES[row["model"]],
                accuracy_text(row),
                str(row["n"]),
                f"{row['validation']:.2f}",
                text,
                f"{row['epochs']:.0f}",
                format_seconds(row["cpu_seconds"]),
                _zooms(row["zooms"]),
            ]
        )
    header = ["model", "test accuracy, % (the paper's, difference)", "runs", "validation", "parameters (the paper's)"]
    return [*header, "epochs", "processor time of a run", "zooms, mean by layer"], rows


def _zooms(zooms: Sequence[Sequence[float]]) -> str:
    return ", ".join(f"{statistics.fmean(layer):.3g}" for layer in zip(*zooms, strict=True))


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
