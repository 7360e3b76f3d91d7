r"""The three-term recurrence :math:`T_{k+1} = 2\tilde\Delta T_k - T_{k-1}` on blocks of signals.

Functions of sparse matrices and arrays; they know nothing of graphs or filters. :func:`sum_series` runs compiled loops
that read the matrix once a degree; :func:`sum_series_by_scipy` is the same in plain scipy, to test against.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from cayleygsp._typing import Array, FloatArray

# Width of a block of columns that goes through the recurrence at once: two cache lines a row.
_TILE_BYTES = 128

# Below this many numbers to touch in a step, starting threads takes longer than the step.
_PARALLEL_SIZE = 30_000

# For a graph this large, with neighbours this far apart on average (relative to n), a better order is looked for.
_REORDER_VERTICES = 100_000
_REORDER_SPREAD = 0.02

# A single signal larger than this, on a graph with neighbours this far apart on average (relative to n), is asked for
# this many entries ahead: most of its neighbours come from memory, and the processor would wait for a few at a time.
_LOOK_AHEAD_BYTES = 4 * 2**20
_SCATTERED_SPREAD = 0.01
_LOOK_AHEAD = 256

_CHUNKS = 128
_CACHE_LINE = 64


@dataclass(frozen=True, eq=False)
class KernelGraph:
    """A symmetric matrix as the compiled loops want it.

    Attributes
    ----------
    arrays : tuple
        ``(indptr, indices, weights, diagonal, off)``, see :mod:`cayleygsp.engine.loops`.
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
    diagonal, off = np.zeros(0, dtype), dtype.type(0)
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
        _equal_chunks(L.indptr, n),
        order,
        n >= _REORDER_VERTICES and _spread(L) > _SCATTERED_SPREAD * n,
    )


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


def _equal_chunks(indptr: Array, n: int) -> Array:
    """Cut the rows into pieces with about equal numbers of rows and entries together."""
    work = indptr.astype(np.int64) + 4 * np.arange(n + 1)
    cuts = np.searchsorted(work, np.linspace(0, work[-1], min(_CHUNKS, n) + 1))
    cuts[0], cuts[-1] = 0, n
    return np.unique(cuts).astype(np.uint64)


def sum_series(graph: KernelGraph, lmax: float, coeffs: FloatArray, f: Array) -> Array:
    r"""Return :math:`\sum_k a_{ik} T_k(\tilde\Delta) f` for every row i of coefficients, in one pass a degree.

    Parameters
    ----------
    graph : KernelGraph
        The Laplacian, in the precision of the signals.
    lmax : float
        The interval of the series is [0, lmax].
    coeffs : ndarray, shape (n_filters, K + 1)
        One series a row.
    f : ndarray, shape (n, m)
        Signals, real.

    Returns
    -------
    ndarray, shape (n_filters, n, m)
        K products with the Laplacian in all.
    """
    a = coeffs.astype(f.dtype)
    if a.shape[1] == 1:
        return a[:, 0, None, None] * f
    n, m = f.shape
    n_tiles = max(-(-m * f.itemsize // _TILE_BYTES), 1)
    if n_tiles == 1 and graph.order is None:
        return _sum_tile(graph, lmax, a, f)
    out = np.empty((a.shape[0], n, m), f.dtype)
    rows: Any = slice(None) if graph.order is None else graph.order
    for first, last in pairwise(m * k // n_tiles for k in range(n_tiles + 1)):
        out[:, rows, first:last] = _sum_tile(graph, lmax, a, f[rows, first:last])
    return out


def _sum_tile(graph: KernelGraph, lmax: float, a: Array, f: Array) -> Array:
    """Sum the series for a few columns."""
    from cayleygsp.engine import loops

    n, width = f.shape
    empty = _empty_aligned if width > 1 else np.empty
    t, t_old, out = (empty(shape, f.dtype) for shape in (f.shape, f.shape, (a.shape[0], n, width)))
    t[:], t_old[:] = f, 0
    parallel = graph.arrays[1].size + 4 * t.size > _PARALLEL_SIZE
    if width == 1:
        drive = loops.sum_vector_parallel if parallel else loops.sum_vector_serial
        ahead = np.uint64(_LOOK_AHEAD if graph.scattered and t.nbytes > _LOOK_AHEAD_BYTES else 0)
        drive(graph.arrays, graph.chunks, 2 / lmax, a, t_old[:, 0], t[:, 0], out[:, :, 0], ahead)
    elif width:
        drive = loops.sum_block_parallel if parallel else loops.sum_block_serial
        drive(graph.arrays, graph.chunks, 2 / lmax, a, t_old, t, out)
    return out


def _empty_aligned(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return an array that begins where a cache line does: vectors that lie across two lines cost two loads each."""
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    raw = np.empty(n_bytes + _CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % _CACHE_LINE
    return raw[start : start + n_bytes].view(dtype).reshape(shape)


def sum_series_by_scipy(L: sparse.csr_array, lmax: float, coeffs: FloatArray, f: Array) -> Array:
    """Do what :func:`sum_series` does with scipy's products alone."""
    a = coeffs.astype(f.dtype)
    out = a[:, 0, None, None] * f
    if a.shape[1] == 1:
        return out
    scale = f.dtype.type(2 / lmax)
    t_prev, t = f, scale * (L @ f) - f
    out += a[:, 1, None, None] * t
    for k in range(2, a.shape[1]):
        t_prev, t = t, 2 * scale * (L @ t) - 2 * t - t_prev
        out += a[:, k, None, None] * t
    return out


def sum_series_adjoint(L: sparse.csr_array, lmax: float, coeffs: FloatArray, f: Array) -> Array:
    r"""Return :math:`\sum_i \sum_k a_{ik} T_k(\tilde\Delta) f_i`, by Clenshaw's rule in one pass.

    Parameters
    ----------
    L : csr_array, shape (n, n)
        The Laplacian, in the precision of the signals.
    lmax, coeffs
        As in :func:`sum_series`.
    f : ndarray, shape (n_filters, n, m)
        One block of signals a filter.

    Returns
    -------
    ndarray, shape (n, m)
        K products with L in all.
    """
    a = coeffs.astype(f.dtype)
    if a.shape[1] == 1:
        return np.tensordot(a[:, 0], f, axes=1)
    scale = f.dtype.type(2 / lmax)
    b1, b2 = np.tensordot(a[:, -1], f, axes=1), np.zeros_like(f[0])
    for k in range(a.shape[1] - 2, 0, -1):
        b1, b2 = 2 * scale * (L @ b1) - 2 * b1 - b2 + np.tensordot(a[:, k], f, axes=1), b1
    return scale * (L @ b1) - b1 - b2 + np.tensordot(a[:, 0], f, axes=1)
