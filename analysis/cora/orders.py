"""The paper's figure: accuracy by order on the extended split, two Laplacians, complex and real coefficients."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from analysis._experiment import beside_paper, grouped, without
from analysis._figures import legend_below, new_axes, plain_axes
from analysis._script import Blocks, Document, Table, pivot
from analysis.cora.results import MARGIN, are_apart
from analysis.cora.settings import (
    CAYLEY,
    CHEBNET,
    COMPLEX,
    EXTENDED,
    NORMALIZED,
    PAPER_BY_ORDER,
    PAPER_ORDERS,
    REAL,
    SCALED,
    SHIFTED,
    Recipe,
)

SPLIT = EXTENDED

MODELS = (CAYLEY, CHEBNET)

LAPLACIANS = {NORMALIZED: "normalized", SCALED: "scaled unnormalized", SHIFTED: "scaled and shifted"}

# Orders at which Cayley filters of the shifted Laplacian, which are not in the figure, are trained too, and how often.
SHIFTED_ORDERS = (1, 3)

SHIFTED_RUNS = 3

_STYLES: dict[str, dict[str, Any]] = {
    CHEBNET: {"color": "#E69F00"},
    CAYLEY: {"color": "#0072B2"},
}


def settings_of(quick: bool) -> list[dict[str, Any]]:
    """Return the settings of all bars, low orders first."""
    settings = []
    for order in (1, 2) if quick else PAPER_ORDERS:
        for laplacian in (NORMALIZED, SCALED):
            settings.append(_setting(CHEBNET, order, laplacian, REAL))
            settings += [_setting(CAYLEY, order, laplacian, coeffs) for coeffs in (COMPLEX, REAL)]
        if order in SHIFTED_ORDERS:
            settings += [_setting(CAYLEY, order, SHIFTED, coeffs) for coeffs in (COMPLEX, REAL)]
    return settings


def changes(setting: dict[str, Any], recipe: Recipe) -> dict[str, Any]:
    """Return the model and what differs from its recipe: the bars that stand in a table are runs of that table."""
    differing = {name: value for name, value in setting.items() if name != "model" and getattr(recipe, name) != value}
    return {"model": setting["model"], **differing}


def _whole(setting: Document, recipe: Recipe) -> dict[str, Any]:
    """Return the setting of a bar from what differs."""
    names = ("order", "laplacian", "coeffs")
    return {"model": setting["model"], **{name: setting.get(name, getattr(recipe, name)) for name in names}}


def _setting(model: str, order: int, laplacian: str, coeffs: str) -> dict[str, Any]:
    return {"model": model, "order": order, "laplacian": laplacian, "coeffs": coeffs}


def collect(recipes: dict[str, Recipe], results: Sequence[Document]) -> Document:
    """Return one row per bar, the recipes, and every run."""
    rows = []
    for row in grouped(results, "accuracy"):
        setting = _whole(row["setting"], recipes[row["setting"]["model"]])
        known = recipes[setting["model"]].dataset == "cora" and setting["order"] in PAPER_ORDERS
        by_order = PAPER_BY_ORDER.get((setting["model"], setting["laplacian"], setting["coeffs"])) if known else None
        same = [run["numbers"] for run in results if run["setting"] == row["setting"]]
        rows.append(
            {
                **setting,
                "mean": 100 * row["mean"],
                "sd": 100 * row["sd"],
                "n": row["n"],
                "paper": by_order[PAPER_ORDERS.index(setting["order"])] if by_order else None,
                "n_parameters": same[0]["n_parameters"],
                "zooms": [numbers["zooms"] for numbers in same if "zooms" in numbers],
            }
        )
    kept = {model: dataclasses.asdict(recipe) for model, recipe in recipes.items()}
    return {"rows": rows, "recipes": kept, "runs": [_short(run) for run in without(results, ("responses",))]}


def _short(run: Document) -> Document:
    """Return a run with its date and processor time alone of how it was made: there are many of them."""
    if "made" not in run:
        return run  # it comes from an earlier record
    facts = {"date": run["made"]["date"], "cpu_seconds": run["timing"].get("cpu_seconds")}
    return {name: run[name] for name in ("setting", "seed", "numbers")} | facts


def label(row: Document) -> str:
    """Return the name of a curve."""
    kind = "ChebNet" if row["model"] == CHEBNET else f"CayleyNet, {row['coeffs']}"
    return f"{kind}, {LAPLACIANS[row['laplacian']]}"


def table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the accuracies: one row per curve, one column per order."""
    rows = document["rows"]
    return pivot(["network"], rows, lambda row: [label(row)], lambda row: row["order"], beside_paper, "r = {}")


def findings(document: Document) -> list[str]:
    """Say what the accuracies show of the paper's claims, each in a sentence that may turn out either way."""
    rows = {(row["model"], row["laplacian"], row["coeffs"], row["order"]): row for row in document["rows"]}
    sentences = []
    for laplacian in (NORMALIZED, SCALED):
        for coeffs in (COMPLEX, REAL):
            pairs = {
                r: (rows.get((CAYLEY, laplacian, coeffs, r)), rows.get((CHEBNET, laplacian, REAL, r)))
                for r in PAPER_ORDERS
            }
            sentences += _compared(f"{LAPLACIANS[laplacian].capitalize()} Laplacian, {coeffs} coefficients", pairs)
    compared = [row for row in document["rows"] if row["paper"] is not None]
    if compared:
        near = [row for row in compared if abs(row["mean"] - row["paper"]) <= MARGIN]
        sentences.append(f"{len(near)} of {len(compared)} means are within {MARGIN} points of the paper's.")
    return sentences


