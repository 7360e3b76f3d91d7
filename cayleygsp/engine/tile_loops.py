"""Compiled loops on tiles of columns: recurrences with many series summed on the way, and their adjoint.

A tile is a range of the batch * features columns, 128 bytes of each row; its Chebyshev terms live in a buffer of shape
(terms + 2, n, width), which stays in the cache, so that blocks of outputs or inputs, of which there are many, are
touched once for many terms. That is what training needs; :mod:`cayleygsp.engine.recurrence_loops` keeps two terms
alone, for graphs so large that more would not fit in memory.

Signals have the shape (batch, n, features), blocks of them (batch, n, n_blocks, features). Graphs come as in
:mod:`cayleygsp.engine.rows`. What is done with a tile is written in a program, one operation per row (see
:mod:`cayleygsp.engine.tiles`). Either a thread runs the whole program on a tile of its own, or all threads go through
it together, each operation a step of the board.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from cayleygsp.engine.compiling import FAST, compiled, compiled_helper
from cayleygsp.engine.rows import copy_row, mix_rows, step_scaled_rows, sum_row
from cayleygsp.engine.threads import MORE, claim, finish


@compiled_helper()
def gather(first, last, x, column, n_columns, t):  # type: ignore[no-untyped-def]
    """Copy columns of x, shape (batch, n, features), into the rows of a tile, with zeros up to its width."""
    n, n_features, width = x.shape[1], x.shape[2], t.shape[1]
    x, t = x.reshape(-1), t.reshape(-1)
    for i in range(first, last):
        k = 0
        while k < n_columns:
            b, f = divmod(column + k, n_features)
            run = min(n_features - f, n_columns - k)
            copy_row(x, np.int64((b * n + i) * n_features + f), t, np.int64(i * width + k), np.int64(run))
            k += run
        for q in range(i * width + n_columns, (i + 1) * width):
            t[q] = 0


@compiled_helper()
def scatter(first, last, t, column, n_columns, y):  # type: ignore[no-untyped-def]
    """Copy the rows of a tile to columns of y, shape (batch, n, features)."""
    n, n_features, width = y.shape[1], y.shape[2], t.shape[1]
    y, t = y.reshape(-1), t.reshape(-1)
    for i in range(first, last):
        k = 0
        while k < n_columns:
            b, f = divmod(column + k, n_features)
            run = min(n_features - f, n_columns - k)
            copy_row(t, np.int64(i * width + k), y, np.int64((b * n + i) * n_features + f), np.int64(run))
            k += run


@compiled_helper()
def scatter_blocks(i, rows, start, stride, first, n_blocks, column, n_columns, y, fresh):  # type: ignore[no-untyped-def]
    """Copy rows of a tile, at start + s * stride, to blocks first + s of vertex i, or add them."""
    n, per_vertex, n_features = y.shape[1], y.shape[2] * y.shape[3], y.shape[3]
    y = y.reshape(-1)
    k = 0
    while k < n_columns:
        b, f = divmod(column + k, n_features)
        run = min(n_features - f, n_columns - k)
        base = np.uint64((b * n + i) * per_vertex + first * n_features + f)
        if not fresh:
            for s in range(np.uint64(n_blocks)):
                for q in range(np.uint64(run)):
                    y[base + s * np.uint64(n_features) + q] += rows[np.uint64(start + k) + s * np.uint64(stride) + q]
        elif run == 1:
            for s in range(np.uint64(n_blocks)):
                y[base + s * np.uint64(n_features)] = rows[np.uint64(start + k) + s * np.uint64(stride)]
        else:
            for s in range(n_blocks):
                where = np.int64(base) + s * n_features
                copy_row(rows, np.int64(start + k + s * stride), y, where, np.int64(run))
        k += run


@compiled_helper()
def gather_blocks(i, z, first, n_blocks, column, n_columns, rows, start, stride, width):  # type: ignore[no-untyped-def]
    """Copy blocks first + s of vertex i into rows of a tile at start + s * stride, with zeros up to its width."""
    n, per_vertex, n_features = z.shape[1], z.shape[2] * z.shape[3], z.shape[3]
    z = z.reshape(-1)
    k = 0
    while k < n_columns:
        b, f = divmod(column + k, n_features)
        run = min(n_features - f, n_columns - k)
        base = (b * n + i) * per_vertex + first * n_features + f
        if run == 1:
            for s in range(np.uint64(n_blocks)):
                rows[np.uint64(start + k) + s * np.uint64(stride)] = z[np.uint64(base) + s * np.uint64(n_features)]
        else:
            for s in range(n_blocks):
                where = np.int64(start + k + s * stride)
                copy_row(z, np.int64(base + s * n_features), rows, where, np.int64(run))
        k += run
    for s in range(n_blocks):
        for q in range(n_columns, width):
            rows[start + s * stride + q] = 0


# Operations of a program: one term, room for the next terms, and what goes out of or into many terms at once.
STEP, CARRY, BLOCKS = 0, 1, 2


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
        scatter_blocks(i, source, 0 if n_out else start, stride, block, n_blocks, column, n_columns, y, fresh)


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
        gather_blocks(i, z, block, n_blocks, column, n_columns, target, 0 if n_in else start, stride, width)
        if n_in:
            mix_rows(part, rows, np.int64(0), width, flat, np.int64(start), np.int64(n * width), width)


@njit(fastmath=FAST, inline="always")
def _terms_step(first, last, graph, k, q, column, n_columns, x, buffer):  # type: ignore[no-untyped-def]
    """Set rows of slot q + 2 of the buffer to T_k x, from the two slots before it."""
    one = x.dtype.type(1)
    t, out = buffer[q + 1], buffer[q + 2]
    if k == 0:
        gather(first, last, x, column, n_columns, out)
    else:
        factor, minus, t_old = (one, one - one, t) if k == 1 else (one + one, one, buffer[q])
        step_scaled_rows(first, last, graph, factor, minus, t, t_old, out, False)


@njit(fastmath=FAST, inline="always")
def _combine_step(first, last, graph, k, q, buffer):  # type: ignore[no-untyped-def]
    """Add to rows of slot q of the buffer what Clenshaw's rule takes from the two slots after it."""
    one = buffer.dtype.type(1)
    factor = one + one if k else one
    step_scaled_rows(first, last, graph, factor, one, buffer[q + 1], buffer[q + 2], buffer[q], True)


