"""The section on the graph itself."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from cayleygsp._format import counted, format_at_least, format_at_most
from cayleygsp._html import Picture, Section, Table, new_figure
from cayleygsp._typing import LaplacianKind
from cayleygsp.graph import Graph
from cayleygsp.laplacians import Laplacian

# A picture of more edges than this shows nothing.
DRAWN_EDGES = 30_000


@dataclass(frozen=True)
class GraphFacts:
    """What is known of a graph without its spectrum."""

    name: str
    kind: LaplacianKind
    n_vertices: int
    # Between different vertices; self-loops are counted apart.
    n_edges: int
    n_loops: int
    # Connected components, the vertices in the largest of them, and those without an edge to another one.
    n_components: int
    largest_component: int
    n_isolated: int
    # Of the weighted degrees of all vertices, without self-loops: a vertex without edges has 0. The least degree of a
    # vertex that has edges is None if there is none.
    degree_min: float
    degree_median: float
    degree_mean: float
    degree_max: float
    degree_min_connected: float | None
    # Numbers that the largest eigenvalue is certainly not above and not below.
    lmax_bound: float
    lmax_lower: float


def graph_facts(graph: Graph, L: Laplacian) -> GraphFacts:
    """Return sizes, degrees, components and the range of the largest frequency; the cost is that of 30 products."""
    W, n = graph.W.tocoo(), graph.n_vertices
    other = (W.row != W.col) & (W.data != 0)
    neighbours = np.bincount(W.row[other], minlength=n)
    degrees = np.bincount(W.row[other], weights=W.data[other], minlength=n)
    connected = degrees[neighbours > 0]
    return GraphFacts(
        name=graph.name or "graph",
        kind=L.kind,
        n_vertices=n,
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
    """Return the range of the degrees in words, vertices without edges apart."""
    notes = " (self-loops not counted)" if facts.n_loops else ""
    middle = f"{notes}; median {facts.degree_median:.4g}, mean {facts.degree_mean:.4g}"
    if facts.degree_min_connected is None:
        return f"0 at every vertex{notes}"
    least = f"{facts.degree_min_connected:.4g} to {facts.degree_max:.4g}"
    if not facts.n_isolated:
        return f"{least}{middle}"
    return f"{least}, and 0 at {counted(facts.n_isolated, 'vertex', 'vertices')} without edges{middle}"


def facts_table(facts: GraphFacts) -> Table:
    """Put sizes and degrees into a table."""
    least = facts.degree_min_connected
    loops = ", without self-loops" if facts.n_loops else ""
    rows = [
        ["vertices", f"{facts.n_vertices:,}"],
        ["edges", f"{facts.n_edges:,}"],
        ["self-loops", f"{facts.n_loops:,}"],
        ["connected components", f"{facts.n_components:,}"],
        ["vertices in the largest", f"{facts.largest_component:,}"],
        ["vertices without edges", f"{facts.n_isolated:,}"],
        [f"least degree{loops}", f"{facts.degree_min:.4g}"],
    ]
    if facts.n_isolated and least is not None:
        rows.append([f"least degree of a vertex with edges{loops}", f"{least:.4g}"])
    rows += [
        [f"median degree{loops}", f"{facts.degree_median:.4g}"],
        [f"mean degree{loops}", f"{facts.degree_mean:.4g}"],
        [f"largest degree{loops}", f"{facts.degree_max:.4g}"],
        ["largest frequency, at least", format_at_least(facts.lmax_lower)],
        ["largest frequency, at most", format_at_most(facts.lmax_bound)],
    ]
    return Table(["quantity", "value"], rows)


def graph_section(graph: Graph, L: Laplacian) -> tuple[Section, dict[str, Any]]:
    """Return sizes and degrees, and the graph itself where it has coordinates and is not too large to be drawn."""
    facts = graph_facts(graph, L)
    text = (
        f"The frequencies of the graph are the eigenvalues λ of its {facts.kind} Laplacian. That none is above "
        f"{format_at_most(facts.lmax_bound)} is proved, not estimated; all certificates below rest on it."
    )
    pictures = []
    if graph.coords is not None and graph.n_edges <= DRAWN_EDGES:
        from cayleygsp import plotting

        figure = new_figure(5.2)
        plotting.graph(graph, ax=figure.subplots())
        edges = "Dots are vertices, lines are edges" if facts.n_edges else "Dots are vertices; there are no edges"
        third = ", seen along the third axis" if graph.coords.shape[1] > 2 else ""
        alt, caption = "The vertices and edges of the graph.", f"{edges}{third}."
        pictures.append(Picture.from_figure("graph", figure, alt, caption, shrinks=True))
    return Section("The graph", [text], pictures, facts_table(facts)), {"graph": asdict(facts)}
