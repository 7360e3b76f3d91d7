"""Rows of sparse products on blocks of signals, written in LLVM vectors.

numba does not keep a row of sums in registers when its length is known only at run time; these intrinsics do. They walk
the columns in pieces of 128, 64 and 32 bytes, then one by one, and hold the sums of a piece in vector registers while
the neighbours go by.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_PIECES = (128, 64, 32)
_FUSE = ("contract",)


class _Emitter:
    """Writes loads, stores and loops on arrays of one precision."""

    def __init__(self, context: Any, builder: Any, real: Any) -> None:
        self.context, self.builder = context, builder
        self.real = context.get_data_type(real)
        self.itemsize = real.bitwidth // 8
        self.index = ir.IntType(64)

    def array(self, kind: Any, value: Any) -> Any:
        return self.context.make_array(kind)(self.context, self.builder, value)

    def size(self, array: Any, axis: int) -> Any:
        return self.builder.extract_value(array.shape, axis)

    def at(self, pointer: Any, *terms: Any) -> Any:
        """Return the address of the element whose number is the sum of products in ``terms``."""
        b = self.builder
        total = self.index(0)
        for left, right in terms:
            total = b.add(total, b.mul(left, right))
        return b.gep(pointer, [total])

    def load(self, address: Any, lanes: int) -> Any:
        vector = ir.VectorType(self.real, lanes)
        return self.builder.load(self.builder.bitcast(address, vector.as_pointer()), align=self.itemsize)

    def store(self, value: Any, address: Any) -> None:
        self.builder.store(value, self.builder.bitcast(address, value.type.as_pointer()), align=self.itemsize)

    def splat(self, value: Any, lanes: int) -> Any:
        b = self.builder
        vector = ir.Constant(ir.VectorType(self.real, lanes), ir.Undefined)
        first = b.insert_element(vector, value, ir.IntType(32)(0))
        return b.shuffle_vector(first, vector, ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes))

    def multiply_add(self, x: Any, y: Any, z: Any) -> Any:
        return self.builder.fadd(self.builder.fmul(x, y, flags=_FUSE), z, flags=_FUSE)

    @contextmanager
    def loop(self, start: Any, stop: Any) -> Iterator[Any]:
        with cgutils.for_range_slice(self.builder, start, stop, self.index(1), self.index) as (p, _):
            yield p

    def each_piece(self, width: Any, body: Callable[[Any, int], None]) -> None:
        """Emit ``body(first column, lanes)`` for the pieces that cover all columns."""
        b = self.builder
        column = cgutils.alloca_once_value(b, self.index(0))
        for lanes in [n_bytes // self.itemsize for n_bytes in _PIECES] + [1]:
            with _while(b, lambda: b.icmp_unsigned("<=", b.add(b.load(column), self.index(lanes)), width)):  # noqa: B023
                body(b.load(column), lanes)
                b.store(b.add(b.load(column), self.index(lanes)), column)


@contextmanager
def _while(builder: Any, condition: Callable[[], Any]) -> Iterator[None]:
    """Emit a loop that goes on as long as the condition, evaluated before each turn, holds."""
    test, body, end = (builder.append_basic_block(name) for name in ("while.test", "while.body", "while.end"))
    builder.branch(test)
    builder.position_at_end(test)
    builder.cbranch(condition(), body, end)
    builder.position_at_end(body)
    yield
    builder.branch(test)
    builder.position_at_end(end)


def _sum_of_neighbours(
    emit: _Emitter,
    t: Any,
    indices: Any,
    index_kind: Any,
    weights: Any,
    begin: Any,
    end: Any,
    width: Any,
    k: Any,
    lanes: int,
) -> Any:
    """Emit the sum over p of weights[p] * t[indices[p], k : k + lanes], all weights 1 where there are none."""
    b = emit.builder
    zero = ir.Constant(ir.VectorType(emit.real, lanes), [0.0] * lanes)
    total = cgutils.alloca_once(b, zero.type)
    b.store(zero, total)

    def neighbour(p: Any) -> Any:
        j = b.load(b.gep(indices.data, [p]))
        j = b.zext(j, emit.index) if index_kind.bitwidth < 64 else j
        return emit.load(emit.at(t.data, (j, width), (k, emit.index(1))), lanes)

    with b.if_else(b.icmp_unsigned("!=", emit.size(weights, 0), emit.index(0))) as (weighted, plain):
        with weighted, emit.loop(begin, end) as p:
            w = emit.splat(b.load(b.gep(weights.data, [p])), lanes)
            b.store(emit.multiply_add(w, neighbour(p), b.load(total)), total)
        with plain, emit.loop(begin, end) as p:
            b.store(b.fadd(neighbour(p), b.load(total), flags=_FUSE), total)
    return b.load(total)


@intrinsic
def sum_row(typingctx, t, indices, weights, begin, end, total):  # type: ignore[no-untyped-def]
    """Set total to the weighted sum of the rows of t that stand at begin ... end - 1."""
    signature = types.void(t, indices, weights, begin, end, total)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, t.dtype)
        T, J, W, out = (emit.array(kind, args[q]) for q, kind in ((0, t), (1, indices), (2, weights), (5, total)))
        width = emit.size(T, 1)

        def piece(k: Any, lanes: int) -> None:
            value = _sum_of_neighbours(emit, T, J, indices.dtype, W, args[3], args[4], width, k, lanes)
            emit.store(value, emit.at(out.data, (k, emit.index(1))))

        emit.each_piece(width, piece)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def step_row(typingctx, i, begin, end, indices, weights, c1, c2, c3, t, t_old, out, a, fresh):  # type: ignore[no-untyped-def]
    """Step the recurrence in row i, t_old <- c1 * sum + c2 * t + c3 * t_old, and add to the outputs.

    Output s gets a[s, 0] * t_old + a[s, 1] * t + a[s, 2] * new; it is overwritten if ``fresh``.
    """
    signature = types.void(i, begin, end, indices, weights, c1, c2, c3, t, t_old, out, a, fresh)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, t.dtype)
        b, one = builder, emit.index(1)
        row, first, last = args[0], args[1], args[2]
        J, W = emit.array(indices, args[3]), emit.array(weights, args[4])
        T, T_old, Y, A = (emit.array(kind, args[q]) for q, kind in ((8, t), (9, t_old), (10, out), (11, a)))
        n, width, n_filters = emit.size(T, 0), emit.size(T, 1), emit.size(A, 0)

        def piece(k: Any, lanes: int) -> None:
            total = _sum_of_neighbours(emit, T, J, indices.dtype, W, first, last, width, k, lanes)
            here = ((row, width), (k, one))
            old, now = emit.load(emit.at(T_old.data, *here), lanes), emit.load(emit.at(T.data, *here), lanes)
            w1, w2, w3 = (emit.splat(args[q], lanes) for q in (5, 6, 7))
            new = emit.multiply_add(w1, total, emit.multiply_add(w2, now, b.fmul(w3, old, flags=_FUSE)))
            emit.store(new, emit.at(T_old.data, *here))
            with emit.loop(emit.index(0), n_filters) as s:
                a0, a1, a2 = (
                    emit.splat(b.load(emit.at(A.data, (s, emit.index(3)), (emit.index(q), one))), lanes)
                    for q in range(3)
                )
                value = emit.multiply_add(a0, old, emit.multiply_add(a1, now, b.fmul(a2, new, flags=_FUSE)))
                where = emit.at(Y.data, (b.mul(s, n), width), *here)
                with b.if_else(args[12]) as (overwrite, add):
                    with overwrite:
                        emit.store(value, where)
                    with add:
                        emit.store(b.fadd(value, emit.load(where, lanes)), where)

        emit.each_piece(width, piece)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def prefetch(typingctx, array, i):  # type: ignore[no-untyped-def]
    """Ask for the cache line of array[i], without waiting for it."""
    signature = types.void(array, i)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = _Emitter(context, builder, array.dtype)
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        number = builder.zext(args[1], emit.index) if i.bitwidth < 64 else args[1]
        address = builder.bitcast(builder.gep(emit.array(array, args[0]).data, [number]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(function, [address, flag(0), flag(3), flag(1)])  # to read, into the nearest cache, data
        return context.get_dummy_value()

    return signature, codegen
