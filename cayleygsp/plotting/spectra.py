"""Frequencies: on the half circle, as a density, and what a zoom resolves of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from cayleygsp import zoom as zoom_module
from cayleygsp._typing import ArrayLike
from cayleygsp._validation import check_integer, check_positive
from cayleygsp.density import SpectralDensity
from cayleygsp.plotting._style import (
    BLUE,
    GREY,
    GRID_POINTS,
    LIGHT_GREY,
    VERMILION,
    checked_frequencies,
    legend_above,
    line_look,
    mark_frequencies,
    plain_spines,
    use_axes,
)
from cayleygsp.responses.cayley import cayley_transform


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
    points: dict[str, Any] = {"linestyle": "none", "markersize": 4.0, "clip_on": False}
    low = points | {"marker": "D", "color": VERMILION, "markeredgecolor": "black", "markeredgewidth": 0.4, "zorder": 3}
    rest = points | {"marker": "o", "color": BLUE, "markerfacecolor": "white", "markeredgewidth": 0.7, "zorder": 2}
    ax.plot(C.real[:n_marked], C.imag[:n_marked], label=f"first {min(n_marked, lam.size)}", **(low | kwargs))
    ax.plot(C.real[n_marked:], C.imag[n_marked:], label="others", **(rest | kwargs))
    for x, text in ((-1.0, r"$\lambda = 0$"), (1.0, r"$\lambda = \infty$")):
        ax.plot([x, x], [0.04, 0.1], color=GREY, linewidth=0.8, zorder=1)
        ax.text(x, 0.13, text, ha="center", va="bottom", fontsize="small")
    ax.set(xlim=(-1.3, 1.3), ylim=(-1.1, 0.3))
    ax.set_title(f"$h = {h:.3g}$", fontsize="medium")
    ax.set_aspect("equal")
    ax.set_axis_off()
    if legend:
        ax.legend(loc="center", bbox_to_anchor=(0.5, 0.5), frameon=False, fontsize="small", handletextpad=0.1)
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

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import cayleygsp as cg
    >>> ax = cg.plotting.density(cg.density.spectral_density(cg.gallery.ring(64)), ax=Figure().subplots())
    """
    if not isinstance(density, SpectralDensity):
        raise TypeError(f"`density` must be a SpectralDensity, got {type(density).__name__}")
    if density.lmax == 0:
        raise ValueError("`density` must be that of a graph with edges, got one with all frequencies at zero")
    lam = None if eigenvalues is None else checked_frequencies(eigenvalues)
    ax = use_axes(ax)
    if lam is not None:
        bins = np.linspace(0, density.lmax, n_bins + 1).tolist()
        bars: dict[str, Any] = {"color": "0.85", "edgecolor": "0.6", "linewidth": 0.4, "label": "eigenvalues"}
        ax.hist(lam, bins=bins, density=True, **bars)
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
    legend_above(ax, 2)
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

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from cayleygsp import plotting
    >>> ax = plotting.resolution([0.1, 1.0, 10.0], 40.0, ax=Figure().subplots())
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
    grid = np.geomspace(left, right, 400)
    ax.plot(grid, 1 / grid, color="0.75", linewidth=3.5, label=r"best, $1/\lambda$", zorder=1)
    for k, one in enumerate(h.tolist()):
        look = line_look(k) | {"label": f"$h = {one:.3g}$", "zorder": 2}
        ax.plot(grid, zoom_module.resolution(grid, one), **(look | kwargs))
    mark_frequencies(ax, lam[(lam >= left) & (lam <= right)])
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set(xlim=(left, right), xlabel=r"frequency $\lambda$", ylabel=r"resolution $d\theta/d\lambda$ (rad per unit)")
    legend_above(ax, 2)
    plain_spines(ax)
    return ax
