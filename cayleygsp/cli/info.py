"""The command ``info``."""

from __future__ import annotations

from dataclasses import asdict

from cayleygsp._format import counted, format_at_least, format_at_most
from cayleygsp.cli.inputs import load, need_edges, vertices_text
from cayleygsp.cli.options import GraphOptions, OutputOptions
from cayleygsp.cli.outputs import Results
from cayleygsp.report.frequencies import draw_density, find_frequencies
from cayleygsp.report.graph import GraphFacts, degrees_text, graph_facts


def info_command(graph: GraphOptions, outputs: OutputOptions) -> None:
    """Size, degrees, components and spectrum of a graph.

    -o out.png draws the density of its frequencies. Eigenvalues of large graphs are not computed.
    """
    results = Results(outputs, (".png",))
    with results.progress(2) as step:
        step("graph")
        G, L = load(graph)
        if outputs.output:
            need_edges(L, "the density of its frequencies")
        facts = graph_facts(G, L)
        step("frequencies")
        results.write(lambda ending: draw_density(find_frequencies(L, graph.seed)))
    results.show(asdict(facts), _lines(facts))


def _lines(facts: GraphFacts) -> dict[str, str]:
    more = f", the largest of {vertices_text(facts.largest_component)}" if facts.n_components > 1 else ""
    return {
        "graph": facts.name,
        "vertices": f"{facts.n_vertices:,}",
        "edges": f"{facts.n_edges:,}" + (f" and {counted(facts.n_loops, 'self-loop')}" if facts.n_loops else ""),
        "components": f"{facts.n_components:,}{more}",
        "without edges": vertices_text(facts.n_isolated),
        "degrees": degrees_text(facts),
        "Laplacian": facts.kind,
        "λ_max": f"at least {format_at_least(facts.lmax_lower, 6)}, at most {format_at_most(facts.lmax_bound, 6)}",
    }
