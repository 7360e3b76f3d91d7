"""Rows of sparse products on blocks of signals and on tiles of them, written in LLVM vectors.

numba does not keep a row of sums in registers when its length is known only at run time; these intrinsics do. They walk
the columns in pieces of 128, 64, 32 and 16 bytes, then one by one, and hold the sums of a piece in vector registers
while the neighbours go by.

The loops for the layers take a graph as ``(indptr, indices, weights, diagonal, off, scale)``: its scaled Laplacian in
row i is ``scale[i] * (diagonal[i] * t[i] + off * sum(weights * t[indices])) - t[i]``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from cayleygsp.engine.compiling import compiled_helper

# Bytes of the pieces that a row is walked through in; what is left is done number by number.
_PIECES = (128, 64, 32, 16)

# Flag of operations that may be fused into one.
FUSE = ("contract",)


class Emitter:
    """Writes loads, stores and loops on arrays of one precision."""

    def __init__(self, context: Any, builder: Any, real: Any) -> None:
        self.context, self.builder = context, builder
        self.real = context.get_data_type(real)
        self.itemsize = real.bitwidth // 8
        self.index = ir.IntType(64)

    def array(self, kind: Any, value: Any) -> Any:
        """Return the parts of an array argument."""
        return self.context.make_array(kind)(self.context, self.builder, value)

    def size(self, array: Any, axis: int) -> Any:
        """Return the length of an axis."""
        return self.builder.extract_value(array.shape, axis)

    def at(self, pointer: Any, *terms: Any) -> Any:
        """Return the address of the element whose number is the sum of products in ``terms``."""
        b = self.builder
        total = self.index(0)
        for left, right in terms:
            total = b.add(total, b.mul(left, right))
        return b.gep(pointer, [total])

    def load(self, address: Any, lanes: int) -> Any:
        """Load numbers that stand side by side."""
        vector = ir.VectorType(self.real, lanes)
        return self.builder.load(self.builder.bitcast(address, vector.as_pointer()), align=self.itemsize)

    def store(self, value: Any, address: Any) -> None:
        """Store numbers side by side."""
        self.builder.store(value, self.builder.bitcast(address, value.type.as_pointer()), align=self.itemsize)

    def splat(self, value: Any, lanes: int) -> Any:
        """Return a vector that holds one number in all lanes."""
        vector = ir.Constant(ir.VectorType(value.type, lanes), ir.Undefined)
        first = self.builder.insert_element(vector, value, ir.IntType(32)(0))
        return self._pick(first, vector, [0] * lanes)

    def _pick(self, x: Any, y: Any, lanes: Sequence[int]) -> Any:
        """Return some lanes of two vectors, those of the second numbered after those of the first."""
        mask = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), list(lanes))
        return self.builder.shuffle_vector(x, y, mask)

    def sums_of(self, vectors: list[Any]) -> Any:
        """Return the sums of the lanes of 1, 2, 4, ... vectors that have no fewer lanes, side by side in one vector."""
        b, count = self.builder, len(vectors)
        while vectors[0].type.count > count:
            lanes = vectors[0].type.count // 2
            low, high = range(lanes), range(lanes, 2 * lanes)
            vectors = [b.fadd(self._pick(v, v, low), self._pick(v, v, high)) for v in vectors]
        evens, odds = range(0, 2 * count, 2), range(1, 2 * count, 2)
        while len(vectors) > 1:
            pairs = zip(vectors[::2], vectors[1::2], strict=True)
            vectors = [b.fadd(self._pick(x, y, evens), self._pick(x, y, odds)) for x, y in pairs]
        return vectors[0]

    def multiply_add(self, x: Any, y: Any, z: Any) -> Any:
        """Return x * y + z."""
        return self.builder.fadd(self.builder.fmul(x, y, flags=FUSE), z, flags=FUSE)

    @contextmanager
    def loop(self, start: Any, stop: Any) -> Iterator[Any]:
        """Emit a loop over whole numbers."""
        with cgutils.for_range_slice(self.builder, start, stop, self.index(1), self.index) as (p, _):
            yield p

    def each_piece(self, width: Any, body: Callable[[Any, int], None]) -> None:
        """Emit ``body(first column, lanes)`` for the pieces that cover all columns."""
        b = self.builder
        column = cgutils.alloca_once_value(b, self.index(0))
        for lanes in [n_bytes // self.itemsize for n_bytes in _PIECES] + [1]:
            with while_loop(b, lambda: b.icmp_unsigned("<=", b.add(b.load(column), self.index(lanes)), width)):  # noqa: B023
                body(b.load(column), lanes)
                b.store(b.add(b.load(column), self.index(lanes)), column)


@contextmanager
def while_loop(builder: Any, condition: Callable[[], Any]) -> Iterator[None]:
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
    emit: Emitter,
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
            b.store(b.fadd(neighbour(p), b.load(total), flags=FUSE), total)
    return b.load(total)


@intrinsic
def sum_row(typingctx, t, indices, weights, begin, end, total):  # type: ignore[no-untyped-def]
    """Set total to the weighted sum of the rows of t that stand at begin ... end - 1."""
    signature = types.void(t, indices, weights, begin, end, total)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emitter(context, builder, t.dtype)
        T, J, W, out = (emit.array(kind, args[q]) for q, kind in ((0, t), (1, indices), (2, weights), (5, total)))
        width = emit.size(T, 1)

        def piece(k: Any, lanes: int) -> None:
            value = _sum_of_neighbours(emit, T, J, indices.dtype, W, args[3], args[4], width, k, lanes)
            emit.store(value, emit.at(out.data, (k, emit.index(1))))

        emit.each_piece(width, piece)
        return context.get_dummy_value()

    return signature, codegen


@dataclass
class _Step:
    """The part that all steps share: w1 * (sum over neighbours in t) + w2 * t + w3 * t_old in row i.

    Made from the types and values of ``(i, begin, end, indices, weights, w1, w2, w3, t, t_old)``.
    """

    emit: Emitter
    kinds: tuple[Any, ...]
    args: tuple[Any, ...]

    def __post_init__(self) -> None:
        emit, kinds, args = self.emit, self.kinds, self.args
        self.indices, self.weights = emit.array(kinds[3], args[3]), emit.array(kinds[4], args[4])
        self.t, self.t_old = emit.array(kinds[8], args[8]), emit.array(kinds[9], args[9])
        self.width = emit.size(self.t, 1)

    def here(self, k: Any) -> tuple[Any, Any]:
        """Return the place of column k of the row, as terms of an address."""
        return (self.args[0], self.width), (k, self.emit.index(1))

    def piece(self, k: Any, lanes: int) -> tuple[Any, Any, Any]:
        """Emit the step for some columns; return the older, the present and the new numbers."""
        emit, b = self.emit, self.emit.builder
        begin, end = self.args[1:3]
        kind = self.kinds[3].dtype
        total = _sum_of_neighbours(emit, self.t, self.indices, kind, self.weights, begin, end, self.width, k, lanes)
        old = emit.load(emit.at(self.t_old.data, *self.here(k)), lanes)
        now = emit.load(emit.at(self.t.data, *self.here(k)), lanes)
        w1, w2, w3 = (emit.splat(w, lanes) for w in self.args[5:8])
        return old, now, emit.multiply_add(w1, total, emit.multiply_add(w2, now, b.fmul(w3, old, flags=FUSE)))


@intrinsic
def step_row(typingctx, i, begin, end, indices, weights, w1, w2, w3, t, t_old, target, add):  # type: ignore[no-untyped-def]
    """Set row i of target to w1 * (sum of neighbours in t) + w2 * t + w3 * t_old, plus what stands there if ``add``."""
    signature = types.void(i, begin, end, indices, weights, w1, w2, w3, t, t_old, target, add)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emitter(context, builder, t.dtype)
        step = _Step(emit, signature.args, args)
        out = emit.array(target, args[10])

        def piece(k: Any, lanes: int) -> None:
            _, _, new = step.piece(k, lanes)
            where = emit.at(out.data, *step.here(k))
            with builder.if_else(args[11]) as (to_add, to_set):
                with to_add:
                    emit.store(builder.fadd(new, emit.load(where, lanes)), where)
                with to_set:
                    emit.store(new, where)

        emit.each_piece(step.width, piece)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def step_and_sum_row(typingctx, i, begin, end, indices, weights, w1, w2, w3, t, t_old, out, a, fresh):  # type: ignore[no-untyped-def]
    """Step the recurrence in row i, t_old <- w1 * sum + w2 * t + w3 * t_old, and add to the outputs.

    Output s gets a[s, 0] * t_old + a[s, 1] * t + a[s, 2] * new; it is overwritten if ``fresh``.
    """
    signature = types.void(i, begin, end, indices, weights, w1, w2, w3, t, t_old, out, a, fresh)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emitter(context, builder, t.dtype)
        step = _Step(emit, signature.args, args)
        b, one = builder, emit.index(1)
        Y, A = emit.array(out, args[10]), emit.array(a, args[11])

        def piece(k: Any, lanes: int) -> None:
            old, now, new = step.piece(k, lanes)
            emit.store(new, emit.at(step.t_old.data, *step.here(k)))
            with emit.loop(emit.index(0), emit.size(A, 0)) as s:
                a0, a1, a2 = (
                    emit.splat(b.load(emit.at(A.data, (s, emit.index(3)), (emit.index(q), one))), lanes)
                    for q in range(3)
                )
                value = emit.multiply_add(a0, old, emit.multiply_add(a1, now, b.fmul(a2, new, flags=FUSE)))
                where = emit.at(Y.data, (b.mul(s, emit.size(Y, 1)), step.width), *step.here(k))
                with b.if_else(args[12]) as (overwrite, add):
                    with overwrite:
                        emit.store(value, where)
                    with add:
                        emit.store(b.fadd(value, emit.load(where, lanes)), where)

        emit.each_piece(step.width, piece)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def step_and_mix_row(typingctx, i, begin, end, indices, weights, w1, w2, w3, t, t_old, blocks, a):  # type: ignore[no-untyped-def]
    """Step Clenshaw's rule in row i: t_old <- w1 * sum + w2 * t + w3 * t_old + sum over s of a[s] * blocks[s]."""
    signature = types.void(i, begin, end, indices, weights, w1, w2, w3, t, t_old, blocks, a)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emitter(context, builder, t.dtype)
        step = _Step(emit, signature.args, args)
        b, one = builder, emit.index(1)
        F, A = emit.array(blocks, args[10]), emit.array(a, args[11])

        def piece(k: Any, lanes: int) -> None:
            _, _, new = step.piece(k, lanes)
            total = cgutils.alloca_once(b, new.type)
            b.store(new, total)
            with emit.loop(emit.index(0), emit.size(A, 0)) as s:
                w = emit.splat(b.load(emit.at(A.data, (s, one))), lanes)
                value = emit.load(emit.at(F.data, (b.mul(s, emit.size(F, 1)), step.width), *step.here(k)), lanes)
                b.store(emit.multiply_add(w, value, b.load(total)), total)
            emit.store(b.load(total), emit.at(step.t_old.data, *step.here(k)))

        emit.each_piece(step.width, piece)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def prefetch(typingctx, array, i):  # type: ignore[no-untyped-def]
    """Ask for the cache line of array[i], without waiting for it."""
    signature = types.void(array, i)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emitter(context, builder, array.dtype)
        byte, flag = ir.IntType(8).as_pointer(), ir.IntType(32)
        number = builder.zext(args[1], emit.index) if i.bitwidth < 64 else args[1]
        address = builder.bitcast(builder.gep(emit.array(array, args[0]).data, [number]), byte)
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = builder.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        builder.call(function, [address, flag(0), flag(3), flag(1)])  # to read, into the nearest cache, data
        return context.get_dummy_value()

    return signature, codegen


