"""Graphs in GraphML files."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
from scipy import sparse

from cayleygsp._text import printable, quoted
from cayleygsp._typing import FloatArray
from cayleygsp.graph import as_adjacency, networkx_edges
from cayleygsp.io.content import Content, Request
from cayleygsp.io.files import parsing
from cayleygsp.io.labels import label_array
from cayleygsp.io.limits import check_memory

# The memory that the tree of elements and the graph in networkx need per byte of the file: 20 to 43 were measured.
_COST = 50

_CHUNK = 2**16

# Attributes of vertices that are coordinates.
_COORDS = (("x", "y", "z"), ("x", "y"), ("lon", "lat"), ("longitude", "latitude"))


def read_graphml(file: Path, request: Request) -> Content:
    """Return adjacency matrix, labels and coordinates of a GraphML file."""
    import networkx

    check_memory(file, "its content", _COST * file.stat().st_size)
    with parsing(file, "GraphML"):
        document_type = _has_document_type(file)
    if document_type:
        raise ValueError(
            f"{quoted(file)} must be plain GraphML, got a document type declaration, which could hide entities"
        )
    with parsing(file, "GraphML"):
        graph = networkx.read_graphml(file)
    labels = label_array(list(graph), file, file.stat().st_size)
    return Content(_matrix(graph, file, request), labels, _coordinates(graph))


class _FirstElement(Exception):
    """The first element was reached; a document type can only stand before it."""


def _has_document_type(file: Path) -> bool:
    """Tell whether there is a document type declaration, in any encoding that the parser of the file knows."""
    seen = []

    def start_element(name: str, attributes: dict[str, str]) -> None:
        raise _FirstElement

    parser = expat.ParserCreate()
    parser.StartDoctypeDeclHandler = lambda *arguments: seen.append(True)
    parser.StartElementHandler = start_element
    try:
        with file.open("rb") as stream:
            while not seen and (chunk := stream.read(_CHUNK)):
                parser.Parse(chunk, False)
        if not seen:
            parser.Parse(b"", True)  # newer versions of the parser put off what they have read
    except (_FirstElement, expat.ExpatError):
        # What is not well-formed the reader rejects, with the same parser, and names the place.
        pass
    return bool(seen)


def _matrix(graph: Any, file: Path, request: Request) -> Any:
    name = printable(file)
    if request.symmetrize is not None or not graph.is_directed():
        return as_adjacency(graph, name=name, symmetrize=request.symmetrize)
    tails, heads, weights = networkx_edges(graph, name=name)
    matrix = sparse.csr_array((weights, (tails, heads)), shape=(len(graph), len(graph)))
    if abs(matrix - matrix.T).max() > 0:
        raise ValueError(
            f"{quoted(file)} must hold an undirected graph; it is directed, and not all edges have one of the same "
            "weight in the opposite direction; symmetrize 'max' or 'mean' takes the directions away"
        )
    return matrix


def _coordinates(graph: Any) -> FloatArray | None:
    """Return the coordinates if all vertices have them as finite numbers."""
    for names in _COORDS:
        rows = [[attributes.get(name) for name in names] for _, attributes in graph.nodes(data=True)]
        if all(isinstance(value, (int, float)) for row in rows for value in row):
            coords = np.array(rows, dtype=np.float64).reshape(-1, len(names))
            return coords if np.isfinite(coords).all() else None
    return None
