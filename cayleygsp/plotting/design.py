"""Filter design: targets and fits, the density of the spectrum, what the zoom resolves, filters seen from a vertex."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cayleygsp import zoom as zoom_module
from cayleygsp._typing import ArrayLike, FloatArray, Kernel
from cayleygsp._validation import check_positive, check_vertex
from cayleygsp.density import SpectralDensity
from cayleygsp.design import Fit
from cayleygsp.design.target import Target, as_target
from cayleygsp.filters import GraphFilter
from cayleygsp.graph import Graph
from cayleygsp.plotting._style import (
    BLUE,
    COLORS,
    GREY,
    LINE_STYLES,
    checked_frequencies,
    plain_spines,
    use_axes,
)
from cayleygsp.plotting.graphs import graph as draw_graph
from cayleygsp.plotting.spectra import GRID_POINTS

_STEPS = 400


def fit(
    target: Kernel | str,
    fits: Mapping[str, Any],
    lmax: float,
    *,
    eigenvalues: ArrayLike | None = None,
    log: bool = False,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw a target and the responses that were fitted to it.

    Parameters
    ----------
    target : callable, response or str
        What was fitted; its transition bands are shaded.
    fits : mapping of str to Fit or callable
        Names for the legend, and fits or responses.
    lmax : float
        Right end of the axis.
    eigenvalues : array_like, shape (n,), optional
        Frequencies of a graph, drawn as thin lines at the foot and added to the grid of the curves.
    log : bool
        Whether the axis of frequencies is logarithmic; it then starts at a ten-thousandth of its end, or at a tenth
        of the lowest frequency at which the target changes.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    **kwargs
        For the calls of :meth:`matplotlib.axes.Axes.plot` that draw the fits.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from cayleygsp import design
    >>> from cayleygsp.plotting.design import fit
    >>> target = design.LowPass(1.0, transition=0.5)
    >>> fits = {"Cayley": design.fit_cayley(target, 3, 8.0), "Chebyshev": design.fit_chebyshev(target, 7, 8.0)}
    >>> ax = fit(target, fits, 8.0, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['transition, free', 'target', 'Cayley', 'Chebyshev']
    """
    lmax = check_positive(lmax, "lmax")
    goal = as_target(target, lmax)
    responses = _responses(fits)
    lam = np.zeros(0) if eigenvalues is None else checked_frequencies(eigenvalues)
    lam = lam[lam <= lmax]
    ax = use_axes(ax)
    grid = _frequency_grid(goal, lam, lmax, log)
    ax.vlines(lam, 0, 0.04, colors=GREY, linewidths=0.5, transform=ax.get_xaxis_transform(), zorder=1)
    _shade_transitions(ax, goal, grid)
    ax.axhline(0, color=GREY, linewidth=0.6, zorder=1.5)
    ax.plot(grid, goal(grid), color="0.65", linewidth=3.5, label="target", zorder=2)
    for k, (name, response) in enumerate(responses.items()):
        look = {"color": COLORS[k % len(COLORS)], "linestyle": LINE_STYLES[k % len(LINE_STYLES)], "linewidth": 1.6}
        ax.plot(grid, np.asarray(response(grid)), **(look | {"label": name, "zorder": 3} | kwargs))
    if log:
        ax.set_xscale("log")
    ax.set(xlim=(grid[0], lmax), xlabel=r"frequency $\lambda$", ylabel=r"response $g(\lambda)$")
    _legend_above(ax, len(responses) + 1)
    plain_spines(ax)
    return ax


