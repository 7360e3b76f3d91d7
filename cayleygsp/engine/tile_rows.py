"""Rows of tiles, written in LLVM vectors: copies, and sums of several rows into several others."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from cayleygsp.engine.emitter import Emitter, while_loop

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
