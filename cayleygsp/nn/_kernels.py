"""Compiled loops of the layers (numba): recurrences on tiles of columns, with many series summed on the way.

Signals have the shape (batch, n, features), blocks of them (batch, n, n_blocks, features). A tile is a range of the
batch * features columns, 128 bytes of each row; its Chebyshev terms live in ``buffer``, shape (degrees + 2, n, width),
which stays in the cache. What goes in and out of a tile is gathered and scattered a vertex at a time. All functions
release the interpreter and run in one thread; the caller starts the threads, each with tiles or rows of its own.

A graph comes as ``(indptr, indices, values, diagonal, scale)``: the scaled Laplacian in row i is
``scale[i] * (diagonal[i] * t[i] - sum(values * t[indices])) - t[i]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import cgutils, types
from numba.extending import intrinsic

from cayleygsp.engine.loops import _FAST, _compiled
from cayleygsp.engine.rows import _Emitter, _while, sum_row

# Rows of output that are summed at once: each takes four vector registers of 32 bytes.
_GROUP = 2


@intrinsic
def mix_rows(typingctx, a, source, first, stride, target, first_out, stride_out, width):  # type: ignore[no-untyped-def]
    """Set target row s to the sum over q of a[s, q] times source row q; rows stand at first + q * stride."""
    signature = types.void(a, source, first, stride, target, first_out, stride_out, width)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, source.dtype)
        b, one = builder, emit.index(1)
        A, X, Y = (emit.array(kind, args[q]) for q, kind in ((0, a), (1, source), (4, target)))
        n_out, n_in = emit.size(A, 0), emit.size(A, 1)
        row = cgutils.alloca_once(b, emit.index)

        def group(k: Any, lanes: int, size: int) -> None:
            """Sum ``size`` rows of output at once, from row ``row`` on."""
            s = b.load(row)
            zero = ir.Constant(ir.VectorType(emit.real, lanes), [0.0] * lanes)
            totals = [cgutils.alloca_once(b, zero.type) for _ in range(size)]
            for total in totals:
                b.store(zero, total)
            with emit.loop(emit.index(0), n_in) as q:
                value = emit.load(emit.at(X.data, (args[2], one), (q, args[3]), (k, one)), lanes)
                for g, total in enumerate(totals):
                    w = b.load(emit.at(A.data, (b.add(s, emit.index(g)), n_in), (q, one)))
                    b.store(emit.multiply_add(emit.splat(w, lanes), value, b.load(total)), total)
            for g, total in enumerate(totals):
                here = emit.at(Y.data, (args[5], one), (b.add(s, emit.index(g)), args[6]), (k, one))
                emit.store(b.load(total), here)
            b.store(b.add(s, emit.index(size)), row)

        def piece(k: Any, lanes: int) -> None:
            b.store(emit.index(0), row)
            for size in (_GROUP, 1):
                with _while(b, lambda: b.icmp_unsigned("<=", b.add(b.load(row), emit.index(size)), n_out)):  # noqa: B023
                    group(k, lanes, size)

        emit.each_piece(args[7], piece)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def copy_row(typingctx, source, first, target, first_out, width):  # type: ignore[no-untyped-def]
    """Copy ``width`` numbers that stand side by side."""
    signature = types.void(source, first, target, first_out, width)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, source.dtype)
        X, Y = (emit.array(kind, args[q]) for q, kind in ((0, source), (2, target)))

        def piece(k: Any, lanes: int) -> None:
            value = emit.load(emit.at(X.data, (args[1], emit.index(1)), (k, emit.index(1))), lanes)
            emit.store(value, emit.at(Y.data, (args[3], emit.index(1)), (k, emit.index(1))))

        emit.each_piece(args[4], piece)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def step_row(typingctx, i, begin, end, indices, values, w1, w2, w3, t, t_old, out, add):  # type: ignore[no-untyped-def]
    """Set row i of out to w1 * (sum of neighbours in t) + w2 * t + w3 * t_old, plus what stands there if ``add``."""
    signature = types.void(i, begin, end, indices, values, w1, w2, w3, t, t_old, out, add)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, t.dtype)
        b, one = builder, emit.index(1)
        J, W, T, T_old, Y = (
            emit.array(kind, args[q]) for q, kind in ((3, indices), (4, values), (8, t), (9, t_old), (10, out))
        )
        width = emit.size(T, 1)

        def piece(k: Any, lanes: int) -> None:
            here = ((args[0], width), (k, one))
            zero = ir.Constant(ir.VectorType(emit.real, lanes), [0.0] * lanes)
            total = cgutils.alloca_once(b, zero.type)
            b.store(zero, total)
            with emit.loop(args[1], args[2]) as p:
                j = b.load(b.gep(J.data, [p]))
                j = b.zext(j, emit.index) if indices.dtype.bitwidth < 64 else j
                w = emit.splat(b.load(b.gep(W.data, [p])), lanes)
                neighbour = emit.load(emit.at(T.data, (j, width), (k, one)), lanes)
                b.store(emit.multiply_add(w, neighbour, b.load(total)), total)
            now, old = emit.load(emit.at(T.data, *here), lanes), emit.load(emit.at(T_old.data, *here), lanes)
            c1, c2, c3 = (emit.splat(args[q], lanes) for q in (5, 6, 7))
            new = emit.multiply_add(c1, b.load(total), emit.multiply_add(c2, now, b.fmul(c3, old, flags=("contract",))))
            where = emit.at(Y.data, *here)
            with b.if_else(args[11]) as (to_add, to_set):
                with to_add:
                    emit.store(b.fadd(new, emit.load(where, lanes)), where)
                with to_set:
                    emit.store(new, where)

        emit.each_piece(width, piece)
        return context.get_dummy_value()

    return signature, codegen


@njit(fastmath=_FAST)
def _step(first, last, graph, factor, minus, t, t_old, out, add):  # type: ignore[no-untyped-def]
    """Set rows of out to factor * (scaled Laplacian) t - minus * t_old, plus what stands there if ``add``."""
    indptr, indices, values, diagonal, scale = graph
    for i in range(first, last):
        begin, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
        w1 = -factor * scale[i]
        w2 = factor * (scale[i] * diagonal[i]) - factor
        step_row(np.int64(i), begin, end, indices, values, w1, w2, -minus, t, t_old, out, add)


@njit(fastmath=_FAST)
def _gather(first, last, x, column, n_columns, t):  # type: ignore[no-untyped-def]
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


@_compiled(nogil=True)
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


@njit(fastmath=_FAST)
def _scatter_blocks(i, rows, start, stride, first, n_blocks, column, n_columns, y, fresh):  # type: ignore[no-untyped-def]
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


@njit(fastmath=_FAST)
def _gather_blocks(i, z, first, n_blocks, column, n_columns, rows, start, stride, width):  # type: ignore[no-untyped-def]
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


@_compiled(nogil=True)
def emit_terms(first, last, a, k0, size, column, n_columns, buffer, y):  # type: ignore[no-untyped-def]
    """Add degrees k0 ... k0 + size - 1, in slots 2 ... of the buffer, to the outputs; without ``a``, copy them."""
    n, width, n_out = buffer.shape[1], buffer.shape[2], a.shape[0]
    flat = buffer.reshape(-1)
    part = np.ascontiguousarray(a[:, k0 : k0 + size])
    rows = np.empty(n_out * width, buffer.dtype)
    for i in range(first, last):
        start = (2 * n + i) * width
        if n_out == 0:
            _scatter_blocks(i, flat, start, n * width, k0, size, column, n_columns, y, True)
        else:
            mix_rows(part, flat, np.int64(start), np.int64(n * width), rows, np.int64(0), width, width)
            _scatter_blocks(i, rows, 0, width, 0, n_out, column, n_columns, y, k0 == 0)


@_compiled(nogil=True)
def load_terms(first, last, a, k0, size, column, n_columns, buffer, z):  # type: ignore[no-untyped-def]
    """Set slots 0 ... size - 1 of the buffer to the coefficients of degrees k0 ... in Clenshaw's rule."""
    n, width, n_in = buffer.shape[1], buffer.shape[2], a.shape[0]
    flat = buffer.reshape(-1)
    part = np.ascontiguousarray(a[:, k0 : k0 + size].T)
    rows = np.empty(n_in * width, buffer.dtype)
    for i in range(first, last):
        if n_in == 0:
            _gather_blocks(i, z, k0, size, column, n_columns, flat, i * width, n * width, width)
        else:
            _gather_blocks(i, z, 0, n_in, column, n_columns, rows, 0, width, width)
            mix_rows(part, rows, np.int64(0), width, flat, np.int64(i * width), np.int64(n * width), width)


