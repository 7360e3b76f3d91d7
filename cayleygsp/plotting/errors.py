"""Measured errors and masses outside k hops, beside what is proved of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from cayleygsp._format import format_rate
from cayleygsp._typing import ArrayLike, FloatArray
from cayleygsp._validation import check_real
from cayleygsp.localization import Decay
from cayleygsp.plotting._style import BLUE, COLORS, GREY, LIGHT_GREY, legend_above, light_grid, use_axes

# The least error that a logarithmic axis shows; exact agreement is drawn there.
_ERROR_FLOOR = 1e-17

# About as many markers as a curve gets, however many points it has.
_MARKERS = 10

# What triangles at the upper edge are called, unseen.
_OFF_THE_SCALE = "_off the scale"

# How far above the line at which bounds become empty, and above all that was measured, the axis goes at most.
_HEADROOM = 1e4

# The line above which a bound says nothing.
_EMPTY: dict[str, Any] = {"color": GREY, "linewidth": 1.0, "linestyle": (0, (6, 3)), "zorder": 1.5}

# How measured values look, errors that ring them, and bounds. Colours, line styles and markers of bounds all differ. On
# regular graphs "safe" and "sharp" are the same: the larger markers show behind the smaller ones.
_DOTS: dict[str, Any] = {"marker": "o", "linestyle": "none", "color": BLUE, "markersize": 4.5, "zorder": 5}
_RING = _DOTS | {"markerfacecolor": "none", "color": "black", "markersize": 9.0, "zorder": 6}
_BOUND_LOOKS: dict[str, dict[str, Any]] = {
    "paper": {"color": COLORS[1], "linestyle": "--", "marker": "^"},
    "safe": {"color": COLORS[3], "linestyle": "-.", "marker": "v", "markersize": 8.0},
    "sharp": {"color": COLORS[2], "linestyle": "-", "marker": "s"},
}
_OTHER_LOOKS: tuple[dict[str, Any], ...] = (
    {"color": COLORS[4], "linestyle": ":", "marker": "D"},
    {"color": "black", "linestyle": (0, (5, 1, 1, 1)), "marker": "P"},
)
_DECAY_LOOKS = {
    "theorem 4": _BOUND_LOOKS["paper"] | {"label": "Theorem 4"},
    "jacobi": _BOUND_LOOKS["safe"] | {"label": "proved, Jacobi", "markersize": 7.0},
    "series": _BOUND_LOOKS["sharp"] | {"label": "proved, series"},
}


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

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from cayleygsp import plotting
    >>> ax = plotting.error_bars(["jacobi", "chebyshev"], [1e-2, 2e-7], [2e-1, 9e-7], ax=Figure().subplots())
    >>> ax.get_xscale()
    'log'
    """
    exact, bound = _checked(len(names), "name", {"measured": measured, "bounds": bounds})
    least = max(float(floor), _ERROR_FLOOR)
    error, below = np.maximum(exact, least), exact <= least
    if notes is not None and len(notes) != len(names):
        raise ValueError(f"`notes` must have one entry per name, {len(names)}, got {len(notes)}")
    ax = use_axes(ax)
    rows = np.arange(len(names))
    known = np.isfinite(bound)
    right = _HEADROOM * max(1.0, float(error.max())) if (bound[known] > 1).any() else np.inf
    ends = np.minimum(bound, right)
    ax.hlines(rows[known], error[known], ends[known], color="0.65", linewidth=2.5, zorder=2, label="_bars")
    inside, beyond = known & (bound <= right), known & (bound > right)
    tick: dict[str, Any] = {"linestyle": "none", "color": "black", "markersize": 10, "markeredgewidth": 1.6}
    ax.plot(bound[inside], rows[inside], marker="|", label="certified bound", **tick)
    if beyond.any():
        arrow = {"markersize": 6, "markeredgewidth": 1.0, "markerfacecolor": "none", "zorder": 4, "clip_on": False}
        ax.plot(ends[beyond], rows[beyond], marker=">", label="bound off the scale", **(tick | arrow))
    dots = _DOTS | {"markersize": 5.5, "zorder": 3}
    ax.plot(error[~below], rows[~below], label="measured error", **(dots | kwargs))
    if below.any():
        hollow = dots | {"marker": "<", "markerfacecolor": "white"}
        ax.plot(error[below], rows[below], label="error below this", **hollow)
    ax.set_xscale("log")
    if np.isfinite(right):
        ax.axvline(1.0, label="1: above it a bound is empty", **_EMPTY)
        ax.set_xlim(right=right)
    ax.set_yticks(rows, names)
    ax.set(ylim=(len(rows) - 0.4, -0.6), xlabel=r"error $\|y - g(\Delta) f\| \, / \, (\sup|g| \, \|f\|)$")
    light_grid(ax, axis="x")
    for row, note in enumerate(notes or ()):
        ax.text(1.02, row, note, transform=ax.get_yaxis_transform(), va="center", fontsize="small")
    legend_above(ax, 2)
    return ax


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

    The axis ends below the measured errors: bounds go on falling where rounding stays.

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

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from cayleygsp import plotting
    >>> curves = {"paper": [4.0, 3.0, 2.0], "safe": [9.0, 5.0, 2.5]}
    >>> ax = plotting.bounds([0, 1, 2], [5.0, 2.0, 1.0], curves, gain=3.5, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'Jacobi sweeps $K$'
    """
    K = np.asarray(n_iter, dtype=np.float64)
    if K.ndim != 1 or K.size == 0:
        raise ValueError(f"`n_iter` must have shape (n,) and not be empty, got shape {K.shape}")
    given = {"measured": measured, **{f"curves[{name!r}]": values for name, values in curves.items()}}
    error, *proved = _checked(K.size, "number of sweeps", given)
    level = 0.0 if gain is None else check_real(gain, "gain")
    ax = use_axes(ax)
    top = _HEADROOM * max(level, float(error.max())) if level > 0 else np.inf
    looks = cycle(_OTHER_LOOKS)
    for name, values in zip(curves, proved, strict=True):
        _draw_bound(ax, K, values, top, name, _BOUND_LOOKS.get(name) or next(looks))
    ax.plot(K, np.where(error > floor, error, np.nan), label="measured", **(_DOTS | kwargs))
    slack = np.asarray(rounding, dtype=np.float64)
    broken = np.any([error > values + slack for values in proved], axis=0)
    if broken.any():
        ax.plot(K[broken], error[broken], label="above a bound", **_RING)
    if level > 0:
        ax.axhline(level, label="gain: above it a bound is empty", **_EMPTY)
    ax.set(xlabel="Jacobi sweeps $K$", ylabel=r"error $\|Gf - \tilde{G}f\| \, / \, \|f\|$")
    lowest = max(error[error > 0].min(initial=np.inf), floor)
    shade = "error of the reference" if floor > 0 and (error <= floor).any() else ""
    _finish(ax, lowest, top, floor, shade, legend)
    return ax


def decay(
    curve: Decay,
    *,
    fit: bool = True,
    label: str = "measured",
    legend: bool = True,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    r"""Draw the mass outside k hops, the exponential that fits it and the curves that bound it, over k.

    Masses that are not above the error of the method are not drawn; the ground is grey there. No relative mass is above
    1: bounds above that line are empty, and those far above it are triangles at the upper edge. Parts of a curve that
    are not proved have hollow markers.

    Parameters
    ----------
    curve : Decay
        From :func:`cayleygsp.localization.decay_curve`.
    fit : bool
        Whether to draw the fitted :math:`c\gamma^k`.
    label : str
        What the legend says of the measured masses.
    legend : bool
        Whether to draw a legend, above the axes.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    **kwargs
        For the call of :meth:`matplotlib.axes.Axes.plot` that draws the measured masses.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import cayleygsp as cg
    >>> from cayleygsp.localization import decay_curve
    >>> g = cg.CayleyFilter(cg.gallery.ring(64), cg.CayleyPolynomial([0.5, -0.25], zoom=1.0), method="exact")
    >>> ax = cg.plotting.decay(decay_curve(g, 0), ax=Figure().subplots())
    >>> ax.get_yscale()
    'log'
    """
    if not isinstance(curve, Decay):
        raise TypeError(f"`curve` must be a Decay, got {type(curve).__name__}")
    ax = use_axes(ax)
    known = curve.mass > curve.floor
    for bound in curve.bounds:
        look = _DECAY_LOOKS[bound.name]
        _draw_bound(ax, curve.hops, bound.mass, _HEADROOM, look["label"], look)
        doubtful = np.flatnonzero(~bound.valid)[:: _mark_every(curve.hops.size)]
        if doubtful.size:
            hollow = {"linestyle": "none", "markerfacecolor": "white", "label": f"{look['label']}, not proved here"}
            shown = np.minimum(_visible(bound.mass), _HEADROOM)[doubtful]
            ax.plot(curve.hops[doubtful], shown, zorder=4, **({"markersize": 5.5} | look | hollow))
    if fit and curve.fit.n_points > 1:
        k = curve.hops[known]
        fitted = curve.fit.c * curve.fit.gamma**k
        text = f"fit, γ = {format_rate(curve.fit.gamma, 2)}"
        if curve.fit.n_points > 2 and np.isfinite(curve.fit.r_squared):
            text += f", R² = {format_rate(curve.fit.r_squared, 3)}"
        ax.plot(k, fitted, color="black", linestyle=":", linewidth=1.4, zorder=4, label=text)
    ax.plot(curve.hops, np.where(known, curve.mass, np.nan), label=label, **(_DOTS | kwargs))
    ax.axhline(1.0, label="1: above it a bound is empty", **_EMPTY)
    norm = {1.0: "1", 2.0: "2", np.inf: r"\infty"}.get(curve.p, f"{curve.p:g}")
    ax.set(xlabel="hops $k$", ylabel=rf"relative $L_{{{norm}}}$ mass outside $k$ hops")
    shade = "" if curve.resolved.all() else "below the error of the method"
    lowest = curve.mass[known].min(initial=curve.floor if shade else np.inf)
    _finish(ax, lowest, _HEADROOM, curve.floor, shade, legend)
    return ax


def _checked(n: int, of: str, given: Mapping[str, ArrayLike]) -> list[FloatArray]:
    """Return arrays of n numbers; those that are called "measured" are finite and not negative."""
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in given.items()}
    for name, array in arrays.items():
        if array.shape != (n,):
            raise ValueError(f"`{name}` must have one entry per {of}, shape ({n},), got {array.shape}")
    error = arrays["measured"]
    if not (np.isfinite(error) & (error >= 0)).all():
        raise ValueError(f"`measured` must be finite and not negative, got {error.tolist()}")
    return list(arrays.values())


def _visible(values: FloatArray) -> FloatArray:
    """Return values with NaN for what a logarithmic axis cannot show."""
    return np.where((values > 0) & np.isfinite(values), values, np.nan)


def _mark_every(n_points: int) -> int:
    """Return which points of a curve get a marker: every point of a short one, fewer of a long one."""
    return max(n_points // _MARKERS, 1)


def _draw_bound(ax: Axes, x: FloatArray, values: FloatArray, top: float, label: str, look: dict[str, Any]) -> None:
    """Draw a bound; values above the top are triangles at the edge, and the legend says how large they are."""
    every = _mark_every(x.size)
    beyond = (values > top) & ~np.isnan(values)
    if beyond.any():
        largest = values[beyond].max()
        power = "∞" if np.isinf(largest) else f"$10^{{{int(np.ceil(np.log10(largest)))}}}$"
        label = f"{label}, off the scale: up to {power}"
    line = {"linewidth": 1.6, "markersize": 4.5, "markevery": every} | look | {"label": label}
    ax.plot(x, _visible(np.where(beyond, np.nan, values)), **line)
    chosen = np.flatnonzero(beyond)[::every]
    if chosen.size:
        height = 1 - 0.05 * sum(line.get_label() == _OFF_THE_SCALE for line in ax.lines)
        edge = _DOTS | {"marker": "^", "markerfacecolor": "none", "markersize": 7.0, "zorder": 4, "clip_on": False}
        edge |= {"color": look["color"], "label": _OFF_THE_SCALE, "transform": ax.get_xaxis_transform()}
        ax.plot(x[chosen], np.full(chosen.size, height), **edge)


def _finish(ax: Axes, lowest: float, top: float, floor: float, shade: str, legend: bool) -> None:
    """End the logarithmic axis below the lowest value and at the top, shade what is not above a floor, draw a grid."""
    ax.set_yscale("log")
    if np.isfinite(lowest):
        ax.set_ylim(bottom=lowest / 10)
    if ax.get_ylim()[1] > top or any(line.get_label() == _OFF_THE_SCALE for line in ax.lines):
        ax.set_ylim(top=top)
    if shade:
        low, high = ax.get_ylim()
        ground: dict[str, Any] = {"color": LIGHT_GREY, "alpha": 0.5, "linewidth": 0, "zorder": 0}
        ax.axhspan(low, min(floor, high), label=shade, **ground)
        ax.set_ylim(low, high)
    light_grid(ax)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if legend:
        legend_above(ax, 2, height=1.03)
