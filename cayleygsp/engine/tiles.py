"""Tiles of columns: recurrences with many series summed on the way, and their adjoint, for the layers.

A tile is a range of the batch * features columns, 128 bytes of each row; its Chebyshev terms live in a buffer of shape
(terms + 2, n, width), which stays in the cache, so that blocks of outputs or inputs, of which there are many, are
touched once for many terms. That is what training needs; :mod:`cayleygsp.engine.recurrence_loops` keeps two terms
alone, for graphs so large that more would not fit in memory.

Signals have the shape (batch, n, features), blocks of them (batch, n, n_blocks, features). Graphs come as in
:mod:`cayleygsp.engine.rows`. What is done with a tile is written in a program, one operation per row. Either a thread
runs the whole program on a tile of its own, or all threads go through it together, each operation a step of the board.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from cayleygsp._typing import Array
from cayleygsp.engine.compiling import FAST, compiled, compiled_helper
from cayleygsp.engine.packed import cut_rows
from cayleygsp.engine.recurrence import TILE_BYTES
from cayleygsp.engine.rows import copy_row, mix_rows, step_scaled_rows, sum_row
from cayleygsp.engine.threads import MORE, claim, finish, run, useful_threads

# Columns of a tile are filled up to a multiple of this, so that no column is done alone.
_LANE_BYTES = 32

# The terms of a tile may take this much, and must be at least that many.
_BUFFER_BYTES = 2**23
MIN_TERMS = 16

# Below this many numbers in a block, threads that share a tile wait for each other longer than they work.
_ROWS_SIZE = 200_000

# A tile with more numbers to compute than this is always shared: Ctrl-C is heard between chunks of rows.
_LONG_TILE = 2**27

# Operations of a program: one term, room for the next terms, and what goes out of or into many terms at once.
_STEP, _CARRY, _BLOCKS = 0, 1, 2


class TilePlan:
    """How the columns of a block are cut into tiles, how threads share them, and the memory for the terms of a tile.

    Signals have the shape (batch, n, features); n_terms is K + 1, ``limit`` the most threads. ``edges`` are the first
    columns of the tiles, and their end; threads share one tile ``by_rows``, or each has tiles of its own; ``buffers``,
    shape (n_buffers, room + 2, n, width), have room for some terms and the two before them.
    """

    def __init__(self, shape: tuple[int, int, int], dtype: Any, n_terms: int, limit: int | None = None) -> None:
        batch, n, features = shape
        item = np.dtype(dtype).itemsize
        self.n_terms = n_terms
        self.numbers = batch * n * features
        self.edges = _tile_edges(batch, features, TILE_BYTES // item)
        n_tiles = self.edges.size - 1
        self.n_threads = useful_threads(self.numbers * n_terms, 1, limit)
        lanes = _LANE_BYTES // item
        width = -(-int(np.diff(self.edges).max()) // lanes) * lanes
        few = self.n_threads > 1 and n_tiles < 2 * self.n_threads  # too few tiles for the threads
        self.by_rows = (few and self.numbers > _ROWS_SIZE) or n * width * n_terms > _LONG_TILE
        self.room = min(n_terms, max(_BUFFER_BYTES // (n * width * item), MIN_TERMS))
        n_buffers = 1 if self.by_rows else min(self.n_threads, n_tiles)
        self.buffers = np.empty((n_buffers, self.room + 2, n, width), dtype)

    def terms(self, graph: tuple[Any, ...], a: Array, x: Array, y: Array) -> None:
        """Set y[:, :, s] to the sum over k of a[s, k] T_k x; without rows in ``a``, y[:, :, k] to T_k x."""
        program = []
        for k0 in range(0, self.n_terms, self.room):
            size = min(self.room, self.n_terms - k0)
            program += [(_CARRY, 0, 0, 0)] if k0 else []
            program += [(_STEP, k0 + q, q, 0) for q in range(size)] + [(_BLOCKS, k0, size, 0)]
        self._run(_terms_of_tiles, graph, a, program, x, y)

    def combine(self, graph: tuple[Any, ...], a: Array, z: Array, y: Array) -> None:
        """Set y to the sum over s and k of a[s, k] T_k z[:, :, s]: the adjoint of :meth:`terms`, by Clenshaw's rule."""
        program = []
        for stop in range(self.n_terms, 0, -self.room):
            size = min(self.room, stop)
            program += [(_CARRY, stop - size, size, int(stop == self.n_terms))]
            program += [(_STEP, stop - size + q, q, 0) for q in range(size - 1, -1, -1)]
        self._run(_combine_tiles, graph, a, [*program, (_BLOCKS, 0, 0, 0)], z, y)

    def _run(self, loop: Any, graph: tuple[Any, ...], a: Array, program: Any, source: Array, target: Array) -> None:
        """Run a program on every tile."""
        n_tiles = self.edges.size - 1
        operations = np.array(program, np.int64)
        if self.by_rows:
            chunks = cut_rows(graph[0]).astype(np.int64)
            n_chunks, n_steps, numbers = chunks.size - 1, n_tiles * len(program), self.numbers // n_tiles
        else:
            chunks = np.zeros(1, np.int64)
            n_chunks, n_steps, numbers = n_tiles, 1, self.numbers * self.n_terms
        arguments = (graph, a, operations, self.edges, chunks, self.by_rows, source, target, self.buffers)
        run(loop, *arguments, n_chunks=n_chunks, n_steps=n_steps, numbers=4 * numbers, n_threads=self.n_threads)


