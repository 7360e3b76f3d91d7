"""How settings matter: networks with one recipe changed in a few places, compared on a page of their own."""

from __future__ import annotations

import dataclasses
import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from analysis._experiment import grouped, without
from analysis._figures import new_axes, plain_axes
from analysis._script import Blocks, Document, Table, table_of
from analysis.cora.results import setting_text
from analysis.cora.settings import INNER, NAMES, PAPER_ACCURACY, Recipe

# Seeds from here on belong to the choice of settings.
FIRST_SEED = 1000

# The column of what is shown besides the validation vertices, inside and outside Planetoid's test set.
_SHOWN = ("test accuracy, %", "accuracy of the other vertices, %")


@dataclasses.dataclass(frozen=True)
class Study:
    """Changes of a recipe that are compared; ``studies.json`` has them.

    Attributes
    ----------
    title, text : str
        Of the page; what is told before the table.
    split : str
        Where the networks are trained.
    tried : sequence of dict
        ``model``, and what is changed in its recipe for that split.
    with_test : bool
        Whether test accuracies are shown: where nothing is chosen, and a figure of the paper is to be explained.
    """

    title: str
    text: str
    split: str
    tried: Sequence[Document]
    with_test: bool = False


STUDIES = {name: Study(**one) for name, one in json.loads(Path(__file__).with_name("studies.json").read_text()).items()}


def settings_of(study: Study, quick: bool) -> list[Document]:
    """Return what is tried."""
    return list(study.tried[:: 4 if quick else 1])


def collect(name: str, recipes: dict[str, Recipe], results: Sequence[Document]) -> Document:
    """Return one row per change, the recipes and every run, with test accuracies if the study has them."""
    rows = []
    for row in grouped(results, "validation"):
        same = [run["numbers"] for run in results if run["setting"] == row["setting"]]
        change = {key: value for key, value in row["setting"].items() if key != "model"}
        tests = [100 * numbers["accuracy"] for numbers in same if "accuracy" in numbers]
        rows.append(
            {
                "model": row["setting"]["model"],
                "change": change,
                "mean": 100 * row["mean"],
                "sd": 100 * row["sd"],
                "n": row["n"],
                "test": statistics.fmean(tests) if tests else None,
                "test_sd": statistics.pstdev(tests) if tests else None,
                "loss": statistics.fmean(numbers["validation_loss"] for numbers in same),
                "best_epoch": statistics.fmean(numbers["best_epoch"] for numbers in same),
                "zooms": [statistics.fmean(z) for z in zip(*(n.get("zooms", []) for n in same), strict=True)],
            }
        )
    kept = {model: dataclasses.asdict(recipe) for model, recipe in recipes.items()}
    return {"study": name, "rows": rows, "recipes": kept, "runs": without(results, ("responses",))}


def label(row: Document) -> str:
    """Say what is changed."""
    changes = [f"{name.replace('_', ' ')} {setting_text(value)}" for name, value in row["change"].items()]
    return ", ".join(changes) or "as in the table"


def table(document: Document) -> Table:
    """Return the accuracies."""
    study = STUDIES[document["study"]]
    columns: dict[str, str | Callable[[Document], str]] = {
        "model": lambda row: NAMES[row["model"]],
        "change of the recipe": label,
        "validation accuracy, %": "{mean:.2f} ± {sd:.2f}",
        _SHOWN[study.split == INNER]: "{test:.2f} ± {test_sd:.2f}",
        "runs": "{n}",
        "validation loss": "{loss:.3f}",
        "epoch that is kept": "{best_epoch:.0f}",
        "zooms at the end": lambda row: ", ".join(f"{zoom:.2f}" for zoom in row["zooms"]),
    }
    if not study.with_test:
        del columns[_SHOWN[study.split == INNER]]
    return table_of("Accuracy, %", columns, document["rows"])


def findings(document: Document) -> list[str]:
    """Say which change has the best validation accuracy, for each model; or on which side of the paper's they are."""
    study = STUDIES[document["study"]]
    if study.with_test and study.split != INNER:
        return _beside_paper(study, document["rows"])
    key, where = ("test", "other") if study.split == INNER else ("mean", "validation")
    sentences = []
    for model in dict.fromkeys(row["model"] for row in document["rows"]):
        best = max((row for row in document["rows"] if row["model"] == model), key=lambda row: row[key])
        sentences.append(f"{NAMES[model]}: the best on the {where} vertices is {label(best)}, {best[key]:.2f}.")
    return sentences


def _beside_paper(study: Study, rows: Sequence[Document]) -> list[str]:
    """Say which changes bring the test accuracy below the paper's, and which leave it above."""
    sentences = []
    for model in dict.fromkeys(row["model"] for row in rows):
        theirs = PAPER_ACCURACY[study.split][model]
        for side in ("below", "at or above"):
            texts = [
                f"{label(row)} ({row['test']:.2f})"
                for row in rows
                if row["model"] == model and (row["test"] < theirs) == (side == "below")
            ]
            sentences.append(f"{NAMES[model]}, {side} the paper's {theirs:g}: {'; '.join(texts) or 'none'}.")
    return sentences


def page(document: Document) -> Blocks:
    """Return the title, the accuracies and what they show."""
    study, taken_over = STUDIES[document["study"]], document.get("recorded")
    where = "splits outside Planetoid's test set" if study.split == INNER else f"the {study.split} split"
    return [
        f"Citation network: {study.title}",
        f"Accuracy of the validation vertices of {where}, mean ± population standard deviation. {study.text}",
        table(document),
        findings(document),
        "Runs of an earlier record were taken over; the JSON file has the date of each." if taken_over else "",
    ]


def draw(document: Document) -> Figure:
    """Draw the validation accuracies, and those of the test where they are shown."""
    rows = document["rows"]
    figure, ax = new_axes((8, 1.2 + 0.35 * len(rows)))
    position = np.arange(len(rows))[::-1]
    study = STUDIES[document["study"]]
    shown = {"validation": ("mean", "sd", "o", "black", 0.0)}
    if study.with_test:
        shown["the other vertices" if study.split == INNER else "test"] = ("test", "test_sd", "x", "#D55E00", 0.25)
    for name, (mean, sd, marker, color, shift) in shown.items():
        bars = [r[sd] for r in rows]
        style: dict[str, Any] = {"color": color, "markersize": 5, "linewidth": 0.9, "label": name}
        ax.errorbar([r[mean] for r in rows], position - shift, xerr=bars, fmt=marker, **style)
    models = {row["model"] for row in rows}
    names = [label(row) if len(models) == 1 else f"{row['model']}: {label(row)}" for row in rows]
    ax.set_yticks(position, names, fontsize="small")
    ax.set(xlabel="accuracy, %", ylim=(-0.6, len(rows) - 0.4))
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    plain_axes(ax)
    return figure
