r"""A report on any graph: its size, spectrum and zoom, a filter for it, its error, its reach and its cost.

Every part comes in two steps: a function that computes numbers, and one that makes a :class:`~cayleygsp._html.Section`
of them. :func:`report_on` runs all parts. Nothing dense is made of a graph beyond ``DENSE_VERTICES``: there,
frequencies come from the spectral density, and the other parts take a bounded number of products with the Laplacian.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.figure import Figure
from scipy.sparse import csgraph

from cayleygsp import bounds, plotting, zoom
from cayleygsp._html import Picture, Section, Table
from cayleygsp._typing import ArrayLike, FloatArray, LaplacianKind
from cayleygsp._validation import check_integer
from cayleygsp.cayley import CayleyPolynomial
from cayleygsp.density import SpectralDensity, spectral_density
from cayleygsp.design import Fit, LowPass, Norm, Target, Weight, fit_cayley, fit_chebyshev
from cayleygsp.filters import CayleyFilter, ConvergenceWarning
from cayleygsp.graph import Graph
from cayleygsp.laplacian import Laplacian, laplacian
from cayleygsp.localization import Decay, decay_curve

# Graphs up to this size are decomposed, larger ones are not.
DENSE_VERTICES = 1000

# A picture of more edges than this shows nothing.
DRAWN_EDGES = 30_000

# The share of the positive frequencies that "low" means in a report, and the shares that its zooms are made for.
LOW_SHARE = 0.1
ZOOM_SHARES = (0.5, 0.1, 0.01)

SWEEPS = (1, 5, 9, 13)
MORE_SWEEPS = (40, 80)
TOLERANCES = (1e-3, 1e-6, 1e-10)

# Stored entries of the Laplacian beyond which measurements with many sweeps are left out.
_FEW_ENTRIES = 2_000_000

# The error of the filter that Jacobi's are measured against.
_REFERENCE_TOL = 1e-10

_WIDTH = 6.5  # inches


# ---------------------------------------------------------------------------------------------- the graph


@dataclass(frozen=True)
class GraphFacts:
    """What can be said of a graph without its spectrum.

    Attributes
    ----------
    name : str
        What the graph is called.
    kind : {"combinatorial", "normalized"}
        Which Laplacian its frequencies are those of.
    n_vertices, n_edges, n_loops : int
        Sizes; edges between different vertices, and self-loops.
    n_components, largest_component, n_isolated : int
        Connected components, vertices in the largest of them, vertices without an edge to another one.
    degree_min, degree_median, degree_mean, degree_max : float
        Of the weighted degrees.
    lmax_bound, lmax_lower : float
        Numbers that the largest eigenvalue is certainly not above and not below.
    """

    name: str
    kind: LaplacianKind
    n_vertices: int
    n_edges: int
    n_loops: int
    n_components: int
    largest_component: int
    n_isolated: int
    degree_min: float
    degree_median: float
    degree_mean: float
    degree_max: float
    lmax_bound: float
    lmax_lower: float


def graph_facts(graph: Graph, L: Laplacian) -> GraphFacts:
    """Look at a graph and its Laplacian; the costliest part is a Lanczos run of 30 products.

    Parameters
    ----------
    graph : Graph
        The graph.
    L : Laplacian
        Its Laplacian.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp import graph_report
    >>> ring = cg.gallery.ring(12)
    >>> facts = graph_report.graph_facts(ring, cg.laplacian(ring))
    >>> facts.n_edges, facts.n_components, facts.degree_max, facts.lmax_bound >= 4.0
    (12, 1, 2.0, True)
    """
    n_components, labels = csgraph.connected_components(L.matrix, directed=False)
    d = L.degrees
    return GraphFacts(
        name=graph.name or "graph",
        kind=L.kind,
        n_vertices=graph.n_vertices,
        n_edges=L.n_edges,
        n_loops=int(np.count_nonzero(graph.W.diagonal())),
        n_components=int(n_components),
        largest_component=int(np.bincount(labels).max()),
        n_isolated=int(np.count_nonzero(L.diagonal == 0)),
        degree_min=float(d.min()),
        degree_median=float(np.median(d)),
        degree_mean=float(d.mean()),
        degree_max=float(d.max()),
        lmax_bound=float(L.lmax),
        lmax_lower=float(L.lanczos_lower),
    )


def typical_vertex(L: Laplacian) -> int:
    """Return a vertex of the largest component whose degree is the median there."""
    _, labels = csgraph.connected_components(L.matrix, directed=False)
    inside = np.flatnonzero(labels == np.argmax(np.bincount(labels)))
    order = np.argsort(L.degrees[inside], kind="stable")
    return int(inside[order[inside.size // 2]])


def graph_section(graph: Graph, facts: GraphFacts) -> Section:
    """Show sizes and degrees, and the graph itself where it has coordinates and is not too large to be drawn."""
    rows = [
        ["vertices", f"{facts.n_vertices:,}"],
        ["edges", f"{facts.n_edges:,}"],
        ["self-loops", f"{facts.n_loops:,}"],
        ["connected components", f"{facts.n_components:,}"],
        ["vertices in the largest", f"{facts.largest_component:,}"],
        ["vertices without edges", f"{facts.n_isolated:,}"],
        ["degree, least", f"{facts.degree_min:.4g}"],
        ["degree, median", f"{facts.degree_median:.4g}"],
        ["degree, mean", f"{facts.degree_mean:.4g}"],
        ["degree, largest", f"{facts.degree_max:.4g}"],
        ["largest frequency, at least", f"{facts.lmax_lower:.4g}"],
        ["largest frequency, at most", f"{facts.lmax_bound:.4g}"],
    ]
    text = (
        f"The frequencies of the graph are the eigenvalues λ of its {facts.kind} Laplacian. That none is above "
        f"{facts.lmax_bound:.4g} is proved, not estimated; all certificates below rest on it."
    )
    pictures = []
    if graph.coords is not None and graph.n_edges <= DRAWN_EDGES:
        figure = Figure(figsize=(_WIDTH, 5.2), layout="constrained")
        plotting.graph(graph, ax=figure.subplots())
        pictures.append(Picture.from_figure("graph", figure, "The vertices and edges of the graph.", shrinks=True))
    return Section("The graph", [text], pictures, Table(["", "value"], rows))


# ------------------------------------------------------------------------------------------- frequencies


@dataclass(frozen=True, eq=False)
class Frequencies:
    """The spectrum of a graph as far as it is known.

    Attributes
    ----------
    density : SpectralDensity
        Where the frequencies lie.
    eigenvalues : numpy.ndarray, shape (n,), or None
        All of them, ascending, where they were computed.
    n_vertices : int
        How many there are.
    n_zero : int
        How many are zero: one for each component.
    """

    density: SpectralDensity
    eigenvalues: FloatArray | None
    n_vertices: int
    n_zero: int

    @property
    def weight(self) -> Weight:
        """What fits for this graph weigh by."""
        return self.density if self.eigenvalues is None else self.eigenvalues

    def at_shares(self, shares: ArrayLike) -> FloatArray:
        """Return the frequencies that the given shares of all frequencies do not exceed; estimated for large graphs.

        Parameters
        ----------
        shares : array_like
            Numbers above 0 and up to 1.
        """
        q = np.asarray(shares, dtype=np.float64)
        if self.eigenvalues is not None:
            # 0.1 · 30 is 3 but for rounding
            index = np.ceil(q * self.n_vertices * (1 - 1e-12)).astype(np.int64) - 1
            return self.eigenvalues[np.clip(index, 0, self.n_vertices - 1)]
        # the density is the finer the nearer to zero, and so is this grid
        grid = self.density.lmax * np.sin(np.linspace(0, np.pi / 2, 4001)) ** 2
        return np.interp(q, np.maximum.accumulate(self.density.cdf(grid)), grid)

    def at_positive_share(self, share: float) -> float:
        """Return the frequency that a share of the positive frequencies does not exceed.

        Parameters
        ----------
        share : float
            Above 0 and up to 1.
        """
        zeros = self.n_zero / self.n_vertices
        found = float(self.at_shares(zeros + share * (1 - zeros)))
        # estimates of the share of zeros are not sharp
        return max(found, 1e-6 * self.density.lmax)

    def points(self, n_points: int = 100) -> FloatArray:
        """Return frequencies to draw: all that are known, or one for each of ``n_points`` equal shares.

        Parameters
        ----------
        n_points : int
            For an estimated spectrum.
        """
        if self.eigenvalues is not None:
            return self.eigenvalues
        return self.at_shares((np.arange(n_points) + 0.5) / n_points)


def find_frequencies(L: Laplacian, rng: np.random.Generator | int | None = None) -> Frequencies:
    """Return the eigenvalues of a small graph, an estimate of their density for others.

    Parameters
    ----------
    L : Laplacian
        The graph.
    rng : numpy.random.Generator or int, optional
        For the probes of the estimate.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp import graph_report
    >>> found = graph_report.find_frequencies(cg.laplacian(cg.gallery.grid(60)), rng=0)
    >>> found.eigenvalues is None, round(found.at_positive_share(0.5), 1)
    (True, 4.0)
    """
    n_zero = int(csgraph.connected_components(L.matrix, directed=False, return_labels=False))
    if L.has_eigenbasis or L.n_vertices <= DENSE_VERTICES:
        lam = np.clip(L.eigenvalues, 0.0, L.lmax)
        return Frequencies(spectral_density(L, method="exact"), lam, L.n_vertices, n_zero)
    # the larger the graph, the less probes differ
    n_probes = 16 if L.n_vertices < 100_000 else 4
    return Frequencies(spectral_density(L, n_probes=n_probes, method="kpm", rng=rng), None, L.n_vertices, n_zero)


def density_section(frequencies: Frequencies) -> Section:
    """Show how many frequencies lie where."""
    density = frequencies.density
    how = (
        "computed by an eigendecomposition"
        if density.exact
        else f"not computed: their density is estimated by {density.probe_moments.shape[0]} random probes and "
        f"{density.n_moments} moments"
    )
    shares = (0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99)
    found = frequencies.at_shares(shares)
    errors = density.standard_error(found)
    zeros = "once" if frequencies.n_zero == 1 else f"{frequencies.n_zero:,} times, once for each component"
    n = frequencies.n_vertices
    text = f"The {'frequency was' if n == 1 else f'{n:,} frequencies were'} {how}. Zero is among them {zeros}."
    rows = [
        [f"{100 * share:g} %", f"{lam:.4g}", f"{lam / density.lmax:.2g}", "0" if density.exact else f"{error:.1e}"]
        for share, lam, error in zip(shares, found, errors, strict=True)
    ]
    header = ["share of frequencies", "up to λ", "λ over the bound", "standard error of the share"]
    return Section("Where its frequencies lie", [text], [_density_picture(frequencies)], Table(header, rows))


def _density_picture(frequencies: Frequencies) -> Picture:
    return Picture.from_figure(
        "density",
        draw_density(frequencies),
        "A curve over frequency: how many eigenvalues there are per unit.",
        "Share of the frequencies per unit of frequency; smoothed.",
    )


def draw_density(frequencies: Frequencies) -> Figure:
    """Draw the density, and a histogram of the frequencies where they are known."""
    figure = Figure(figsize=(_WIDTH, 3.0), layout="constrained")
    plotting.density(frequencies.density, eigenvalues=frequencies.eigenvalues, ax=figure.subplots())
    return figure


# -------------------------------------------------------------------------------------------------- zoom


@dataclass(frozen=True)
class ZoomRow:
    """What one zoom does to the lowest frequencies.

    Attributes
    ----------
    zoom : float
        h.
    n_lowest : int
        How many frequencies count as lowest.
    frequency : float
        The largest of them; estimated for large graphs.
    circle_share : float
        Share of the half circle that they take.
    resolution : float
        dθ/dλ at the largest of them, in radians per unit of frequency.
    best_resolution : float
        What the best zoom for that frequency gives.
    gap_order : int or None
        Order that tells the largest of them from the next frequency; None where frequencies are not known or equal.
    """

    zoom: float
    n_lowest: int
    frequency: float
    circle_share: float
    resolution: float
    best_resolution: float
    gap_order: int | None


def suggested_zooms(frequencies: Frequencies) -> list[float]:
    """Return zooms that give half of the half circle to the lowest 50, 10 and 1 % of the positive frequencies.

    Parameters
    ----------
    frequencies : Frequencies
        Of a graph with edges.
    """
    found = [zoom.best_zoom(0.0, frequencies.at_positive_share(share)) for share in ZOOM_SHARES]
    return list(dict.fromkeys(found))  # on small graphs shares may be the same


def zoom_rows(frequencies: Frequencies, zooms: Sequence[float], n_lowest: int) -> list[ZoomRow]:
    """Return what each zoom does to the lowest frequencies.

    Parameters
    ----------
    frequencies : Frequencies
        Of the graph.
    zooms : sequence of float
        Each > 0.
    n_lowest : int
        From 1 to the number of vertices.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp import graph_report
    >>> found = graph_report.find_frequencies(cg.laplacian(cg.gallery.communities(rng=0)))
    >>> [round(row.circle_share, 2) for row in graph_report.zoom_rows(found, [0.1, 1.0, 10.0], n_lowest=15)]
    [0.08, 0.59, 0.95]
    """
    m = check_integer(n_lowest, "n_lowest", at_least=1)
    if m > frequencies.n_vertices:
        raise ValueError(f"`n_lowest` must be at most the number of vertices {frequencies.n_vertices}, got {m}")
    lam = float(frequencies.at_shares(m / frequencies.n_vertices))
    rows = []
    for h in zooms:
        share = float(zoom.angles([lam], h)[0] / np.pi + 1)
        rows.append(
            ZoomRow(
                zoom=float(h),
                n_lowest=m,
                frequency=lam,
                circle_share=share,
                resolution=float(zoom.resolution(lam, h)),
                best_resolution=1 / lam if lam > 0 else math.inf,
                gap_order=_gap_order(frequencies, m, h),
            )
        )
    return rows


def _gap_order(frequencies: Frequencies, m: int, h: float) -> int | None:
    lam = frequencies.eigenvalues
    if lam is None or m == lam.size or lam[m] - lam[m - 1] <= 1e-10 * lam[-1]:
        return None
    return zoom.separation(float(lam[m - 1]), float(lam[m]), h, order=1).least_order


def zoom_table(rows: Sequence[ZoomRow]) -> Table:
    """Put the rows into a table."""
    m = rows[0].n_lowest
    lowest = "the lowest" if m == 1 else f"the lowest {m:,}"
    header = ["zoom h", f"half circle of {lowest}", "dθ/dλ at the last", "best possible", "order for the gap"]
    cells = [
        [
            f"{row.zoom:.4g}",
            f"{100 * row.circle_share:.1f} %",
            f"{row.resolution:.3g}",
            f"{row.best_resolution:.3g}",
            "–" if row.gap_order is None else f"{row.gap_order:,}",
        ]
        for row in rows
    ]
    return Table(header, cells, n_text=0)


def draw_half_circles(frequencies: Frequencies, zooms: Sequence[float], n_lowest: int) -> Figure:
    """Draw the spectrum on the half circle, one panel a zoom, at most three beside each other."""
    points = frequencies.points()
    n_marked = round(n_lowest / frequencies.n_vertices * points.size)
    n_columns = min(len(zooms), 3)
    n_rows = -(-len(zooms) // n_columns)
    figure = Figure(figsize=(_WIDTH, 1.5 * n_rows), layout="constrained")
    axes = figure.subplots(n_rows, n_columns, squeeze=False).reshape(-1)
    for ax, h in zip(axes, zooms, strict=False):
        plotting.half_circle(points, h, n_marked=n_marked, ax=ax, legend=frequencies.eigenvalues is not None)
    for ax in axes[len(zooms) :]:
        ax.set_axis_off()
    return figure


def draw_resolution(frequencies: Frequencies, zooms: Sequence[float]) -> Figure:
    """Draw dθ/dλ over frequency for several zooms."""
    figure = Figure(figsize=(_WIDTH, 3.2), layout="constrained")
    plotting.resolution(zooms, frequencies.density.lmax, eigenvalues=frequencies.points(), ax=figure.subplots())
    return figure


def zoom_section(frequencies: Frequencies, zooms: Sequence[float], n_lowest: int) -> tuple[Section, list[ZoomRow]]:
    """Show the spectrum on the half circle and what each zoom resolves."""
    rows = zoom_rows(frequencies, zooms, n_lowest)
    known = frequencies.eigenvalues is not None
    lowest = "The lowest frequency goes" if n_lowest == 1 else f"The lowest {n_lowest:,} frequencies go"
    text = (
        "A Cayley polynomial sees the frequency λ at C(hλ) = (hλ − i)/(hλ + i) on the unit circle. The zoom h decides "
        f"which frequencies get room there. {lowest} up to {'' if known else 'about '}{rows[0].frequency:.3g}."
    )
    what = "every frequency" if known else "one point for each hundredth of the frequencies, estimated"
    diamonds = "is a diamond" if n_lowest == 1 else f"{n_lowest:,} are diamonds"
    circles = Picture.from_figure(
        "spectrum",
        draw_half_circles(frequencies, zooms, n_lowest),
        "Half circles with frequencies on them; the lowest move from the left end to the right as the zoom grows.",
        f"The spectrum on the half circle, {what}; the lowest {diamonds}.",
    )
    resolution = Picture.from_figure(
        "resolution",
        draw_resolution(frequencies, zooms),
        "One falling curve a zoom, each touching the line of the best possible resolution at one frequency.",
        "How far apart the zooms put neighbouring frequencies. No zoom is above the grey line.",
    )
    closing = (
        "The order for the gap is that of a polynomial that is 1 at the last of the lowest frequencies, 0 at the next, "
        "and nowhere beyond ±1."
        if any(row.gap_order is not None for row in rows)
        else "Orders for the gap above the lowest frequencies need the frequencies themselves, and a gap."
    )
    return Section("Spectral zoom", [text], [circles, resolution], zoom_table(rows), [closing]), rows


# ------------------------------------------------------------------------------------------------ design


def low_pass(frequencies: Frequencies, share: float = LOW_SHARE) -> LowPass:
    """Return the target that passes a share of the positive frequencies, with a transition of half the cutoff.

    Parameters
    ----------
    frequencies : Frequencies
        Of a graph with edges.
    share : float
        Above 0 and up to 1.
    """
    cutoff = frequencies.at_positive_share(share)
    return LowPass(cutoff, transition=cutoff / 2)


def compare_fits(
    target: Target | str,
    order: int,
    lmax: float,
    weight: Weight = None,
    *,
    zoom: float | Literal["auto"] = "auto",
    norm: Norm = "least-squares",
) -> dict[str, Fit]:
    """Fit a Cayley polynomial of order r, and the Chebyshev polynomial with as many parameters, of order 2r + 1.

    Parameters
    ----------
    target, order, lmax, weight, zoom, norm
        As in :func:`cayleygsp.design.fit_cayley`.

    Examples
    --------
    >>> from cayleygsp import graph_report
    >>> fits = graph_report.compare_fits("low:0.5:0.25", order=4, lmax=20.0)
    >>> [fit.n_parameters for fit in fits.values()]
    [10, 10]
    >>> fits["Cayley"].residual_rms < fits["Chebyshev"].residual_rms
    True
    """
    cayley = fit_cayley(target, order, lmax, zoom, weight, norm=norm)
    chebyshev = fit_chebyshev(target, 2 * order + 1, lmax, weight, norm=norm)
    return {"Cayley": cayley, "Chebyshev": chebyshev}


def fit_table(fits: Mapping[str, Fit]) -> Table:
    """Put orders, parameters and residuals of fits into a table."""
    header = ["polynomial", "order", "zoom", "parameters", "distance, rms", "distance, largest", "largest response"]
    rows = [
        [
            name,
            str(fit.polynomial.order),
            "–" if fit.zoom is None else f"{fit.zoom:.4g}",
            str(fit.n_parameters),
            f"{fit.residual_rms:.2g}",
            f"{fit.residual_max:.2g}",
            f"{fit.peak:.3g}",
        ]
        for name, fit in fits.items()
    ]
    return Table(header, rows)


def draw_fits(target: Target | str, fits: Mapping[str, Fit], lmax: float, frequencies: Frequencies | None) -> Figure:
    """Draw a target and the responses fitted to it over the logarithm of frequency."""
    figure = Figure(figsize=(_WIDTH, 3.2), layout="constrained")
    points = None if frequencies is None else frequencies.points()
    named = {f"{name}, order {fit.polynomial.order}": fit for name, fit in fits.items()}
    plotting.fit(target, named, lmax, eigenvalues=points, log=True, ax=figure.subplots())
    return figure


def design_section(target: Target, fits: Mapping[str, Fit], frequencies: Frequencies) -> Section:
    """Show a Cayley and a Chebyshev fit with as many parameters."""
    cayley, chebyshev = fits["Cayley"], fits["Chebyshev"]
    text = (
        f"A {target.name} filter{_at_features(target)}, fitted by {cayley.norm.replace('-', ' ')} over the frequencies "
        f"of the graph: by a Cayley polynomial, whose zoom h = {cayley.zoom:.3g} was searched for, and by a Chebyshev "
        "polynomial with as many parameters."
    )
    picture = Picture.from_figure(
        "design",
        draw_fits(target, fits, frequencies.density.lmax, frequencies),
        "A step over the logarithm of frequency, and two curves near it.",
        "Target and fits. In the grey band any value will do; marks at the foot are frequencies of the graph.",
    )
    ratio = chebyshev.residual_rms / cayley.residual_rms if cayley.residual_rms else math.inf
    closing = (
        f"The root mean square distance from the target is {_ratio(ratio)} for Chebyshev what it is for Cayley. "
        "Parameters are not cost: what each takes to apply is another matter."
    )
    return Section("A filter designed for it", [text], [picture], fit_table(fits), [closing])


def _at_features(target: Target) -> str:
    places = [f"{place:.3g}" for place in target.features]
    return f" that changes between λ = {places[0]} and {places[-1]}" if len(places) > 1 else f" at λ = {places[0]}"


def _ratio(value: float) -> str:
    return f"{value:.2g} times" if value < 1e6 else "more than a million times"


# ------------------------------------------------------------------------------------------------ bounds


@dataclass(frozen=True)
class BoundRow:
    """Error of K Jacobi sweeps, relative to the norm of the signal, and bounds of it in exact arithmetic.

    Attributes
    ----------
    n_iter : int
        K.
    n_matvecs : int
        r (K + 1) products.
    measured : float or None
        For one signal, where it was measured.
    paper, safe, sharp : float
        See :func:`cayleygsp.bounds.jacobi_bound`.
    paper_valid : bool
        Whether the printed bound is known to hold here.
    rounding : float
        What rounding may add.
    series : float or None
        Bound of the Chebyshev series of degree r (K + 1), with as many products; None where the series is too long
        to be looked at.
    """

    n_iter: int
    n_matvecs: int
    measured: float | None
    paper: float
    safe: float
    sharp: float
    paper_valid: bool
    rounding: float
    series: float | None


@dataclass(frozen=True)
class Needs:
    """What an error, relative to the norm of the signal, takes.

    Attributes
    ----------
    atol : float
        The error.
    paper, safe, sharp : int or None
        Jacobi sweeps by each bound; None if no number is known to be enough.
    series_degree : int or None
        Degree of the Chebyshev series, that is products.
    n_iter : int
        Some number of sweeps,
    affordable_zoom : float
        and the largest zoom at which they keep the error, by the sharp bound.
    """

    atol: float
    paper: int | None
    safe: int | None
    sharp: int | None
    series_degree: int | None
    n_iter: int
    affordable_zoom: float


def bound_rows(
    L: Laplacian, polynomial: CayleyPolynomial, sweeps: Sequence[int], signal: FloatArray | None = None
) -> list[BoundRow]:
    """Bound the error of the Jacobi scheme, and measure it on a signal if one is given.

    Parameters
    ----------
    L : Laplacian
        The graph.
    polynomial : CayleyPolynomial
        The response.
    sweeps : sequence of int
        Numbers K ≥ 0.
    signal : numpy.ndarray, shape (n,), optional
        What to filter; errors are against the filter with a certified error of 1e-10 of its gain.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp import graph_report
    >>> p = cg.CayleyPolynomial([0.5, -0.25], zoom=1.0)
    >>> rows = graph_report.bound_rows(cg.laplacian(cg.gallery.ring(12)), p, [5, 20])
    >>> [row.n_matvecs for row in rows], rows[1].sharp < rows[0].sharp
    ([6, 21], True)
    """
    r = polynomial.order
    reference = None if signal is None else _filtered(CayleyFilter(L, polynomial, tol=_REFERENCE_TOL), signal)
    tails = _series_tails(L, polynomial, max(r * (K + 1) for K in sweeps) + 1)
    rows = []
    for K in sweeps:
        measured = None
        if signal is not None and reference is not None:
            y = _filtered(CayleyFilter(L, polynomial, "jacobi", n_iter=K), signal)
            measured = float(np.linalg.norm(y - reference) / np.linalg.norm(signal))
        found = {kind: bounds.jacobi_bound(L, polynomial, K, kind) for kind in bounds.BOUND_KINDS}
        rows.append(
            BoundRow(
                n_iter=K,
                n_matvecs=r * (K + 1),
                measured=measured,
                paper=found["paper"].value,
                safe=found["safe"].value,
                sharp=found["sharp"].value,
                paper_valid=found["paper"].valid,
                rounding=bounds.jacobi_rounding(L, polynomial, K),
                series=None if tails is None else float(tails[r * (K + 1)]),
            )
        )
    return rows


def needs(L: Laplacian, polynomial: CayleyPolynomial, atol: float, n_iter: int) -> Needs:
    """Return what it takes to keep the error within ``atol``, and the zoom that ``n_iter`` sweeps can serve.

    Parameters
    ----------
    L : Laplacian
        The graph.
    polynomial : CayleyPolynomial
        The response.
    atol : float
        Error allowed, relative to the norm of the signal; above 0.
    n_iter : int
        K ≥ 0.
    """
    sweeps = {kind: bounds.jacobi_sweeps(L, polynomial, atol, kind) for kind in bounds.BOUND_KINDS}
    known = {kind: None if K >= bounds.UNREACHABLE else K for kind, K in sweeps.items()}
    try:
        degree = bounds.series_degree(L, polynomial, atol)
    except ValueError:  # millions of terms
        degree = None
    return Needs(
        atol=atol,
        paper=known["paper"],
        safe=known["safe"],
        sharp=known["sharp"],
        series_degree=degree,
        n_iter=n_iter,
        affordable_zoom=bounds.affordable_zoom(L, polynomial, n_iter, atol),
    )


def _filtered(g: CayleyFilter, signal: FloatArray) -> FloatArray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return g.filter(signal)


def _series_tails(L: Laplacian, p: CayleyPolynomial, n_degrees: int) -> FloatArray | None:
    try:
        return bounds.series_tails(L, p, n_degrees)[0]
    except ValueError:  # millions of terms
        return None


def bound_table(rows: Sequence[BoundRow]) -> Table:
    """Put the rows into a table."""
    header = ["sweeps K", "products", "measured", "sharp", "safe", "paper", "paper proved", "series, as many products"]
    cells = [
        [
            f"{row.n_iter:,}",
            f"{row.n_matvecs:,}",
            "–" if row.measured is None else f"{row.measured:.1e}",
            f"{row.sharp:.1e}",
            f"{row.safe:.1e}",
            f"{row.paper:.1e}",
            "yes" if row.paper_valid else "no",
            "–" if row.series is None else f"{row.series:.1e}",
        ]
        for row in rows
    ]
    return Table(header, cells, n_text=0)


def draw_bounds(rows: Sequence[BoundRow]) -> Figure:
    """Draw measured errors and bounds over the number of sweeps; all rows must be measured."""
    figure = Figure(figsize=(_WIDTH, 3.6), layout="constrained")
    curves: dict[str, list[float]] = {kind: [getattr(row, kind) for row in rows] for kind in bounds.BOUND_KINDS}
    plotting.bounds(
        [row.n_iter for row in rows],
        [row.measured for row in rows],  # type: ignore[arg-type]
        curves,
        rounding=[row.rounding for row in rows],
        ax=figure.subplots(),
    )
    return figure


def bounds_section(L: Laplacian, polynomial: CayleyPolynomial, rows: Sequence[BoundRow], needed: Needs) -> Section:
    """Show what is proved of the Jacobi scheme, what was measured, and what an error takes."""
    text = (
        f"The paper applies a Cayley filter by K Jacobi sweeps a power. For this filter and zoom κ = "
        f"{bounds.kappa(L, polynomial.zoom):.4g}. Errors are ‖Gf − y‖/‖f‖, measured on one signal. “Paper” is "
        "Proposition 1 as printed, which is not always true; “safe” is what its proof proves; “sharp” holds on every "
        "graph and needs no √n."
    )
    picture = Picture.from_figure(
        "bounds",
        draw_bounds(rows),
        "Measured errors as dots below curves of the bounds, over the number of sweeps.",
        "Error of the Jacobi scheme and bounds of it, over the number of sweeps.",
    )
    n_below = sum(row.measured is not None and row.measured <= row.sharp + row.rounding for row in rows)
    closing = f"The measured error is below the sharp bound in {n_below} of {len(rows)} rows. {say_needs(needed)}"
    return Section("What Jacobi sweeps are off by", [text], [picture], bound_table(rows), [closing])


def say_needs(needed: Needs) -> str:
    """Say in words what an error takes."""
    names = {"sharp": needed.sharp, "safe": needed.safe, "paper": needed.paper}
    parts = [f"{'no known number' if K is None else f'{K:,}'} by the {kind} bound" for kind, K in names.items()]
    sweeps = f"An error of {format_tol(needed.atol)} takes, in sweeps a power, {', '.join(parts)}."
    degree = (
        "A Chebyshev series would have millions of terms."
        if needed.series_degree is None
        else f"A Chebyshev series takes {_counted(needed.series_degree, 'product')} for all powers."
    )
    zoom_ = needed.affordable_zoom
    served = "no zoom is" if zoom_ == 0 else "every zoom is" if zoom_ == math.inf else f"zooms up to {zoom_:.3g} are"
    return f"{sweeps} {degree} With {_counted(needed.n_iter, 'sweep')} {served} proved to keep it."


def _counted(n: int, word: str) -> str:
    return f"{n:,} {word}{'' if n == 1 else 's'}"


def format_tol(tol: float) -> str:
    """Write a tolerance: 1e-3 and 1e-6, not 0.001 and 1e-06."""
    mantissa, exponent = f"{tol:.2e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"


# ------------------------------------------------------------------------------------------ localization


def draw_decay(curve: Decay) -> Figure:
    """Draw masses outside k hops, measured, fitted and proved."""
    figure = Figure(figsize=(_WIDTH, 3.8), layout="constrained")
    plotting.decay(curve, ax=figure.subplots())
    return figure


def decay_table(curve: Decay) -> Table:
    """Put masses and bounds into a table; of many hops some are left out."""
    k = np.unique(np.round(np.linspace(0, curve.hops[-1], min(curve.hops.size, 9))).astype(int))
    header = ["hops", "measured", *(bound.name for bound in curve.bounds)]
    rows = [
        [f"{hop:,}", f"{curve.mass[hop]:.1e}", *(f"{bound.mass[hop]:.1e}" for bound in curve.bounds)]
        for hop in k.tolist()
    ]
    return Table(header, rows, n_text=0)


def say_decay(curve: Decay) -> str:
    """Say in words how fast the mass falls."""
    if curve.fit.n_points < 2:
        return "There are too few hops to fit a rate."
    small = curve.mass <= 0.01
    outside = (
        f"What is outside {_counted(int(np.argmax(small)), 'hop')} is at most 1 % of the norm"
        if small.any()
        else "What is outside is more than 1 % of the norm however many hops are taken"
    )
    text = (
        f"{outside}. The fitted rate is γ = {curve.fit.gamma:.2f} a hop "
        f"(R² = {curve.fit.r_squared:.2f}, {curve.fit.n_points} points)"
    )
    theorem = curve.bound("theorem 4")
    return f"{text}; that of Theorem 4 is {theorem.gamma:.4f}." if theorem is not None else f"{text}."


def decay_section(curve: Decay, vertex: int) -> Section:
    """Show how far the filter reaches about one vertex."""
    text = (
        f"The filter seen from vertex {vertex:,}: how much of the 2-norm of its answer to a unit impulse there is more "
        "than k hops away. A Cayley filter reaches everywhere, but little of it is far."
    )
    picture = Picture.from_figure(
        "decay",
        draw_decay(curve),
        "Dots that fall with the number of hops, a line through them, and curves above them that are proved.",
        "Relative mass outside k hops: measured, fitted by an exponential, and bounded.",
    )
    return Section("How far the filter reaches", [text], [picture], decay_table(curve), [say_decay(curve)])


# ------------------------------------------------------------------------------------------- application


@dataclass(frozen=True)
class Application:
    """A filter applied to one signal with a tolerance.

    Attributes
    ----------
    tol : float
        Error allowed, relative to the gain.
    method : str
        What the automatic choice took.
    n_matvecs : int
        Products with the Laplacian.
    bound : float
        Certified error, relative to gain and signal.
    converged : bool
        Whether that is within the tolerance.
    prepare_seconds, apply_seconds : float
        Times of one run, with what the graph's Laplacian already knew.
    """

    tol: float
    method: str
    n_matvecs: int
    bound: float
    converged: bool
    prepare_seconds: float
    apply_seconds: float


def apply_filter(L: Laplacian, polynomial: CayleyPolynomial, signal: FloatArray, tol: float) -> Application:
    """Filter a signal and keep what is known of the result.

    Parameters
    ----------
    L : Laplacian
        The graph.
    polynomial : CayleyPolynomial
        The response.
    signal : numpy.ndarray, shape (n,)
        What to filter.
    tol : float
        Error allowed, relative to the gain.
    """
    start = time.perf_counter()
    g = CayleyFilter(L, polynomial, tol=tol)
    prepared = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, info = g.filter(signal, return_info=True)
    done = time.perf_counter()
    bound = float(np.max(info.relative_error_bound))
    return Application(tol, info.method, info.n_matvecs, bound, info.converged, prepared - start, done - prepared)


def application_section(applications: Sequence[Application], n_vertices: int) -> Section:
    """Show cost and certificate for several tolerances."""
    text = (
        f"The same filter on one random signal of {_counted(n_vertices, 'number')}. The error, relative to the gain of "
        "the filter and the norm of the signal, is certified by the method, with rounding; the method is the one with "
        "the least predicted cost. A product is one pass over the graph. Times are from this machine."
    )
    header = ["tolerance", "method", "products", "certified error", "within", "prepare, ms", "apply, ms"]
    rows = [
        [
            format_tol(one.tol),
            one.method,
            f"{one.n_matvecs:,}",
            f"{one.bound:.1e}",
            "yes" if one.converged else "no",
            f"{1e3 * one.prepare_seconds:,.1f}",
            f"{1e3 * one.apply_seconds:,.1f}",
        ]
        for one in applications
    ]
    return Section("What it takes to apply it", [text], [], Table(header, rows, n_text=2))


# ------------------------------------------------------------------------------------------------ report


@dataclass(frozen=True, eq=False)
class GraphReport:
    """All of it.

    Attributes
    ----------
    sections : tuple of Section
        For :func:`cayleygsp._html.render_page`.
    numbers : dict
        What they say as numbers, ready for JSON: what is infinite is None.
    """

    sections: tuple[Section, ...]
    numbers: dict[str, Any]


#: What :func:`report_on` tells ``step``, in this order.
STEPS = ("graph", "frequencies", "zoom", "design", "bounds", "localization", "application")


def report_on(
    graph: Graph,
    kind: LaplacianKind = "combinatorial",
    *,
    order: int = 4,
    rng: np.random.Generator | int | None = None,
    step: Callable[[str], None] = lambda name: None,
) -> GraphReport:
    """Look at everything and say it.

    Parameters
    ----------
    graph : Graph
        The graph.
    kind : {"combinatorial", "normalized"}
        Which Laplacian.
    order : int
        Order of the Cayley polynomial that is designed, ≥ 1.
    rng : numpy.random.Generator or int, optional
        For probes and signals.
    step : callable
        Told the name of each of ``STEPS`` when it begins.

    Returns
    -------
    GraphReport
        Sections and numbers. A graph without edges, whose frequencies are all zero, has only the first section.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp import graph_report
    >>> found = graph_report.report_on(cg.gallery.ring(24), rng=0)
    >>> [section.title for section in found.sections][:3]
    ['The graph', 'Where its frequencies lie', 'Spectral zoom']
    """
    r = check_integer(order, "order", at_least=1)
    generator = np.random.default_rng(rng)
    step("graph")
    L = laplacian(graph, kind)
    facts = graph_facts(graph, L)
    sections = [graph_section(graph, facts)]
    numbers: dict[str, Any] = {"graph": asdict(facts)}
    if L.lmax == 0:
        no_edges = "There is no edge between two vertices: all frequencies are zero, and every filter is a number."
        return GraphReport((*sections, Section("No frequencies", [no_edges])), finite_numbers(numbers))
    step("frequencies")
    frequencies = find_frequencies(L, generator)
    sections.append(density_section(frequencies))
    step("zoom")
    n_lowest = max(math.ceil(LOW_SHARE * L.n_vertices), 1)
    section, zooms = zoom_section(frequencies, suggested_zooms(frequencies), n_lowest)
    sections.append(section)
    step("design")
    target = low_pass(frequencies)
    fits = compare_fits(target, r, L.lmax, frequencies.weight)
    sections.append(design_section(target, fits, frequencies))
    polynomial = fits["Cayley"].polynomial
    assert isinstance(polynomial, CayleyPolynomial)
    step("bounds")
    signal = generator.standard_normal(L.n_vertices)
    sweeps = SWEEPS + (MORE_SWEEPS if L.matrix.nnz <= _FEW_ENTRIES else ())
    rows = bound_rows(L, polynomial, sweeps, signal)
    needed = needs(L, polynomial, 1e-6, SWEEPS[-1])
    sections.append(bounds_section(L, polynomial, rows, needed))
    step("localization")
    vertex = typical_vertex(L)
    curve = decay_curve(CayleyFilter(L, polynomial, tol=1e-10), vertex)
    sections.append(decay_section(curve, vertex))
    step("application")
    applications = [apply_filter(L, polynomial, signal, tol) for tol in TOLERANCES]
    sections.append(application_section(applications, L.n_vertices))
    numbers |= {
        "frequencies": {
            "exact": frequencies.density.exact,
            "shares": list(ZOOM_SHARES),
            "up_to": frequencies.at_shares(ZOOM_SHARES).tolist(),
        },
        "zoom": [asdict(row) for row in zooms],
        "design": {name: fit_numbers(fit) for name, fit in fits.items()},
        "bounds": {"kappa": bounds.kappa(L, polynomial.zoom), "rows": [asdict(row) for row in rows]},
        "needs": asdict(needed),
        "decay": decay_numbers(curve) | {"vertex": vertex},
        "application": [asdict(one) for one in applications],
    }
    return GraphReport(tuple(sections), finite_numbers(numbers))


def fit_numbers(fit: Fit) -> dict[str, Any]:
    """Return a fit as numbers."""
    c = fit.polynomial.coeffs
    return {
        "order": fit.polynomial.order,
        "zoom": fit.zoom,
        "n_parameters": fit.n_parameters,
        "residual_rms": fit.residual_rms,
        "residual_max": fit.residual_max,
        "peak": fit.peak,
        "coeff_norm": fit.coeff_norm,
        "coeffs_real": np.real(c).tolist(),
        "coeffs_imag": np.imag(c).tolist(),
    }


def decay_numbers(curve: Decay) -> dict[str, Any]:
    """Return a decay curve as numbers."""
    return {
        "hops": curve.hops.tolist(),
        "mass": curve.mass.tolist(),
        "floor": curve.floor,
        "fit": asdict(curve.fit),
        "bounds": {
            bound.name: {"mass": bound.mass.tolist(), "valid": bound.valid.tolist(), "gamma": bound.gamma}
            for bound in curve.bounds
        },
    }


def finite_numbers(value: Any) -> Any:
    """Return numbers ready for JSON, with None for what it has no number for.

    Examples
    --------
    >>> from cayleygsp.graph_report import finite_numbers
    >>> finite_numbers({"a": [1.0, float("inf")], "b": True})
    {'a': [1.0, None], 'b': True}
    """
    if isinstance(value, Mapping):
        return {key: finite_numbers(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite_numbers(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
