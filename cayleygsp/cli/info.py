"""The command ``info``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from cayleygsp._format import format_at_least, format_at_most
from cayleygsp.cli.loading import load, need_edges, vertices_text, written
from cayleygsp.cli.options import (
    ForceOption,
    GraphArgument,
    JsonOption,
    Kind,
    KindOption,
    Outputs,
    SeedOption,
    VariableOption,
)
from cayleygsp.cli.outputs import check_outputs, png_bytes, write_outputs
from cayleygsp.cli.printing import counted, print_facts, print_json, progress

if TYPE_CHECKING:
    from cayleygsp.report.facts import GraphFacts


def info_command(
    graph: GraphArgument,
    output: Outputs = [],  # noqa: B006
    kind: KindOption = Kind.combinatorial,
    variable: VariableOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
    force: ForceOption = False,
) -> None:
    """Size, degrees, components and spectrum of a graph.

    With -o out.png the density of its frequencies is drawn; no eigenvalues are computed of large graphs.
    """
    check_outputs(output, (".png",), force)
    G, L = load(graph, kind, variable, seed)
    from cayleygsp.report.facts import graph_facts

    with progress(2) as step:
        step("graph")
        facts = graph_facts(G, L)
        if output:
            need_edges(L, "the density of its frequencies")
            from cayleygsp.report.density import draw_density
            from cayleygsp.report.frequencies import find_frequencies

            step("frequencies")
            picture = png_bytes(draw_density(find_frequencies(L, seed)))
            write_outputs(dict.fromkeys(output, picture))
    if json:
        print_json(asdict(facts))
    else:
        print_facts(_said(facts) | written(output))


def _said(facts: GraphFacts) -> dict[str, str]:
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
