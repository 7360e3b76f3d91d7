"""Errors of the Jacobi scheme over the number of sweeps, beside bounds of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cayleygsp._typing import ArrayLike, FloatArray
from cayleygsp._validation import check_real
from cayleygsp.plotting._style import (
    COLORS,
    DOTS,
    axis_top,
    draw_bound,
    draw_empty_above,
    finish_curves,
    limit_top,
    shade_below,
    use_axes,
    visible,
)

# What each curve looks like: colours, line styles and markers all differ. On regular graphs "safe" and "sharp" are the
# same: the larger markers show behind the smaller ones.
_KIND_LOOKS: dict[str, dict[str, Any]] = {
    "paper": {"color": COLORS[1], "linestyle": "--", "marker": "^"},
    "safe": {"color": COLORS[3], "linestyle": "-.", "marker": "v", "markersize": 8.0},
    "sharp": {"color": COLORS[2], "linestyle": "-", "marker": "s"},
}
_OTHER_LOOKS: tuple[dict[str, Any], ...] = (
    {"color": COLORS[4], "linestyle": ":", "marker": "D"},
    {"color": "black", "linestyle": (0, (5, 1, 1, 1)), "marker": "P"},
)
_RING: dict[str, Any] = {
    "marker": "o",
    "linestyle": "none",
    "markerfacecolor": "none",
    "color": "black",
    "markersize": 9.0,
    "zorder": 6,
}


def bounds(
    n_iter: ArrayLike,
    measured: ArrayLike,
    curves: Mapping[str, ArrayLike],
    *,
    rounding: ArrayLike = 0.0,
    gain: float | None = None,
    floor: float = 0.0,
    legend: bool = True,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    r"""Draw measured errors of the Jacobi scheme and bounds of them over the number of sweeps.

    Parameters
    ----------
    n_iter : array_like, shape (n,)
        Sweeps K.
    measured : array_like, shape (n,)
        Errors :math:`\|Gf - \tilde Gf\|_2 / \|f\|_2` ≥ 0. What is zero is left out.
    curves : mapping of str to array_like, shape (n,)
        Bounds in exact arithmetic by their names; "paper", "safe" and "sharp" have looks of their own.
    rounding : array_like, shape (n,) or a number
        What rounding may add. A measured error that is above a bound by more than that is ringed.
    gain : float, optional
        sup|g|, drawn as a line: a bound above it is empty, as the signal 0 is never off by more. Bounds far above it
        are triangles at the upper edge.
    floor : float
        How far the reference may be off that errors were measured against; errors that are not above it are not
        measurements, and the ground is grey there.
    legend : bool
        Whether to draw a legend, above the axes.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    **kwargs
        For the call of :meth:`matplotlib.axes.Axes.plot` that draws the measured errors.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on. They end below the measured errors: bounds go on falling where rounding stays.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from cayleygsp import plotting
    >>> curves = {"paper": [4.0, 3.0, 2.0], "safe": [9.0, 5.0, 2.5]}
    >>> ax = plotting.bounds([0, 1, 2], [5.0, 2.0, 1.0], curves, gain=3.5, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'Jacobi sweeps $K$'
    """
    K, error, named = _checked(n_iter, measured, curves)
    slack = np.broadcast_to(np.asarray(rounding, dtype=np.float64), K.shape)
    level = None if gain is None else check_real(gain, "gain")
    ax = use_axes(ax)
    top = axis_top(level, error)
    looks = iter(_OTHER_LOOKS * (1 + len(named) // len(_OTHER_LOOKS)))
    broken = np.zeros(K.size, dtype=bool)
    for name, values in named.items():
        draw_bound(ax, K, values, top, name, _KIND_LOOKS.get(name) or next(looks))
        broken |= error > values + slack
    ax.plot(K, visible(np.where(error > floor, error, np.nan)), label="measured", **(DOTS | kwargs))
    if broken.any():
        ax.plot(K[broken], error[broken], label="above a bound", **_RING)
    draw_empty_above(ax, level, "gain: above it a bound is empty")
    ax.set_yscale("log")
    ax.set(xlabel="Jacobi sweeps $K$", ylabel=r"error $\|Gf - \tilde{G}f\| \, / \, \|f\|$")
    _set_limits(ax, error, floor, top)
    finish_curves(ax, legend=legend)
    return ax


def _set_limits(ax: Axes, error: FloatArray, floor: float, top: float) -> None:
    if (error > 0).any():
        ax.set_ylim(bottom=max(error[error > 0].min(), floor) / 10)
    limit_top(ax, top)
    if (error <= floor).any() and floor > 0:
        shade_below(ax, floor, "error of the reference")


def _checked(
    n_iter: ArrayLike, measured: ArrayLike, curves: Mapping[str, ArrayLike]
) -> tuple[FloatArray, FloatArray, dict[str, FloatArray]]:
    K, error = np.asarray(n_iter, dtype=np.float64), np.asarray(measured, dtype=np.float64)
    if K.ndim != 1 or K.size == 0:
        raise ValueError(f"`n_iter` must have shape (n,) and not be empty, got shape {K.shape}")
    named: dict[str, FloatArray] = {name: np.asarray(values, dtype=np.float64) for name, values in curves.items()}
    for name, values in {"measured": error, **{f"curves[{key!r}]": values for key, values in named.items()}}.items():
        if values.shape != K.shape:
            raise ValueError(f"`{name}` must have one entry per number of sweeps, shape {K.shape}, got {values.shape}")
    if not (np.isfinite(error) & (error >= 0)).all():
        raise ValueError(f"`measured` must be finite and not negative, got {error.tolist()}")
    return K, error, named
