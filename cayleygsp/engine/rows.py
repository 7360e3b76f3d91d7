"""Rows of sparse products on blocks of signals, written in LLVM vectors.

numba does not keep a row of sums in registers when its length is known only at run time; these intrinsics do. They walk
the columns in pieces of 128, 64, 32 and 16 bytes, then one by one, and hold the sums of a piece in vector registers
while the neighbours go by.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from cayleygsp.engine.emitter import FUSE, Emitter


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
        self.n, self.width = emit.size(self.t, 0), emit.size(self.t, 1)

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
                where = emit.at(Y.data, (b.mul(s, step.n), step.width), *step.here(k))
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
                value = emit.load(emit.at(F.data, (b.mul(s, step.n), step.width), *step.here(k)), lanes)
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