@_compiled(nogil=True)
def terms_step(first, last, graph, k, q, column, n_columns, x, buffer):  # type: ignore[no-untyped-def]
    """Set rows of slot q + 2 of the buffer to T_k x, from the two slots before it."""
    one = x.dtype.type(1)
    t, out = buffer[q + 1], buffer[q + 2]
    if k == 0:
        _gather(first, last, x, column, n_columns, out)
    elif k == 1:
        _step(first, last, graph, one, one - one, t, t, out, False)
    else:
        _step(first, last, graph, one + one, one, t, buffer[q], out, False)


@_compiled(nogil=True)
def combine_step(first, last, graph, k, q, buffer):  # type: ignore[no-untyped-def]
    """Add to rows of slot q of the buffer what Clenshaw's rule takes from the two slots after it."""
    one = buffer.dtype.type(1)
    factor = one + one if k else one
    _step(first, last, graph, factor, one, buffer[q + 1], buffer[q + 2], buffer[q], True)


@_compiled(nogil=True)
def carry_up(first, last, buffer, capacity):  # type: ignore[no-untyped-def]
    """Put rows of the last two terms before the next ones."""
    flat, width, slot = buffer.reshape(-1), buffer.shape[2], buffer.shape[1] * buffer.shape[2]
    start, size = first * width, np.int64((last - first) * width)
    for q in range(2):
        copy_row(flat, np.int64((capacity + q) * slot + start), flat, np.int64(q * slot + start), size)


