"""Localization over hops, and bounds over Jacobi sweeps, beside what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from cayleygsp._typing import Array, ArrayLike, FloatArray
from cayleygsp.localization import Decay, DecayBound
from cayleygsp.plotting._style import BLUE, COLORS, LIGHT_GREY, plain_spines, use_axes

# What each curve looks like: colours, line styles and markers all differ. On regular graphs "safe" and "sharp" are the
# same: the larger markers show behind the smaller ones.
_BOUND_LOOKS: dict[str, dict[str, Any]] = {
    "theorem 4": {"color": COLORS[1], "linestyle": "--", "marker": "^", "label": "Theorem 4"},
    "jacobi": {"color": COLORS[3], "linestyle": "-.", "marker": "v", "label": "proved, Jacobi", "markersize": 7.0},
    "series": {"color": COLORS[2], "linestyle": "-", "marker": "s", "label": "proved, series"},
}
_KIND_LOOKS: dict[str, dict[str, Any]] = {
    "paper": {"color": COLORS[1], "linestyle": "--", "marker": "^"},
    "safe": {"color": COLORS[3], "linestyle": "-.", "marker": "v", "markersize": 8.0},
    "sharp": {"color": COLORS[2], "linestyle": "-", "marker": "s"},
}
_OTHER_LOOKS: tuple[dict[str, Any], ...] = (
    {"color": COLORS[4], "linestyle": ":", "marker": "D"},
    {"color": "black", "linestyle": (0, (5, 1, 1, 1)), "marker": "P"},
)

# About as many markers as a curve gets, however many points it has.
_MARKERS = 10


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
        The axes drawn on. Parts of a curve that are not proved have hollow markers. Where the error of the method may
        have made the masses, the ground is grey.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import cayleygsp as cg
    >>> from cayleygsp.localization import decay_curve
    >>> from cayleygsp.plotting.decay import decay
    >>> g = cg.CayleyFilter(cg.gallery.ring(64), cg.CayleyPolynomial([0.5, -0.25], zoom=1.0), method="exact")
    >>> ax = decay(decay_curve(g, 0), ax=Figure().subplots())
    >>> ax.get_yscale()
    'log'
    """
    if not isinstance(curve, Decay):
        raise TypeError(f"`curve` must be a Decay, got {type(curve).__name__}")
    ax = use_axes(ax)
    for bound in curve.bounds:
        _draw_bound(ax, curve.hops, bound)
    if fit and curve.fit.n_points > 1:
        k = curve.hops[curve.mass > curve.floor]
        fitted = curve.fit.c * curve.fit.gamma**k
        text = rf"fit, $\gamma = {curve.fit.gamma:.2f}$, $R^2 = {curve.fit.r_squared:.3f}$"
        ax.plot(k, fitted, color="black", linestyle=":", linewidth=1.4, zorder=4, label=text)
    dots: dict[str, Any] = {"marker": "o", "linestyle": "none", "color": BLUE, "markersize": 4.5, "zorder": 5}
    ax.plot(curve.hops, _visible(curve.mass), label=label, **(dots | kwargs))
    norm = {1.0: "1", 2.0: "2", np.inf: r"\infty"}.get(curve.p, f"{curve.p:g}")
    ax.set_yscale("log")
    ax.set(xlabel="hops $k$", ylabel=rf"relative $L_{{{norm}}}$ mass outside $k$ hops")
    _shade_floor(ax, curve)
    _finish(ax, legend)
    return ax