# Neighbours whose products are summed over the lanes at once; what is left is done by smaller groups.
_GROUPS = (4, 2, 1)


@dataclass
class _Dots:
    """Row ``mine`` of one block times rows of another, added up in double precision."""

    emit: Emitter
    mine: Any
    factor: Any
    lanes: int

    def add(self, rows: list[Any], where: Any) -> None:
        """Emit the products with some rows, added to the numbers that stand side by side from ``where`` on."""
        emit, b = self.emit, self.emit.builder
        sums = emit.sums_of([b.fmul(self.mine, row, flags=FUSE) for row in rows])
        double = ir.VectorType(ir.DoubleType(), len(rows))
        if sums.type != double:
            sums = b.fpext(sums, double)
        place = b.bitcast(where, double.as_pointer())
        total = emit.multiply_add(emit.splat(self.factor, len(rows)), sums, b.load(place, align=8))
        b.store(total, place, align=8)


@intrinsic
def step_and_dot_row(  # type: ignore[no-untyped-def]
    typingctx, i, begin, end, indices, weights, w1, w2, w3, t, t_old, target, add, other, factor, entries, diagonal
):
    """Do what :func:`cayleygsp.engine.rows.step_row` does with weights, and add products of rows on the way.

    Entry p gets factor * (row i of ``other``) * (row indices[p] of t), and diagonal[i] the same with row i of t, both
    in double precision.
    """
    signature = types.void(
        i, begin, end, indices, weights, w1, w2, w3, t, t_old, target, add, other, factor, entries, diagonal
    )

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        b, emit = builder, Emitter(context, builder, t.dtype)
        J, W, T, old, out, O, sums, own = (  # noqa: E741
            emit.array(signature.args[q], args[q]) for q in (3, 4, 8, 9, 10, 12, 14, 15)
        )
        width, one = emit.size(T, 1), emit.index(1)
        place = cgutils.alloca_once(b, emit.index)

        def neighbours(k: Any, lanes: int, total: Any, dots: _Dots, count: int) -> None:
            """Emit what is done with some neighbours at once, from the entry ``place`` on."""
            p, rows = b.load(place), []
            for q in range(count):
                here = b.add(p, emit.index(q))
                j = b.load(b.gep(J.data, [here]))
                j = b.zext(j, emit.index) if indices.dtype.bitwidth < 64 else j
                rows.append(emit.load(emit.at(T.data, (j, width), (k, one)), lanes))
                w = emit.splat(b.load(b.gep(W.data, [here])), lanes)
                b.store(emit.multiply_add(w, rows[-1], b.load(total)), total)
            dots.add(rows, b.gep(sums.data, [p]))
            b.store(b.add(p, emit.index(count)), place)

        def piece(k: Any, lanes: int) -> None:
            row = (args[0], width), (k, one)
            total = cgutils.alloca_once(b, ir.VectorType(emit.real, lanes))
            b.store(ir.Constant(total.type.pointee, [0.0] * lanes), total)
            dots = _Dots(emit, emit.load(emit.at(O.data, *row), lanes), args[13], lanes)
            b.store(args[1], place)
            for count in (c for c in _GROUPS if c <= lanes):
                with while_loop(b, lambda: b.icmp_unsigned("<=", b.add(b.load(place), emit.index(count)), args[2])):  # noqa: B023
                    neighbours(k, lanes, total, dots, count)
            now = emit.load(emit.at(T.data, *row), lanes)
            dots.add([now], b.gep(own.data, [args[0]]))
            v1, v2, v3 = (emit.splat(w, lanes) for w in args[5:8])
            before = b.fmul(v3, emit.load(emit.at(old.data, *row), lanes), flags=FUSE)
            new = emit.multiply_add(v1, b.load(total), emit.multiply_add(v2, now, before))
            with b.if_else(args[11]) as (to_add, to_set):
                with to_add:
                    emit.store(b.fadd(new, emit.load(emit.at(out.data, *row), lanes)), emit.at(out.data, *row))
                with to_set:
                    emit.store(new, emit.at(out.data, *row))

        emit.each_piece(width, piece)
        return context.get_dummy_value()

    return signature, codegen


