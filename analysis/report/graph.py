"""The 15-community graph with its spectrum, and the filter that keeps its communities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import cayleygsp as cg
from cayleygsp import gallery, plotting
from cayleygsp._format import format_at_most
from cayleygsp._html import Picture, Section, new_figure
from cayleygsp._typing import FloatArray
from cayleygsp.design import Fit, LowPass, fit_cayley, fit_chebyshev

# The lowest frequencies, which carry the communities.
N_KEPT = 15

ORDER = 8
RIDGE = 1e-3


@dataclass(frozen=True)
class Spectrum:
    """The graph, its Laplacian, and its spectrum by a dense solver that is not the package's."""

    graph: cg.Graph
    laplacian: cg.Laplacian
    eigenvalues: FloatArray
    eigenvectors: FloatArray


def compute_spectrum(seed: int) -> Spectrum:
    """Return the 15-community graph with its combinatorial Laplacian and numpy's eigendecomposition of it."""
    graph = gallery.communities(rng=seed)
    L = cg.laplacian(graph, "combinatorial")
    lam, Phi = np.linalg.eigh(L.matrix.toarray())
    return Spectrum(graph, L, np.maximum(lam, 0.0), Phi)


def graph_section(spectrum: Spectrum) -> tuple[Section, dict[str, Any]]:
    """Return the section on the graph, and its numbers."""
    graph, lam = spectrum.graph, spectrum.eigenvalues
    sizes = np.bincount(np.asarray(graph.labels))
    text = (
        f"{sizes.size} communities of {sizes.min()} to {sizes.max()} vertices, {graph.n_vertices} vertices and "
        f"{graph.n_edges} edges in all. The frequencies of the graph are the eigenvalues λ of its combinatorial "
        f"Laplacian, from 0 to {lam[-1]:.3g}. The first {N_KEPT} go up to {lam[N_KEPT - 1]:.3g}, the next is "
        f"{lam[N_KEPT]:.3g}: signals that are nearly constant on communities live on the first {N_KEPT}."
    )
    figure = new_figure(5.2)
    plotting.graph(graph, ax=figure.subplots(), s=22)
    picture = Picture.from_figure(
        "graph",
        figure,
        "A graph of separate discs, one per community, with few edges between them.",
        "Colour, marker and number tell the communities apart; lines are edges.",
        shrinks=True,
    )
    sizes_of = {"n_vertices": graph.n_vertices, "n_edges": graph.n_edges}
    return Section("The graph", [text], [picture]), {"graph": sizes_of, "eigenvalues": lam.tolist()}


def fit_low_pass(spectrum: Spectrum) -> dict[str, Fit]:
    """Fit polynomials that keep the first frequencies and stop the others; in the gap between, any value will do.

    One is a Cayley polynomial whose ridge keeps its coefficients as small as the response, the other the Chebyshev
    polynomial with as many parameters.
    """
    lam, lmax = spectrum.eigenvalues, spectrum.laplacian.lmax
    last, first = float(lam[N_KEPT - 1]), float(lam[N_KEPT])
    # both ends of the gap matter, so the transition is a little narrower
    target = LowPass((last + first) / 2, transition=0.999 * (first - last))
    cayley = fit_cayley(target, ORDER, lmax, weight=lam, ridge=RIDGE)
    return {"Cayley": cayley, "Chebyshev": fit_chebyshev(target, 2 * ORDER + 1, lmax, weight=lam, ridge=RIDGE)}


def filter_section(spectrum: Spectrum, polynomial: cg.CayleyPolynomial) -> tuple[Section, dict[str, Any]]:
    """Return the section on the response of the filter, and its numbers."""
    lam, g = spectrum.eigenvalues, polynomial(spectrum.eigenvalues)
    text = (
        f"The Cayley polynomial of order {polynomial.order} with zoom h = {polynomial.zoom:.3g} multiplies the first "
        f"{N_KEPT} frequencies by {g[:N_KEPT].min():.2f} to {g[:N_KEPT].max():.2f}, the one after them by "
        f"{g[N_KEPT]:.2f}, and every other by at most {format_at_most(np.abs(g[N_KEPT + 1 :]).max(), 2)} in size."
    )
    figure = new_figure(5.0)
    over_lambda, unrolled = figure.subplots(2, 1)
    plotting.response(polynomial, float(lam[-1]), eigenvalues=lam, ax=over_lambda)
    plotting.unrolled_response(polynomial, lam, n_marked=N_KEPT, ax=unrolled)
    picture = Picture.from_figure(
        "response",
        figure,
        "Two curves that fall from one to zero: steeply over frequency, gently over the unrolled half circle.",
        f"The response over frequency (above) and over the unrolled half circle (below). Grey lines are the "
        f"frequencies of the graph, below the first {N_KEPT} of them darker.",
    )
    numbers = {
        "order": polynomial.order,
        "zoom": polynomial.zoom,
        "coeffs_real": polynomial.coeffs.real.tolist(),
        "coeffs_imag": polynomial.coeffs.imag.tolist(),
        "kept_min": float(g[:N_KEPT].min()),
        "kept_max": float(g[:N_KEPT].max()),
        "stopped_max": float(np.abs(g[N_KEPT:]).max()),
    }
    return Section("Its response", [text], [picture]), {"filter": numbers}
