"""What all pictures share: colours, line styles, the axes to draw on."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from cayleygsp._typing import ArrayLike, FloatArray
from cayleygsp._validation import check_eigenvalues

#: The colours of Okabe and Ito: blue, vermilion, bluish green, orange, reddish purple, sky blue, yellow, black.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#F0E442", "#000000")

BLUE, VERMILION = COLORS[:2]
GREY, LIGHT_GREY = "0.45", "0.8"
LINE_STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))


def use_axes(ax: Axes | None) -> Axes:
    """Return the given axes, or the current ones of pyplot."""
    if ax is None:
        from matplotlib import pyplot

        return pyplot.gca()
    if not isinstance(ax, Axes):
        raise TypeError(f"`ax` must be one matplotlib Axes, got {type(ax).__name__}")
    return ax


def plain_spines(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)


def checked_frequencies(eigenvalues: ArrayLike) -> FloatArray:
    """Return frequencies ascending, those that rounding made negative at zero."""
    lam = check_eigenvalues(eigenvalues)
    if lam.ndim != 1:
        raise ValueError(f"`eigenvalues` must have shape (n,), got {lam.shape}")
    if not np.isfinite(lam).all():
        raise ValueError(f"`eigenvalues` must be finite, got {lam[~np.isfinite(lam)][0]}")
    if lam.size and lam.min() < -1e-8 * max(1.0, float(np.abs(lam).max())):
        raise ValueError(f"`eigenvalues` must not be negative, got {lam.min():g}")
    return np.sort(np.maximum(lam, 0.0))


#: How measured values look.
DOTS: dict[str, Any] = {"marker": "o", "linestyle": "none", "color": BLUE, "markersize": 4.5, "zorder": 5}

# About as many markers as a curve gets, however many points it has.
_MARKERS = 10

# How far above the line at which bounds become empty, and above all that was measured, the axis goes at most.
_HEADROOM = 1e4


def mark_every(n_points: int) -> int:
    """Return which points of a curve get a marker: every point of a short curve, fewer of a long one."""
    return max(n_points // _MARKERS, 1)


def visible(values: FloatArray) -> FloatArray:
    """Return values with NaN for what a logarithmic axis cannot show."""
    return np.where((values > 0) & np.isfinite(values), values, np.nan)


def axis_top(empty_above: float | None, *drawn: FloatArray) -> float:
    """Return where the axis ends at most: above the level at which bounds become empty and above what was measured."""
    if empty_above is None or not empty_above > 0:
        return np.inf
    largest = [float(values[np.isfinite(values)].max(initial=0.0)) for values in drawn]
    return _HEADROOM * max([empty_above, *largest])


def draw_bound(ax: Axes, x: FloatArray, values: FloatArray, top: float, label: str, look: dict[str, Any]) -> None:
    """Draw a bound; values above the top are triangles at the edge, and the legend says how large they are.

    The triangles of several bounds stand below each other.
    """
    line: dict[str, Any] = {"linewidth": 1.6, "markersize": 4.5, "markevery": mark_every(x.size)}
    beyond = (values > top) & ~np.isnan(values)
    if beyond.any():
        label = f"{label}, off the scale: up to {_power(values[beyond].max())}"
    ax.plot(x, visible(np.where(beyond, np.nan, values)), **(line | look | {"label": label}))
    chosen = np.flatnonzero(beyond)[:: line["markevery"]]
    if chosen.size:
        edge: dict[str, Any] = {
            "marker": "^",
            "linestyle": "none",
            "color": look["color"],
            "markerfacecolor": "none",
            "markersize": 7.0,
            "clip_on": False,
            "zorder": 4,
            "label": "_off the scale",
        }
        rank = sum(line.get_label() == edge["label"] for line in ax.lines)
        ax.plot(x[chosen], np.full(chosen.size, 1 - 0.05 * rank), transform=ax.get_xaxis_transform(), **edge)


def limit_top(ax: Axes, top: float) -> None:
    """End the axis at the top, if it goes beyond."""
    if ax.get_ylim()[1] > top or any(line.get_label() == "_off the scale" for line in ax.lines):
        ax.set_ylim(top=top)


def draw_empty_above(ax: Axes, level: float | None, text: str) -> None:
    """Draw the line above which a bound says nothing."""
    if level is not None and level > 0:
        ax.axhline(level, color=GREY, linewidth=1.0, linestyle=(0, (6, 3)), zorder=1.5, label=text)


def shade_below(ax: Axes, floor: float, text: str) -> None:
    """Shade what is not above a floor; the limits of the axis stay as they are."""
    limits = ax.get_ylim()
    ax.axhspan(limits[0], min(floor, limits[1]), color=LIGHT_GREY, alpha=0.5, linewidth=0, zorder=0, label=text)
    ax.set_ylim(limits)


def finish_curves(ax: Axes, *, legend: bool) -> None:
    """Draw grid, whole numbers below, and a legend above the axes."""
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    plain_spines(ax)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if legend:
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.03), ncols=2, frameon=False, fontsize="small")


def _power(value: float) -> str:
    if np.isinf(value):
        return "∞"
    exponent = int(np.ceil(np.log10(value)))
    return f"$10^{{{exponent}}}$"