@_compiled(nogil=True)
def carry_down(first, last, buffer, size, fresh):  # type: ignore[no-untyped-def]
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


@_compiled(nogil=True)
def terms_tiles(first, last, graph, a, n_terms, edges, x, y, buffer):  # type: ignore[no-untyped-def]
    """Set y[:, :, s] to the sum over k < n_terms of a[s, k] T_k x, in the columns of some tiles."""
    n, capacity = x.shape[1], buffer.shape[0] - 2
    for tile in range(first, last):
        column, n_columns = edges[tile], edges[tile + 1] - edges[tile]
        for k0 in range(0, n_terms, capacity):
            size = min(capacity, n_terms - k0)
            if k0:
                carry_up(0, n, buffer, capacity)
            for q in range(size):
                terms_step(0, n, graph, k0 + q, q, column, n_columns, x, buffer)
            emit_terms(0, n, a, k0, size, column, n_columns, buffer, y)


@_compiled(nogil=True)
def combine_tiles(first, last, graph, a, n_terms, edges, z, y, buffer):  # type: ignore[no-untyped-def]
    """Set y to the sum over s and k < n_terms of a[s, k] T_k z[:, :, s], by Clenshaw's rule, in some tiles."""
    n, capacity = z.shape[1], buffer.shape[0] - 2
    for tile in range(first, last):
        column, n_columns = edges[tile], edges[tile + 1] - edges[tile]
        stop = n_terms
        while stop > 0:
            size = min(capacity, stop)
            carry_down(0, n, buffer, size, stop == n_terms)
            load_terms(0, n, a, stop - size, size, column, n_columns, buffer, z)
            for q in range(size - 1, -1, -1):
                combine_step(0, n, graph, stop - size + q, q, buffer)
            stop -= size
        scatter(0, n, buffer[0], column, n_columns, y)


@_compiled(nogil=True)
def product(first, last, graph, x, y):  # type: ignore[no-untyped-def]
    """Set rows of y to the (unscaled) Laplacian times x, both of shape (n, m)."""
    indptr, indices, values, diagonal, _ = graph
    total = np.empty(x.shape[1], x.dtype)
    for i in range(first, last):
        sum_row(x, indices, values, np.int64(indptr[i]), np.int64(indptr[i + 1]), total)
        for k in range(x.shape[1]):
            y[i, k] = diagonal[i] * x[i, k] - total[k]
