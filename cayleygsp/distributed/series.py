"""Sums of Chebyshev series on a graph in parts: states that step, and what goes from part to part between."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cayleygsp._typing import IntArray
from cayleygsp.distributed.adjoint_steps import (
    adjoint_answer,
    advance_adjoint,
    cut_inputs,
    first_adjoint_state,
    join_inputs,
)
from cayleygsp.distributed.executor import Executor, Handle, Kept, Progress
from cayleygsp.distributed.parts import Store
from cayleygsp.distributed.steps import (
    Program,
    advance,
    answer,
    count_imports,
    cut_piece,
    first_state,
    piece_entries,
    plan_imports,
    rows_to_send,
)


@dataclass(frozen=True, eq=False)
class Exchange:
    """What goes from part to part for some degrees.

    Attributes
    ----------
    hops : int
        Degrees for one exchange, at most.
    counts : list of dict
        For each part, how many values it takes from each of the others, by their distance.
    rows : dict
        For each pair of parts, where the rows are that the first takes from the second.
    """

    hops: int
    counts: list[dict[int, IntArray]]
    rows: dict[tuple[int, int], Handle]

    def input_entries(self) -> int:
        """Return how many values of a column go from part to part once for the adjoint of a series."""
        return sum(int(counts[self.hops - 1]) for takes in self.counts for counts in takes.values())

    def entries(self, degree: int) -> int:
        """Return how many values of a column go from part to part in all for a series."""
        total = 0
        for before, n_steps in blocks(degree, self.hops):
            total += sum(piece_entries(one, n_steps, before == 0) for takes in self.counts for one in takes.values())
        return total

    @property
    def n_messages(self) -> int:
        """Messages of one exchange."""
        return len(self.rows)


def blocks(degree: int, hops: int) -> list[tuple[int, int]]:
    """Return where each block of degrees begins, and how many there are in it."""
    return [(before, min(hops, degree - before)) for before in range(0, degree, hops)]


def kept_degrees(degree: int, hops: int, keep_every: int) -> list[int]:
    """Return the degrees whose states are kept: after ``keep_every`` or the first exchange behind that."""
    kept = [0]
    for before, _ in blocks(degree, hops):
        if before - kept[-1] >= keep_every:
            kept.append(before)
    return kept[1:]


def plan_exchange(executor: Executor, store: Store, hops: int) -> Exchange:
    """Find out which values each part needs from the others."""
    plans = [executor.call(p, plan_imports, store, p, hops) for p in range(store.n_parts)]
    counted = executor.commit([executor.call(p, count_imports, plan) for p, plan in enumerate(plans)] + plans)
    counts = [dict(one) for one in executor.values(counted[: store.n_parts])]
    plans = counted[store.n_parts :]
    pairs = [(p, q) for p, takes in enumerate(counts) for q in takes]
    rows = executor.commit([executor.call(q, rows_to_send, plans[p], q) for p, q in pairs])
    return Exchange(hops, counts, dict(zip(pairs, rows, strict=True)))


def sum_in_parts(
    executor: Executor,
    store: Store,
    exchange: Exchange,
    program: Program,
    signals: Sequence[Handle],
    keep_every: int,
    progress: Progress | None = None,
) -> list[Handle]:
    r"""Return :math:`\sum_k a_{ik} T_k(\tilde\Delta) f` for every series, in parts.

    Parameters
    ----------
    executor : Executor
        Who does it.
    store : Store
        The parts.
    exchange : Exchange
        What goes from part to part.
    program : Program
        The series.
    signals : sequence of Handle
        The signals of each part, shape (n_own, m).
    keep_every : int
        Degrees after which states are kept in two places.
    progress : callable, optional
        Told how many degrees are done.

    Returns
    -------
    list of Handle
        Of each part, shape (n_filters, n_own, m).
    """
    program = replace(program, hops=exchange.hops)
    states = [executor.call(p, first_state, f, program) for p, f in enumerate(signals)]

    def step(p: int, state: Handle, n_steps: int, sources: list[int], pieces: list[Handle]) -> Handle:
        return executor.call(p, advance, store, p, program, state, n_steps, sources, *pieces)

    def finish(p: int, state: Handle) -> Handle:
        return executor.call(p, answer, state, program)

    return _run(executor, exchange, program, states, step, finish, keep_every, progress)


def sum_adjoint_in_parts(
    executor: Executor,
    store: Store,
    exchange: Exchange,
    program: Program,
    signals: Sequence[Handle],
    keep_every: int,
    progress: Progress | None = None,
) -> list[Handle]:
    r"""Return :math:`\sum_i \sum_k a_{ik} T_k(\tilde\Delta) f_i` in parts, by one recurrence for all filters.

    Parameters
    ----------
    executor, store, exchange, program, keep_every, progress
        As for :func:`sum_in_parts`.
    signals : sequence of Handle
        The signals of each part, shape (n_filters, n_own, m).

    Returns
    -------
    list of Handle
        Of each part, shape (1, n_own, m).
    """
    program = replace(program, hops=exchange.hops)
    inputs = []
    for p, takes in enumerate(exchange.counts):
        sources = [q for q, counts in takes.items() if counts[exchange.hops - 1]]
        pieces = [
            executor.call(q, cut_inputs, signals[q], exchange.rows[p, q], takes[q], exchange.hops) for q in sources
        ]
        inputs.append(executor.call(p, join_inputs, store, p, program, signals[p], sources, *pieces))
    inputs = executor.commit(inputs)
    sizes = np.diff(store.starts).tolist()
    states = [executor.call(p, first_adjoint_state, x, sizes[p], program) for p, x in enumerate(inputs)]

    def step(p: int, state: Handle, n_steps: int, sources: list[int], pieces: list[Handle]) -> Handle:
        return executor.call(p, advance_adjoint, store, p, program, state, n_steps, inputs[p], sources, *pieces)

    def finish(p: int, state: Handle) -> Handle:
        return executor.call(p, adjoint_answer, state)

    return _run(executor, exchange, program, states, step, finish, keep_every, progress)


def _run(
    executor: Executor,
    exchange: Exchange,
    program: Program,
    states: list[Handle],
    step: Callable[[int, Handle, int, list[int], list[Handle]], Handle],
    finish: Callable[[int, Handle], Handle],
    keep_every: int,
    progress: Progress | None,
) -> list[Handle]:
    """Step all parts from their first states to the highest degree; ``step`` and ``finish`` are for one part."""
    degree = program.coeffs.shape[1] - 1
    kept, kept_at = Kept(), kept_degrees(degree, exchange.hops, keep_every)
    for before, n_steps in blocks(degree, exchange.hops):
        if before in kept_at:
            earlier, kept = kept, executor.keep(before, executor.commit(states), kept)
            # the next interval is sent while this one is under way, and begins when its states are safe
            executor.wait(earlier.safe)
            if progress is not None and earlier.degree:
                progress(earlier.degree, degree)
            del earlier  # what holds those states is with the new ones
            states = kept.states
        states = [
            step(p, state, n_steps, *_pieces(executor, exchange, p, states, n_steps)) for p, state in enumerate(states)
        ]
    answers = executor.commit([finish(p, state) for p, state in enumerate(states)])
    holding = executor.hold(kept, answers)
    executor.wait(answers)
    del kept, states, holding
    if progress is not None:
        progress(degree, degree)
    return answers


def _pieces(
    executor: Executor, exchange: Exchange, p: int, states: Sequence[Handle], n_steps: int
) -> tuple[list[int], list[Handle]]:
    """Return from which parts a part takes values for some degrees, and these values."""
    takes = exchange.counts[p]
    sources = [q for q, counts in takes.items() if counts[n_steps]]
    cut = [executor.call(q, cut_piece, states[q], exchange.rows[p, q], takes[q], n_steps) for q in sources]
    return sources, cut
