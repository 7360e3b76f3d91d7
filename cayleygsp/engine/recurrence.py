r"""The three-term recurrence :math:`T_{k+1} = 2\tilde\Delta T_k - T_{k-1}` on blocks of signals.

Functions of packed matrices and arrays; they know nothing of graphs or filters. Every degree reads the matrix once.
Blocks go through in tiles of columns, in the precision of the matrix: signals of another precision are brought to
it and back tile by tile.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from cayleygsp._typing import Array, FloatArray, IntArray
from cayleygsp.engine.packed import KernelGraph

# A single signal larger than this, on a scattered graph, is asked for this many entries ahead: most of its neighbours
# come from memory, and the processor would wait for a few at a time.
LOOK_AHEAD_BYTES = 4 * 2**20
LOOK_AHEAD = 256

# Width of a tile of columns: two cache lines per row.
TILE_BYTES = 128

_CACHE_LINE = 64

_NO_LIMITS = np.empty(0, np.uint64)

# Arrays up to this size are neither aligned to cache lines nor cut into narrow tiles: that would take longer than it
# saves.
_SMALL_BYTES = 2**14


def sum_series(graph: KernelGraph, lmax: float, coeffs: FloatArray, f: Array, dtype: Any = None) -> Array:
    r"""Return :math:`\sum_k a_{ik} T_k(\tilde\Delta) f` for every row i of coefficients, in one pass per degree.

    The interval of the series is [0, lmax], the signals f have the shape (n, m) and any real precision, the result has
    the shape (n_filters, n, m) and by default the precision of the signals.
    """
    dtype = f.dtype if dtype is None else np.dtype(dtype)
    a = coeffs.astype(graph.dtype, copy=False)
    tiles = signal_tiles(f.shape, graph.dtype.itemsize)
    if graph.order is None and len(tiles) == 1:
        return _sum_tile(graph, lmax, a, f).astype(dtype, copy=False)
    rows = _rows(graph)
    out = np.empty((a.shape[0], *f.shape), dtype)
    for columns in tiles:
        out[:, rows, columns] = _sum_tile(graph, lmax, a, f[rows, columns])
    return out


def _sum_tile(graph: KernelGraph, lmax: float, a: Array, f: Array) -> Array:
    """Sum the series for a few columns, in the order and the precision of the matrix."""
    t = _block(f, graph.dtype)
    n, width = t.shape
    if a.shape[1] == 1 or width == 0:
        return a[:, 0, None, None] * t
    t_old, out = aligned_empty(t.shape, t.dtype), aligned_empty((a.shape[0], n, width), t.dtype)
    t_old.fill(0)
    advance_rows(graph, lmax, a, 0, None, (t_old, t, out))
    return out


def sum_series_adjoint(graph: KernelGraph, lmax: float, coeffs: FloatArray, f: Array, dtype: Any = None) -> Array:
    r"""Return :math:`\sum_i \sum_k a_{ik} T_k(\tilde\Delta) f_i`, by Clenshaw's rule in K + 1 passes.

    There is one block of signals per filter: f has the shape (n_filters, n, m), the result (n, m).
    """
    a = coeffs.astype(graph.dtype, copy=False)
    rows = _rows(graph)
    out = np.empty(f.shape[1:], f.dtype if dtype is None else dtype)
    for columns in signal_tiles(f.shape[1:], graph.dtype.itemsize):
        x = _block(f[:, rows, columns], graph.dtype, copy=False)
        if a.shape[1] == 1 or x.shape[2] == 0:
            out[rows, columns] = np.tensordot(a[:, 0], x, axes=1)
            continue
        t, t_old = (aligned_empty(x.shape[1:], x.dtype) for _ in range(2))
        t[:], t_old[:] = 0, 0
        out[rows, columns] = advance_rows(graph, lmax, a, -1, None, (t_old, t, x), adjoint=True)[1]
    return out


def recurrence_dots(graph: KernelGraph, lmax: float, degree: int, f: Array) -> FloatArray:
    r"""Return the inner products of neighbouring terms, from which moments of the spectrum follow.

    With :math:`t_k = T_k(\tilde\Delta) f` they are :math:`\langle t_k, t_k\rangle` and
    :math:`\langle t_k, t_{k-1}\rangle` for k = 1 … degree, shape (degree, 2, m), of signals f of shape (n, m). The same
    to the last bit for any number of threads.
    """
    loops, run = _loops()
    dots = np.empty((degree, 2, f.shape[1]))
    rows = _rows(graph)
    for columns in column_tiles(f.shape[1], graph.dtype.itemsize):
        t = _block(f[rows, columns], graph.dtype)
        t_old = aligned_empty(t.shape, t.dtype)
        t_old[:] = 0
        partial = np.zeros((degree, graph.chunks.size - 1, 2, t.shape[1]), t.dtype)
        sizes = {"n_chunks": graph.chunks.size - 1, "n_steps": degree, "numbers": graph.arrays[1].size + 4 * t.size}
        run(loops.dot_block, graph.scaled(lmax), graph.chunks, t_old, t, partial, **sizes)
        dots[:, :, columns] = partial.sum(axis=1)
    return dots


def advance_rows(
    graph: KernelGraph,
    lmax: float,
    coeffs: FloatArray,
    before: int,
    limits: IntArray | None,
    blocks: tuple[Array, Array, Array],
    *,
    adjoint: bool = False,
    n_threads: int | None = None,
) -> tuple[Array, Array]:
    r"""Step :math:`T_{k+1} = 2\tilde\Delta T_k - T_{k-1}` and add up the series, in place; return the last two blocks.

    On a part of a graph its rows stand first, then those around it, and columns for those and the rim: step q is done
    on the first ``limits[q]`` rows. Without limits all steps that are left are done on all rows. ``before`` is the
    degree k of the newest block; the blocks are :math:`T_{k-1}` and :math:`T_k` on all rows and the rim, shape
    (n_local, m), and the sums on the rows of the part, shape (n_filters, n_own, m), which need no values for k = 0.
    What is returned are the first two, overwritten, the older one first.

    The adjoint is Clenshaw's rule, :math:`b_k = x_k + 2\tilde\Delta b_{k+1} - b_{k+2}` with
    :math:`x_k = \sum_i a_{ik} f_i` and the last step :math:`b_0 = x_0 + \tilde\Delta b_1 - b_2`. The blocks are
    :math:`b_{k+1}` and :math:`b_k` with k = K - before, and the signals :math:`f_i`, shape (n_filters, n_rows, m), on
    the rows of all steps.
    """
    loops, run = _loops()
    loop, a = (loops.sum_degrees_adjoint, coeffs.T) if adjoint else (loops.sum_degrees, coeffs)
    t_old, t, sums = blocks
    numbers = graph.arrays[1].size + 4 * t.size
    if t.shape[1] == 1:
        blocks = t_old[:, 0], t[:, 0], sums[:, :, 0]
    n_steps, places = coeffs.shape[1] - 1 - before, _NO_LIMITS
    if limits is not None:
        n_steps, places = limits.size, limits.astype(np.uint64)
    a = np.ascontiguousarray(a, graph.dtype)
    beyond_the_caches = graph.scattered and graph.n_vertices * graph.dtype.itemsize > LOOK_AHEAD_BYTES
    ahead = np.uint64(LOOK_AHEAD if beyond_the_caches else 0)
    arguments = (graph.scaled(lmax), graph.chunks, a, before, places, *blocks, ahead)
    sizes: dict[str, Any] = {"n_chunks": graph.chunks.size - 1, "n_steps": n_steps, "n_threads": n_threads}
    if t.shape[1]:
        run(loop, *arguments, numbers=numbers, **sizes)
    return (t, t_old) if n_steps % 2 else (t_old, t)


@cache
def _loops() -> tuple[Any, Any]:
    """Return the module of the compiled loops and what runs them, loaded when they are first needed."""
    from cayleygsp.engine import recurrence_loops
    from cayleygsp.engine.threads import run

    return recurrence_loops, run


def signal_tiles(shape: tuple[int, ...], itemsize: int) -> list[slice]:
    """Return slices of the columns: full tiles, one of a multiple of four columns, then single columns.

    The loop for one signal, called two or three times, is faster than the loop for a block of two or three, unless the
    block is small.
    """
    (n, m), width = shape, TILE_BYTES // itemsize
    if m < 2 or (m <= width and n * m * itemsize <= _SMALL_BYTES):
        return [slice(0, m)]
    edges = [*range(0, m - m % width, width), m - m % width, *range(m - m % 4, m + 1)]
    return [slice(first, last) for first, last in pairwise(edges) if first < last]


def column_tiles(m: int, itemsize: int) -> Iterator[slice]:
    """Cut m columns into tiles of about equal width.

    For what has no loop for one signal, and for parts of a graph, in which every tile is an exchange.
    """
    n_tiles = max(-(-m // (TILE_BYTES // itemsize)), 1)
    edges = np.linspace(0, m, n_tiles + 1).astype(np.int64).tolist()
    return (slice(first, last) for first, last in pairwise(edges))


def _rows(graph: KernelGraph) -> Any:
    """Return what brings vertices into the order of the matrix."""
    return slice(None) if graph.order is None else graph.order


def _block(f: Array, dtype: Any, *, copy: bool = True) -> Array:
    """Return a copy that begins where a cache line does; without ``copy``, f itself if it is contiguous."""
    if not copy and f.dtype == dtype and f.flags.c_contiguous:
        return f
    block = aligned_empty(f.shape, dtype)
    block[...] = f
    return block


def aligned_empty(shape: tuple[int, ...], dtype: Any) -> Array:
    """Return an array that begins where a cache line does: vectors that lie across two lines cost two loads each."""
    n_bytes = math.prod(shape) * dtype.itemsize
    if n_bytes <= _SMALL_BYTES:
        return np.empty(shape, dtype)
    raw = np.empty(n_bytes + _CACHE_LINE, np.uint8)
    start = -raw.ctypes.data % _CACHE_LINE
    return raw[start : start + n_bytes].view(dtype).reshape(shape)
