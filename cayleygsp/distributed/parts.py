"""Parts of a graph: some of its vertices with their rows of the adjacency matrix.

Vertices are numbered anew, part after part: the vertices of part p are ``starts[p]`` … ``starts[p + 1] - 1``, so that
the part of a vertex is found without a table. ``vertices`` holds the numbers that the user knows them by. Rows hold an
entry for the vertex itself, 0 where it has no self-loop, and stand in the user's order: sums over them are then the
same to the last bit as those over the rows of the whole matrix.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary

import numpy as np
from scipy import sparse

from cayleygsp._typing import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of the adjacency matrix.

    Attributes
    ----------
    indptr : numpy.ndarray of int64, shape (n_rows + 1,)
        Where each row begins.
    columns : numpy.ndarray of int64
        Neighbours in the numbers of the parts, the vertex itself among them.
    weights : numpy.ndarray of float64
        Of the edges; of the vertex itself that of its self-loop, or 0.
    degrees : numpy.ndarray of float64, shape (n_rows,)
        Sums of the weights.
    """

    indptr: IntArray
    columns: IntArray
    weights: FloatArray
    degrees: FloatArray

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.indptr.size - 1

    def take(self, rows: IntArray) -> Rows:
        """Return some of the rows, in the order given."""
        lengths = self.indptr[rows + 1] - self.indptr[rows]
        indptr = np.append(0, np.cumsum(lengths))
        entries = np.repeat(self.indptr[rows] - indptr[:-1], lengths) + np.arange(indptr[-1])
        return Rows(indptr, self.columns[entries], self.weights[entries], self.degrees[rows])


@dataclass(frozen=True, eq=False)
class Part:
    """One part of a graph.

    Attributes
    ----------
    rows : Rows
        Those of its vertices.
    vertices : numpy.ndarray of int64, shape (n_own,)
        The user's numbers of its vertices, increasing.
    """

    rows: Rows
    vertices: IntArray

    @property
    def n_bytes(self) -> int:
        """Bytes of its arrays."""
        rows = self.rows
        return sum(a.nbytes for a in (rows.indptr, rows.columns, rows.weights, rows.degrees, self.vertices))


class Store(ABC):
    """Where the parts of a graph are: in memory, or in a folder.

    Attributes
    ----------
    starts : numpy.ndarray of int64, shape (n_parts + 1,)
        First number of each part, and n.
    max_degree : float
        The largest degree of the graph.
    in_order : bool
        Whether the numbers of the parts are the user's.
    token : str
        A name that no other store has.
    """

    starts: IntArray
    max_degree: float
    in_order: bool
    token: str

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return self.starts.size - 1

    @property
    def n_vertices(self) -> int:
        """Number of vertices of the graph."""
        return int(self.starts[-1])

    @abstractmethod
    def part(self, p: int) -> Part:
        """Return a part; its arrays may lie in a file."""

    def rows(self, numbers: IntArray) -> Rows:
        """Return rows of any parts, in the order of the numbers, which increase."""
        blocks = []
        edges = np.searchsorted(numbers, self.starts)
        for p in np.flatnonzero(np.diff(edges)).tolist():
            blocks.append(self.part(p).rows.take(numbers[edges[p] : edges[p + 1]] - self.starts[p]))
        return join_rows(blocks)

    def degrees(self, numbers: IntArray) -> FloatArray:
        """Return the degrees of vertices of any parts, in the order of the numbers, which increase."""
        edges = np.searchsorted(numbers, self.starts)
        parts = np.flatnonzero(np.diff(edges)).tolist()
        degrees = [self.part(p).rows.degrees[numbers[edges[p] : edges[p + 1]] - self.starts[p]] for p in parts]
        return np.concatenate([np.zeros(0), *degrees])


class MemoryStore(Store):
    """Parts in the memory of this process; a copy that is sent to a thread of this process is the same one."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.token = f"memory-{uuid4().hex}"
        _STORES[self.token] = self
        self.parts = tuple(parts)
        self.starts = np.append(0, np.cumsum([part.rows.n_rows for part in parts])).astype(np.int64)
        self.max_degree = max((float(part.rows.degrees.max(initial=0.0)) for part in parts), default=0.0)
        pairs = zip(self.starts, parts, strict=False)
        self.in_order = all(is_range(part.vertices, int(start)) for start, part in pairs)

    def part(self, p: int) -> Part:
        """Return a part."""
        return self.parts[p]

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return _in_this_process, (self.token,)


_STORES: WeakValueDictionary[str, MemoryStore] = WeakValueDictionary()


def _in_this_process(token: str) -> MemoryStore:
    """Return parts that are in the memory of this process."""
    return _STORES[token]


def is_range(vertices: IntArray, start: int) -> bool:
    """Return whether increasing numbers are start, start + 1, …."""
    return vertices.size == 0 or (int(vertices[0]) == start and int(vertices[-1]) == start + vertices.size - 1)


def join_rows(pieces: Sequence[Rows]) -> Rows:
    """Put rows one after the other."""
    sizes = np.cumsum([0, *(piece.columns.size for piece in pieces)])
    return Rows(
        np.concatenate([[0], *(piece.indptr[1:] + size for piece, size in zip(pieces, sizes, strict=False))]),
        np.concatenate([np.zeros(0, np.int64), *(piece.columns for piece in pieces)]),
        np.concatenate([np.zeros(0), *(piece.weights for piece in pieces)]),
        np.concatenate([np.zeros(0), *(piece.degrees for piece in pieces)]),
    )


def cut_graph(W: sparse.csr_array, labels: IntArray, n_parts: int) -> list[Part]:
    """Cut a graph into parts.

    Parameters
    ----------
    W : sparse.csr_array
        Symmetric adjacency matrix, as :func:`cayleygsp.graph.as_adjacency` returns it.
    labels : numpy.ndarray of int64, shape (n,)
        The part of each vertex.
    n_parts : int
        Number of parts; some may be empty.
    """
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(n_parts + 1))
    number = np.empty(order.size, np.int64)
    number[order] = np.arange(order.size)
    parts = []
    for first, last in itertools.pairwise(starts):
        vertices = order[first:last]
        own = W[vertices]
        own.sort_indices()
        parts.append(Part(complete_rows(own, vertices, number), vertices))
    return parts


def complete_rows(W: sparse.csr_array, vertices: IntArray, number: IntArray | None = None) -> Rows:
    """Return rows of a matrix, sorted by columns, with an entry for each vertex itself.

    Parameters
    ----------
    W : sparse.csr_array, shape (n_rows, n)
        Rows of the adjacency matrix.
    vertices : numpy.ndarray
        The vertex of each row.
    number : numpy.ndarray, optional
        The number of each vertex, if it is another one.
    """
    n_rows = vertices.size
    rows = np.repeat(np.arange(n_rows), np.diff(W.indptr))
    columns, weights = W.indices.astype(np.int64), W.data.astype(np.float64)
    loops = np.zeros(n_rows, np.bool_)
    loops[rows[columns == vertices[rows]]] = True
    without = np.flatnonzero(~loops)
    # where an entry for the vertex itself goes: behind those of its row with smaller columns
    smaller = np.bincount(rows[columns < vertices[rows]], minlength=n_rows)
    places = (W.indptr[:-1] + smaller)[without]
    columns = np.insert(columns, places, vertices[without])
    indptr = W.indptr.astype(np.int64) + np.append(0, np.cumsum(~loops))
    degrees = W.sum(axis=1)
    return Rows(indptr, columns if number is None else number[columns], np.insert(weights, places, 0.0), degrees)
