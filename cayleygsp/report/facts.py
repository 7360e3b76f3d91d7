"""Plain numbers about a graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cayleygsp._format import counted
from cayleygsp._typing import FloatArray, IntArray, LaplacianKind
from cayleygsp.graph import Graph
from cayleygsp.laplacians import Laplacian

# Graphs up to this size are decomposed, larger ones are not.
DENSE_VERTICES = 1000


@dataclass(frozen=True)
class GraphFacts:
    """What is known of a graph without its spectrum.

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
        Of the weighted degrees of all vertices; self-loops are not counted, so that a vertex without edges has 0.
    degree_min_connected : float or None
        The least degree of a vertex that has edges; None if there is none.
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
    degree_min_connected: float | None
    lmax_bound: float
    lmax_lower: float


def graph_facts(graph: Graph, L: Laplacian) -> GraphFacts:
    """Return sizes, degrees, components and the range of the largest frequency.

    The costliest part is a Lanczos run of 30 products.

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
    neighbours, degrees = _neighbours(graph)
    connected = degrees[neighbours > 0]
    return GraphFacts(
        name=graph.name or "graph",
        kind=L.kind,
        n_vertices=graph.n_vertices,
        n_edges=L.n_edges,
        n_loops=int(np.count_nonzero(graph.W.diagonal())),
        n_components=L.n_components,
        largest_component=int(np.bincount(L.components).max()),
        n_isolated=int(np.count_nonzero(neighbours == 0)),
        degree_min=float(degrees.min()),
        degree_median=float(np.median(degrees)),
        degree_mean=float(degrees.mean()),
        degree_max=float(degrees.max()),
        degree_min_connected=float(connected.min()) if connected.size else None,
        lmax_bound=float(L.lmax),
        lmax_lower=float(L.lanczos_lower),
    )


def degrees_text(facts: GraphFacts) -> str:
    """Return the range of the degrees in words, vertices without edges apart.

    Examples
    --------
    >>> import numpy as np
    >>> import cayleygsp as cg
    >>> from cayleygsp.report.facts import degrees_text, graph_facts
    >>> graph = cg.Graph(np.diag([0.0, 0.0, 1.0]) + np.eye(3)[[1, 0, 2]] * [[2.0], [2.0], [0.0]])
    >>> degrees_text(graph_facts(graph, cg.laplacian(graph)))
    '2 to 2, and 0 at 1 vertex without edges (self-loops not counted); median 2, mean 1.333'
    """
    notes = " (self-loops not counted)" if facts.n_loops else ""
    middle = f"{notes}; median {facts.degree_median:.4g}, mean {facts.degree_mean:.4g}"
    if facts.degree_min_connected is None:
        return f"0 at every vertex{notes}"
    least = f"{facts.degree_min_connected:.4g} to {facts.degree_max:.4g}"
    if not facts.n_isolated:
        return f"{least}{middle}"
    return f"{least}, and 0 at {counted(facts.n_isolated, 'vertex', 'vertices')} without edges{middle}"


def _neighbours(graph: Graph) -> tuple[IntArray, FloatArray]:
    """Return how many other vertices each is joined to, and the sum of the weights of these edges."""
    W = graph.W.tocoo()
    other = (W.row != W.col) & (W.data != 0)
    n = graph.n_vertices
    count = np.bincount(W.row[other], minlength=n).astype(np.int64)
    return count, np.bincount(W.row[other], weights=W.data[other], minlength=n).astype(np.float64)


def typical_vertex(L: Laplacian) -> int:
    """Return a vertex of the largest component whose degree is the median there."""
    inside = np.flatnonzero(L.components == np.argmax(np.bincount(L.components)))
    order = np.argsort(L.degrees[inside], kind="stable")
    return int(inside[order[inside.size // 2]])
