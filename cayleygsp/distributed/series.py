"""Sums of Chebyshev series on a graph in parts: states that step, and what goes from part to part between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cayleygsp._typing import IntArray
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
    degree = program.coeffs.shape[1] - 1
    states = [executor.call(p, first_state, f, program) for p, f in enumerate(signals)]
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
        states = _step_all(executor, store, exchange, program, states, n_steps)
    answers = executor.commit([executor.call(p, answer, state, program) for p, state in enumerate(states)])
    holding = executor.hold(kept, answers)
    executor.wait(answers)
    del kept, states, holding
    if progress is not None:
        progress(degree, degree)
    return answers


def _step_all(
    executor: Executor, store: Store, exchange: Exchange, program: Program, states: Sequence[Handle], n_steps: int
) -> list[Handle]:
    """Let all parts exchange values once and do some degrees."""
    stepped = []
    for p, state in enumerate(states):
        takes = exchange.counts[p]
        sources = [q for q, counts in takes.items() if counts[n_steps]]
        pieces = [executor.call(q, cut_piece, states[q], exchange.rows[p, q], takes[q], n_steps) for q in sources]
        stepped.append(executor.call(p, advance, store, p, program, state, n_steps, sources, *pieces))
    return stepped


def cheapest_hops(
    executor: Executor, rings: Sequence[tuple[IntArray, IntArray]], most: int, row_bytes: float, entry_bytes: float
) -> int:
    """Return the degrees for one exchange that cost the fewest bytes per degree.

    A task counts as many bytes as a core reads in its time, and a byte on its way from part to part as several.

    Parameters
    ----------
    executor : Executor
        Knows what tasks and exchanges cost.
    rings : sequence of tuple
        Of each part, see :func:`cayleygsp.distributed.steps.count_rings`.
    most : int
        The most degrees for one exchange.
    row_bytes : float
        Bytes of one row of all signals.
    entry_bytes : float
        Bytes that a step moves for an entry of the matrix.
    """
    most = max(min([most, *(ends.size - 1 for ends, _ in rings)]), 1)
    costs = [_cost_per_degree(executor, rings, hops, row_bytes, entry_bytes) for hops in range(1, most + 1)]
    return 1 + int(np.argmin(costs))


def _cost_per_degree(
    executor: Executor, rings: Sequence[tuple[IntArray, IntArray]], hops: int, row_bytes: float, entry_bytes: float
) -> float:
    tasks = sum(1 + 2 * bool(ends[1] > ends[0]) for ends, _ in rings)
    worst = 0.0
    for ends, entries in rings:
        halo = (int(ends[hops]) + int(ends[hops - 1]) - 2 * int(ends[0])) * row_bytes
        beside = entries[:hops].sum() - hops * entries[0]  # entries of rows that another part does as well
        beside_rows = ends[:hops].sum() - hops * ends[0]
        # a state is copied once for each exchange
        copies = 4 * int(ends[0]) * row_bytes
        worst = max(worst, executor.wire_bytes * halo + beside * entry_bytes + 3 * beside_rows * row_bytes + copies)
    return (executor.task_bytes * tasks + worst) / hops
