"""Threads that share the steps of a loop, on quiet machines and on busy ones.

A loop is a compiled function that claims chunks of rows from a board without holding the interpreter. A board is an
array of whole numbers, one cache line for each thing that changes. The chunks of a step are dealt out to queues, one
for each thread. A thread takes from its own queue first, so that it finds its rows in its own cache, then from the
others'. A step is open when all chunks of the step before are done. Nobody is given anything: a thread that does not
run holds nothing up except by the chunk that it has in hand, and one thread alone can do everything.

The thread that calls :func:`run` works itself and returns to Python some times per second, so that Ctrl-C is heard;
helpers from a pool join when they get to run. Where a thread that holds a chunk was put to sleep by the system, because
other programs want the processor, the others wait for it. If that takes more than a small part of the time, the helpers
are sent away for as long as makes up for the loss, and the caller works alone: on a busy machine that is what a single
thread would do.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from threading import Lock
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
    """Return a chunk of an open step, as step * n_chunks + chunk, or FINISHED, LEAVE, WAIT; the leader is number 0."""
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


# Numbers that the calling thread touches before it looks at Python's signals: about a tenth of a second.
_NUMBERS_PER_CALL = 2**26

# Numbers of a step that make one more thread worth while, and numbers of the whole work.
_NUMBERS_PER_THREAD = 15_000
_NUMBERS_TO_SHARE = 300_000

# Every second of work with helpers earns credit at this rate, up to so many seconds in all. The caller's waits are
# taken from it, so that a machine that is busy for a moment keeps its helpers. When it is used up, they are sent away
# for a multiple of the debt, within these limits (seconds): for the lower multiple if they have worked for longer than
# they rested last, else for twice the last one, up to the upper.
_EARNED_PER_SECOND, _MOST_CREDIT = 1 / 32, 3e-3
_LEAST_FACTOR, _MOST_FACTOR = 8, 32
_SHORTEST_REST, _LONGEST_REST = 0.02, 1.0

# A thread that has to wait spins for about as long as two chunks take, some 20 ns per turn, but not for longer than
# this many turns; then it naps (seconds), the longer the longer nothing is done.
_MOST_SPINS = 20_000
_NAP, _LONGEST_NAP = 5e-5, 1e-3


def thread_limit() -> int:
    """Return how many threads may work: numba's number, and no more than the processors of this process."""
    import numba
    from numba.core import config
    from numba.np.ufunc import parallel

    # asking numba for the number would start its threads
    started = getattr(parallel, "_is_initialized", True)
    limit = numba.get_num_threads() if started else config.NUMBA_NUM_THREADS
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(min(int(limit), processors), 1)


def useful_threads(numbers: int, n_steps: int, limit: int | None = None) -> int:
    """Return how many threads are worth their start, where steps touch so many numbers each."""
    if numbers < 2 * _NUMBERS_PER_THREAD or numbers * n_steps < _NUMBERS_TO_SHARE:
        return 1
    return min(thread_limit() if limit is None else limit, numbers // _NUMBERS_PER_THREAD)


class Helpers:
    """The pool of helping threads, and until when they rest because the machine is busy."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start anew: a forked child has none of its parent's threads."""
        self.lock = Lock()
        self.pool: ThreadPoolExecutor | None = None
        self.rest = self.rest_until = 0.0
        self.factor = _LEAST_FACTOR
        self.credit = _MOST_CREDIT

    def submit(self, work: Callable[[int], None], mine: int) -> Future[None] | None:
        """Let a helper work when it gets to run; None when Python is about to end."""
        with self.lock:
            if self.pool is None:
                self.pool = ThreadPoolExecutor(os.cpu_count(), "cayleygsp")
        try:
            return self.pool.submit(work, mine)
        except RuntimeError:
            return None

    @property
    def may_come(self) -> bool:
        """Whether they have rested enough."""
        if time.monotonic() < self.rest_until:
            return False
        self.credit = max(self.credit, 0.0)
        return True

    def earn(self, seconds: float) -> None:
        """Count time that was worked with helpers."""
        self.credit = min(self.credit + seconds * _EARNED_PER_SECOND, _MOST_CREDIT)

    def lose(self, seconds: float) -> bool:
        """Count time that was lost by waiting for helpers; say whether they must rest.

        They rest the longer the more was lost, and the longer the sooner that comes after the last time.
        """
        self.credit -= seconds
        if self.credit >= 0:
            return False
        now = time.monotonic()
        if now >= self.rest_until:  # else it is the same wait that goes on
            soon = now < self.rest_until + self.rest
            self.factor = min(2 * self.factor, _MOST_FACTOR) if soon else _LEAST_FACTOR
        self.rest = min(max(-self.credit * self.factor, _SHORTEST_REST), _LONGEST_REST)
        self.rest_until = now + self.rest
        return True


HELPERS = Helpers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=HELPERS.forget)


