r"""Pictures of graphs, spectra and responses; matplotlib is loaded with this module and not before.

Every function takes computed arrays or objects of this package, draws on the one axes ``ax`` (the current axes of
pyplot if none is given) and returns it. Nothing is shown or saved, no setting of matplotlib is changed, and extra
keyword arguments go on to the matplotlib call that draws the data. Colours are those of Okabe and Ito, told apart
with any colour vision; what matters also differs in marker, line style or lightness.

Examples
--------
>>> from matplotlib.figure import Figure
>>> import cayleygsp as cg
>>> ring = cg.gallery.ring(12)
>>> ax = cg.plotting.graph(ring, signal=cg.laplacian(ring).eigenvectors[:, 1], ax=Figure().subplots())
>>> ax.get_aspect()
1.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patheffects import withStroke
from scipy import sparse

from cayleygsp._typing import Array, ArrayLike, FloatArray
from cayleygsp._validation import check_eigenvalues, check_integer, check_positive, check_signals
from cayleygsp.cayley import CayleyPolynomial, cayley_angle, cayley_transform
from cayleygsp.graph import Graph

__all__ = ["COLORS", "error_bars", "graph", "half_circle", "response", "unrolled_response"]

AnyResponse: TypeAlias = Callable[[FloatArray], ArrayLike]

#: The colours of Okabe and Ito: blue, vermilion, bluish green, orange, reddish purple, sky blue, yellow, black.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#F0E442", "#000000")

_BLUE, _VERMILION = COLORS[:2]
_GREY, _LIGHT_GREY = "0.45", "0.8"
_LINE_STYLES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)))
_MARKERS = ("o", "s", "^")
_MAX_LABELS = 8 * len(_MARKERS)
_GRID_POINTS = 2000
# The least error that a logarithmic axis shows; exact agreement is drawn there.
_ERROR_FLOOR = 1e-17


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

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

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
    coords = _coordinates(graph)
    if signal is not None:
        signal = _real_signal(signal, graph.n_vertices)
    ax = _axes(ax)
    edges = sparse.triu(graph.W, format="coo")
    segments = np.stack([coords[edges.row], coords[edges.col]], axis=1)
    alpha = float(np.clip(13 / np.sqrt(max(len(segments), 1)), 0.1, 0.8))
    thin: dict[str, Any] = {"colors": "0.5", "linewidths": 0.5, "alpha": alpha, "zorder": 1}
    ax.add_collection(LineCollection(list(segments), **(thin | dict(edge_style or {}))))
    style: dict[str, Any] = {"s": _vertex_area(graph.n_vertices), "linewidths": 0.4, "edgecolors": "0.25", "zorder": 2}
    style |= kwargs
    if signal is not None:
        _draw_signal(ax, coords, signal, colorbar, label, style)
    else:
        _draw_labels(ax, coords, graph.labels, style)
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def half_circle(
    eigenvalues: ArrayLike,
    zoom: float,
    *,
    n_marked: int = 15,
    ax: Axes | None = None,
    legend: bool = True,
    **kwargs: Any,
) -> Axes:
    r"""Draw frequencies where the Cayley transform puts them, on the lower half of the unit circle (Fig. 1).

    A frequency λ goes to :math:`C(h\lambda) = (h\lambda - i)/(h\lambda + i)`: zero to the left end, infinity to
    the right end. The larger the zoom h, the more of the circle belongs to the low frequencies.

    Parameters
    ----------
    eigenvalues : array_like, shape (n,)
        Frequencies λ ≥ 0.
    zoom : float
        The spectral zoom h > 0.
    n_marked : int
        How many of the lowest frequencies stand out.
    ax : matplotlib.axes.Axes, optional
        Where to draw.
    legend : bool
        Whether to say inside the half circle which marks are which.
    **kwargs
        For the two calls of :meth:`matplotlib.axes.Axes.plot` that draw the frequencies, e.g. ``markersize``.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import cayleygsp as cg
    >>> lam = cg.laplacian(cg.gallery.communities(rng=0)).eigenvalues
    >>> ax = cg.plotting.half_circle(lam, zoom=1.0, ax=Figure().subplots())
    >>> ax.get_title()
    '$h = 1$'
    """
    lam, h = _frequencies(eigenvalues), check_positive(zoom, "zoom")
    n_marked = check_integer(n_marked, "n_marked", at_least=0)
    ax = _axes(ax)
    C = cayley_transform(h * lam)
    arc = np.exp(1j * np.linspace(-np.pi, 0, 181))
    ax.plot(arc.real, arc.imag, color=_LIGHT_GREY, linewidth=1.0, zorder=1)
    points: dict[str, Any] = {"linestyle": "none", "markersize": 4.0, "clip_on": False} | kwargs
    rest: dict[str, Any] = {
        "marker": "o",
        "color": _BLUE,
        "markerfacecolor": "white",
        "markeredgewidth": 0.7,
        "zorder": 2,
    }
    low: dict[str, Any] = {
        "marker": "D",
        "color": _VERMILION,
        "markeredgecolor": "black",
        "markeredgewidth": 0.4,
        "zorder": 3,
    }
    ax.plot(C.real[:n_marked], C.imag[:n_marked], label=f"first {min(n_marked, lam.size)}", **(low | points))
    ax.plot(C.real[n_marked:], C.imag[n_marked:], label="others", **(rest | points))
    _label_ends(ax)
    ax.set(xlim=(-1.3, 1.3), ylim=(-1.1, 0.3))
    ax.set_title(f"$h = {h:.3g}$", fontsize="medium")
    ax.set_aspect("equal")
    ax.set_axis_off()
    if legend:
        ax.legend(loc="center", bbox_to_anchor=(0.5, 0.5), frameon=False, fontsize="small", handletextpad=0.1)
    return ax


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

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import cayleygsp as cg
    >>> zooms = {f"h = {h}": cg.CayleyPolynomial([0.5, -0.25], h) for h in (0.1, 1, 10)}
    >>> ax = cg.plotting.response(zooms, lmax=8.0, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['h = 0.1', 'h = 1', 'h = 10']
    """
    named = _named_responses(responses)
    lmax = check_positive(lmax, "lmax")
    lam = np.zeros(0) if eigenvalues is None else _frequencies(eigenvalues)
    ax = _axes(ax)
    _draw_frequencies(ax, lam[lam <= lmax], n_marked=0)
    grid = np.union1d(np.linspace(0, lmax, _GRID_POINTS), lam[lam <= lmax])
    _draw_curves(ax, named, grid, grid, kwargs)
    ax.set(xlim=(0, lmax), xlabel=r"frequency $\lambda$", ylabel=r"response $g(\lambda)$")
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

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import cayleygsp as cg
    >>> lam = cg.laplacian(cg.gallery.communities(rng=0)).eigenvalues
    >>> p = cg.CayleyPolynomial([0.5, -0.25], zoom=1.0)
    >>> ax = cg.plotting.unrolled_response(p, lam, ax=Figure().subplots())
    """
    if not isinstance(polynomial, CayleyPolynomial):
        raise TypeError(f"`polynomial` must be a CayleyPolynomial, got {type(polynomial).__name__}")
    lam, h = _frequencies(eigenvalues), polynomial.zoom
    n_marked = check_integer(n_marked, "n_marked", at_least=0)
    ax = _axes(ax)
    _draw_frequencies(ax, cayley_angle(h * lam), n_marked=n_marked)
    angles = np.linspace(-np.pi, 0, _GRID_POINTS)
    with np.errstate(divide="ignore"):
        grid = -1 / np.tan(angles / 2) / h
    grid[0], grid[-1] = 0.0, np.inf
    _draw_curves(ax, {"": polynomial}, angles, grid, kwargs)
    ticks = _frequency_ticks(h)
    ax.set_xticks([-np.pi, *cayley_angle(h * ticks), 0.0], ["0", *(f"{tick:g}" for tick in ticks), "∞"])
    ax.set(
        xlim=(-np.pi, 0),
        xlabel=r"frequency $\lambda$, at the angle of $C(h\lambda)$",
        ylabel=r"response $g(\lambda)$",
    )
    return ax


def error_bars(
    names: Sequence[str],
    measured: ArrayLike,
    bounds: ArrayLike,
    *,
    notes: Sequence[str] | None = None,
    ax: Axes | None = None,
    **kwargs: Any,
) -> Axes:
    """Draw measured errors as dots and certified bounds as bar ends, one row a method, on a logarithmic axis.

    Parameters
    ----------
    names : sequence of str, length n
        Names of the rows, from top to bottom.
    measured : array_like, shape (n,)
        Measured errors ≥ 0. What is below 1e-17 is drawn there.
    bounds : array_like, shape (n,)
        Upper bounds of the errors; one that is not finite is left out.
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
    error, bound = _checked_errors(names, measured, bounds)
    if notes is not None and len(notes) != len(names):
        raise ValueError(f"`notes` must have one entry a name, {len(names)}, got {len(notes)}")
    ax = _axes(ax)
    rows = np.arange(len(names))
    known = np.isfinite(bound)
    ax.hlines(rows[known], error[known], bound[known], color="0.65", linewidth=2.5, zorder=2, label="_bars")
    ax.plot(bound[known], rows[known], "|", color="black", markersize=10, markeredgewidth=1.6, label="certified bound")
    dots: dict[str, Any] = {"marker": "o", "linestyle": "none", "color": _BLUE, "markersize": 5.5, "zorder": 3}
    ax.plot(error, rows, label="measured error", **(dots | kwargs))
    ax.set_xscale("log")
    ax.set_yticks(rows, names)
    ax.set(ylim=(len(rows) - 0.4, -0.6), xlabel=r"error $\|y - g(\Delta) f\| \, / \, (\sup|g| \, \|f\|)$")
    ax.grid(axis="x", color="0.9", linewidth=0.6)
    ax.set_axisbelow(True)
    _plain_spines(ax)
    for row, note in enumerate(notes or ()):
        ax.text(1.02, row, note, transform=ax.get_yaxis_transform(), va="center", fontsize="small")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, fontsize="small")
    return ax


