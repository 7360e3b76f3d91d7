"""The mass of a localized filter outside k hops, beside what was fitted to it and what bounds it."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cayleygsp._format import format_rate
from cayleygsp._typing import FloatArray
from cayleygsp.localization import Decay, DecayBound
from cayleygsp.plotting._style import (
    COLORS,
    DOTS,
    axis_top,
    draw_bound,
    draw_empty_above,
    finish_curves,
    limit_top,
    mark_every,
    shade_below,
    use_axes,
    visible,
)

# What each curve looks like: colours, line styles and markers all differ.
_LOOKS: dict[str, dict[str, Any]] = {
    "theorem 4": {"color": COLORS[1], "linestyle": "--", "marker": "^", "label": "Theorem 4"},
    "jacobi": {"color": COLORS[3], "linestyle": "-.", "marker": "v", "label": "proved, Jacobi", "markersize": 7.0},
    "series": {"color": COLORS[2], "linestyle": "-", "marker": "s", "label": "proved, series"},
}


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

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on. Masses that are not above the error of the method are not drawn; the ground is grey there.
        No relative mass is above 1: bounds above that line are empty, and those far above it are triangles at the
        upper edge. Parts of a curve that are not proved have hollow markers.

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
    measured = np.where(curve.mass > curve.floor, curve.mass, np.nan)
    top = axis_top(1.0)
    for bound in curve.bounds:
        _draw_bound(ax, curve.hops, bound, top)
    if fit and curve.fit.n_points > 1:
        k = curve.hops[curve.mass > curve.floor]
        fitted = curve.fit.c * curve.fit.gamma**k
        text = f"fit, γ = {format_rate(curve.fit.gamma, 2)}"
        if curve.fit.n_points > 2 and np.isfinite(curve.fit.r_squared):
            text += f", R² = {format_rate(curve.fit.r_squared, 3)}"
        ax.plot(k, fitted, color="black", linestyle=":", linewidth=1.4, zorder=4, label=text)
    ax.plot(curve.hops, visible(measured), label=label, **(DOTS | kwargs))
    draw_empty_above(ax, 1.0, "1: above it a bound is empty")
    norm = {1.0: "1", 2.0: "2", np.inf: r"\infty"}.get(curve.p, f"{curve.p:g}")
    ax.set_yscale("log")
    ax.set(xlabel="hops $k$", ylabel=rf"relative $L_{{{norm}}}$ mass outside $k$ hops")
    _set_limits(ax, curve, top)
    finish_curves(ax, legend=legend)
    return ax


def _draw_bound(ax: Axes, k: FloatArray, bound: DecayBound, top: float) -> None:
    look = _LOOKS[bound.name]
    draw_bound(ax, k, bound.mass, top, look["label"], look)
    shown = np.minimum(visible(bound.mass), top)
    doubtful = np.flatnonzero(~bound.valid)[:: mark_every(k.size)]
    if doubtful.size:
        hollow = look | {"linestyle": "none", "markerfacecolor": "white", "label": f"{look['label']}, not proved here"}
        ax.plot(k[doubtful], shown[doubtful], zorder=4, **({"markersize": 5.5} | hollow))


def _set_limits(ax: Axes, curve: Decay, top: float) -> None:
    """End the axis a little below the floor, which is shaded where masses are not above it."""
    unresolved = not curve.resolved.all()
    known = curve.mass[curve.mass > curve.floor]
    if known.size:
        ax.set_ylim(bottom=(min(known.min(), curve.floor) if unresolved else known.min()) / 10)
    limit_top(ax, top)
    if unresolved:
        shade_below(ax, curve.floor, "below the error of the method")
