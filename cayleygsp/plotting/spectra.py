"""Frequencies on the half circle, and responses over frequency."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from matplotlib.axes import Axes

from cayleygsp._typing import ArrayLike, FloatArray
from cayleygsp._validation import check_integer, check_positive
from cayleygsp.plotting._style import (
    BLUE,
    COLORS,
    GREY,
    LIGHT_GREY,
    LINE_STYLES,
    VERMILION,
    checked_frequencies,
    plain_spines,
    use_axes,
)
from cayleygsp.responses.cayley import CayleyPolynomial, as_cayley, cayley_angle, cayley_transform

AnyResponse: TypeAlias = Callable[[FloatArray], ArrayLike]

GRID_POINTS = 2000


def half_circle(
    eigenvalues: ArrayLike,
    zoom: float,
    *,
    n_marked: int = 15,
    ax: Axes | None = None,
    legend: bool = True,
    **kwargs: Any,
) -> Axes:
    r"""Draw frequencies where the Cayley transform puts them, on the lower half of the unit circle (figure 1).

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
    lam, h = checked_frequencies(eigenvalues), check_positive(zoom, "zoom")
    n_marked = check_integer(n_marked, "n_marked", at_least=0)
    ax = use_axes(ax)
    C = cayley_transform(h * lam)
    arc = np.exp(1j * np.linspace(-np.pi, 0, 181))
    ax.plot(arc.real, arc.imag, color=LIGHT_GREY, linewidth=1.0, zorder=1)
    points: dict[str, Any] = {"linestyle": "none", "markersize": 4.0, "clip_on": False} | kwargs
    rest: dict[str, Any] = {
        "marker": "o",
        "color": BLUE,
        "markerfacecolor": "white",
        "markeredgewidth": 0.7,
        "zorder": 2,
    }
    low: dict[str, Any] = {
        "marker": "D",
        "color": VERMILION,
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
    lam = np.zeros(0) if eigenvalues is None else checked_frequencies(eigenvalues)
    ax = use_axes(ax)
    _draw_frequencies(ax, lam[lam <= lmax], n_marked=0)
    grid = np.union1d(np.linspace(0, lmax, GRID_POINTS), lam[lam <= lmax])
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
    polynomial = as_cayley(polynomial)
    lam, h = checked_frequencies(eigenvalues), polynomial.zoom
    n_marked = check_integer(n_marked, "n_marked", at_least=0)
    ax = use_axes(ax)
    _draw_frequencies(ax, cayley_angle(h * lam), n_marked=n_marked)
    angles = np.linspace(-np.pi, 0, GRID_POINTS)
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


def _named_responses(responses: AnyResponse | Mapping[str, AnyResponse]) -> dict[str, AnyResponse]:
    named = dict(responses) if isinstance(responses, Mapping) else {"": responses}
    if not named:
        raise ValueError("`responses` must hold at least one response, got none")
    for name, function in named.items():
        if not callable(function):
            where = f"`responses[{name!r}]`" if name else "`responses`"
            raise TypeError(f"{where} must be callable on frequencies, got {type(function).__name__}")
    return named


def _label_ends(ax: Axes) -> None:
    for x, text in ((-1.0, r"$\lambda = 0$"), (1.0, r"$\lambda = \infty$")):
        ax.plot([x, x], [0.04, 0.1], color=GREY, linewidth=0.8, zorder=1)
        ax.text(x, 0.13, text, ha="center", va="bottom", fontsize="small")


def _draw_frequencies(ax: Axes, positions: FloatArray, n_marked: int) -> None:
    """Draw thin lines over the full height: the first dark, the others light."""
    transform = ax.get_xaxis_transform()
    for part, color, width in ((positions[n_marked:], "0.85", 0.4), (positions[:n_marked], "0.45", 0.7)):
        ax.vlines(part, 0, 1, colors=color, linewidths=width, transform=transform, zorder=1)


def _draw_curves(ax: Axes, named: Mapping[str, AnyResponse], x: FloatArray, lam: FloatArray, style: Any) -> None:
    """Draw each response over ``x``, computed at ``lam``."""
    ax.axhline(0, color=GREY, linewidth=0.6, zorder=1.5)
    for k, (name, function) in enumerate(named.items()):
        look = {"color": COLORS[k % len(COLORS)], "linestyle": LINE_STYLES[k % len(LINE_STYLES)], "linewidth": 1.8}
        ax.plot(x, np.asarray(function(lam)), **(look | {"label": name or "_response", "zorder": 3} | style))
    plain_spines(ax)
    if any(named):
        ax.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=min(len(named), 4), frameon=False, fontsize="small"
        )


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
