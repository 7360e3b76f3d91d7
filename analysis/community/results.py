"""What the runs show: accuracies by model and order, learned zooms, and the paper's claims beside them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis._experiment import beside, grouped, without
from analysis._figures import legend_below, plain_axes
from analysis._networks import CHEBNET, CHEBYSHEV, EXACT, N_COMMUNITIES, NETWORK_STYLES, ORDERS, SWEEPS
from analysis._script import Document, pivot
from analysis.community.network import make_data
from analysis.community.settings import NAMES, PAPER, PAPER_SD, SHOWN_ORDER, Config
from cayleygsp import zoom
from cayleygsp._typing import Array, FloatArray
from cayleygsp.responses.basis import power_basis
from cayleygsp.responses.cayley import cayley_angle


def collect(args: argparse.Namespace, config: Config, results: Sequence[Document]) -> Document:
    """Return accuracies by model and order, every run, and what the figure needs."""
    first = make_data(config, args.seed)
    shown_order = min(args.orders, key=lambda order: abs(order - SHOWN_ORDER))
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
        "runs": without(results, ("validation", "filters")),
    }


def table(document: Document) -> tuple[list[str], list[list[str]]]:
    """Return header and rows of the accuracies: one row per model, one column per order."""
    return pivot(
        ["model"],
        document["rows"],
        lambda row: [NAMES[row["model"]]],
        lambda row: row["order"],
        lambda row: beside(row["mean"], row["sd"], row["paper"]),
        "r = {}",
    )


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
        orders, listed = sorted(mean[sweeps[0]]), ", ".join(model.split()[1] for model in sweeps)
        grows = [r for r in orders if all(mean[a][r] < mean[b][r] for a, b in pairwise(sweeps))]
        sentences.append(f"Accuracy grows with every step of K = {listed} at {_orders(grows, orders)}.")
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


def draw(document: Document) -> Figure:
    """Draw accuracies beside the paper's, four filters of both kinds, and the learned zooms over the gap."""
    zooms = any(run["setting"]["model"] == EXACT for run in document["runs"])
    shown = [model for model in (CHEBNET, EXACT) if any(one["model"] == model for one in document["shown"])]
    heights = [1.25] + [0.625 * len(shown)] * bool(shown) + [0.9] * zooms
    figure = Figure(figsize=(10, 3.1 * sum(heights)), layout="constrained")
    parts = iter(figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0])
    _draw_accuracies(next(parts), document)
    if shown:
        _draw_filters(next(parts), document, shown)
    if zooms:
        _draw_zooms(next(parts), document)
    return figure


def _draw_accuracies(figure: Any, document: Document) -> None:
    """Draw accuracies, and the paper's beside them if it has some for these settings."""
    panels = {"ours": ("mean", "sd")}
    if any(row["paper"] is not None for row in document["rows"]):
        panels["the paper's"] = ("paper", "paper_sd")
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, (title, (mean, sd)) in zip(axes, panels.items(), strict=True):
        _draw_accuracy(ax, document, mean, sd, title)
    axes[0].set_ylabel("test accuracy, %")
    legend_below(figure)


def _draw_accuracy(ax: Axes, document: Document, mean: str, sd: str, title: str) -> None:
    for model, style in NETWORK_STYLES.items():
        rows = [row for row in document["rows"] if row["model"] == model and row[mean] is not None]
        if not rows:
            continue
        x, y, e = (np.array([row[key] for row in rows]) for key in ("order", mean, sd))
        ax.errorbar(x, y, e, label=NAMES[model], capsize=2, markersize=4.5, linewidth=1.2, elinewidth=0.8, **style)
    ax.set(xlabel="order r", title=title)
    ax.set_xticks(sorted({row["order"] for row in document["rows"]}))
    plain_axes(ax)


def _draw_filters(figure: Any, document: Document, models: Sequence[str]) -> None:
    """Draw responses of ChebNet over the scaled frequency and of CayleyNet over the unrolled angle."""
    lam = np.array(document["graph"]["eigenvalues"])
    lmax = float(lam[-1])
    where: Array
    marks: Array
    for ax, model in zip(figure.subplots(len(models), 1, squeeze=False)[:, 0], models, strict=True):
        one = next(one for one in document["shown"] if one["model"] == model)
        if model == CHEBNET:
            grid = np.linspace(0, lmax, 2000)
            where, marks = 2 * grid / lmax - 1, 2 * lam / lmax - 1
            terms = np.polynomial.chebyshev.chebvander(where, one["order"])
            ax.set_xlabel(r"$\tilde\lambda = 2\lambda/\lambda_n - 1$")
        else:
            grid = np.append(0.0, np.geomspace(1e-3 / one["zoom"], lmax, 2000))
            where, marks = cayley_angle(one["zoom"] * grid), cayley_angle(one["zoom"] * lam)
            terms = power_basis(one["order"], one["zoom"] * grid)
            ax.set_xlabel(f"angle of $C(h\\lambda)$, learned h = {one['zoom']:.3g}")
        ax.vlines(marks[N_COMMUNITIES:], 0, 1, transform=ax.get_xaxis_transform(), colors="0.88", linewidths=0.5)
        ax.vlines(marks[:N_COMMUNITIES], 0, 1, transform=ax.get_xaxis_transform(), colors="0.5", linewidths=0.9)
        for k, c in enumerate(one["filters"]):
            g = terms @ np.array(c)
            style = list(NETWORK_STYLES.values())[k]
            dashes = ("-", "--", "-.", ":")[k]
            ax.plot(where, g / np.abs(g).max(), color=style["color"], linestyle=dashes, linewidth=1.4)
        ax.set_ylabel("response")
        ax.set_title(f"{NAMES[model]}, r = {one['order']}: four filters, each over its largest value", fontsize="small")
        ax.margins(x=0.01)
        ax.spines[["top", "right"]].set_visible(False)


def _draw_zooms(figure: Any, document: Document) -> None:
    """Draw the zoom of every run against the order, and against the zoom that spreads the gap."""
    runs = [run for run in document["runs"] if run["setting"]["model"] == EXACT]
    left, right = figure.subplots(1, 2, sharey=True)
    orders = sorted({run["setting"]["order"] for run in runs})
    markers, shades = "ov^sD*P", np.linspace(0, 0.75, max(len(orders), 1))
    for k, order in enumerate(orders):
        h, best = learned_zooms(document, order)
        style = {"marker": markers[k % 7], "linestyle": "none", "markersize": 4.5, "color": str(shades[k])}
        left.plot(np.full(len(h), order), h, **style)
        right.plot(best, h, label=f"r = {order}", **style)
    left.set(xlabel="order r", ylabel="learned zoom h", yscale="log", title="CayleyNet, exact: one mark per run")
    left.set_xticks(orders)
    if runs:
        low, high = right.get_xlim()
        right.plot([low, high], [low, high], color="0.6", linewidth=1, label="equal")
        right.legend(fontsize="small", frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    right.set(xlabel=r"zoom that spreads the gap, $1/\sqrt{\lambda_{15}\lambda_{16}}$", yscale="log")
    for ax in (left, right):
        ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
        ax.yaxis.set_minor_formatter(lambda value, _: f"{value:g}")
        ax.tick_params(which="minor", labelsize=7)
        ax.title.set_fontsize("small")
        plain_axes(ax)
