"""The section on the graph itself."""

from __future__ import annotations

from matplotlib.figure import Figure

from cayleygsp import plotting
from cayleygsp._html import Picture, Section, Table
from cayleygsp.graph import Graph
from cayleygsp.report.density import WIDTH
from cayleygsp.report.facts import GraphFacts

# A picture of more edges than this shows nothing.
DRAWN_EDGES = 30_000


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
        figure = Figure(figsize=(WIDTH, 5.2), layout="constrained")
        plotting.graph(graph, ax=figure.subplots())
        pictures.append(Picture.from_figure("graph", figure, "The vertices and edges of the graph.", shrinks=True))
    return Section("The graph", [text], pictures, Table(["", "value"], rows))
