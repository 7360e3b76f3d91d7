"""The board on which threads claim their work: chunks of rows, again and again in steps that follow each other.

A board is an array of whole numbers, one cache line for each thing that changes. The chunks of a step are dealt out to
queues, one for each thread. A thread takes from its own queue first, so that it finds its rows in its own cache, then
from the others'. A step is open when all chunks of the step before are done. Nobody is given anything: a thread that
does not run holds nothing up except by the chunk that it has in hand, and one thread alone can do everything.
"""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
from llvmlite import ir
from numba import njit
from numba.core import types
from numba.extending import intrinsic

from cayleygsp._typing import Array

# What a loop returns, and what `claim` returns in place of a chunk.
MORE = -1  # the budget of the call is used up
FINISHED = -2  # all steps are done
LEAVE = -3  # the thread was told to leave
WAIT = -4  # a step did not open for longer than a chunk may take

# What threads are told by the number at SIGNAL: to go on, that only the leader goes on, that all stop.
GO_ON, DISMISSED, STOPPED = 0, 1, 2

# Places on the board, in whole numbers; a cache line is eight of them.
_LINE = 8
DONE, SIGNAL, _SIZES, _QUEUES = 0, _LINE, 2 * _LINE, 3 * _LINE

_IS_X86 = platform.machine().lower() in ("x86_64", "amd64", "i386", "i686")


def new_board(n_chunks: int, n_steps: int, n_queues: int, spins: int) -> Array:
    """Return a board with nothing done."""
    board = np.zeros(_QUEUES + n_queues * _LINE, np.int64)
    board[_SIZES], board[_SIZES + 1], board[_SIZES + 2] = n_chunks, n_steps, spins
    return board


def _place(context: Any, builder: Any, kind: Any, array: Any, index: Any) -> Any:
    """Return the address of array[index]."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [index])


@intrinsic
def _load(typingctx, board, index):  # type: ignore[no-untyped-def]
    """Return board[index] as all threads left it."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load_atomic(_place(context, builder, board, *args), "seq_cst", align=8)

    return types.int64(board, types.int64), codegen


@intrinsic
def _add(typingctx, board, index, value):  # type: ignore[no-untyped-def]
    """Add to board[index] and return what was there."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.atomic_rmw("add", _place(context, builder, board, *args[:2]), args[2], "seq_cst")

    return types.int64(board, types.int64, types.int64), codegen


@intrinsic
def _swap(typingctx, board, index, expected, value):  # type: ignore[no-untyped-def]
    """Set board[index] to a value if it is what was expected, and say whether it was."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _place(context, builder, board, *args[:2])
        answer = builder.cmpxchg(place, args[2], args[3], "seq_cst", "seq_cst")
        return context.cast(builder, builder.extract_value(answer, 1), types.boolean, types.boolean)

    return types.boolean(board, types.int64, types.int64, types.int64), codegen


@intrinsic
def _relax(typingctx):  # type: ignore[no-untyped-def]
    """Let the processor rest for a moment in a loop that waits."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        if _IS_X86:
            kind = ir.FunctionType(ir.VoidType(), [])
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), kind), [])
        return context.get_dummy_value()

    return types.void(), codegen


@njit
def claim(board, mine):  # type: ignore[no-untyped-def]
    """Return a chunk of an open step, as step * n_chunks + chunk, or one of FINISHED, LEAVE, WAIT.

    Parameters
    ----------
    board : ndarray
        The board.
    mine : int
        Queue of the thread; the leader has queue 0.
    """
    n_chunks, n_steps, spins = board[_SIZES], board[_SIZES + 1], board[_SIZES + 2]
    n_queues = (board.size - _QUEUES) // _LINE
    for _ in range(spins):
        signal = _load(board, SIGNAL)
        if signal == STOPPED or (signal == DISMISSED and mine > 0):
            return LEAVE
        step = _load(board, DONE) // n_chunks
        if step >= n_steps:
            return FINISHED
        for r in range(n_queues):
            q = mine + r if mine + r < n_queues else mine + r - n_queues
            first = q * n_chunks // n_queues
            size = (q + 1) * n_chunks // n_queues - first
            place = _QUEUES + q * _LINE
            taken = _load(board, place)
            while taken < (step + 1) * size:  # at least step * size are taken: the steps before are done
                if _swap(board, place, taken, taken + 1):
                    return step * n_chunks + first + taken - step * size
                taken = _load(board, place)
        _relax()
    return WAIT


@njit
def finish(board):  # type: ignore[no-untyped-def]
    """Say that a claimed chunk is done."""
    _add(board, DONE, 1)