def _axes(ax: Axes | None) -> Axes:
    """Return the given axes, or the current ones of pyplot."""
    if ax is None:
        from matplotlib import pyplot

        return pyplot.gca()
    if not isinstance(ax, Axes):
        raise TypeError(f"`ax` must be one matplotlib Axes, got {type(ax).__name__}")
    return ax


def _coordinates(graph: Graph) -> FloatArray:
    if not isinstance(graph, Graph):
        raise TypeError(f"`graph` must be a cayleygsp Graph, got {type(graph).__name__}")
    if graph.coords is None:
        raise ValueError(
            "`graph` must have coordinates to be drawn, got none; make one with Graph(graph.W, coords=...), "
            "positions for example from networkx.spring_layout"
        )
    return graph.coords[:, :2]


def _real_signal(signal: ArrayLike, n_vertices: int) -> FloatArray:
    values = check_signals(signal, n_vertices, "signal")
    if values.ndim != 1:
        raise ValueError(f"`signal` must have shape ({n_vertices},), got {values.shape}")
    if values.dtype.kind == "c":
        raise TypeError(f"`signal` must be real, got dtype {values.dtype}; draw its real part or absolute value")
    return values


def _frequencies(eigenvalues: ArrayLike) -> FloatArray:
    """Return frequencies ascending, those that rounding made negative at zero."""
    lam = check_eigenvalues(eigenvalues)
    if lam.ndim != 1:
        raise ValueError(f"`eigenvalues` must have shape (n,), got {lam.shape}")
    if not np.isfinite(lam).all():
        raise ValueError(f"`eigenvalues` must be finite, got {lam[~np.isfinite(lam)][0]}")
    if lam.size and lam.min() < -1e-8 * max(1.0, float(np.abs(lam).max())):
        raise ValueError(f"`eigenvalues` must not be negative, got {lam.min():g}")
    return np.sort(np.maximum(lam, 0.0))


