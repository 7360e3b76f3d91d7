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
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from threading import Lock, RLock
from typing import Any, NamedTuple
from uuid import uuid4
from weakref import WeakValueDictionary

import numpy as np
from scipy import sparse

from cayleygsp._typing import FloatArray, IntArray, LaplacianKind
from cayleygsp.engine.packed import KernelGraph, prepare_graph
from cayleygsp.laplacians import normalized_entries


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of the adjacency matrix: ``columns`` are numbers of the parts, ``degrees`` the sums of the weights."""

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
    """One part of a graph: the rows of its vertices, and the user's numbers of these, increasing."""

    rows: Rows
    vertices: IntArray


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
        edges = np.searchsorted(numbers, self.starts)
        parts = np.flatnonzero(np.diff(edges)).tolist()
        return join_rows([self.part(p).rows.take(numbers[edges[p] : edges[p + 1]] - self.starts[p]) for p in parts])

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
    if len(pieces) == 1:
        return pieces[0]
    sizes = np.cumsum([0] + [piece.columns.size for piece in pieces])
    return Rows(
        np.concatenate([[0]] + [piece.indptr[1:] + size for piece, size in zip(pieces, sizes, strict=False)]),
        np.concatenate([np.zeros(0, np.int64)] + [piece.columns for piece in pieces]),
        np.concatenate([np.zeros(0)] + [piece.weights for piece in pieces]),
        np.concatenate([np.zeros(0)] + [piece.degrees for piece in pieces]),
    )


def numbering(labels: IntArray, n_parts: int) -> tuple[list[IntArray], IntArray]:
    """Return the vertices of each part, increasing, and the number of each vertex, from the part of each vertex."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(n_parts + 1))
    number = np.empty(order.size, np.int64)
    number[order] = np.arange(order.size)
    return [order[first:last] for first, last in itertools.pairwise(starts)], number


def cut_graph(W: sparse.csr_array, labels: IntArray, n_parts: int) -> Iterator[Part]:
    """Yield the parts of a symmetric adjacency matrix, by the part of each vertex; some may be empty."""
    vertices_of_parts, number = numbering(labels, n_parts)
    for vertices in vertices_of_parts:
        own = W[vertices]
        own.sort_indices()
        yield Part(complete_rows(own, vertices, number), vertices)


def complete_rows(W: sparse.csr_array, vertices: IntArray, number: IntArray) -> Rows:
    """Return the rows of some vertices, shape (n_rows, n), sorted by columns, with an entry for each vertex itself."""
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
    return Rows(indptr, number[columns], np.insert(weights, places, 0.0), W.sum(axis=1))


# Share of a worker's memory limit, less what it takes anyway, for prepared matrices, and bytes where there is no limit.
_SHARE = 0.45
_NO_LIMIT = 2**40

# Graphs whose matrices are kept: those that were used last.
_GRAPHS = 3


class WorkerCache:
    """What a process has made of parts, by keys that begin with the name of a graph; each value knows its ``n_bytes``.

    The oldest values are dropped when they take more than ``limit()`` bytes; those of the few graphs that were used
    last are kept.
    """

    def __init__(self, limit: Callable[[], int]) -> None:
        self._limit = limit
        self._values: OrderedDict[tuple[Any, ...], Any] = OrderedDict()
        self._making: dict[tuple[Any, ...], RLock] = {}
        self._lock = Lock()

    def get(self, key: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Return a value, made now if it is not there; threads that ask for the same wait for one to make it."""
        with self._lock:
            making = self._making.setdefault(key, RLock())
        with making:
            with self._lock:
                if key in self._values:
                    self._values.move_to_end(key)
                    return self._values[key]
            value, limit = make(), self._limit()
            with self._lock:
                self._values[key] = value
                while len(self._values) > 1 and (
                    sum([one.n_bytes for one in self._values.values()]) > limit
                    or len({graph for graph, *_ in self._values}) > _GRAPHS
                ):
                    dropped, _ = self._values.popitem(last=False)
                    self._making.pop(dropped, None)
            return value

    def forget(self, token: str) -> None:
        """Drop everything whose key begins with a token."""
        with self._lock:
            for key in [key for key in self._values if key[0] == token]:
                del self._values[key]
                self._making.pop(key, None)


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


CACHE = WorkerCache(cache_bytes)


class Region(NamedTuple):
    """A part and rings around it, of the vertices that are 1, 2, … edges away.

    ``halo`` holds the rings, one after the other and each increasing; ``ends`` counts the vertices of the part, and
    together with 1, 2, … rings; ``entries`` those of the rows of these, but for the last ring.
    """

    p: int
    halo: IntArray
    ends: IntArray
    entries: IntArray

    @property
    def n_own(self) -> int:
        """Vertices of the part."""
        return int(self.ends[0])

    def rows(self, store: Store) -> Rows:
        """Return the rows of the part, then of the rings around it without the last."""
        rings = itertools.pairwise(self.ends[:-1] - self.n_own)
        return join_rows([store.part(self.p).rows] + [store.rows(self.halo[first:last]) for first, last in rings])


