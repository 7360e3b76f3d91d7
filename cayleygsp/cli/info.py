"""The command ``info``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from cayleygsp._format import counted, format_at_least, format_at_most
from cayleygsp.cli.loading import load, need_edges, vertices_text
from cayleygsp.cli.options import GraphOptions, OutputOptions
from cayleygsp.cli.outputs import png_bytes
from cayleygsp.cli.results import Results

if TYPE_CHECKING:
    from cayleygsp.laplacians import Laplacian
    from cayleygsp.report.facts import GraphFacts


def info_command(graph: GraphOptions, outputs: OutputOptions) -> None:
    """Size, degrees, components and spectrum of a graph.

    With -o out.png the density of its frequencies is drawn; no eigenvalues are computed of large graphs.
    """
    results = Results(outputs, (".png",))
    with results.progress(2) as step:
        step("graph")
        G, L = load(graph)
        from cayleygsp.report.facts import graph_facts

        if outputs.output:
            need_edges(L, "the density of its frequencies")
        facts = graph_facts(G, L)
        step("frequencies")
        results.write(lambda ending: _density_picture(L, graph.seed))
    results.show(asdict(facts), _lines(facts))


def _density_picture(L: Laplacian, seed: int) -> bytes:
    from cayleygsp.report.density import draw_density
    from cayleygsp.report.frequencies import find_frequencies

    return png_bytes(draw_density(find_frequencies(L, seed)))


def _lines(facts: GraphFacts) -> dict[str, str]:
    from cayleygsp.report.facts import degrees_text

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
