"""Responses: over frequency, beside their target, over the unrolled half circle, and as a vertex sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes

from cayleygsp._typing import ArrayLike, FloatArray, Kernel
from cayleygsp._validation import check_integer, check_positive, check_vertex
from cayleygsp.design import Fit
from cayleygsp.design.target import Target, as_target
from cayleygsp.filters import GraphFilter
from cayleygsp.graph import Graph
from cayleygsp.plotting._style import (
    GREY,
    GRID_POINTS,
    checked_frequencies,
    legend_above,
    line_look,
    mark_frequencies,
    plain_spines,
    use_axes,
)
from cayleygsp.plotting.graphs import graph as draw_graph
from cayleygsp.responses.cayley import CayleyPolynomial, as_cayley, cayley_angle

AnyResponse: TypeAlias = Callable[[FloatArray], ArrayLike]


def response(
    responses: AnyResponse | Mapping[str, AnyResponse],
    lmax: float,
    *,
    eigenvalues: ArrayLike | None = None,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    r"""Draw one or several responses g(λ) over [0, lmax].

    Parameters
    ----------
    responses : callable or mapping of str to callable
        Functions of frequency; a filter's is its ``response``.
    lmax : float
        Right end of the axis.
    eigenvalues : array_like, shape (n,), optional
        Frequencies of a graph, drawn as thin lines and added to the grid on which responses are computed, so
        that nothing narrow that a graph would see is missed.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    **kwargs
        For :meth:`matplotlib.axes.Axes.plot`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import cayleygsp as cg
    >>> zooms = {f"h = {h}": cg.CayleyPolynomial([0.5, -0.25], h) for h in (0.1, 1, 10)}
    >>> ax = cg.plotting.response(zooms, lmax=8.0, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['h = 0.1', 'h = 1', 'h = 10']
    """
    named = _named(responses if isinstance(responses, Mapping) else {"": responses}, "responses", "response")
    lmax = check_positive(lmax, "lmax")
    lam = np.zeros(0) if eigenvalues is None else checked_frequencies(eigenvalues)
    ax = use_axes(ax)
    _draw_frequencies(ax, lam[lam <= lmax], n_marked=0)
    grid = np.union1d(np.linspace(0, lmax, GRID_POINTS), lam[lam <= lmax])
    ax.axhline(0, color=GREY, linewidth=0.6, zorder=1.5)
    _draw_curves(ax, named, grid, grid, {"linewidth": 1.8} | kwargs)
    if any(named):
        legend_above(ax, min(len(named), 4))
    ax.set(xlim=(0, lmax), xlabel=r"frequency $\lambda$", ylabel=r"response $g(\lambda)$")
    return ax


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

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from cayleygsp import design, plotting
    >>> target = design.LowPass(1.0, transition=0.5)
    >>> fits = {"Cayley": design.fit_cayley(target, 3, 8.0), "Chebyshev": design.fit_chebyshev(target, 7, 8.0)}
    >>> ax = plotting.fit(target, fits, 8.0, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['transition, free', 'target', 'Cayley', 'Chebyshev']
    """
    lmax = check_positive(lmax, "lmax")
    goal = as_target(target, lmax)
    if not isinstance(fits, Mapping):
        raise TypeError(f"`fits` must be a mapping of names to fits, got {type(fits).__name__}")
    responses = _named(fits, "fits", "fit")
    lam = np.zeros(0) if eigenvalues is None else checked_frequencies(eigenvalues)
    lam = lam[lam <= lmax]
    ax = use_axes(ax)
    grid = _frequency_grid(goal, lam, lmax, log)
    mark_frequencies(ax, lam)
    free = np.flatnonzero(np.diff(goal.weight(grid) == 0, prepend=False, append=False))
    for k, (first, beyond) in enumerate(free.reshape(-1, 2)):
        label = "_transition" if k else "transition, free"
        ax.axvspan(grid[first], grid[beyond - 1], color="0.93", linewidth=0, zorder=0, label=label)
    ax.axhline(0, color=GREY, linewidth=0.6, zorder=1.5)
    ax.plot(grid, goal(grid), color="0.65", linewidth=3.5, label="target", zorder=2)
    _draw_curves(ax, responses, grid, grid, kwargs)
    if log:
        ax.set_xscale("log")
    ax.set(xlim=(grid[0], lmax), xlabel=r"frequency $\lambda$", ylabel=r"response $g(\lambda)$")
    legend_above(ax, 2)
    return ax


def unrolled_response(
    polynomial: CayleyPolynomial,
    eigenvalues: ArrayLike,
    *,
    n_marked: int = 15,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    r"""Draw a Cayley polynomial over the unrolled half circle, as the spectrum looks to the polynomial.

    The axis is the angle of :math:`C(h\lambda)`, from −π at λ = 0 on the left to 0 at λ = ∞ on the right, with
    ticks at values of λ. On it a Cayley polynomial is a trigonometric one: no detail is finer than its order
    allows, wherever it is.

    Parameters
    ----------
    polynomial : CayleyPolynomial
        What to draw.
    eigenvalues : array_like, shape (n,)
        Frequencies λ ≥ 0, drawn as thin lines.
    n_marked : int
        How many of the lowest frequencies are drawn darker.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    **kwargs
        For :meth:`matplotlib.axes.Axes.plot`.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import cayleygsp as cg
    >>> lam = cg.laplacian(cg.gallery.communities(rng=0)).eigenvalues
    >>> p = cg.CayleyPolynomial([0.5, -0.25], zoom=1.0)
    >>> ax = cg.plotting.unrolled_response(p, lam, ax=Figure().subplots())
    """
    polynomial = as_cayley(polynomial)
    lam, h = checked_frequencies(eigenvalues), polynomial.zoom
    n_marked = check_integer(n_marked, "n_marked", at_least=0)
    ax = use_axes(ax)
    _draw_frequencies(ax, cayley_angle(h * lam), n_marked=n_marked)
    angles = np.linspace(-np.pi, 0, GRID_POINTS)
    with np.errstate(divide="ignore"):
        grid = -1 / np.tan(angles / 2) / h
    grid[0], grid[-1] = 0.0, np.inf
    ax.axhline(0, color=GREY, linewidth=0.6, zorder=1.5)
    _draw_curves(ax, {"": polynomial}, angles, grid, {"linewidth": 1.8} | kwargs)
    ticks = _frequency_ticks(h)
    ax.set_xticks([-np.pi, *cayley_angle(h * ticks), 0.0], ["0", *(f"{tick:g}" for tick in ticks), "∞"])
    ax.set(
        xlim=(-np.pi, 0),
        xlabel=r"frequency $\lambda$, at the angle of $C(h\lambda)$",
        ylabel=r"response $g(\lambda)$",
    )
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

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import cayleygsp as cg
    >>> ring = cg.gallery.ring(24)
    >>> ax = cg.plotting.localized(ring, cg.CayleyFilter.fit(ring, "mexican:1", 3), vertex=0, ax=Figure().subplots())
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
    ring: dict[str, Any] = {"marker": "o", "markersize": 13, "markerfacecolor": "none", "markeredgewidth": 1.5}
    ax.plot(*graph.coords[[vertex], :2].T, **ring, color="black", zorder=4)
    return ax


def _named(given: Mapping[str, Any], argument: str, what: str) -> dict[str, AnyResponse]:
    """Return responses by their names, those of fits too."""
    if not given:
        raise ValueError(f"`{argument}` must hold at least one {what}, got none")
    named = {name: one.polynomial if isinstance(one, Fit) else one for name, one in given.items()}
    for name, one in named.items():
        if not callable(one):
            where = f"`{argument}[{name!r}]`" if name else f"`{argument}`"
            kind = "a Fit or callable" if what == "fit" else "callable"
            raise TypeError(f"{where} must be {kind} on frequencies, got {type(one).__name__}")
    return named


def _draw_frequencies(ax: Axes, positions: FloatArray, n_marked: int) -> None:
    """Draw thin lines over the full height: the first dark, the others light."""
    transform = ax.get_xaxis_transform()
    for part, color, width in ((positions[n_marked:], "0.85", 0.4), (positions[:n_marked], "0.45", 0.7)):
        ax.vlines(part, 0, 1, colors=color, linewidths=width, transform=transform, zorder=1)


def _draw_curves(
    ax: Axes, named: Mapping[str, AnyResponse], x: FloatArray, lam: FloatArray, style: dict[str, Any]
) -> None:
    """Draw each response over ``x``, computed at ``lam``."""
    for k, (name, function) in enumerate(named.items()):
        look = line_look(k) | {"label": name or "_response", "zorder": 3}
        ax.plot(x, np.asarray(function(lam)), **(look | style))
    plain_spines(ax)


def _frequency_grid(target: Target, lam: FloatArray, lmax: float, log: bool) -> FloatArray:
    """Return frequencies close enough for every curve: even ones, the graph's, and both sides of every step."""
    features = np.array([f for f in target.features if 0 < f < lmax])
    start = min([1e-4 * lmax, *(0.1 * features)]) if log else 0.0
    even = np.geomspace(start, lmax, GRID_POINTS) if log else np.linspace(0, lmax, GRID_POINTS)
    near = np.concatenate([features * (1 + side) for side in (-1e-9, 0.0, 1e-9)])
    grid = np.union1d(even, np.concatenate([near, lam]))
    return grid[(grid >= even[0]) & (grid <= lmax)]


def _frequency_ticks(zoom: float) -> FloatArray:
    """Return round frequencies whose labels keep clear of each other on the axis of angles."""
    least = np.pi / 10
    decade = int(np.floor(np.log10(1 / zoom)))
    # 1, 5 and 2 of each decade from the middle of the circle outwards: the rounder ones get their place first
    decades = sorted(range(decade - 2, decade + 4), key=lambda k: abs(k - decade))
    candidates = [m * 10.0**k for m in (1, 5, 2, 3) for k in decades]
    taken = [-np.pi, 0.0]
    ticks: list[float] = []
    for candidate in candidates:
        angle = float(cayley_angle(np.asarray(zoom * candidate)))
        if min(abs(angle - other) for other in taken) >= least:
            taken.append(angle)
            ticks.append(candidate)
    return np.sort(np.array(ticks))
