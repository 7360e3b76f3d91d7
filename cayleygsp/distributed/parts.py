"""Parts of a graph: some of its vertices with their rows of the adjacency matrix.

Vertices are numbered anew, part after part: the vertices of part p are ``starts[p]`` … ``starts[p + 1] - 1``, so that
the part of a vertex is found without a table. ``vertices`` holds the numbers that the user knows them by. Rows hold an
entry for the vertex itself, 0 where it has no self-loop, and stand in the user's order: sums over them are then the
same to the last bit as those over the rows of the whole matrix.
"""

from __future__ import annotations

import itertools
import sys
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock, RLock
from typing import Any, Protocol
from uuid import uuid4
from weakref import WeakValueDictionary

import numpy as np
from scipy import sparse

from cayleygsp._typing import FloatArray, IntArray, LaplacianKind
from cayleygsp.engine.packed import KernelGraph, prepare_graph
from cayleygsp.laplacians import normalized_entries


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


# Share of a worker's memory limit, less what it takes anyway, for prepared matrices, and bytes where there is no limit.
_SHARE = 0.45
_NO_LIMIT = 2**40

# Graphs whose matrices are kept: those that were used last.
_GRAPHS = 3


class Sized(Protocol):
    """Something that knows how many bytes it takes."""

    @property
    def n_bytes(self) -> int:
        """Bytes of its arrays."""


class WorkerCache:
    """Values by their keys, the oldest of which are dropped when they take more than a number of bytes.

    Keys that are tuples begin with the name of a graph; those of the few graphs that were used last are kept.

    Examples
    --------
    >>> from cayleygsp.distributed.parts import WorkerCache
    >>> class Thing:
    ...     n_bytes = 10
    >>> cache = WorkerCache()
    >>> first = cache.get("a", Thing, limit=15)
    >>> cache.get("a", Thing, limit=15) is first
    True
    >>> other = cache.get("b", Thing, limit=15)
    >>> cache.get("a", Thing, limit=15) is first
    False
    """

    def __init__(self) -> None:
        self._values: OrderedDict[Hashable, Sized] = OrderedDict()
        self._making: dict[Hashable, RLock] = {}
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Any], limit: int) -> Any:
        """Return a value, made now if it is not there; threads that ask for the same wait for one to make it."""
        with self._lock:
            making = self._making.setdefault(key, RLock())
        with making:
            with self._lock:
                if key in self._values:
                    self._values.move_to_end(key)
                    return self._values[key]
            value = make()
            with self._lock:
                self._values[key] = value
                while len(self._values) > 1 and (self._n_bytes > limit or self._n_graphs > _GRAPHS):
                    dropped, _ = self._values.popitem(last=False)
                    self._making.pop(dropped, None)
            return value

    @property
    def _n_bytes(self) -> int:
        return sum(one.n_bytes for one in self._values.values())

    @property
    def _n_graphs(self) -> int:
        return len({key[0] for key in self._values if isinstance(key, tuple)})

    def forget(self, token: str) -> None:
        """Drop everything whose key begins with a token."""
        with self._lock:
            for key in [one for one in self._values if isinstance(one, tuple) and one[0] == token]:
                del self._values[key]
                self._making.pop(key, None)


CACHE = WorkerCache()


def cache_bytes() -> int:
    """Return the bytes that prepared matrices may take in this process: a share of what a worker's limit leaves."""
    if "distributed" not in sys.modules:
        return _NO_LIMIT
    from distributed import get_worker

    try:
        worker: Any = get_worker()
    except ValueError:
        return _NO_LIMIT
    limit = worker.memory_manager.memory_limit
    return int(_SHARE * max(limit - _first_bytes(worker.monitor.proc), 0)) if limit else _NO_LIMIT


@cache
def _first_bytes(process: Any) -> int:
    """Return the bytes of a worker's process when it is first asked for, before it had any matrix."""
    return int(process.memory_info().rss)


@dataclass(frozen=True, eq=False)
class Region:
    """A part and what lies around it.

    Attributes
    ----------
    p : int
        The part.
    rows : Rows
        Of the part, then of the rings around it without the last, ring by ring.
    halo : numpy.ndarray of int64
        Vertices that are 1, 2, … edges away from the part, ring by ring, increasing in each.
    ends : numpy.ndarray of int64, shape (hops + 1,)
        Vertices of the part, and together with 1, 2, … rings.
    """

    p: int
    rows: Rows
    halo: IntArray
    ends: IntArray

    @property
    def hops(self) -> int:
        """Number of rings."""
        return self.ends.size - 1

    @property
    def n_own(self) -> int:
        """Vertices of the part."""
        return int(self.ends[0])

    @property
    def n_local(self) -> int:
        """Vertices of the part and around it."""
        return int(self.ends[-1])


