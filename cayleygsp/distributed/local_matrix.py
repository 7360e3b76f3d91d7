"""The rows of the Laplacian that one part steps, and the values from other parts that they need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from cayleygsp._typing import FloatArray, IntArray, LaplacianKind
from cayleygsp.distributed.parts import Rows, Store, join_rows
from cayleygsp.engine.packed import KernelGraph, prepare_graph
from cayleygsp.laplacian_matrices import normalized_entries


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
