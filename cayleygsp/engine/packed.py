"""A symmetric matrix in the form that the compiled loops read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from cayleygsp._typing import Array

# For a graph this large, with neighbours this far apart on average (relative to n), a better order is looked for.
_REORDER_VERTICES = 100_000
_REORDER_SPREAD = 0.02

# Neighbours this far apart on average (relative to n) count as scattered.
_SCATTERED_SPREAD = 0.01

# Work is counted as entries plus four times the rows. For a claim a core waits until the others can see all that it
# has written, about 1 µs where that goes to memory: chunks have the first work while there are few of them, and grow to
# the second before there are more. Small graphs get a few chunks of less work, for as many threads.
_CHUNK_WORK, _LARGE_CHUNK_WORK, _MANY_CHUNKS = 2**14, 2**18, 128
_LEAST_CHUNKS, _LEAST_CHUNK_WORK = 8, 2**11

# First rows of chunks are rounded down to a multiple of one of these, the largest that fits three times into a chunk:
# loops on strips of rows then have few short ones, and vectors do not lie across two cache lines.
_ROUND_ROWS = (512, 64, 8)


@dataclass(frozen=True, eq=False)
class KernelGraph:
    """A symmetric matrix as the compiled loops want it.

    Attributes
    ----------
    arrays : tuple
        ``(indptr, indices, weights, diagonal, off)``: row i of the matrix, times t, is ``diagonal[i] * t[i] + off *
        sum(weights * t[indices])``, the sum going from ``indptr[i]`` to ``indptr[i + 1]``. Weights of size 0 are all 1.
        Where there are weights, the diagonal is among them, ``diagonal`` has size 0 and ``off`` is 1.
    chunks : numpy.ndarray
        First rows of the pieces that threads work on, of about equal work, and n.
    order : numpy.ndarray or None
        The vertex that stands in each row, where the vertices were reordered.
    scattered : bool
        Whether neighbours stand far apart.
    """

    arrays: tuple[Array, Array, Array, Array, Any]
    chunks: Array
    order: Array | None
    scattered: bool

    @property
    def n_vertices(self) -> int:
        """Number of rows."""
        return int(self.chunks[-1])

    @property
    def n_bytes(self) -> int:
        """Bytes of the matrix that one pass must read."""
        return int(sum(array.nbytes for array in self.arrays[:4]))

    @property
    def dtype(self) -> Any:
        """Precision of the entries."""
        return self.arrays[3].dtype

    def scaled(self, lmax: float) -> tuple[Any, ...]:
        """Return the arrays followed by the scale 2 / lmax: what the loops of recurrences take."""
        return (*self.arrays, np.array([2 / lmax]))


def prepare_graph(L: sparse.csr_array, dtype: Any, *, reorder: bool = True) -> KernelGraph:
    """Bring a Laplacian into the form that moves the fewest bytes.

    Off-diagonal entries that are all equal are not stored at all; indices take 32 bits where they fit; a large matrix
    whose rows refer to far-away rows is reordered by reverse Cuthill–McKee if that brings them together.
    """
    order = _better_order(L) if reorder else None
    if order is not None:
        L = L[order][:, order]
        L.sort_indices()
    n, dtype = L.shape[0], np.dtype(dtype)
    indptr, indices, weights = L.indptr, L.indices, L.data
    diagonal, off = np.zeros(0, dtype), dtype.type(1)
    rows = np.repeat(np.arange(n, dtype=indices.dtype), np.diff(indptr))
    beside = indices != rows
    values = weights[beside]
    if values.size == 0 or (values == values[0]).all():
        diagonal = L.diagonal().astype(dtype)
        off = dtype.type(values[0] if values.size else 0)
        indptr = np.append(0, np.cumsum(np.bincount(rows[beside], minlength=n)))
        indices, weights = indices[beside], np.zeros(0, dtype)
    small = indices.size < 2**31
    return KernelGraph(
        (
            # unsigned, so that no negative index must be looked for
            indptr.astype(np.uint32 if small else np.uint64, copy=False).view(np.uint32 if small else np.uint64),
            indices.astype(np.uint32 if n < 2**32 else np.uint64, copy=False),
            weights.astype(dtype, copy=False),
            diagonal,
            off,
        ),
        cut_rows(L.indptr),
        order,
        n >= _REORDER_VERTICES and _spread(L) > _SCATTERED_SPREAD * n,
    )


def cut_rows(indptr: Array, n_chunks: int | None = None) -> Array:
    """Cut the rows of a matrix into pieces with about equal numbers of entries and rows (counted four times) together.

    Long pieces begin at round numbers of rows. Returned are the first rows of the pieces, and n; by default there are
    as many pieces as make the work of each small.
    """
    n = indptr.size - 1
    work = int(indptr[n]) + 4 * n
    if n_chunks is None:
        few, many = min(work // _LEAST_CHUNK_WORK, _LEAST_CHUNKS), min(work // _CHUNK_WORK, _MANY_CHUNKS)
        n_chunks = max(few, many, work // _LARGE_CHUNK_WORK, 1)
    if min(n_chunks, n) == 1:
        return np.array([0, n], np.uint64)
    wanted = np.linspace(0, work, min(n_chunks, max(n, 1)) + 1).astype(np.int64)
    low, high = np.zeros(wanted.size, np.int64), np.full(wanted.size, n)
    while (low < high).any():  # the first row before which at least the wanted work is done
        middle = (low + high) // 2
        enough = indptr[middle].astype(np.int64) + 4 * middle >= wanted
        low, high = np.where(enough, low, np.minimum(middle + 1, high)), np.where(enough, middle, high)
    unit = next((rows for rows in _ROUND_ROWS if 3 * rows * n_chunks <= n), 1)
    low = low // unit * unit
    low[0], low[-1] = 0, n
    return np.unique(low).astype(np.uint64)


def _better_order(L: sparse.csr_array) -> Array | None:
    """Return the reverse Cuthill–McKee order if the matrix is large and scattered and the order helps."""
    n = L.shape[0]
    if n < _REORDER_VERTICES or _spread(L) < _REORDER_SPREAD * n:
        return None
    order = csgraph.reverse_cuthill_mckee(L, symmetric_mode=True)
    position = np.empty(n, dtype=np.int64)
    position[order] = np.arange(n)
    return order if _spread(L, position) < 0.5 * _spread(L) else None


def _spread(L: sparse.csr_array, position: Array | None = None) -> float:
    """Return how far apart neighbours stand, on the average over up to 10⁵ rows spread over the matrix."""
    n = L.shape[0]
    rows = np.arange(0, n, max(n // 100_000, 1))
    lengths = L.indptr[rows + 1] - L.indptr[rows]
    entries = np.repeat(L.indptr[rows] - np.append(0, np.cumsum(lengths)[:-1]), lengths) + np.arange(lengths.sum())
    i, j = np.repeat(rows, lengths), L.indices[entries]
    if position is not None:
        i, j = position[i], position[j]
    return float(np.abs(i - j).mean()) if i.size else 0.0