def density(
    density: SpectralDensity,
    *,
    eigenvalues: ArrayLike | None = None,
    n_bins: int = 60,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw the density of a graph's frequencies, per unit of frequency.

    Parameters
    ----------
    density : SpectralDensity
        Drawn as a line. At the ends of the interval it grows without end and is cut off.
    eigenvalues : array_like, shape (n,), optional
        True frequencies, drawn as a histogram behind.
    n_bins : int
        Bars of the histogram.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    **kwargs
        For the call of :meth:`matplotlib.axes.Axes.plot` that draws the density.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import cayleygsp as cg
    >>> from cayleygsp.plotting.design import density
    >>> ax = density(cg.density.spectral_density(cg.gallery.ring(64)), ax=Figure().subplots())
    """
    if not isinstance(density, SpectralDensity):
        raise TypeError(f"`density` must be a SpectralDensity, got {type(density).__name__}")
    if density.lmax == 0:
        raise ValueError("`density` must be that of a graph with edges, got one with all frequencies at zero")
    lam = None if eigenvalues is None else checked_frequencies(eigenvalues)
    ax = use_axes(ax)
    if lam is not None:
        ax.hist(
            lam,
            bins=np.linspace(0, density.lmax, n_bins + 1).tolist(),
            density=True,
            color="0.85",
            edgecolor="0.6",
            linewidth=0.4,
            label="eigenvalues",
        )
    grid = density.lmax * (np.arange(GRID_POINTS) + 0.5) / GRID_POINTS
    values = density.pdf(grid)
    how = "smoothed" if density.exact else f"estimated, {density.probe_moments.shape[0]} probes"
    look: dict[str, Any] = {"color": BLUE, "linewidth": 1.6, "label": f"density, {how}"}
    ax.plot(grid, values, **(look | kwargs))
    # the rise towards the ends would hide the rest
    inner = values[(grid > 0.02 * density.lmax) & (grid < 0.98 * density.lmax)]
    tallest = max([float(inner.max()), *(float(patch.get_height()) for patch in ax.patches)])  # type: ignore[attr-defined]
    ax.set(xlim=(0, density.lmax), ylim=(0, 1.1 * tallest))
    ax.set(xlabel=r"frequency $\lambda$", ylabel=r"share of eigenvalues per unit of $\lambda$")
    _legend_above(ax, 2)
    plain_spines(ax)
    return ax


def resolution(
    zooms: ArrayLike,
    lmax: float,
    *,
    low: float | None = None,
    eigenvalues: ArrayLike | None = None,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    r"""Draw the resolution :math:`d\theta/d\lambda` over frequency for several zooms, on logarithmic axes.

    Their common upper edge is 1/λ, drawn in grey: no zoom resolves a frequency better.

    Parameters
    ----------
    zooms : array_like, shape (m,)
        Zooms h > 0.
    lmax : float
        Right end of the axis.
    low : float, optional
        Left end of the axis; by default a thousandth of the right one.
    eigenvalues : array_like, shape (n,), optional
        Frequencies of a graph, drawn as thin lines at the foot.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    **kwargs
        For the calls of :meth:`matplotlib.axes.Axes.plot` that draw the curves.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from cayleygsp.plotting.design import resolution
    >>> ax = resolution([0.1, 1.0, 10.0], 40.0, ax=Figure().subplots())
    >>> ax.get_xscale(), ax.get_yscale()
    ('log', 'log')
    """
    h = np.atleast_1d(np.asarray(zooms))
    zoom_module.angles(np.zeros(1), h)  # checks them
    right = check_positive(lmax, "lmax")
    left = right / 1000 if low is None else check_positive(low, "low")
    if left >= right:
        raise ValueError(f"`low` must be below `lmax` = {right:g}, got {left:g}")
    lam = np.zeros(0) if eigenvalues is None else checked_frequencies(eigenvalues)
    ax = use_axes(ax)
    grid = np.geomspace(left, right, _STEPS)
    ax.plot(grid, 1 / grid, color="0.75", linewidth=3.5, label=r"best, $1/\lambda$", zorder=1)
    for k, one in enumerate(h.tolist()):
        look = {"color": COLORS[k % len(COLORS)], "linestyle": LINE_STYLES[k % len(LINE_STYLES)], "linewidth": 1.6}
        ax.plot(grid, zoom_module.resolution(grid, one), **(look | {"label": f"$h = {one:.3g}$", "zorder": 2} | kwargs))
    marks = lam[(lam >= left) & (lam <= right)]
    ax.vlines(marks, 0, 0.04, colors=GREY, linewidths=0.5, transform=ax.get_xaxis_transform(), zorder=1)
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set(
        xlim=(left, right),
        xlabel=r"frequency $\lambda$",
        ylabel=r"resolution $d\theta/d\lambda$ (rad per unit)",
    )
    _legend_above(ax, h.size + 1)
    plain_spines(ax)
    return ax


def localized(graph: Graph, filter: GraphFilter, vertex: int, *, ax: Axes | None = None, **kwargs: Any) -> Axes:
    r"""Draw a filter as one vertex sees it: :math:`g(\Delta)\delta_m` on the graph, with the vertex ringed.

    Parameters
    ----------
    graph : Graph
        With coordinates, the graph that the filter is bound to.
    filter : GraphFilter
        What to draw.
    vertex : int
        Where the unit impulse sits.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    **kwargs
        For :func:`cayleygsp.plotting.graph`.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import cayleygsp as cg
    >>> from cayleygsp.plotting.design import localized
    >>> ring = cg.gallery.ring(24)
    >>> ax = localized(ring, cg.CayleyFilter.fit(ring, "mexican:1", 3), vertex=0, ax=Figure().subplots())
    """
    if not isinstance(filter, GraphFilter):
        raise TypeError(f"`filter` must be a GraphFilter, got {type(filter).__name__}")
    if isinstance(graph, Graph) and graph.n_vertices != filter.n_vertices:
        raise ValueError(f"`filter` must be bound to `graph`: {filter.n_vertices} and {graph.n_vertices} vertices")
    vertex = check_vertex(vertex, filter.n_vertices)
    signal = filter.localize(vertex)
    label = {"label": rf"$g(\Delta)\,\delta_{{{vertex}}}$"}
    ax = draw_graph(graph, signal, ax=ax, **(label | kwargs))
    assert graph.coords is not None
    x, y = graph.coords[vertex, :2].tolist()
    ax.plot(
        [x], [y], "o", markersize=13, markerfacecolor="none", markeredgecolor="black", markeredgewidth=1.5, zorder=4
    )
    return ax


def _responses(fits: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(fits, Mapping):
        raise TypeError(f"`fits` must be a mapping of names to fits, got {type(fits).__name__}")
    if not fits:
        raise ValueError("`fits` must hold at least one fit, got none")
    responses = {name: one.polynomial if isinstance(one, Fit) else one for name, one in fits.items()}
    for name, one in responses.items():
        if not callable(one):
            raise TypeError(f"`fits[{name!r}]` must be a Fit or callable on frequencies, got {type(one).__name__}")
    return responses


def _frequency_grid(target: Target, lam: FloatArray, lmax: float, log: bool) -> FloatArray:
    """Return frequencies close enough for every curve: even ones, the graph's, and both sides of every step."""
    features = np.array([f for f in target.features if 0 < f < lmax])
    start = min([1e-4 * lmax, *(0.1 * features)]) if log else 0.0
    even = np.geomspace(start, lmax, GRID_POINTS) if log else np.linspace(0, lmax, GRID_POINTS)
    near = np.concatenate([features * (1 + side) for side in (-1e-9, 0.0, 1e-9)])
    grid = np.union1d(even, np.concatenate([near, lam]))
    return grid[(grid >= even[0]) & (grid <= lmax)]


def _shade_transitions(ax: Axes, target: Target, grid: FloatArray) -> None:
    free = np.flatnonzero(np.diff(np.concatenate([[0], (target.weight(grid) == 0).astype(int), [0]])))
    for k, (first, beyond) in enumerate(free.reshape(-1, 2)):
        label = "_transition" if k else "transition, free"
        ax.axvspan(grid[first], grid[beyond - 1], color="0.93", linewidth=0, zorder=0, label=label)


def _legend_above(ax: Axes, n_entries: int) -> None:
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(n_entries, 2), frameon=False, fontsize="small")
