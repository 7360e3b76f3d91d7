"""The section on the graph itself."""

from __future__ import annotations

from matplotlib.figure import Figure

from cayleygsp import plotting
from cayleygsp._format import format_at_least, format_at_most
from cayleygsp._html import Picture, Section, Table
from cayleygsp.graph import Graph
from cayleygsp.report.facts import GraphFacts
from cayleygsp.report.figures import WIDTH

# A picture of more edges than this shows nothing.
DRAWN_EDGES = 30_000


def graph_section(graph: Graph, facts: GraphFacts) -> Section:
    """Return sizes and degrees, and the graph itself where it has coordinates and is not too large to be drawn."""
    text = (
        f"The frequencies of the graph are the eigenvalues λ of its {facts.kind} Laplacian. That none is above "
        f"{format_at_most(facts.lmax_bound)} is proved, not estimated; all certificates below rest on it."
    )
    pictures = []
    if graph.coords is not None and graph.n_edges <= DRAWN_EDGES:
        figure = Figure(figsize=(WIDTH, 5.2), layout="constrained")
        plotting.graph(graph, ax=figure.subplots())
        alt = "The vertices and edges of the graph."
        pictures.append(Picture.from_figure("graph", figure, alt, _caption(graph, facts), shrinks=True))
    return Section("The graph", [text], pictures, facts_table(facts))


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


def _caption(graph: Graph, facts: GraphFacts) -> str:
    edges = "Dots are vertices, lines are edges" if facts.n_edges else "Dots are vertices; there are no edges"
    third = ", seen along the third axis" if graph.coords is not None and graph.coords.shape[1] > 2 else ""
    return f"{edges}{third}."
