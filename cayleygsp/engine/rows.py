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
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from cayleygsp.engine.compiling import compiled_helper

# Bytes of the pieces that a row is walked through in; what is left is done number by number.
_PIECES = (128, 64, 32, 16)

# Flag of operations that may be fused into one.
_FUSE = ("contract",)


class _Emitter:
    """Writes loads, stores and loops on arrays of one precision; ``kinds`` are the types of the arguments."""

    def __init__(self, context: Any, builder: Any, real: Any, kinds: Any, args: Any) -> None:
        self.context, self.builder, self.kinds, self.args = context, builder, kinds, args
        self.real = context.get_data_type(real)
        self.itemsize = real.bitwidth // 8
        self.index = ir.IntType(64)
        self.one = self.index(1)

    def array(self, place: int) -> Any:
        """Return the parts of the argument at a place, an array."""
        return self.context.make_array(self.kinds[place])(self.context, self.builder, self.args[place])

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

    def whole(self, array: Any, kind: Any, p: Any) -> Any:
        """Load array[p], a whole number, with all 64 bits."""
        number = self.builder.load(self.builder.gep(array.data, [p]))
        return self.builder.zext(number, self.index) if kind.bitwidth < 64 else number

    def load(self, address: Any, lanes: int) -> Any:
        """Load numbers that stand side by side."""
        vector = ir.VectorType(self.real, lanes)
        return self.builder.load(self.builder.bitcast(address, vector.as_pointer()), align=self.itemsize)

    def store(self, value: Any, address: Any) -> None:
        """Store numbers side by side."""
        self.builder.store(value, self.builder.bitcast(address, value.type.as_pointer()), align=self.itemsize)

    def put(self, value: Any, address: Any, add: Any) -> None:
        """Store numbers side by side, added to those that stand there if ``add``."""
        with self.builder.if_else(add) as (to_add, to_set):
            with to_add:
                self.store(self.builder.fadd(value, self.load(address, value.type.count)), address)
            with to_set:
                self.store(value, address)

    def zeros(self, lanes: int) -> Any:
        """Return where a vector of sums stands, which are zero."""
        vector = ir.VectorType(self.real, lanes)
        place = cgutils.alloca_once(self.builder, vector)
        self.builder.store(ir.Constant(vector, [0.0] * lanes), place)
        return place

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
        return self.builder.fadd(self.builder.fmul(x, y, flags=_FUSE), z, flags=_FUSE)

    @contextmanager
    def loop(self, start: Any, stop: Any) -> Iterator[Any]:
        """Emit a loop over whole numbers."""
        with cgutils.for_range_slice(self.builder, start, stop, self.one, self.index) as (p, _):
            yield p

    def each_group(self, start: Any, stop: Any, sizes: Sequence[int], body: Callable[[Any, int], None]) -> None:
        """Emit ``body(first, size)`` for groups that cover start ... stop - 1, as many as there are of each size."""
        b = self.builder
        place = cgutils.alloca_once_value(b, start)
        for size in sizes:
            test, turn, end = (b.append_basic_block(name) for name in ("while.test", "while.body", "while.end"))
            b.branch(test)
            b.position_at_end(test)
            b.cbranch(b.icmp_unsigned("<=", b.add(b.load(place), self.index(size)), stop), turn, end)
            b.position_at_end(turn)
            body(b.load(place), size)
            b.store(b.add(b.load(place), self.index(size)), place)
            b.branch(test)
            b.position_at_end(end)

    def each_piece(self, width: Any, body: Callable[[Any, int], None]) -> None:
        """Emit ``body(first column, lanes)`` for the pieces that cover all columns."""
        self.each_group(self.index(0), width, [n_bytes // self.itemsize for n_bytes in _PIECES] + [1], body)


def _written(signature: Any, real: Any, write: Callable[[_Emitter], None]) -> Any:
    """Return what an intrinsic returns: its signature, and what writes its code in a precision."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        write(_Emitter(context, builder, real, signature.args, args))
        return context.get_dummy_value()

    return signature, codegen


class _Neighbours:
    """The rows of t that entries of a matrix refer to; the arguments at three places are t, indices and weights."""

    def __init__(self, emit: _Emitter, t: int, indices: int, weights: int) -> None:
        self.emit, self.t, self.indices, self.weights = emit, emit.array(t), emit.array(indices), emit.array(weights)
        self.kind = emit.kinds[indices].dtype
        self.width = emit.size(self.t, 1)

    def row(self, p: Any, k: Any, lanes: int) -> Any:
        """Load t[indices[p], k : k + lanes]."""
        j = self.emit.whole(self.indices, self.kind, p)
        return self.emit.load(self.emit.at(self.t.data, (j, self.width), (k, self.emit.one)), lanes)

    def weight(self, p: Any, lanes: int) -> Any:
        """Load weights[p] into all lanes."""
        return self.emit.splat(self.emit.builder.load(self.emit.builder.gep(self.weights.data, [p])), lanes)

    def sum(self, begin: Any, end: Any, k: Any, lanes: int) -> Any:
        """Emit the sum of weights[p] * t[indices[p], k : k + lanes], all weights 1 where there are none."""
        emit, b = self.emit, self.emit.builder
        total = emit.zeros(lanes)
        with b.if_else(b.icmp_unsigned("!=", emit.size(self.weights, 0), emit.index(0))) as (weighted, plain):
            with weighted, emit.loop(begin, end) as p:
                b.store(emit.multiply_add(self.weight(p, lanes), self.row(p, k, lanes), b.load(total)), total)
            with plain, emit.loop(begin, end) as p:
                b.store(b.fadd(self.row(p, k, lanes), b.load(total), flags=_FUSE), total)
        return b.load(total)


@intrinsic
def sum_row(typingctx, t, indices, weights, begin, end, total):  # type: ignore[no-untyped-def]
    """Set total to the weighted sum of the rows of t that stand at begin ... end - 1."""

    def write(emit: _Emitter) -> None:
        near, out = _Neighbours(emit, 0, 1, 2), emit.array(5)
        begin, end = emit.args[3:5]

        def piece(k: Any, lanes: int) -> None:
            emit.store(near.sum(begin, end, k, lanes), emit.at(out.data, (k, emit.one)))

        emit.each_piece(near.width, piece)

    return _written(types.void(t, indices, weights, begin, end, total), t.dtype, write)


class _Step:
    """What all steps share, w1 * (sum over neighbours in t) + w2 * t + w3 * t_old in row i.

    Their first arguments are ``i, begin, end, indices, weights, w1, w2, w3, t, t_old``.
    """

    def __init__(self, emit: _Emitter) -> None:
        self.emit, self.near, self.t_old = emit, _Neighbours(emit, 8, 3, 4), emit.array(9)
        self.width = self.near.width

    def here(self, array: Any, k: Any) -> Any:
        """Return the address of column k of the row in an array."""
        return self.emit.at(array.data, (self.emit.args[0], self.width), (k, self.emit.one))

    def new(self, total: Any, now: Any, old: Any, lanes: int) -> Any:
        """Emit the new numbers of some columns."""
        emit = self.emit
        w1, w2, w3 = (emit.splat(w, lanes) for w in emit.args[5:8])
        return emit.multiply_add(w1, total, emit.multiply_add(w2, now, emit.builder.fmul(w3, old, flags=_FUSE)))

    def numbers(self, k: Any, lanes: int) -> tuple[Any, Any, Any]:
        """Emit the step for some columns; return the older, the present and the new numbers."""
        begin, end = self.emit.args[1:3]
        total = self.near.sum(begin, end, k, lanes)
        # the order of the loads decides which product the compiler fuses, and so the last bit
        old = self.emit.load(self.here(self.t_old, k), lanes)
        now = self.emit.load(self.here(self.near.t, k), lanes)
        return old, now, self.new(total, now, old, lanes)


@intrinsic
def step_row(typingctx, i, begin, end, indices, weights, w1, w2, w3, t, t_old, target, add):  # type: ignore[no-untyped-def]
    """Set row i of target to w1 * (sum of neighbours in t) + w2 * t + w3 * t_old, plus what stands there if ``add``."""

    def write(emit: _Emitter) -> None:
        step, out = _Step(emit), emit.array(10)

        def piece(k: Any, lanes: int) -> None:
            emit.put(step.numbers(k, lanes)[2], step.here(out, k), emit.args[11])

        emit.each_piece(step.width, piece)

    return _written(types.void(i, begin, end, indices, weights, w1, w2, w3, t, t_old, target, add), t.dtype, write)


@intrinsic
def step_and_sum_row(typingctx, i, begin, end, indices, weights, w1, w2, w3, t, t_old, out, a, fresh):  # type: ignore[no-untyped-def]
    """Step the recurrence in row i, t_old <- w1 * sum + w2 * t + w3 * t_old, and add to the outputs.

    Output s gets a[s, 0] * t_old + a[s, 1] * t + a[s, 2] * new; it is overwritten if ``fresh``.
    """

    def write(emit: _Emitter) -> None:
        step, Y, A, b = _Step(emit), emit.array(10), emit.array(11), emit.builder

        def piece(k: Any, lanes: int) -> None:
            old, now, new = step.numbers(k, lanes)
            emit.store(new, step.here(step.t_old, k))
            with emit.loop(emit.index(0), emit.size(A, 0)) as s:
                places = (emit.at(A.data, (s, emit.index(3)), (emit.index(q), emit.one)) for q in range(3))
                a0, a1, a2 = (emit.splat(b.load(place), lanes) for place in places)
                value = emit.multiply_add(a0, old, emit.multiply_add(a1, now, b.fmul(a2, new, flags=_FUSE)))
                row = (b.add(b.mul(s, emit.size(Y, 1)), emit.args[0]), step.width)
                emit.put(value, emit.at(Y.data, row, (k, emit.one)), b.not_(emit.args[12]))

        emit.each_piece(step.width, piece)

    return _written(types.void(i, begin, end, indices, weights, w1, w2, w3, t, t_old, out, a, fresh), t.dtype, write)


@intrinsic
def step_and_mix_row(typingctx, i, begin, end, indices, weights, w1, w2, w3, t, t_old, blocks, a):  # type: ignore[no-untyped-def]
    """Step Clenshaw's rule in row i: t_old <- w1 * sum + w2 * t + w3 * t_old + sum over s of a[s] * blocks[s]."""

    def write(emit: _Emitter) -> None:
        step, F, A, b = _Step(emit), emit.array(10), emit.array(11), emit.builder

        def piece(k: Any, lanes: int) -> None:
            total = cgutils.alloca_once_value(b, step.numbers(k, lanes)[2])
            with emit.loop(emit.index(0), emit.size(A, 0)) as s:
                w = emit.splat(b.load(emit.at(A.data, (s, emit.one))), lanes)
                row = (b.add(b.mul(s, emit.size(F, 1)), emit.args[0]), step.width)
                value = emit.load(emit.at(F.data, row, (k, emit.one)), lanes)
                b.store(emit.multiply_add(w, value, b.load(total)), total)
            emit.store(b.load(total), step.here(step.t_old, k))

        emit.each_piece(step.width, piece)

    return _written(types.void(i, begin, end, indices, weights, w1, w2, w3, t, t_old, blocks, a), t.dtype, write)


@intrinsic
def prefetch(typingctx, array, i):  # type: ignore[no-untyped-def]
    """Ask for the cache line of array[i], without waiting for it."""

    def write(emit: _Emitter) -> None:
        b, byte, flag = emit.builder, ir.IntType(8).as_pointer(), ir.IntType(32)
        number = b.zext(emit.args[1], emit.index) if i.bitwidth < 64 else emit.args[1]
        kind = ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        function = b.module.declare_intrinsic("llvm.prefetch", [byte], kind)
        address = b.bitcast(b.gep(emit.array(0).data, [number]), byte)
        b.call(function, [address, flag(0), flag(3), flag(1)])  # to read, into the nearest cache, data

    return _written(types.void(array, i), array.dtype, write)


# Neighbours whose products are summed over the lanes at once; what is left is done by smaller groups.
_GROUPS = (4, 2, 1)


@intrinsic
def step_and_dot_row(  # type: ignore[no-untyped-def]
    typingctx, i, begin, end, indices, weights, w1, w2, w3, t, t_old, target, add, other, factor, entries, diagonal
):
    """Do what :func:`cayleygsp.engine.rows.step_row` does with weights, and add products of rows on the way.

    Entry p gets factor * (row i of ``other``) * (row indices[p] of t), and diagonal[i] the same with row i of t, both
    in double precision.
    """

    def write(emit: _Emitter) -> None:
        b, step = emit.builder, _Step(emit)
        out, X, sums, own = (emit.array(place) for place in (10, 12, 14, 15))
        i, begin, end = emit.args[:3]

        def add_dots(mine: Any, rows: list[Any], where: Any) -> None:
            """Emit the products with some rows, added to the numbers that stand side by side from ``where`` on."""
            dots = emit.sums_of([b.fmul(mine, row, flags=_FUSE) for row in rows])
            double = ir.VectorType(ir.DoubleType(), len(rows))
            dots = dots if dots.type == double else b.fpext(dots, double)
            place = b.bitcast(where, double.as_pointer())
            total = emit.multiply_add(emit.splat(emit.args[13], len(rows)), dots, b.load(place, align=8))
            b.store(total, place, align=8)

        def piece(k: Any, lanes: int) -> None:
            total, mine = emit.zeros(lanes), emit.load(step.here(X, k), lanes)

            def neighbours(p: Any, count: int) -> None:
                entries = [b.add(p, emit.index(q)) for q in range(count)]
                rows = [step.near.row(entry, k, lanes) for entry in entries]
                for entry, row in zip(entries, rows, strict=True):
                    b.store(emit.multiply_add(step.near.weight(entry, lanes), row, b.load(total)), total)
                add_dots(mine, rows, b.gep(sums.data, [p]))

            emit.each_group(begin, end, [count for count in _GROUPS if count <= lanes], neighbours)
            now = emit.load(step.here(step.near.t, k), lanes)
            add_dots(mine, [now], b.gep(own.data, [i]))
            old = emit.load(step.here(step.t_old, k), lanes)
            emit.put(step.new(b.load(total), now, old, lanes), step.here(out, k), emit.args[11])

        emit.each_piece(step.width, piece)

    arguments = (i, begin, end, indices, weights, w1, w2, w3, t, t_old, target, add, other, factor, entries, diagonal)
    return _written(types.void(*arguments), t.dtype, write)


# Rows of output that are summed at once: each takes four vector registers of 32 bytes.
_GROUP = 2


@intrinsic
def mix_rows(typingctx, a, source, first, stride, target, first_out, stride_out, width):  # type: ignore[no-untyped-def]
    """Set target row s to the sum over q of a[s, q] times source row q; rows stand at first + q * stride."""

    def write(emit: _Emitter) -> None:
        b, A, X, Y = emit.builder, emit.array(0), emit.array(1), emit.array(4)
        n_out, n_in = emit.size(A, 0), emit.size(A, 1)
        first, stride, _, first_out, stride_out, width = emit.args[2:]

        def piece(k: Any, lanes: int) -> None:
            def group(s: Any, size: int) -> None:
                """Sum ``size`` rows of output at once, from row s on."""
                totals = [emit.zeros(lanes) for _ in range(size)]
                with emit.loop(emit.index(0), n_in) as q:
                    value = emit.load(emit.at(X.data, (first, emit.one), (q, stride), (k, emit.one)), lanes)
                    for g, total in enumerate(totals):
                        w = b.load(emit.at(A.data, (b.add(s, emit.index(g)), n_in), (q, emit.one)))
                        b.store(emit.multiply_add(emit.splat(w, lanes), value, b.load(total)), total)
                for g, total in enumerate(totals):
                    row = (b.add(s, emit.index(g)), stride_out)
                    emit.store(b.load(total), emit.at(Y.data, (first_out, emit.one), row, (k, emit.one)))

            emit.each_group(emit.index(0), n_out, (_GROUP, 1), group)

        emit.each_piece(width, piece)

    return _written(types.void(a, source, first, stride, target, first_out, stride_out, width), source.dtype, write)


@intrinsic
def copy_row(typingctx, source, first, target, first_out, width):  # type: ignore[no-untyped-def]
    """Copy ``width`` numbers that stand side by side."""

    def write(emit: _Emitter) -> None:
        X, Y, (_, first, _, first_out, width) = emit.array(0), emit.array(2), emit.args

        def piece(k: Any, lanes: int) -> None:
            value = emit.load(emit.at(X.data, (first, emit.one), (k, emit.one)), lanes)
            emit.store(value, emit.at(Y.data, (first_out, emit.one), (k, emit.one)))

        emit.each_piece(width, piece)

    return _written(types.void(source, first, target, first_out, width), source.dtype, write)


@compiled_helper()
def step_scaled_rows(first, last, graph, factor, minus, t, t_old, out, add):  # type: ignore[no-untyped-def]
    """Set rows of out to factor * (scaled Laplacian) t - minus * t_old, plus what stands there if ``add``."""
    indptr, indices, weights, diagonal, off, scale = graph
    for i in range(first, last):
        begin, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
        w1 = factor * scale[i] * off
        w2 = factor * (scale[i] * diagonal[i]) - factor
        step_row(np.int64(i), begin, end, indices, weights, w1, w2, -minus, t, t_old, out, add)
