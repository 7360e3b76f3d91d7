"""Graphs in GraphML files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from cayleygsp._typing import Array
from cayleygsp.graph import as_adjacency, networkx_edges
from cayleygsp.io.files import parsing


def read_graphml(file: Path) -> tuple[sparse.csr_array, Array]:
    """Return the adjacency matrix and labels of a GraphML file."""
    import networkx

    if b"<!DOCTYPE" in file.read_bytes():
        raise ValueError(f"'{file}' must be plain GraphML, got a document type declaration, which could hide entities")
    with parsing(file, "GraphML"):
        graph = networkx.read_graphml(file)
    labels = np.array(list(graph), dtype=np.str_)
    if not graph.is_directed():
        return as_adjacency(graph, name=str(file)), labels
    tails, heads, weights = networkx_edges(graph, name=str(file))
    matrix = sparse.csr_array((weights, (tails, heads)), shape=(len(graph), len(graph)))
    if abs(matrix - matrix.T).max() > 0:
        raise ValueError(
            f"'{file}' must hold an undirected graph; it is directed, and not all edges have "
            "one of the same weight in the opposite direction"
        )
    return matrix, labels