def _named_responses(responses: AnyResponse | Mapping[str, AnyResponse]) -> dict[str, AnyResponse]:
    named = dict(responses) if isinstance(responses, Mapping) else {"": responses}
    if not named:
        raise ValueError("`responses` must hold at least one response, got none")
    for name, function in named.items():
        if not callable(function):
            where = f"`responses[{name!r}]`" if name else "`responses`"
            raise TypeError(f"{where} must be callable on frequencies, got {type(function).__name__}")
    return named


def _checked_errors(names: Sequence[str], measured: ArrayLike, bounds: ArrayLike) -> tuple[FloatArray, FloatArray]:
    error, bound = np.asarray(measured, dtype=np.float64), np.asarray(bounds, dtype=np.float64)
    for array, name in ((error, "measured"), (bound, "bounds")):
        if array.shape != (len(names),):
            raise ValueError(f"`{name}` must have one entry a name, shape ({len(names)},), got {array.shape}")
    if not (np.isfinite(error) & (error >= 0)).all():
        raise ValueError(f"`measured` must be finite and not negative, got {error.tolist()}")
    return np.maximum(error, _ERROR_FLOOR), bound


def _vertex_area(n_vertices: int) -> float:
    """Return the area of a vertex in square points: smaller the more there are."""
    return float(np.clip(5000 / max(n_vertices, 1), 3, 40))