@dataclass(frozen=True, eq=False)
class Import:
    """What a part takes from another one.

    Attributes
    ----------
    source : int
        The other part.
    rows : numpy.ndarray of int64
        Rows of the other part, those of the nearest ring first.
    slots : numpy.ndarray of int64
        Where they go among the local values.
    counts : numpy.ndarray of int64, shape (hops + 1,)
        How many of them are at most 0, 1, … edges away.
    """

    source: int
    rows: IntArray
    slots: IntArray
    counts: IntArray


def region(store: Store, p: int, hops: int, most: int | None = None) -> Region:
    """Look around a part.

    Parameters
    ----------
    store : Store
        All parts.
    p : int
        The part.
    hops : int
        Rings around it, at least 1.
    most : int, optional
        Stop when there are more vertices than this around it; the region then has fewer rings.
    """
    start, stop = int(store.starts[p]), int(store.starts[p + 1])
    rows = [store.part(p).rows]
    halo, ends = np.zeros(0, np.int64), [stop - start]
    inside = np.zeros(0, np.int64)  # the halo in increasing order
    for ring in range(1, hops + 1):
        if ring > 1:
            rows.append(store.rows(halo[ends[-2] - ends[0] :]))
        columns = rows[-1].columns
        reached = np.unique(columns[(columns < start) | (columns >= stop)])
        new = np.setdiff1d(reached, inside, assume_unique=True)
        halo, inside = np.concatenate([halo, new]), np.union1d(inside, new)
        ends.append(stop - start + halo.size)
        if most is not None and halo.size > most:
            break
    return Region(p, join_rows(rows), halo, np.array(ends))


def imports(store: Store, around: Region) -> list[Import]:
    """Return what a part takes from the others, those from which it takes something."""
    owners = np.searchsorted(store.starts, around.halo, side="right") - 1
    taken = []
    for q in np.unique(owners).tolist():
        places = np.flatnonzero(owners == q)
        slots = around.n_own + places
        counts = np.searchsorted(slots, around.ends)
        taken.append(Import(q, around.halo[places] - store.starts[q], slots, counts))
    return taken


def laplacian_rows(store: Store, around: Region, kind: LaplacianKind) -> tuple[sparse.csr_array, FloatArray]:
    """Return rows of the Laplacian with local columns, and its diagonal; entries in the user's order."""
    rows, n_local = around.rows, around.n_local
    order = np.argsort(around.halo)
    halo = around.halo[order]
    start = int(store.starts[around.p])
    columns = rows.columns - start
    outside = (columns < 0) | (columns >= around.n_own)
    columns[outside] = around.n_own + order[np.searchsorted(halo, rows.columns[outside])]
    i = np.repeat(np.arange(rows.n_rows), np.diff(rows.indptr))
    itself = columns == i
    W = sparse.csr_array(
        (rows.weights[~itself], columns[~itself], np.append(0, np.cumsum(np.diff(rows.indptr) - 1))),
        shape=(rows.n_rows, n_local),
    )
    if kind == "combinatorial":
        diagonal, values = W.sum(axis=1), W.data
    else:
        degrees = np.concatenate([rows.degrees[: around.n_own], np.empty(around.halo.size)])
        degrees[around.n_own + order] = store.degrees(halo)
        diagonal, values = normalized_entries(W, degrees, store.max_degree)
    data = np.empty(columns.size)
    data[itself], data[~itself] = diagonal, -values
    index = np.int32 if max(data.size, n_local) < 2**31 else np.int64
    arrays = (data, columns.astype(index), rows.indptr.astype(index))
    return sparse.csr_array(arrays, shape=(rows.n_rows, n_local)), diagonal


@dataclass(frozen=True, eq=False)
class LocalMatrix:
    """What a part steps the recurrence with.

    Attributes
    ----------
    graph : KernelGraph
        Rows of the part and of the rings around it without the last.
    ends : numpy.ndarray of int64
        See :class:`Region`.
    slots : dict of int to numpy.ndarray
        Where the values of other parts go, see :class:`Import`.
    """

    graph: KernelGraph
    ends: IntArray
    slots: dict[int, IntArray]

    @property
    def n_bytes(self) -> int:
        """Bytes of its arrays."""
        return self.graph.n_bytes + sum(slots.nbytes for slots in self.slots.values())


def prepare_part(store: Store, p: int, kind: LaplacianKind, hops: int, dtype: Any) -> LocalMatrix:
    """Prepare a part for exchanges of the values up to ``hops`` edges away."""
    around = region(store, p, hops)
    L, _ = laplacian_rows(store, around, kind)
    graph = prepare_graph(L, dtype, reorder=False)
    return LocalMatrix(graph, around.ends, {one.source: one.slots for one in imports(store, around)})


def whole_matrix(store: Store, kind: LaplacianKind, dtype: Any) -> KernelGraph:
    """Put all parts together, in the numbers of the parts."""
    rows = join_rows([store.part(p).rows for p in range(store.n_parts)])
    everything = Region(0, rows, np.zeros(0, np.int64), np.array([store.n_vertices]))
    return prepare_graph(laplacian_rows(store, everything, kind)[0], dtype, reorder=False)
