"""The 15-community graph and its spectrum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

import cayleygsp as cg
from cayleygsp import gallery, plotting
from cayleygsp._html import Picture, Section, new_figure
from cayleygsp._typing import FloatArray

# The lowest frequencies, which carry the communities.
N_KEPT = 15


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


def draw_graph(graph: cg.Graph) -> Figure:
    """Draw the graph with its communities."""
    figure = new_figure(5.2)
    plotting.graph(graph, ax=figure.subplots(), s=22)
    return figure


def graph_section(spectrum: Spectrum) -> Section:
    """Return the section on the graph."""
    graph, lam = spectrum.graph, spectrum.eigenvalues
    sizes = np.bincount(np.asarray(graph.labels))
    text = (
        f"{sizes.size} communities of {sizes.min()} to {sizes.max()} vertices, {graph.n_vertices} vertices and "
        f"{graph.n_edges} edges in all. The frequencies of the graph are the eigenvalues λ of its combinatorial "
        f"Laplacian, from 0 to {lam[-1]:.3g}. The first {N_KEPT} go up to {lam[N_KEPT - 1]:.3g}, the next is "
        f"{lam[N_KEPT]:.3g}: signals that are nearly constant on communities live on the first {N_KEPT}."
    )
    picture = Picture.from_figure(
        "graph",
        draw_graph(graph),
        "A graph of separate discs, one per community, with few edges between them.",
        "Colour, marker and number tell the communities apart; lines are edges.",
        shrinks=True,
    )
    return Section("The graph", [text], [picture])