class _Wait:
    """A thread's wait for chunks that others have in hand."""

    def __init__(self, job: _Job) -> None:
        self.job = job
        self.done = -1
        self.start = 0.0

    def nap(self) -> float:
        """Sleep for a moment, and return how long that was."""
        done, now = int(self.job.board[DONE]), time.monotonic()
        if done != self.done:
            self.done, self.start = done, now
        time.sleep(min(max((now - self.start) / 4, _NAP), _LONGEST_NAP))
        return time.monotonic() - now


class _Job:
    """One run of a loop: its board, the calling thread's part and the helpers' part."""

    def __init__(self, loop: Callable[..., int], arguments: tuple[Any, ...], board: Array, n_threads: int) -> None:
        self.loop = loop
        self.arguments: tuple[Any, ...] | None = arguments
        self.board = board
        self.n_threads = n_threads
        self.lock = Lock()
        self.futures: list[Future[None]] = []
        self.error: BaseException | None = None

    def invite(self) -> None:
        """Ask the helpers to come, unless the machine is busy."""
        if self.n_threads == 1 or not HELPERS.may_come:
            return
        with self.lock:
            if self.board[SIGNAL] == STOPPED:
                return
            self.board[SIGNAL] = GO_ON
        invited = (HELPERS.submit(self.help, mine) for mine in range(1, self.n_threads))
        self.futures = [future for future in invited if future is not None]

    def work(self, mine: int, budget: int) -> int:
        """Call the loop, unless all is over."""
        arguments = self.arguments
        return FINISHED if arguments is None else self.loop(*arguments, self.board, mine, budget)

    def help(self, mine: int) -> None:
        """Work as a helper until there is nothing to do, or until sent away."""
        try:
            waited = _Wait(self)
            while self.work(mine, 2**62) == WAIT:
                waited.nap()
        except BaseException as error:
            self.error = error
            with self.lock:
                self.board[SIGNAL] = STOPPED

    def lead(self, budget: int) -> None:
        """Work until everything is done; signals are heard between calls of the loop."""
        waited = _Wait(self)
        while True:
            start = time.monotonic()
            answer = self.work(0, budget)
            if self.futures and self.board[SIGNAL] == GO_ON:
                HELPERS.earn(time.monotonic() - start)
            if self.error is not None:
                raise self.error
            if answer == FINISHED:
                return
            if answer == WAIT:
                if HELPERS.lose(waited.nap()):
                    with self.lock:  # who was told to stop is not told anything else
                        if self.board[SIGNAL] == GO_ON:
                            self.board[SIGNAL] = DISMISSED
            elif all(future.done() for future in self.futures):
                self.invite()

    def close(self) -> None:
        """Let go of the arrays, which a helper that comes late would keep alive."""
        self.arguments = None
        for future in self.futures:
            future.cancel()

    def stop(self) -> None:
        """Make everybody stop and wait until they have."""
        with self.lock:
            self.board[SIGNAL] = STOPPED
        wait([future for future in self.futures if not future.cancel()])


def run(
    loop: Callable[..., int], *arguments: Any, n_chunks: int, n_steps: int, numbers: int, n_threads: int | None = None
) -> None:
    """Run a compiled loop in as many threads as are useful, and return when all is done.

    ``loop(*arguments, board, mine, budget)`` claims up to ``budget`` chunks for queue ``mine`` and returns one of the
    answers of :func:`claim`; every step touches so many numbers. A KeyboardInterrupt comes within a fraction of a
    second; what was computed is then worth nothing.
    """
    if n_chunks == 0 or n_steps == 0 or numbers == 0:
        return
    n_threads = min(useful_threads(numbers, n_steps) if n_threads is None else n_threads, n_chunks)
    per_chunk = -(-numbers // n_chunks)
    board = new_board(n_chunks, n_steps, n_threads, min(1000 + per_chunk // 8, _MOST_SPINS))
    budget = max(_NUMBERS_PER_CALL // per_chunk, 1)
    if n_threads == 1:
        while loop(*arguments, board, 0, budget) != FINISHED:  # signals are heard between calls
            pass
        return
    job = _Job(loop, arguments, board, n_threads)
    try:
        job.invite()
        job.lead(budget)
    except BaseException:
        job.stop()
        raise
    finally:
        job.close()
