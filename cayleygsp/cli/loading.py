"""The graph of a command and its Laplacian, and how they are named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from cayleygsp._format import counted
from cayleygsp._typing import Symmetrize as Rule
from cayleygsp.cli.errors import BadInput, input_errors
from cayleygsp.cli.graphs import load_graph
from cayleygsp.cli.options import GraphOptions, LaplacianOptions
from cayleygsp.cli.outputs import csv_bytes
from cayleygsp.graph import Graph
from cayleygsp.laplacians import Laplacian, laplacian

if TYPE_CHECKING:
    from cayleygsp.report.bound_numbers import BoundRow
    from cayleygsp.report.zoom_numbers import ZoomRow


def load(options: GraphOptions) -> tuple[Graph, Laplacian]:
    """Return the graph that a user named and its Laplacian."""
    return load_named(options.graph, options)


def load_named(name: str, options: LaplacianOptions) -> tuple[Graph, Laplacian]:
    """Return the graph of a name and its Laplacian."""
    if not name:
        raise BadInput("GRAPH must be a file, - or a built-in graph, got an empty name")
    rule: Rule | None = None if options.symmetrize is None else options.symmetrize.value
    G = load_graph(name, options.variable, options.seed, rule)
    with input_errors():
        return G, laplacian(G, options.kind.value)


def need_edges(L: Laplacian, what: str) -> None:
    """Reject a graph without edges."""
    if L.lmax == 0:
        raise BadInput(f"the graph must have edges for {what}: all its frequencies are zero")


def graph_line(name: str | None, L: Laplacian) -> str:
    """Return a graph's name, size and spectrum in one line."""
    return (
        f"{name or 'graph'}: {vertices_text(L.n_vertices)}, {counted(L.n_edges, 'edge')}, {L.kind} Laplacian, "
        f"spectrum in [0, {L.lmax:.6g}]"
    )


def vertices_text(n: int) -> str:
    """Return a number of vertices in words."""
    return counted(n, "vertex", "vertices")


def rows_bytes(rows: Sequence[ZoomRow] | Sequence[BoundRow]) -> bytes:
    """Return rows of numbers as a CSV file."""
    return csv_bytes(list(asdict(rows[0])), [list(asdict(row).values()) for row in rows])
