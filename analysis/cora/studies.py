"""How settings matter: networks with one recipe changed in a few places, compared on a page of their own."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from analysis._experiment import grouped
from analysis._figures import plain_axes
from analysis._script import Document, markdown_table, page
from analysis.cora.results import run_lines, setting_text, without_curves
from analysis.cora.settings import (
    ALL,
    APPNP,
    AT_RANDOM,
    CAYLEY,
    CAYLEY16,
    CAYLEY64,
    CHANNEL,
    CHEBNET,
    COMPLEX,
    DCNN,
    DECOUPLED,
    DIVIDED,
    ENTROPY,
    EXTENDED,
    FIRST,
    INNER,
    LOSS,
    NAMES,
    NORMALIZED,
    PAPER_ACCURACY,
    STANDARD,
    WEIGHTS,
    WINDOW,
    Recipe,
)

# Seeds from here on belong to the choice of settings.
FIRST_SEED = 1000

Change = dict[str, Any]

_CHOICE = "Test vertices are not looked at, and the seeds are none of those of the tables. "

# The column of what is shown besides the validation vertices, inside and outside Planetoid's test set.
_SHOWN = ("test accuracy, %", "accuracy of the other vertices, %")


@dataclasses.dataclass(frozen=True)
class Study:
    """Changes of a recipe that are compared.

    Attributes
    ----------
    title, text : str
        Of the page; what is told before the table.
    split : str
        Where the networks are trained.
    tried : tuple of dict
        ``model``, and what is changed in its recipe for that split.
    with_test : bool
        Whether test accuracies are shown: where nothing is chosen, and a figure of the paper is to be explained.
    """

    title: str
    text: str
    split: str
    tried: tuple[Change, ...]
    with_test: bool = False


def _each(model: str, *changes: Change) -> tuple[Change, ...]:
    return tuple({"model": model, **change} for change in changes)


STUDIES = {
    "starts": Study(
        "the start of shared filters",
        _CHOICE + "Filters start as 1/(1 + (hλ)²), or at random: with normal numbers of the same root mean square as "
        "coefficients. The rest is the recipe of CayleyNet with 16 features.",
        STANDARD,
        tuple(
            {"model": CAYLEY16, "zoom": zoom, "order": order, "filter_lr": lr, "decay_on": on}
            for zoom, order, lr, on in (
                (0.5, 1, 0.01, ALL),
                (1.0, 1, 0.01, ALL),
                (1.0, 1, 0.01, WEIGHTS),
                (2.0, 1, 0.01, ALL),
                (3.0, 1, 0.01, WEIGHTS),
                (1.0, 2, 0.01, ALL),
                (1.0, 1, 0.003, ALL),
                (1.0, 1, 0.001, ALL),
                (1.0, 1, 0.0, ALL),
            )
        )
        + _each(
            CAYLEY16,
            {"start": AT_RANDOM},
            {"start": AT_RANDOM, "filter_lr": 0.01},
            {"zoom": 5.0},
            {"order": 2},
            {"order": 4},
            {"dropout": 0.3},
            {"dropout": 0.8},
            {"decay_on": FIRST},
            {"decay": 0.0},
        ),
    ),
    "rates": Study(
        "the learning rate of filters of every pair",
        _CHOICE + "The paper's rate is 0.001.",
        EXTENDED,
        tuple(
            {"model": CAYLEY, **kind, "lr": lr, "filter_lr": lr}
            for kind in ({}, {"laplacian": NORMALIZED, "coeffs": COMPLEX, "order": 4})
            for lr in (0.001, 0.005, 0.01, 0.02)
        )
        + tuple({"model": CHEBNET, "lr": lr} for lr in (0.001, 0.005, 0.01, 0.02))
        + _each(CHEBNET, {"lr": 0.02, "epochs": 200, "patience": 20}, {"lr": 0.01, "epochs": 1000, "patience": 100})
        + _each(CAYLEY, {"epochs": 400, "patience": 30}, {"epochs": 1000, "patience": 100}),
    ),
    "decoupled": Study(
        "a perceptron, then one Cayley filter",
        "Splits are drawn from the vertices outside Planetoid's test set: 20 of each class are for training, 500 "
        "choose the network, and the accuracy of all others is the one to compare settings by. All rows have the "
        "same splits, and seeds that are none of those of the tables. The filter starts as personalized PageRank, with "
        "alpha 0 as the low-pass 1/(1 + (hλ)²); with a rate of 0 it stays so. With zooms by channel there is a filter "
        "for each pair of classes and a zoom for each class. What is not named is as in the recipe of the table.",
        INNER,
        _each(
            DECOUPLED,
            *(
                {"score_dropout": dropout, "filter_lr": lr}
                for dropout in (0.0, 0.8)
                for lr in (0.001, 0.0002, 0.00005, 0.0)
            ),
            *({"score_dropout": 0.8, "filter_lr": lr, "epochs": 1000} for lr in (0.00005, 0.0)),
            *({"zooms": CHANNEL, "filter_lr": lr} for lr in (0.001, 0.0002, 0.00005)),
            *({"zoom": 10.0, "filter_lr": lr} for lr in (0.00005, 0.0)),
            *({"zoom": 10.0, "alpha": 0.0, "filter_lr": lr} for lr in (0.001, 0.00005, 0.0)),
            *(
                {"decay": 0.005, "decay_on": FIRST, "score_dropout": 0.0, "filter_lr": lr}
                for lr in (0.001, 0.0002, 0.0)
            ),
        )
        + _each(APPNP, {}, {"epochs": 400}, {"score_dropout": 0.8, "epochs": 400}),
        with_test=True,
    ),
    "widths": Study(
        "16 or 64 features",
        "Nothing is chosen here: test accuracies of the standard split are shown to see what could make the paper's "
        "order, in which 64 features are less accurate than 16. Rows without a change have the recipes of the table, "
        "whose filters learn more slowly than its matrices; the paper tells one rate, 0.005, but no order, no zoom and "
        "no rule that ends the training. With rule window and a patience of all epochs it never ends early, and "
        "the last network is kept.",
        STANDARD,
        tuple(
            {"model": model, **change}
            for change in (
                {},
                {"filter_lr": 0.005},
                {"filter_lr": 0.005, "decay_on": WEIGHTS},
                {"filter_lr": 0.005, "decay": 0.0},
                {"filter_lr": 0.005, "order": 2},
                {"filter_lr": 0.005, "order": 4},
                {"filter_lr": 0.005, "zoom": 5.0},
                {"rule": WINDOW, "patience": 10},
                {"rule": WINDOW, "patience": 300},
                {"rule": WINDOW, "patience": 1000, "epochs": 1000},
                {"rule": WINDOW, "patience": 1000, "epochs": 1000, "filter_lr": 0.005},
                {"rule": WINDOW, "patience": 1000, "epochs": 1000, "filter_lr": 0.005, "order": 2},
            )
            for model in (CAYLEY16, CAYLEY64)
        ),
        with_test=True,
    ),
    "dcnn": Study(
        "what decides the accuracy of DCNN",
        "Nothing is chosen here: test accuracies of the standard split are shown to see what could make the paper's "
        "72.3. The first row is the recipe of the table.",
        STANDARD,
        _each(
            DCNN,
            {},
            {"epochs": 20},
            {"epochs": 40},
            {"epochs": 100},
            {"objective": ENTROPY},
            {"rule": LOSS},
            {"words": DIVIDED},
            {"batch": 0},
            {"batch": 0, "epochs": 200},
            {"epochs": 100, "rule": LOSS},
            {"order": 2},
            {"order": 3},
        ),
        with_test=True,
    ),
}


def settings_of(study: Study, quick: bool) -> list[Change]:
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
    return {"study": name, "rows": rows, "recipes": kept, "runs": without_curves(results)}


def label(row: Document) -> str:
    """Say what is changed."""
    changes = [f"{name.replace('_', ' ')} {setting_text(value)}" for name, value in row["change"].items()]
    return ", ".join(changes) or "as in the table"


def table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the accuracies."""
    study = STUDIES[document["study"]]
    rows = [
        [
            NAMES[row["model"]],
            label(row),
            f"{row['mean']:.2f} ± {row['sd']:.2f}",
            *([f"{row['test']:.2f} ± {row['test_sd']:.2f}"] if study.with_test else []),
            str(row["n"]),
            f"{row['loss']:.3f}",
            f"{row['best_epoch']:.0f}",
            ", ".join(f"{zoom:.2f}" for zoom in row["zooms"]),
        ]
        for row in document["rows"]
    ]
    header = [
        "model",
        "change of the recipe",
        "validation accuracy, %",
        *([_SHOWN[study.split == INNER]] if study.with_test else []),
    ]
    return [*header, "runs", "validation loss", "epoch that is kept", "zooms at the end"], rows


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


def _split_text(split: str) -> str:
    return "splits outside Planetoid's test set" if split == INNER else f"the {split} split"


def markdown(document: Document) -> str:
    """Return the result as a page of Markdown."""
    study, taken_over = STUDIES[document["study"]], document.get("recorded")
    return page(
        f"Citation network: {study.title}",
        document,
        f"Accuracy of the validation vertices of {_split_text(study.split)}, mean ± population standard deviation. "
        f"{study.text}",
        "",
        *markdown_table(*table(document)),
        "",
        *(f"- {line}" for line in findings(document)),
        *(["", "Runs of an earlier record were taken over; the JSON file has the date of each."] if taken_over else []),
        facts=run_lines(document),
    )


def draw(document: Document) -> Figure:
    """Draw the validation accuracies, and those of the test where they are shown."""
    rows = document["rows"]
    figure = Figure(figsize=(8, 1.2 + 0.35 * len(rows)), layout="constrained")
    ax = figure.subplots()
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