def _compared(where: str, pairs: dict[int, tuple[Document | None, Document | None]]) -> list[str]:
    """Say at which orders CayleyNet is above ChebNet, at which it is below, and at which the runs do not tell."""
    kinds: dict[str, list[str]] = {"above": [], "below": [], "not told apart from": []}
    for order, (cayley, cheb) in pairs.items():
        if cayley is not None and cheb is not None:
            side = "above" if cayley["mean"] > cheb["mean"] else "below"
            kinds[side if are_apart(cayley, cheb) else "not told apart from"].append(str(order))
    texts = [f"{kind} ChebNet at {', '.join(orders)}" for kind, orders in kinds.items() if orders]
    return [f"{where}: by order, CayleyNet is {'; '.join(texts)}."] if texts else []


def page(document: Document) -> Blocks:
    """Return the title, the accuracies by order, what they show, and the settings."""
    n_figure, n_shifted = (_counts(document, of_shifted) for of_shifted in (False, True))
    recipes = [
        f"{name}: {' and '.join(map(str, recipe['hidden']))} hidden features, Adam with a learning rate of "
        f"{recipe['lr']:g}, dropout {recipe['dropout']:g}, weight decay {recipe['decay']:g}. "
        for name, recipe in document["recipes"].items()
    ]
    more = "More is in the JSON file."
    if document.get("recorded"):
        more += " Runs of an earlier record were taken over; it has the date of each."
    return [
        "Citation network: accuracy by order",
        "Test accuracy in % on the extended split, mean ± population standard deviation over "
        f"{n_figure} runs of each bar{f' ({n_shifted} of the shifted Laplacian)' if n_shifted else ''}; in brackets "
        "the paper's mean and the difference.",
        Table("Test accuracy, % (the paper's, difference)", *table(document)),
        findings(document),
        "Above and below: by more than two standard errors of the difference. Both networks have 16 hidden features, "
        "but not the same rates and rules, which were chosen for each kind, see below and "
        "[learning rates](cora_rates.md). The paper does not say how it halves the test vertices, on which accuracies "
        "depend, see [halves that are drawn](cora_halved.md).",
        "The scaled unnormalized Laplacian is L·2/λ_max with eigenvalues from 0 to 2, for Cayley filters; ChebNet has "
        "2L/λ_max − I as always, a polynomial of the one being one of the other. The paper says 2L/λ_max − I for both. "
        "Its eigenvalues are negative at the lower end; Cayley filters of it are well defined, see "
        '[experiments](../experiments/protocols.md), and are the rows "scaled and shifted".',
        "\n".join([*recipes, more]),
    ]


def _counts(document: Document, of_shifted: bool) -> str:
    """Say how many runs the bars have, those of the figure or those of the shifted Laplacian."""
    counts = sorted({row["n"] for row in document["rows"] if (row["laplacian"] == SHIFTED) is of_shifted})
    return " to ".join(map(str, dict.fromkeys(counts[:1] + counts[-1:])))


def draw(document: Document) -> Figure:
    """Draw four panels as the paper: complex above real coefficients, normalized beside scaled Laplacian."""
    figure, axes = new_axes((10, 6.4), 2, 2, sharey=True)
    for row, coeffs in zip(axes, (COMPLEX, REAL), strict=True):
        for ax, laplacian in zip(row, (NORMALIZED, SCALED), strict=True):
            _draw_panel(ax, document, laplacian, coeffs)
        row[0].set_ylabel("test accuracy, % (bars are cut)")
    for ax in axes[-1]:
        ax.set_xlabel("order r")
    legend_below(figure, 3)
    shown = [row for row in document["rows"] if row["laplacian"] != SHIFTED]
    heights = [row["mean"] + sign * row["sd"] for row in shown for sign in (-1, 1)]
    heights += [row["paper"] for row in shown if row["paper"] is not None]
    if heights:
        axes[0, 0].set_ylim(max(0, min(heights) - 2), max(heights) + 1)
    return figure


def _draw_panel(ax: Axes, document: Document, laplacian: str, coeffs: str) -> None:
    for k, (model, kind) in enumerate(((CHEBNET, REAL), (CAYLEY, coeffs))):
        rows = [r for r in document["rows"] if (r["model"], r["laplacian"], r["coeffs"]) == (model, laplacian, kind)]
        if not rows:
            continue
        x = np.array([row["order"] for row in rows]) + 0.4 * (k - 0.5)
        y, e = (np.array([row[name] for row in rows]) for name in ("mean", "sd"))
        name = "ChebNet" if model == CHEBNET else "CayleyNet"
        ax.bar(x, y, 0.36, yerr=e, label=name, alpha=0.85, error_kw={"linewidth": 0.8}, **_STYLES[model])
        theirs = np.array([np.nan if row["paper"] is None else row["paper"] for row in rows])
        around = [withStroke(linewidth=4, foreground="white")]
        ax.plot(x, theirs, "k_", markersize=13, path_effects=around, label="the paper's" if k else None)
    ax.set_title(f"{LAPLACIANS[laplacian]} Laplacian, {coeffs} coefficients of CayleyNet")
    ax.title.set_fontsize("small")
    ax.set_xticks(sorted({row["order"] for row in document["rows"]}))
    plain_axes(ax)