class Surroundings:
    """The rings around a part; each is looked for once in a process, when it is first asked for."""

    def __init__(self, n_own: int) -> None:
        self._halo = np.zeros(0, np.int64)
        self._ends, self._entries = [n_own], list[int]()
        self._lock = Lock()

    @property
    def n_bytes(self) -> int:
        """Bytes of its arrays."""
        return self._halo.nbytes

    def region(self, store: Store, p: int, hops: int, most: int) -> Region:
        """Return the part with so many rings, or with the first few that have more than ``most`` vertices."""
        start, stop = int(store.starts[p]), int(store.starts[p + 1])
        with self._lock:
            while len(self._entries) < hops and self._halo.size <= most:
                outermost = self._halo[self._ends[-2] - self._ends[0] :] if self._entries else None
                rows = store.part(p).rows if outermost is None else store.rows(outermost)
                reached = np.unique(rows.columns[(rows.columns < start) | (rows.columns >= stop)])
                new = np.setdiff1d(reached, self._halo, assume_unique=True)
                self._halo = np.concatenate([self._halo, new])
                self._ends.append(stop - start + self._halo.size)
                self._entries.append(sum(self._entries[-1:]) + rows.columns.size)
            ends, entries = np.array(self._ends), np.array(self._entries)
        hops = min(hops, 1 + int(np.searchsorted(ends[1:] - ends[0], most, side="right")))
        return Region(p, self._halo[: ends[hops] - ends[0]], ends[: hops + 1], entries[:hops])


def region(store: Store, p: int, hops: int, most: int | None = None) -> Region:
    """Look around a part, ``hops`` ≥ 1 edges far, or until there are more vertices than ``most`` around it."""
    n_own = int(store.starts[p + 1] - store.starts[p])
    surroundings: Surroundings = CACHE.get((store.token, p, "rings"), lambda: Surroundings(n_own))
    return surroundings.region(store, p, hops, store.n_vertices if most is None else most)


class Import(NamedTuple):
    """What a part takes from another one.

    ``rows`` are rows of the other part, those of the nearest ring first; ``slots`` where they go among the local
    values; ``counts`` how many of them are at most 0, 1, … edges away.
    """

    rows: IntArray
    slots: IntArray
    counts: IntArray


def imports(store: Store, around: Region) -> dict[int, Import]:
    """Return what a part takes from each of the others, those from which it takes something."""
    owners = np.searchsorted(store.starts, around.halo, side="right") - 1
    taken = {}
    for q in np.unique(owners).tolist():
        places = np.flatnonzero(owners == q)
        slots = around.n_own + places
        taken[q] = Import(around.halo[places] - store.starts[q], slots, np.searchsorted(slots, around.ends))
    return taken


def laplacian_rows(
    store: Store, around: Region, rows: Rows, kind: LaplacianKind
) -> tuple[sparse.csr_array, FloatArray]:
    """Return rows of the Laplacian with local columns, and its diagonal; entries in the user's order."""
    n_local = around.n_own + around.halo.size
    order = np.argsort(around.halo)
    halo = around.halo[order]
    columns = rows.columns.astype(np.int64) - int(store.starts[around.p])
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
    """What a part steps the recurrence with: rows of the part and of the rings around it without the last.

    ``ends`` is that of :class:`Region`; ``slots`` says where the values of each other part go.
    """

    graph: KernelGraph
    ends: IntArray
    slots: dict[int, IntArray]

    @property
    def n_bytes(self) -> int:
        """Bytes of its arrays."""
        return self.graph.n_bytes + sum([slots.nbytes for slots in self.slots.values()])


def local_matrix(store: Store, p: int, kind: LaplacianKind, hops: int, dtype: str) -> LocalMatrix:
    """Return the matrix of a part for exchanges of the values up to ``hops`` edges away, made once in each process."""

    def make() -> LocalMatrix:
        around = region(store, p, hops)
        L, _ = laplacian_rows(store, around, around.rows(store), kind)
        slots = {q: one.slots for q, one in imports(store, around).items()}
        return LocalMatrix(prepare_graph(L, np.dtype(dtype), reorder=False), around.ends, slots)

    found: LocalMatrix = CACHE.get((store.token, p, kind, hops, dtype), make)
    return found


def whole_graph(store: Store, kind: LaplacianKind, dtype: str) -> KernelGraph:
    """Return the matrix of the whole graph in the numbers of the parts, made once in each process."""

    def make() -> KernelGraph:
        rows = join_rows([store.part(p).rows for p in range(store.n_parts)])
        everything = Region(0, np.zeros(0, np.int64), np.array([store.n_vertices]), np.zeros(0, np.int64))
        return prepare_graph(laplacian_rows(store, everything, rows, kind)[0], np.dtype(dtype), reorder=False)

    found: KernelGraph = CACHE.get((store.token, "whole", kind, dtype), make)
    return found
