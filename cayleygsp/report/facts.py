"""Plain numbers about a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csgraph

from cayleygsp._typing import LaplacianKind
from cayleygsp.graph import Graph
from cayleygsp.laplacians import Laplacian

# Graphs up to this size are decomposed, larger ones are not.
DENSE_VERTICES = 1000


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
    >>> from cayleygsp.report.facts import graph_facts
    >>> ring = cg.gallery.ring(12)
    >>> facts = graph_facts(ring, cg.laplacian(ring))
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
