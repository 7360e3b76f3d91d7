"""The picture: accuracies beside the paper's, learned filters, and learned zooms over the gap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from analysis._document import Document
from analysis._figures import plain_axes
from analysis._networks import CHEBNET, EXACT, N_COMMUNITIES, STYLES
from analysis.community.results import learned_zooms
from analysis.community.settings import NAMES
from cayleygsp._typing import Array
from cayleygsp.responses.basis import power_basis
from cayleygsp.responses.cayley import cayley_angle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(document: Document) -> Figure:
    """Draw accuracies beside the paper's, four filters of both kinds, and the learned zooms over the gap."""
    from matplotlib.figure import Figure

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
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize="small")


def _draw_accuracy(ax: Axes, document: Document, mean: str, sd: str, title: str) -> None:
    for model, style in STYLES.items():
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
            style = list(STYLES.values())[k]
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
