"""What the runs show: accuracies by model and order, learned zooms, and the paper's claims beside them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from analysis._document import Document
from analysis._experiment import beside, grouped
from analysis._networks import CHEBNET, CHEBYSHEV, EXACT, ORDERS, SWEEPS
from analysis.community.data import make_data
from analysis.community.paper import PAPER, PAPER_SD
from analysis.community.settings import NAMES, SHOWN_ORDER, Config
from cayleygsp import zoom
from cayleygsp._typing import FloatArray


def collect(args: argparse.Namespace, config: Config, results: Sequence[Document]) -> Document:
    """Return accuracies by model and order, every run, and what the figure needs."""
    first = make_data(config, args.seed)
    shown_order = min(args.orders, key=lambda order: abs(order - SHOWN_ORDER))
    kept = [
        {**result, "numbers": {k: v for k, v in result["numbers"].items() if k not in ("validation", "filters")}}
        for result in results
    ]
    shown = [
        {"model": result["setting"]["model"], "order": result["setting"]["order"], "zoom": result["numbers"]["zoom"]}
        | {"filters": result["numbers"]["filters"]}
        for result in results
        if result["seed"] == args.seed and result["setting"]["order"] == shown_order
    ]
    rows = []
    for row in grouped(results, "accuracy"):
        model, order = row["setting"]["model"], row["setting"]["order"]
        known = order in ORDERS and model in PAPER and not args.quick
        rows.append(
            {
                "model": model,
                "order": order,
                "mean": 100 * row["mean"],
                "sd": 100 * row["sd"],
                "n": row["n"],
                "paper": PAPER[model][ORDERS.index(order)] if known else None,
                "paper_sd": PAPER_SD[model][ORDERS.index(order)] if known else None,
            }
        )
    return {
        "graph": {
            "n_vertices": first.graph.n_vertices,
            "n_edges": first.graph.n_edges,
            "sizes": config.sizes,
            "eigenvalues": np.maximum(first.laplacian.eigenvalues, 0.0).tolist(),
        },
        "rows": rows,
        "shown": shown,
        "runs": kept,
    }


def table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the accuracies: one row per model, one column per order."""
    orders = sorted({row["order"] for row in document["rows"]})
    cells: dict[str, dict[int, str]] = {}
    for row in document["rows"]:
        cell = beside(row["mean"], row["sd"], row["paper"])
        cells.setdefault(NAMES[row["model"]], {})[row["order"]] = cell
    header = ["model", *(f"r = {order}" for order in orders)]
    return header, [[name, *(texts.get(order, "") for order in orders)] for name, texts in cells.items()]


def zoom_table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the learned zooms of the exact CayleyNet."""
    rows = []
    for order in sorted({row["order"] for row in document["rows"]}):
        h, best = learned_zooms(document, order)
        if not h.size:
            continue
        rows.append([str(order), f"{h.mean():.3g} ± {h.std():.2g}", f"{h.min():.3g} to {h.max():.3g}"])
        rows[-1] += [f"{best.mean():.3g} ± {best.std():.2g}", f"{np.mean(h / best):.3g}"]
    return ["order r", "learned h", "least to most", "zoom that spreads the gap", "mean ratio"], rows


def findings(document: Document) -> list[str]:
    """Say what the accuracies show of the paper's claims, each in a sentence that may turn out either way."""
    mean: dict[str, dict[int, float]] = {}
    sd: dict[str, dict[int, float]] = {}
    for row in document["rows"]:
        mean.setdefault(row["model"], {})[row["order"]] = row["mean"]
        sd.setdefault(row["model"], {})[row["order"]] = row["sd"]
    exact, cheb, ours = (mean.get(model, {}) for model in (EXACT, CHEBNET, CHEBYSHEV))
    gaps = np.array([[*run["numbers"]["gap"], run["numbers"]["lmax"]] for run in document["runs"]])
    low, high = gaps.min(0), gaps.max(0)
    sentences = [
        f"Over the graphs, λ₁₅ is {low[0]:.2g} to {high[0]:.2g}, λ₁₆ is {low[1]:.2g} to {high[1]:.2g}, and the largest "
        f"eigenvalue {low[2]:.3g} to {high[2]:.3g}."
    ]
    both = sorted(exact.keys() & cheb.keys())
    if both:
        above = [order for order in both if exact[order] > cheb[order]]
        least = min(exact[order] - cheb[order] for order in both)
        sentences.append(
            f"The exact CayleyNet is above the ChebNet of the same order at {_orders(above, both)}; the least "
            f"difference is {least:.1f} points."
        )
    sweeps = [f"jacobi {K}" for K in SWEEPS if f"jacobi {K}" in mean]
    if len(sweeps) > 1:
        orders = sorted(mean[sweeps[0]])
        grows = [r for r in orders if all(mean[a][r] < mean[b][r] for a, b in pairwise(sweeps))]
        sentences.append(f"Accuracy grows with every step of K = {_listed(sweeps)} at {_orders(grows, orders)}.")
        most_sweeps = mean[sweeps[-1]]
        both = sorted(exact.keys() & most_sweeps.keys())
        better = [r for r in both if most_sweeps[r] > exact[r]]
        sentences.append(f"K = {sweeps[-1].split()[1]} is above the exact CayleyNet at {_orders(better, both)}.")
    both = sorted(exact.keys() & ours.keys())
    if both:
        within = [r for r in both if abs(ours[r] - exact[r]) <= max(sd[EXACT][r], sd[CHEBYSHEV][r])]
        most = max(abs(ours[r] - exact[r]) for r in both)
        sentences.append(
            f"Our series is within one deviation of the exact CayleyNet at {_orders(within, both)}; the means differ "
            f"by at most {most:.2f} points."
        )
    return [*sentences, *_zoom_findings(document)]


def _zoom_findings(document: Document) -> list[str]:
    """Say how the learned zooms go with the zoom that spreads the gap, over the graphs."""
    correlations = []
    for order in sorted({row["order"] for row in document["rows"]}):
        h, best = learned_zooms(document, order)
        if h.size > 2:
            correlations.append(f"{np.corrcoef(np.log(h), np.log(best))[0, 1]:.2f} (r = {order})")
    if not correlations:
        return []
    listed = ", ".join(correlations)
    return [f"Correlation over the graphs of log h with the log of the zoom that spreads the gap: {listed}."]


def learned_zooms(document: Document, order: int) -> tuple[FloatArray, FloatArray]:
    """Return the zoom that the exact CayleyNet learned in each run, and the one that spreads the gap of its graph."""
    runs = [run["numbers"] for run in document["runs"] if run["setting"] == {"model": EXACT, "order": order}]
    return np.array([run["zoom"] for run in runs]), np.array([zoom.best_zoom(*run["gap"]) for run in runs])


def _orders(orders: Sequence[int], all_orders: Sequence[int]) -> str:
    if len(orders) == len(all_orders):
        return "every order"
    return "r = " + ", ".join(map(str, orders)) + f" of {', '.join(map(str, all_orders))}" if orders else "no order"


def _listed(sweeps: Sequence[str]) -> str:
    return ", ".join(model.split()[1] for model in sweeps)
