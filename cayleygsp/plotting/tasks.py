"""Pictures of tasks: the curve of a criterion over strengths, the convergence of a solve, the bands of features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy import sparse

from cayleygsp._typing import Array, FloatArray
from cayleygsp._validation import check_integer, check_positive
from cayleygsp.graph import Graph
from cayleygsp.plotting._style import BLUE, COLORS, GREY, LINE_STYLES, VERMILION, light_grid, use_axes
from cayleygsp.plotting.graphs import graph as draw_graph
from cayleygsp.tasks import Denoised, Features, Inpainted
from cayleygsp.tasks.selection import BY_RESIDUAL

_CRITERIA = {
    "gcv": "generalized cross-validation",
    "sure": "estimated mean square error (SURE)",
    "discrepancy": "residual / what noise explains",
    "morozov": "residual / energy of the noise",
}

# Curves that rise by more than this factor are drawn on a logarithmic axis.
_LINEAR_RANGE = 20.0

# Graphs with more vertices are drawn without their edges, which would cover everything.
_MOST_WITH_EDGES = 20_000

# Bands that get a panel of their own.
_MOST_BANDS = 6

# The colour bar of two panels; a percent of the values is beyond each end.
_BELOW_BOTH: dict[str, Any] = {"location": "bottom", "shrink": 0.6, "aspect": 40, "extend": "both"}


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
    if result.select != "sure" and np.nanmin(values) > 0 and np.nanmax(values) > _LINEAR_RANGE * np.nanmin(values):
        ax.set_yscale("log")
        ax.set_ylim(bottom=max(np.nanmin(values), 1e-3 * values[place]) / 2)
    ax.set(xlabel="strength", ylabel=_CRITERIA[result.select])
    ax.set_title(f"{result.family}: strength {chosen:.3g}", fontsize="medium")
    light_grid(ax)
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
    light_grid(ax)
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
    light_grid(ax)
    if legend:
        ax.legend(frameon=False, fontsize="small")
    return ax


def denoised_figure(graph: Graph, y: Array, result: Denoised, *, signal: int = 0) -> Figure:
    """Return a noisy signal, the denoised one on the same scale, and the criterion's curve.

    Parameters
    ----------
    graph : Graph
        Without coordinates only the curve is drawn.
    y : numpy.ndarray, shape (n_vertices,) or (n_vertices, n_signals)
        What was denoised.
    result : Denoised
        What came out.
    signal : int
        Which signal.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> from cayleygsp.plotting.tasks import denoised_figure
    >>> ring = cg.gallery.ring(50)
    >>> y = np.random.default_rng(0).standard_normal(50)
    >>> len(denoised_figure(ring, y, cg.tasks.denoise(ring, y)).axes)
    4
    """
    before, after = (f if f.ndim == 1 else f[:, signal] for f in (y, result.signals))
    if graph.coords is None:
        return _one_axes(4.8, lambda ax: criterion(result, signal=signal, ax=ax))
    figure, (left, middle, right) = _panels(graph, 3)
    scale = _scale(before)
    _draw(graph, before, left, "noisy", scale)
    _draw(graph, after, middle, "denoised", scale)
    figure.colorbar(middle.collections[-1], ax=[left, middle], **_BELOW_BOTH)
    criterion(result, signal=signal, ax=right)
    return figure


def inpainted_figure(graph: Graph, y: Array, known: Array, result: Inpainted, *, signal: int = 0) -> Figure:
    """Return the known values and the inpainted signal on the same scale.

    Parameters
    ----------
    graph : Graph
        Without coordinates the convergence of the solver is drawn.
    y : numpy.ndarray, shape (n_vertices,) or (n_vertices, n_signals)
        What was given.
    known : numpy.ndarray of bool, shape (n_vertices,)
        Where.
    result : Inpainted
        What came out.
    signal : int
        Which signal.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> from cayleygsp.plotting.tasks import inpainted_figure
    >>> grid, y, known = cg.gallery.grid(6), np.arange(36.0), np.arange(36) % 3 == 0
    >>> len(inpainted_figure(grid, y, known, cg.tasks.inpaint(grid, y, known)).axes) >= 2
    True
    """
    before, after = (f if f.ndim == 1 else f[:, signal] for f in (y, result.signals))
    if graph.coords is None:
        return _one_axes(4.8, lambda ax: convergence(result, ax=ax))
    figure, (left, right) = _panels(graph, 2)
    scale = _scale(np.concatenate([before[known], after]))
    _draw(graph, np.where(known, before, 0.0), left, f"known: {result.n_known:,} vertices", scale, known)
    how = f"strength {result.strength:.3g}" if result.strength else "interpolated"
    _draw(graph, after, right, f"inpainted: {how}", scale)
    figure.colorbar(right.collections[-1], ax=[left, right], **_BELOW_BOTH)
    return figure


def features_figure(graph: Graph, features: Features, lmax: float) -> Figure:
    """Return the responses of the bands, and the features of the first signal band by band.

    Parameters
    ----------
    graph : Graph
        Without coordinates only the responses are drawn.
    features : Features
        What came out.
    lmax : float
        Largest frequency.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> from cayleygsp.plotting.tasks import features_figure
    >>> grid = cg.gallery.grid(6)
    >>> features = cg.tasks.smooth_features(grid, np.arange(36.0), bands=3)
    >>> len(features_figure(grid, features, cg.laplacian(grid).lmax).axes) >= 4
    True
    """
    n_bands = len(features.bands)
    if graph.coords is None or n_bands > _MOST_BANDS or np.iscomplexobj(features.values):
        return _one_axes(5.5, lambda ax: bands(features, lmax, ax=ax))
    figure = Figure(figsize=(2.6 * n_bands, 5.4), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=[1.0, 1.15])
    top, below = parts
    bands(features, lmax, ax=top.subplots())
    axes = np.atleast_1d(below.subplots(1, n_bands))
    for b, ax in enumerate(axes):
        values = features.values[:, b]
        _draw(graph, values, ax, features.names[b].partition(", ")[2], _scale(values))
        below.colorbar(ax.collections[-1], ax=ax, location="bottom", shrink=0.8, aspect=25)
    return figure


def _one_axes(width: float, draw: Callable[[Axes], Axes]) -> Figure:
    figure = Figure(figsize=(width, 3.4), layout="constrained")
    draw(figure.subplots())
    return figure


def _panels(graph: Graph, n_panels: int) -> tuple[Figure, Any]:
    """Return a figure whose panels have about the shape of the graph."""
    assert graph.coords is not None
    width, height = np.ptp(graph.coords[:, :2], axis=0)
    ratio = float(np.clip(height / width if width > 0 else 1.0, 0.5, 1.4))
    figure = Figure(figsize=(3.3 * n_panels, 3.0 * ratio + 0.9), layout="constrained")
    return figure, figure.subplots(1, n_panels)


def _scale(values: FloatArray) -> dict[str, Any]:
    """Return a colour scale without the outermost percent on both sides, centred at zero for signals about it."""
    low, high = np.percentile(values, [1, 99]).tolist()
    if low < 0 < high and min(-low, high) > 0.6 * max(-low, high):
        largest = max(-low, high)
        return {"cmap": "coolwarm", "vmin": -largest, "vmax": largest}
    return {"cmap": "viridis", "vmin": low, "vmax": high if high > low else low + 1}


def _draw(
    graph: Graph, values: FloatArray, ax: Axes, title: str, scale: dict[str, Any], known: Array | None = None
) -> None:
    coords, n = graph.coords, graph.n_vertices
    assert coords is not None
    if n > _MOST_WITH_EDGES:
        graph = Graph(sparse.csr_array((n, n)), coords=coords)
    area = float(np.clip(16000 / n, 0.02, 32))
    style: dict[str, Any] = {"s": area, "linewidths": 0.0, "edgecolors": "none", "rasterized": True}
    if known is None:
        draw_graph(graph, values, ax=ax, colorbar=False, edge_style={"linewidths": 0.3}, **style, **scale)
    else:
        draw_graph(graph, ax=ax, edge_style={"linewidths": 0.3}, **(style | {"color": "0.85", "s": area / 2}))
        points = coords[known]
        ax.scatter(points[:, 0], points[:, 1], c=values[known], **(style | scale | {"s": 1.5 * area, "zorder": 3}))
    ax.set_title(title, fontsize="medium")