def _draw_signal(ax: Axes, coords: FloatArray, signal: FloatArray, colorbar: bool, label: str, style: Any) -> None:
    if signal.min(initial=0.0) < 0 < signal.max(initial=0.0):
        default: dict[str, Any] = {"cmap": "coolwarm"}
        if not {"norm", "vmin", "vmax"} & set(style):
            largest = float(np.abs(signal).max())
            default |= {"vmin": -largest, "vmax": largest}
    else:
        default = {"cmap": "viridis"}
    points = ax.scatter(coords[:, 0], coords[:, 1], c=signal, **(default | style))
    if colorbar:
        ax.figure.colorbar(points, ax=ax, label=label, shrink=0.8)


def _draw_labels(ax: Axes, coords: FloatArray, labels: Array | None, style: dict[str, Any]) -> None:
    kinds = np.unique(labels) if labels is not None else np.zeros(0)
    chosen = "c" in style or "color" in style
    if chosen or not 0 < kinds.size <= _MAX_LABELS:
        ax.scatter(coords[:, 0], coords[:, 1], **(style if chosen else {"color": _BLUE} | style))
        return
    halo = [withStroke(linewidth=2.5, foreground="white")]
    for k, kind in enumerate(kinds):
        own = coords[labels == kind]
        look = {"color": COLORS[k % len(COLORS)], "marker": _MARKERS[k // len(COLORS)]}
        ax.scatter(own[:, 0], own[:, 1], **(look | style))
        x, y = own.mean(axis=0).tolist()
        ax.text(x, y, str(kind), ha="center", va="center", weight="bold", path_effects=halo, zorder=3)


def _label_ends(ax: Axes) -> None:
    for x, text in ((-1.0, r"$\lambda = 0$"), (1.0, r"$\lambda = \infty$")):
        ax.plot([x, x], [0.04, 0.1], color=_GREY, linewidth=0.8, zorder=1)
        ax.text(x, 0.13, text, ha="center", va="bottom", fontsize="small")


def _draw_frequencies(ax: Axes, positions: FloatArray, n_marked: int) -> None:
    """Draw thin lines over the full height: the first dark, the others light."""
    transform = ax.get_xaxis_transform()
    for part, color, width in ((positions[n_marked:], "0.85", 0.4), (positions[:n_marked], "0.45", 0.7)):
        ax.vlines(part, 0, 1, colors=color, linewidths=width, transform=transform, zorder=1)


def _draw_curves(ax: Axes, named: Mapping[str, AnyResponse], x: FloatArray, lam: FloatArray, style: Any) -> None:
    """Draw each response over ``x``, computed at ``lam``."""
    ax.axhline(0, color=_GREY, linewidth=0.6, zorder=1.5)
    for k, (name, function) in enumerate(named.items()):
        look = {"color": COLORS[k % len(COLORS)], "linestyle": _LINE_STYLES[k % len(_LINE_STYLES)], "linewidth": 1.8}
        ax.plot(x, np.asarray(function(lam)), **(look | {"label": name or "_response", "zorder": 3} | style))
    _plain_spines(ax)
    if any(named):
        ax.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(len(named), 4), frameon=False, fontsize="small"
        )


def _plain_spines(ax: Axes) -> None:
    ax.spines[["top", "right"]].set_visible(False)


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
