"""Graphs, with a signal or labels on their vertices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patheffects import withStroke
from scipy import sparse

from cayleygsp._typing import Array, ArrayLike, FloatArray
from cayleygsp._validation import check_signals
from cayleygsp.graph import Graph
from cayleygsp.plotting._style import BLUE, COLORS, use_axes

_MARKERS = ("o", "s", "^")
_MAX_LABELS = 8 * len(_MARKERS)


def graph(
    graph: Graph,
    signal: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
    colorbar: bool = True,
    label: str = "",
    edge_style: Mapping[str, Any] | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw a graph: its edges as thin lines, its vertices coloured by a signal or by their labels.

    Parameters
    ----------
    graph : Graph
        With coordinates; of three only the first two are drawn.
    signal : array_like, shape (n_vertices,), optional
        Real values. Those of both signs get a diverging colour map centred at zero, others a sequential one.
        Without a signal, vertices are coloured by ``graph.labels``, each label written over the middle of its
        vertices, if there are no more than 24 of them.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    colorbar : bool
        Whether a signal gets a colour bar.
    label : str
        Label of the colour bar.
    edge_style : mapping, optional
        For the :class:`matplotlib.collections.LineCollection` of the edges, e.g. ``{"linewidths": 0.3}``.
    **kwargs
        For :meth:`matplotlib.axes.Axes.scatter`, e.g. ``s``, ``cmap``, ``vmin``.

    Raises
    ------
    TypeError
        If ``graph`` is no :class:`Graph` or the signal is complex.
    ValueError
        If the graph has no coordinates or the signal does not fit.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from cayleygsp import gallery, plotting
    >>> ax = plotting.graph(gallery.communities(5, rng=0), ax=Figure().subplots(), s=20)
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"`graph` must be a cayleygsp Graph, got {type(graph).__name__}")
    if graph.coords is None:
        raise ValueError(
            "`graph` must have coordinates to be drawn, got none; make one with Graph(graph.W, coords=...), "
            "positions for example from networkx.spring_layout"
        )
    coords, n = graph.coords[:, :2], graph.n_vertices
    values = None if signal is None else check_signals(signal, n, "signal")
    if values is not None and values.ndim != 1:
        raise ValueError(f"`signal` must have shape ({n},), got {values.shape}")
    if values is not None and values.dtype.kind == "c":
        raise TypeError(f"`signal` must be real, got dtype {values.dtype}; draw its real part or absolute value")
    ax = use_axes(ax)
    edges = sparse.triu(graph.W, format="coo")
    segments = np.stack([coords[edges.row], coords[edges.col]], axis=1)
    alpha = float(np.clip(25 / np.sqrt(max(len(segments), 1)), 0.15, 0.8))
    thin: dict[str, Any] = {"colors": "0.4", "linewidths": 0.5, "alpha": alpha, "zorder": 1}
    ax.add_collection(LineCollection(list(segments), **(thin | dict(edge_style or {}))))
    area = float(np.clip(5000 / max(n, 1), 3, 40))  # in square points
    style: dict[str, Any] = {"s": area, "linewidths": 0.4, "edgecolors": "0.25", "zorder": 2} | kwargs
    if values is None:
        _draw_labels(ax, coords, graph.labels, style)
    else:
        style = _colour_scale(values, style) | style
        points = ax.scatter(coords[:, 0], coords[:, 1], c=values, **style)
        if colorbar:
            ax.figure.colorbar(points, ax=ax, label=label, shrink=0.8)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def _colour_scale(signal: FloatArray, style: Mapping[str, Any]) -> dict[str, Any]:
    """Return a diverging colour map centred at zero for values of both signs, else a sequential one."""
    if not signal.min(initial=0.0) < 0 < signal.max(initial=0.0):
        return {"cmap": "viridis"}
    largest = float(np.abs(signal).max())
    limits = {} if {"norm", "vmin", "vmax"} & set(style) else {"vmin": -largest, "vmax": largest}
    return {"cmap": "coolwarm"} | limits


def _draw_labels(ax: Axes, coords: FloatArray, labels: Array | None, style: dict[str, Any]) -> None:
    kinds = np.unique(labels) if labels is not None else np.zeros(0)
    chosen = "c" in style or "color" in style
    if chosen or not 0 < kinds.size <= _MAX_LABELS:
        ax.scatter(coords[:, 0], coords[:, 1], **(style if chosen else {"color": BLUE} | style))
        return
    halo = [withStroke(linewidth=2.5, foreground="white")]
    for k, kind in enumerate(kinds):
        own = coords[labels == kind]
        look = {"color": COLORS[k % len(COLORS)], "marker": _MARKERS[k // len(COLORS)]}
        ax.scatter(own[:, 0], own[:, 1], **(look | style))
        x, y = own.mean(axis=0).tolist()
        ax.text(x, y, str(kind), ha="center", va="center", weight="bold", path_effects=halo, zorder=3)
