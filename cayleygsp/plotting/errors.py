"""Measured errors beside proved bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cayleygsp._typing import ArrayLike, FloatArray
from cayleygsp.plotting._style import BLUE, GREY, axis_top, plain_spines, use_axes

# The least error that a logarithmic axis shows; exact agreement is drawn there.
_ERROR_FLOOR = 1e-17

_ARROW: dict[str, Any] = {"markersize": 6, "markeredgewidth": 1.0, "markerfacecolor": "none", "zorder": 4}


def error_bars(
    names: Sequence[str],
    measured: ArrayLike,
    bounds: ArrayLike,
    *,
    floor: float = 0.0,
    notes: Sequence[str] | None = None,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw measured errors as dots and certified bounds as bar ends, one row per method, on a logarithmic axis.

    Parameters
    ----------
    names : sequence of str, length n
        Names of the rows, from top to bottom.
    measured : array_like, shape (n,)
        Measured errors ≥ 0.
    bounds : array_like, shape (n,)
        Upper bounds of the errors, relative to the gain; one that is not finite is left out. A bound above 1 is empty:
        a line at 1 says so, and bounds far above it end at the edge, with an arrow.
    floor : float
        How far the reference may be off that errors were measured against: errors that are not above it are triangles
        there. At least 1e-17.
    notes : sequence of str, length n, optional
        Something to write at the right of each row.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    **kwargs
        For the call of :meth:`matplotlib.axes.Axes.plot` that draws the measured errors.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from cayleygsp import plotting
    >>> ax = plotting.error_bars(["jacobi", "chebyshev"], [1e-2, 2e-7], [2e-1, 9e-7], ax=Figure().subplots())
    >>> ax.get_xscale()
    'log'
    """
    exact, bound = _checked_errors(names, measured, bounds)
    least = max(float(floor), _ERROR_FLOOR)
    error, below = np.maximum(exact, least), exact <= least
    if notes is not None and len(notes) != len(names):
        raise ValueError(f"`notes` must have one entry per name, {len(names)}, got {len(notes)}")
    ax = use_axes(ax)
    rows = np.arange(len(names))
    known = np.isfinite(bound)
    right = axis_top(1.0, error) if (bound[known] > 1).any() else np.inf
    ends = np.minimum(bound, right)
    ax.hlines(rows[known], error[known], ends[known], color="0.65", linewidth=2.5, zorder=2, label="_bars")
    inside, beyond = known & (bound <= right), known & (bound > right)
    tick: dict[str, Any] = {"linestyle": "none", "color": "black", "markersize": 10, "markeredgewidth": 1.6}
    ax.plot(bound[inside], rows[inside], marker="|", label="certified bound", **tick)
    if beyond.any():
        ax.plot(ends[beyond], rows[beyond], marker=">", clip_on=False, label="bound off the scale", **(tick | _ARROW))
    dots: dict[str, Any] = {"marker": "o", "linestyle": "none", "color": BLUE, "markersize": 5.5, "zorder": 3}
    ax.plot(error[~below], rows[~below], label="measured error", **(dots | kwargs))
    if below.any():
        arrow = dots | {"marker": "<", "markerfacecolor": "white"}
        ax.plot(error[below], rows[below], label="error below this", **arrow)
    ax.set_xscale("log")
    if np.isfinite(right):
        ax.axvline(
            1.0, color=GREY, linewidth=1.0, linestyle=(0, (6, 3)), zorder=1.5, label="1: above it a bound is empty"
        )
        ax.set_xlim(right=right)
    ax.set_yticks(rows, names)
    ax.set(ylim=(len(rows) - 0.4, -0.6), xlabel=r"error $\|y - g(\Delta) f\| \, / \, (\sup|g| \, \|f\|)$")
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    plain_spines(ax)
    for row, note in enumerate(notes or ()):
        ax.text(1.02, row, note, transform=ax.get_yaxis_transform(), va="center", fontsize="small")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, fontsize="small")
    return ax


def _checked_errors(names: Sequence[str], measured: ArrayLike, bounds: ArrayLike) -> tuple[FloatArray, FloatArray]:
    error, bound = np.asarray(measured, dtype=np.float64), np.asarray(bounds, dtype=np.float64)
    for array, name in ((error, "measured"), (bound, "bounds")):
        if array.shape != (len(names),):
            raise ValueError(f"`{name}` must have one entry per name, shape ({len(names)},), got {array.shape}")
    if not (np.isfinite(error) & (error >= 0)).all():
        raise ValueError(f"`measured` must be finite and not negative, got {error.tolist()}")
    return error, bound
