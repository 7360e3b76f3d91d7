"""Rows of sparse products that give products of rows on the way, written in LLVM vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from cayleygsp.engine.emitter import FUSE, Emitter, while_loop

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