def _tile_edges(batch: int, features: int, width: int) -> Array:
    """Cut batch * features columns into tiles; wide features are cut at the ends of a batch element too."""
    if features >= width:
        inner = np.linspace(0, features, -(-features // width) + 1).astype(np.int64)[:-1]
        return np.append((features * np.arange(batch)[:, None] + inner).ravel(), batch * features)
    per_tile = max(width // features, 1) * features
    return np.append(np.arange(0, batch * features, per_tile), batch * features).astype(np.int64)


def product(graph: tuple[Any, ...], x: Array, y: Array, limit: int | None = None) -> None:
    """Set y to the Laplacian, not scaled, times x; both have shape (n, m)."""
    n_threads = useful_threads(x.size, 1, limit)
    chunks = cut_rows(graph[0], None if n_threads > 1 else 1).astype(np.int64)
    n_chunks = chunks.size - 1
    run(_product, graph, chunks, x, y, n_chunks=n_chunks, n_steps=1, numbers=4 * x.size, n_threads=n_threads)


# A call for each row would cost a tenth of a layer with few terms: signals are not copied as blocks of one.


@compiled_helper()
def _gather(first, last, x, column, n_columns, t):  # type: ignore[no-untyped-def]
    """Copy columns of x, shape (batch, n, features), into the rows of a tile, with zeros up to its width."""
    n, n_features, width = x.shape[1], x.shape[2], t.shape[1]
    x, t = x.reshape(-1), t.reshape(-1)
    for i in range(first, last):
        k = 0
        while k < n_columns:
            b, f = divmod(column + k, n_features)
            count = min(n_features - f, n_columns - k)
            copy_row(x, np.int64((b * n + i) * n_features + f), t, np.int64(i * width + k), np.int64(count))
            k += count
        for q in range(i * width + n_columns, (i + 1) * width):
            t[q] = 0


@compiled_helper()
def _scatter(first, last, t, column, n_columns, y):  # type: ignore[no-untyped-def]
    """Copy the rows of a tile to columns of y, shape (batch, n, features)."""
    n, n_features, width = y.shape[1], y.shape[2], t.shape[1]
    y, t = y.reshape(-1), t.reshape(-1)
    for i in range(first, last):
        k = 0
        while k < n_columns:
            b, f = divmod(column + k, n_features)
            count = min(n_features - f, n_columns - k)
            copy_row(t, np.int64(i * width + k), y, np.int64((b * n + i) * n_features + f), np.int64(count))
            k += count


@compiled_helper()
def _scatter_blocks(i, rows, start, stride, first, n_blocks, column, n_columns, y, fresh):  # type: ignore[no-untyped-def]
    """Copy rows of a tile, at start + s * stride, to blocks first + s of vertex i, or add them."""
    n, per_vertex, n_features = y.shape[1], y.shape[2] * y.shape[3], y.shape[3]
    y = y.reshape(-1)
    k = 0
    while k < n_columns:
        b, f = divmod(column + k, n_features)
        count = min(n_features - f, n_columns - k)
        base = np.uint64((b * n + i) * per_vertex + first * n_features + f)
        if not fresh:
            for s in range(np.uint64(n_blocks)):
                for q in range(np.uint64(count)):
                    y[base + s * np.uint64(n_features) + q] += rows[np.uint64(start + k) + s * np.uint64(stride) + q]
        elif count == 1:
            for s in range(np.uint64(n_blocks)):
                y[base + s * np.uint64(n_features)] = rows[np.uint64(start + k) + s * np.uint64(stride)]
        else:
            for s in range(n_blocks):
                where = np.int64(base) + s * n_features
                copy_row(rows, np.int64(start + k + s * stride), y, where, np.int64(count))
        k += count


@compiled_helper()
def _gather_blocks(i, z, first, n_blocks, column, n_columns, rows, start, stride, width):  # type: ignore[no-untyped-def]
    """Copy blocks first + s of vertex i into rows of a tile at start + s * stride, with zeros up to its width."""
    n, per_vertex, n_features = z.shape[1], z.shape[2] * z.shape[3], z.shape[3]
    z = z.reshape(-1)
    k = 0
    while k < n_columns:
        b, f = divmod(column + k, n_features)
        count = min(n_features - f, n_columns - k)
        base = (b * n + i) * per_vertex + first * n_features + f
        if count == 1:
            for s in range(np.uint64(n_blocks)):
                rows[np.uint64(start + k) + s * np.uint64(stride)] = z[np.uint64(base) + s * np.uint64(n_features)]
        else:
            for s in range(n_blocks):
                where = np.int64(start + k + s * stride)
                copy_row(z, np.int64(base + s * n_features), rows, where, np.int64(count))
        k += count
    for s in range(n_blocks):
        for q in range(n_columns, width):
            rows[start + s * stride + q] = 0


@njit(fastmath=FAST, inline="always")
def _emit_terms(first, last, a, k0, size, column, n_columns, buffer, y):  # type: ignore[no-untyped-def]
    """Add degrees k0 ... k0 + size - 1, in slots 2 ... of the buffer, to the outputs; without ``a``, copy them."""
    n, width, n_out = buffer.shape[1], buffer.shape[2], a.shape[0]
    flat = buffer.reshape(-1)
    part = np.ascontiguousarray(a[:, k0 : k0 + size])
    rows = np.empty(n_out * width, buffer.dtype)
    source, stride, block, n_blocks, fresh = rows, width, 0, n_out, k0 == 0
    if n_out == 0:
        source, stride, block, n_blocks, fresh = flat, n * width, k0, size, True
    for i in range(first, last):
        start = (2 * n + i) * width
        if n_out:
            mix_rows(part, flat, np.int64(start), np.int64(n * width), rows, np.int64(0), width, width)
        _scatter_blocks(i, source, 0 if n_out else start, stride, block, n_blocks, column, n_columns, y, fresh)


@njit(fastmath=FAST, inline="always")
def _load_terms(first, last, a, k0, size, column, n_columns, buffer, z):  # type: ignore[no-untyped-def]
    """Set slots 0 ... size - 1 of the buffer to the coefficients of degrees k0 ... in Clenshaw's rule."""
    n, width, n_in = buffer.shape[1], buffer.shape[2], a.shape[0]
    flat = buffer.reshape(-1)
    part = np.ascontiguousarray(a[:, k0 : k0 + size].T)
    rows = np.empty(n_in * width, buffer.dtype)
    target, stride, block, n_blocks = rows, width, 0, n_in
    if n_in == 0:
        target, stride, block, n_blocks = flat, n * width, k0, size
    for i in range(first, last):
        start = i * width
        _gather_blocks(i, z, block, n_blocks, column, n_columns, target, 0 if n_in else start, stride, width)
        if n_in:
            mix_rows(part, rows, np.int64(0), width, flat, np.int64(start), np.int64(n * width), width)


@njit(fastmath=FAST, inline="always")
def _operate_terms(first, last, graph, a, operation, column, n_columns, x, y, buffer):  # type: ignore[no-untyped-def]
    """Do one operation of the program of :func:`_terms_of_tiles` on some rows."""
    kind, k, q = operation[0], operation[1], operation[2]
    if kind == _STEP:  # set slot q + 2 of the buffer to T_k x, from the two slots before it
        one = x.dtype.type(1)
        t, out = buffer[q + 1], buffer[q + 2]
        if k == 0:
            _gather(first, last, x, column, n_columns, out)
        else:
            factor, minus, t_old = (one, one - one, t) if k == 1 else (one + one, one, buffer[q])
            step_scaled_rows(first, last, graph, factor, minus, t, t_old, out, False)
    elif kind == _CARRY:  # put the last two terms before the next ones
        flat, width, slot = buffer.reshape(-1), buffer.shape[2], buffer.shape[1] * buffer.shape[2]
        start, size = first * width, np.int64((last - first) * width)
        for q in range(2):
            copy_row(flat, np.int64((buffer.shape[0] - 2 + q) * slot + start), flat, np.int64(q * slot + start), size)
    else:
        _emit_terms(first, last, a, k, q, column, n_columns, buffer, y)


@njit(fastmath=FAST, inline="always")
def _operate_combine(first, last, graph, a, operation, column, n_columns, z, y, buffer):  # type: ignore[no-untyped-def]
    """Do one operation of the program of :func:`_combine_tiles` on some rows."""
    kind, k, q = operation[0], operation[1], operation[2]
    if kind == _STEP:  # add to slot q of the buffer what Clenshaw's rule takes from the two slots after it
        one = buffer.dtype.type(1)
        factor = one + one if k else one
        step_scaled_rows(first, last, graph, factor, one, buffer[q + 1], buffer[q + 2], buffer[q], True)
    elif kind == _CARRY:  # put the last two sums above the next degrees, or zeros at the start
        flat, width, slot = buffer.reshape(-1), buffer.shape[2], buffer.shape[1] * buffer.shape[2]
        start, n = first * width, np.int64((last - first) * width)
        for s in range(1, -1, -1):  # in this order, or a chunk of a single degree would lose one
            target = np.int64((q + s) * slot + start)
            if operation[3] == 1:
                for i in range(target, target + n):
                    flat[i] = 0
            else:
                copy_row(flat, np.int64(s * slot + start), flat, target, n)
        _load_terms(first, last, a, k, q, column, n_columns, buffer, z)
    else:
        _scatter(first, last, buffer[0], column, n_columns, y)


@njit(inline="always")
def _share(ticket, by_rows, chunks, n_operations, n, mine):  # type: ignore[no-untyped-def]
    """Return what a ticket stands for: the tile, a range of rows, a range of operations, and the buffer."""
    if by_rows:
        step, c = divmod(ticket, chunks.size - 1)
        tile, p = divmod(step, n_operations)
        return tile, chunks[c], chunks[c + 1], p, p + 1, 0
    return ticket, 0, n, 0, n_operations, mine


# The next two differ in the operations that they call. numba's cache on disk tells functions apart by their place in
# the source alone, so that they cannot be made from one.


@compiled()
def _terms_of_tiles(graph, a, program, edges, chunks, by_rows, x, y, buffers, board, mine, budget):  # type: ignore[no-untyped-def]
    """Set y[:, :, s] to the sum over k of a[s, k] T_k x; without ``a``, y[:, :, k] to T_k x."""
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        tile, first, last, start, stop, b = _share(ticket, by_rows, chunks, program.shape[0], x.shape[1], mine)
        column, size = edges[tile], edges[tile + 1] - edges[tile]
        for p in range(start, stop):
            _operate_terms(first, last, graph, a, program[p], column, size, x, y, buffers[b])
        finish(board)
    return MORE


@compiled()
def _combine_tiles(graph, a, program, edges, chunks, by_rows, z, y, buffers, board, mine, budget):  # type: ignore[no-untyped-def]
    """Set y to the sum over s and k of a[s, k] T_k z[:, :, s], by Clenshaw's rule."""
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        tile, first, last, start, stop, b = _share(ticket, by_rows, chunks, program.shape[0], z.shape[1], mine)
        column, size = edges[tile], edges[tile + 1] - edges[tile]
        for p in range(start, stop):
            _operate_combine(first, last, graph, a, program[p], column, size, z, y, buffers[b])
        finish(board)
    return MORE


@compiled()
def _product(graph, chunks, x, y, board, mine, budget):  # type: ignore[no-untyped-def]
    """Set y to the (unscaled) Laplacian times x, both of shape (n, m)."""
    indptr, indices, weights, diagonal, off, _ = graph
    total = np.empty(x.shape[1], x.dtype)
    for _ in range(budget):
        q = claim(board, mine)
        if q < 0:
            return q
        for i in range(chunks[q], chunks[q + 1]):
            sum_row(x, indices, weights, np.int64(indptr[i]), np.int64(indptr[i + 1]), total)
            for k in range(x.shape[1]):
                y[i, k] = diagonal[i] * x[i, k] + off * total[k]
        finish(board)
    return MORE


@compiled()
def transposed_product(indptr, indices, values, g, out):  # type: ignore[no-untyped-def]
    """Add the transposed of a sparse matrix, which is given by its rows, times g to ``out``; both are blocks."""
    width = g.shape[1]
    for i in range(g.shape[0]):
        for p in range(indptr[i], indptr[i + 1]):
            w, j = values[p], indices[p]
            for k in range(width):
                out[j, k] += w * g[i, k]