# Rows of output that are summed at once: each takes four vector registers of 32 bytes.
_GROUP = 2


@intrinsic
def mix_rows(typingctx, a, source, first, stride, target, first_out, stride_out, width):  # type: ignore[no-untyped-def]
    """Set target row s to the sum over q of a[s, q] times source row q; rows stand at first + q * stride."""
    signature = types.void(a, source, first, stride, target, first_out, stride_out, width)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emitter(context, builder, source.dtype)
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
                with while_loop(b, lambda: b.icmp_unsigned("<=", b.add(b.load(row), emit.index(size)), n_out)):  # noqa: B023
                    group(k, lanes, size)

        emit.each_piece(args[7], piece)
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def copy_row(typingctx, source, first, target, first_out, width):  # type: ignore[no-untyped-def]
    """Copy ``width`` numbers that stand side by side."""
    signature = types.void(source, first, target, first_out, width)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        emit = Emitter(context, builder, source.dtype)
        X, Y = (emit.array(kind, args[q]) for q, kind in ((0, source), (2, target)))

        def piece(k: Any, lanes: int) -> None:
            value = emit.load(emit.at(X.data, (args[1], emit.index(1)), (k, emit.index(1))), lanes)
            emit.store(value, emit.at(Y.data, (args[3], emit.index(1)), (k, emit.index(1))))

        emit.each_piece(args[4], piece)
        return context.get_dummy_value()

    return signature, codegen


@compiled_helper()
def step_scaled_rows(first, last, graph, factor, minus, t, t_old, out, add):  # type: ignore[no-untyped-def]
    """Set rows of out to factor * (scaled Laplacian) t - minus * t_old, plus what stands there if ``add``."""
    indptr, indices, weights, diagonal, off, scale = graph
    for i in range(first, last):
        begin, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
        w1 = factor * scale[i] * off
        w2 = factor * (scale[i] * diagonal[i]) - factor
        step_row(np.int64(i), begin, end, indices, weights, w1, w2, -minus, t, t_old, out, add)
