"""What all pictures share: colours, line styles, the axes to draw on and how they look."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cayleygsp._typing import ArrayLike, FloatArray
from cayleygsp._validation import check_eigenvalues

#: The colours of Okabe and Ito: blue, vermilion, bluish green, orange, reddish purple, sky blue, yellow, black.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#F0E442", "#000000")

BLUE, VERMILION = COLORS[:2]
GREY, LIGHT_GREY = "0.45", "0.8"
LINE_STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))

# Points of a curve over frequency.
GRID_POINTS = 2000


def line_look(k: int, linewidth: float = 1.6) -> dict[str, Any]:
    """Return what the k-th of several curves looks like: colours and line styles both differ."""
    return {"color": COLORS[k % len(COLORS)], "linestyle": LINE_STYLES[k % len(LINE_STYLES)], "linewidth": linewidth}


def use_axes(ax: Axes | None) -> Axes:
    """Return the given axes, or the current ones of pyplot."""
    if ax is None:
        from matplotlib import pyplot

        return pyplot.gca()
    if not isinstance(ax, Axes):
        raise TypeError(f"`ax` must be one matplotlib Axes, got {type(ax).__name__}")
    return ax


def plain_spines(ax: Axes) -> None:
    """Leave out the frame at the top and on the right."""
    ax.spines[["top", "right"]].set_visible(False)


def light_grid(ax: Axes, **which: Any) -> None:
    """Draw a light grid below the data, and no frame at the top and on the right."""
    ax.grid(color="0.9", linewidth=0.6, **which)
    ax.set_axisbelow(True)
    plain_spines(ax)


def legend_above(ax: Axes, n_columns: int, height: float = 1.0) -> None:
    """Draw the legend above the axes."""
    look: dict[str, Any] = {"ncols": n_columns, "frameon": False, "fontsize": "small"}
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, height), **look)


def mark_frequencies(ax: Axes, eigenvalues: FloatArray) -> None:
    """Draw frequencies as short lines at the foot."""
    ax.vlines(eigenvalues, 0, 0.04, colors=GREY, linewidths=0.5, transform=ax.get_xaxis_transform(), zorder=1)


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