@njit(fastmath=FAST, inline="always")
def _carry_up(first, last, buffer, capacity):  # type: ignore[no-untyped-def]
    """Put rows of the last two terms before the next ones."""
    flat, width, slot = buffer.reshape(-1), buffer.shape[2], buffer.shape[1] * buffer.shape[2]
    start, size = first * width, np.int64((last - first) * width)
    for q in range(2):
        copy_row(flat, np.int64((capacity + q) * slot + start), flat, np.int64(q * slot + start), size)


@njit(fastmath=FAST, inline="always")
def _carry_down(first, last, buffer, size, fresh):  # type: ignore[no-untyped-def]
    """Put rows of the last two sums of Clenshaw's rule above the next ``size`` degrees, or zeros at the start."""
    flat, width, slot = buffer.reshape(-1), buffer.shape[2], buffer.shape[1] * buffer.shape[2]
    start, n = first * width, np.int64((last - first) * width)
    for q in range(1, -1, -1):  # in this order, or a chunk of a single degree would lose one
        target = np.int64((size + q) * slot + start)
        if fresh:
            for k in range(target, target + n):
                flat[k] = 0
        else:
            copy_row(flat, np.int64(q * slot + start), flat, target, n)


@njit(inline="always")
def _operate_terms(first, last, graph, a, operation, column, n_columns, x, y, buffer):  # type: ignore[no-untyped-def]
    """Do one operation of the program of :func:`terms_of_tiles` on some rows."""
    kind, k, q = operation[0], operation[1], operation[2]
    if kind == STEP:
        _terms_step(first, last, graph, k, q, column, n_columns, x, buffer)
    elif kind == CARRY:
        _carry_up(first, last, buffer, buffer.shape[0] - 2)
    else:
        _emit_terms(first, last, a, k, q, column, n_columns, buffer, y)


@njit(inline="always")
def _operate_combine(first, last, graph, a, operation, column, n_columns, z, y, buffer):  # type: ignore[no-untyped-def]
    """Do one operation of the program of :func:`combine_tiles` on some rows."""
    kind, k, q = operation[0], operation[1], operation[2]
    if kind == STEP:
        _combine_step(first, last, graph, k, q, buffer)
    elif kind == CARRY:
        _carry_down(first, last, buffer, q, operation[3] == 1)
        _load_terms(first, last, a, k, q, column, n_columns, buffer, z)
    else:
        scatter(first, last, buffer[0], column, n_columns, y)


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
def terms_of_tiles(graph, a, program, edges, chunks, by_rows, x, y, buffers, board, mine, budget):  # type: ignore[no-untyped-def]
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
def combine_tiles(graph, a, program, edges, chunks, by_rows, z, y, buffers, board, mine, budget):  # type: ignore[no-untyped-def]
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
def product(graph, chunks, x, y, board, mine, budget):  # type: ignore[no-untyped-def]
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
