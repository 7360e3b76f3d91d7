"""Pictures of tasks: the curve of a criterion over strengths, the convergence of a solve, the bands of features."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cayleygsp._validation import check_integer, check_positive
from cayleygsp.plotting._style import BLUE, COLORS, GREY, LINE_STYLES, VERMILION, plain_spines, use_axes
from cayleygsp.tasks import Denoised, Features, Inpainted
from cayleygsp.tasks.selection import BY_RESIDUAL

_CRITERIA = {
    "gcv": "generalized cross-validation",
    "sure": "estimated mean square error (SURE)",
    "discrepancy": "residual / what noise explains",
    "morozov": "residual / energy of the noise",
}

# Values beyond this many times the range near the chosen strength are cut off.
_HEADROOM = 20.0


def criterion(result: Denoised, *, signal: int = 0, ax: Axes | None = None, **kwargs: Any) -> Axes:
    """Draw the criterion by which a strength was chosen, with its errors and the choice.

    Parameters
    ----------
    result : Denoised
        From :func:`cayleygsp.tasks.denoise`.
    signal : int
        Which signal, where each has its own strength.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    **kwargs
        For the line of the curve, in :meth:`matplotlib.axes.Axes.plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> import cayleygsp as cg
    >>> result = cg.tasks.denoise(cg.gallery.ring(50), np.random.default_rng(0).standard_normal(50))
    >>> ax = cg.plotting.criterion(result, ax=Figure().subplots())
    """
    if not isinstance(result, Denoised):
        raise TypeError(f"`result` must be a Denoised, got {type(result).__name__}")
    columns = result.curve.reshape(result.strengths.size, -1)
    k = check_integer(signal, "signal", at_least=0)
    if columns.shape[1] > 1 and k >= columns.shape[1]:
        raise ValueError(f"`signal` must be below the number of signals {columns.shape[1]}, got {k}")
    k = min(k, columns.shape[1] - 1)
    values = np.where(np.isfinite(columns[:, k]), columns[:, k], np.nan)
    errors = result.curve_error.reshape(columns.shape)[:, k]
    errors = np.where(np.isfinite(errors), errors, np.nan)
    chosen = float(np.atleast_1d(result.strength)[k])
    ax = use_axes(ax)
    ax.fill_between(result.strengths, values - errors, values + errors, color=BLUE, alpha=0.2, linewidth=0)
    style: dict[str, Any] = {"color": BLUE, "linewidth": 1.6}
    ax.plot(result.strengths, values, **(style | kwargs))
    if result.select in BY_RESIDUAL:
        ax.axhline(1.0, color=GREY, linewidth=1.0, linestyle=(0, (6, 3)), zorder=1.5)
    place = int(np.argmin(np.abs(result.strengths - chosen)))
    ax.axvline(chosen, color=VERMILION, linewidth=1.0, linestyle=":", zorder=1.5)
    ax.plot([chosen], [values[place]], marker="o", color=VERMILION, markersize=6, linestyle="none", zorder=5)
    ax.set_xscale("log")
    if result.select != "sure" and np.nanmin(values) > 0 and np.nanmax(values) > _HEADROOM * np.nanmin(values):
        ax.set_yscale("log")
        ax.set_ylim(bottom=max(np.nanmin(values), 1e-3 * values[place]) / 2)
    ax.set(xlabel="strength", ylabel=_CRITERIA[result.select])
    ax.set_title(f"{result.family}: strength {chosen:.3g}", fontsize="medium")
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    plain_spines(ax)
    return ax


def convergence(result: Inpainted, *, ax: Axes | None = None, **kwargs: Any) -> Axes:
    """Draw the residual norms of an inpainting over the steps of its solver, one line per signal.

    Parameters
    ----------
    result : Inpainted
        From :func:`cayleygsp.tasks.inpaint`.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    **kwargs
        For :meth:`matplotlib.axes.Axes.semilogy`.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> import cayleygsp as cg
    >>> result = cg.tasks.inpaint(cg.gallery.grid(8), np.arange(64.0), np.arange(64) % 3 == 0)
    >>> ax = cg.plotting.convergence(result, ax=Figure().subplots())
    """
    if not isinstance(result, Inpainted):
        raise TypeError(f"`result` must be an Inpainted, got {type(result).__name__}")
    ax = use_axes(ax)
    style: dict[str, Any] = {"color": BLUE, "marker": "o", "markersize": 4, "linewidth": 1.2}
    visible = np.where(result.residuals > 0, result.residuals, np.nan)
    ax.semilogy(np.arange(len(visible)), visible, **(style | kwargs))
    ax.set(xlabel="steps of conjugate gradients", ylabel="residual, relative")
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    plain_spines(ax)
    return ax


def bands(features: Features, lmax: float, *, legend: bool = True, ax: Axes | None = None, **kwargs: Any) -> Axes:
    """Draw the responses of the bands that features were made with.

    Parameters
    ----------
    features : Features
        From :func:`cayleygsp.tasks.smooth_features`.
    lmax : float
        Right end of the axis of frequencies.
    legend : bool
        Whether to name the bands.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    **kwargs
        For :meth:`matplotlib.axes.Axes.plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> import cayleygsp as cg
    >>> grid = cg.gallery.grid(8)
    >>> features = cg.tasks.smooth_features(grid, np.ones(64), bands=3)
    >>> ax = cg.plotting.bands(features, cg.laplacian(grid).lmax, ax=Figure().subplots())
    """
    if not isinstance(features, Features):
        raise TypeError(f"`features` must be Features, got {type(features).__name__}")
    top = check_positive(lmax, "lmax")
    ax = use_axes(ax)
    # dense where bands meet, at low frequencies too
    lowest = top if features.edges is None else float(features.edges[0])
    lam = np.unique(np.concatenate([np.linspace(0, top, 2000), np.geomspace(1e-2 * lowest, top, 2000)]))
    colors = [color for color in COLORS if color != "#F0E442"]  # yellow is too light for a line
    for b, band in enumerate(features.bands):
        name = features.names[b].partition(", ")[2]
        line = LINE_STYLES[b // len(colors) % len(LINE_STYLES)]
        look: dict[str, Any] = {"color": colors[b % len(colors)], "linestyle": line, "linewidth": 1.6, "label": name}
        ax.plot(lam, band(lam), **(look | kwargs))
    ax.set(xlabel="frequency λ", ylabel="response", xlim=(0, top))
    ax.grid(color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    plain_spines(ax)
    if legend:
        ax.legend(frameon=False, fontsize="small")
    return ax
