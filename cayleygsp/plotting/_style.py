"""What all pictures share: colours, line styles, the axes to draw on."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

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
