"""Which vertex goes to which part."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse

from cayleygsp._typing import Array, IntArray

#: Ways to cut a graph that are known by name.
PARTITIONS = ("auto", "metis", "order")

# METIS takes about a microsecond and some 60 bytes per entry of the matrix; beyond this many the order is taken.
METIS_ENTRIES = 20_000_000


def partition_labels(W: sparse.csr_array, n_parts: int, partition: Any) -> IntArray:
    """Return the part of each vertex.

    Parameters
    ----------
    W : sparse.csr_array
        Adjacency matrix.
    n_parts : int
        Number of parts.
    partition : {"auto", "metis", "order"} or array_like of int, shape (n,)
        METIS, which cuts few edges; ranges of about equal work in the order of the vertices; METIS for up to 2·10⁷
        entries and otherwise the order; or the part of each vertex. Graphs with fewer than four vertices for each part
        are cut in their order.

    Raises
    ------
    ValueError, TypeError
        If the parts do not hold every vertex once.
    """
    n = W.shape[0]
    if not isinstance(partition, str):
        return check_labels(partition, n, n_parts)
    if partition not in PARTITIONS:
        names = ", ".join(map(repr, PARTITIONS))
        raise ValueError(f"`partition` must be one of {names}, or the part of each vertex, got {partition!r}")
    if n_parts == 1:
        return np.zeros(n, np.int64)
    by_order = partition == "auto" and (W.nnz > METIS_ENTRIES or find_spec("pymetis") is None)
    if by_order or partition == "order" or n < 4 * n_parts:
        return order_labels(W.indptr, n_parts)
    return _metis_labels(W, n_parts)


def check_labels(labels: Any, n_vertices: int, n_parts: int) -> IntArray:
    """Return given parts of the vertices as whole numbers, if each vertex has one."""
    given: Array = np.asarray(labels)
    if given.dtype.kind not in "iu":
        raise TypeError(f"`partition` must hold whole numbers, the part of each vertex, got dtype {given.dtype}")
    if given.shape != (n_vertices,):
        raise ValueError(
            f"`partition` must give one part for each of the {n_vertices} vertices, got shape {given.shape}"
        )
    if given.size and not (given.min() >= 0 and given.max() < n_parts):
        wrong = int(np.flatnonzero((given < 0) | (given >= n_parts))[0])
        raise ValueError(
            f"`partition` must have parts from 0 to {n_parts - 1}, got {int(given[wrong])} for vertex {wrong}"
        )
    return given.astype(np.int64)


def order_labels(indptr: Array, n_parts: int) -> IntArray:
    """Return ranges of vertices with about equal numbers of entries and rows (counted four times) together."""
    n = indptr.size - 1
    work = indptr[1:].astype(np.int64) + 4 * np.arange(1, n + 1)
    return np.minimum((work - 1) * n_parts // max(int(work[-1]), 1), n_parts - 1) if n else np.zeros(0, np.int64)


def _metis_labels(W: sparse.csr_array, n_parts: int) -> IntArray:
    try:
        import pymetis
    except ImportError:
        raise ImportError("`partition` = 'metis' needs pymetis: install the extra 'distributed'") from None

    rows = np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))
    beside = W.indices != rows
    xadj = np.append(0, np.cumsum(np.bincount(rows[beside], minlength=W.shape[0])))
    _, labels = pymetis.part_graph(n_parts, pymetis.CSRAdjacency(xadj, W.indices[beside]))
    return np.asarray(labels, np.int64)