def bounds(
    n_iter: ArrayLike,
    measured: ArrayLike,
    curves: Mapping[str, ArrayLike],
    *,
    rounding: ArrayLike = 0.0,
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
    >>> from cayleygsp.plotting.decay import bounds
    >>> ax = bounds([0, 1, 2], [5.0, 2.0, 1.0], {"paper": [4.0, 3.0, 2.0], "safe": [9, 5, 2.5]}, ax=Figure().subplots())
    >>> ax.get_xlabel()
    'Jacobi sweeps $K$'
    """
    K, error, named = _checked_bounds(n_iter, measured, curves)
    slack = np.broadcast_to(np.asarray(rounding, dtype=np.float64), K.shape)
    ax = use_axes(ax)
    looks = iter(_OTHER_LOOKS * (1 + len(named) // len(_OTHER_LOOKS)))
    broken = np.zeros(K.size, dtype=bool)
    every = max(K.size // _MARKERS, 1)
    for name, values in named.items():
        look = _KIND_LOOKS.get(name) or next(looks)
        line: dict[str, Any] = {"linewidth": 1.6, "markersize": 4.5, "markevery": every, "label": name}
        ax.plot(K, _visible(values), **(line | look))
        broken |= error > values + slack
    dots: dict[str, Any] = {"marker": "o", "linestyle": "none", "color": BLUE, "markersize": 4.5, "zorder": 5}
    ax.plot(K, _visible(error), label="measured", **(dots | kwargs))
    if broken.any():
        ring: dict[str, Any] = {
            "marker": "o",
            "linestyle": "none",
            "markerfacecolor": "none",
            "color": "black",
            "markersize": 9.0,
        }
        ax.plot(K[broken], error[broken], label="above a bound", zorder=6, **ring)
    ax.set_yscale("log")
    ax.set(xlabel="Jacobi sweeps $K$", ylabel=r"error $\|Gf - \tilde{G}f\| \, / \, \|f\|$")
    if (error > 0).any():
        ax.set_ylim(bottom=error[error > 0].min() / 10)
    _finish(ax, legend)
    return ax


def _draw_bound(ax: Axes, k: Array, bound: DecayBound) -> None:
    look = _BOUND_LOOKS[bound.name]
    every = max(k.size // _MARKERS, 1)
    ax.plot(k, _visible(bound.mass), **({"linewidth": 1.6, "markersize": 4.5, "markevery": every} | look))
    doubtful = np.flatnonzero(~bound.valid)[::every]
    if doubtful.size:
        hollow = look | {"linestyle": "none", "markerfacecolor": "white", "label": f"{look['label']}, not proved here"}
        ax.plot(k[doubtful], _visible(bound.mass)[doubtful], zorder=4, **({"markersize": 5.5} | hollow))


def _shade_floor(ax: Axes, curve: Decay) -> None:
    """Mark what the error of the method may have made, if a mass lies there."""
    if (curve.mass[curve.mass > 0] <= curve.floor).any():
        limits = ax.get_ylim()
        ax.axhspan(limits[0], curve.floor, color=LIGHT_GREY, alpha=0.5, linewidth=0, label="error of the method")
        ax.set_ylim(limits)


def _visible(values: FloatArray) -> FloatArray:
    """Leave out what a logarithmic axis cannot show."""
    return np.where((values > 0) & np.isfinite(values), values, np.nan)


def _checked_bounds(
    n_iter: ArrayLike, measured: ArrayLike, curves: Mapping[str, ArrayLike]
) -> tuple[FloatArray, FloatArray, dict[str, FloatArray]]:
    K, error = np.asarray(n_iter, dtype=np.float64), np.asarray(measured, dtype=np.float64)
    if K.ndim != 1 or K.size == 0:
        raise ValueError(f"`n_iter` must have shape (n,) and not be empty, got shape {K.shape}")
    named: dict[str, FloatArray] = {name: np.asarray(values, dtype=np.float64) for name, values in curves.items()}
    for name, values in {"measured": error, **{f"curves[{key!r}]": values for key, values in named.items()}}.items():
        if values.shape != K.shape:
            raise ValueError(f"`{name}` must have one entry a number of sweeps, shape {K.shape}, got {values.shape}")
    if not (np.isfinite(error) & (error >= 0)).all():
        raise ValueError(f"`measured` must be finite and not negative, got {error.tolist()}")
    return K, error, named


def _finish(ax: Axes, legend: bool) -> None:
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    plain_spines(ax)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if legend:
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, fontsize="small")
