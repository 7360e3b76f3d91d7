"""The work on one part: functions of plain arrays, called where the part is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cayleygsp._typing import Array, FloatArray, IntArray, LaplacianKind
from cayleygsp.distributed.executor import Executor, Handle, Kept, Progress
from cayleygsp.distributed.parts import (
    CACHE,
    Import,
    LocalMatrix,
    Store,
    cache_bytes,
    imports,
    prepare_part,
    region,
    whole_matrix,
)
from cayleygsp.engine.packed import KernelGraph
from cayleygsp.engine.recurrence import advance_adjoint_rows, advance_rows, aligned_empty, column_tiles


@dataclass(frozen=True, eq=False)
class State:
    """The recurrence on one part, tile by tile of the columns.

    Attributes
    ----------
    degree : int
        Degree k that was reached.
    t_old, t : tuple of numpy.ndarray, shape (n_own, width)
        The last two terms; of degree 0, no older one.
    sums : tuple of numpy.ndarray, shape (n_filters, n_own, width)
        What was added up; of degree 0 nothing, and of degree 1 no values if it is not the last.
    """

    degree: int
    t_old: tuple[Array, ...]
    t: tuple[Array, ...]
    sums: tuple[Array, ...]

    def __sizeof__(self) -> int:
        """Return the bytes of its arrays, so that Dask knows what it would move."""
        return sum(array.nbytes for array in (*self.t_old, *self.t, *self.sums))


@dataclass(frozen=True)
class Program:
    """What all parts do with their states.

    Attributes
    ----------
    kind : str
        Which Laplacian.
    lmax : float
        The interval of the series is [0, lmax].
    coeffs : numpy.ndarray, shape (n_filters, K + 1)
        One series per row.
    dtype : str
        Precision to work in.
    hops : int
        Degrees for one exchange, at most.
    n_threads : int or None
        Threads of a part; None for as many as are useful.
    """

    kind: LaplacianKind
    lmax: float
    coeffs: FloatArray
    dtype: str
    hops: int
    n_threads: int | None = 1


#: Values that go from part to part: tiles of the newest term, then of the older one.
Piece = list[Array]


def plan_imports(store: Store, p: int, hops: int) -> list[Import]:
    """Return what a part takes from the others for ``hops`` degrees."""
    return imports(store, region(store, p, hops))


def count_imports(plan: list[Import]) -> list[tuple[int, IntArray]]:
    """Return from which parts a part takes something, and how much by the distance."""
    return [(one.source, one.counts) for one in plan]


def rows_to_send(plan: list[Import], source: int) -> IntArray:
    """Return the rows that one part takes from another."""
    return next(one.rows for one in plan if one.source == source)


def count_rings(store: Store, p: int, hops: int, most: int) -> tuple[IntArray, IntArray]:
    """Return the vertices of a part and with 1, 2, … rings around it, and the entries of their rows, but the last's."""
    around = region(store, p, hops, most)
    return around.ends, around.rows.indptr[around.ends[:-1]]


def first_state(f: Array, program: Program) -> State:
    """Return the state of degree 0, the signals in the precision to work in."""
    dtype = np.dtype(program.dtype)
    tiles = tuple(np.ascontiguousarray(f[:, c], dtype) for c in column_tiles(f.shape[1], dtype.itemsize))
    return State(0, (), tiles, ())


def cut_piece(state: State, rows: IntArray, counts: IntArray, n_steps: int) -> Piece:
    """Return what another part needs for some steps: the newest term, and the older one of what is one edge nearer.

    Parameters
    ----------
    state : State
        Of the part that sends.
    rows : numpy.ndarray
        Rows that the other part takes, the nearest first.
    counts : numpy.ndarray
        How many of them are at most 0, 1, … edges away.
    n_steps : int
        Steps until the next exchange.
    """
    newest = [tile[rows[: counts[n_steps]]] for tile in state.t]
    return newest + [tile[rows[: counts[n_steps - 1]]] for tile in state.t_old]


def piece_entries(counts: IntArray, n_steps: int, first: bool) -> int:
    """Return how many values of a column a piece has."""
    return int(counts[n_steps]) + (0 if first else int(counts[n_steps - 1]))


def advance(
    store: Store, p: int, program: Program, state: State, n_steps: int, sources: Sequence[int], *pieces: Piece
) -> State:
    """Step the recurrence on a part.

    Parameters
    ----------
    store : Store
        All parts.
    p : int
        The part.
    program : Program
        What to do.
    state : State
        Its state, which stays as it is.
    n_steps : int
        Steps, at most ``program.hops``.
    sources : sequence of int
        Parts that the pieces come from.
    *pieces : Piece
        Values from around the part.
    """
    local = prepared(store, p, program)
    n_own, n_local = int(local.ends[0]), int(local.ends[n_steps])
    limits = local.ends[n_steps - 1 :: -1]
    done: list[tuple[Array, Array, Array]] = []
    for q, tile in enumerate(state.t):
        width, dtype = tile.shape[1], tile.dtype
        t_old, t = join_blocks(local, state, q, n_local, sources, pieces)
        sums = aligned_empty((program.coeffs.shape[0], n_own, width), dtype)
        if state.sums:
            sums[...] = state.sums[q]
        blocks = (t_old, t, sums)
        arguments = (local.graph, program.lmax, program.coeffs, state.degree, limits, blocks)
        old, new = advance_rows(*arguments, n_threads=program.n_threads)
        done.append((old[:n_own], new[:n_own], sums))
    t_olds, ts, all_sums = zip(*done, strict=True) if done else ((), (), ())
    return State(state.degree + n_steps, t_olds, ts, all_sums)


def join_blocks(
    local: LocalMatrix, state: State, q: int, n_local: int, sources: Sequence[int], pieces: Sequence[Piece]
) -> tuple[Array, Array]:
    """Return the older and the newest term of a tile on a part and around it.

    Parameters
    ----------
    local : LocalMatrix
        Of the part.
    state : State
        Its state.
    q : int
        Which tile.
    n_local : int
        Rows, with those around the part.
    sources, pieces
        As for :func:`advance`.
    """
    tile = state.t[q]
    n_own, shape = tile.shape[0], (n_local, tile.shape[1])
    t_old, t = aligned_empty(shape, tile.dtype), aligned_empty(shape, tile.dtype)
    t[:n_own] = tile
    t_old[:n_own] = state.t_old[q] if state.t_old else 0
    if not state.t_old:
        t_old[n_own:] = 0
    for source, piece in zip(sources, pieces, strict=True):
        slots = local.slots[source]
        t[slots[: len(piece[q])]] = piece[q]
        if state.t_old:
            older = piece[len(state.t) + q]
            t_old[slots[: len(older)]] = older
    return t_old, t


def answer(state: State, program: Program) -> Array:
    """Return the sums of a state, shape (n_filters, n_own, m)."""
    tiles = state.sums
    if state.degree == 0:
        a = program.coeffs[:, 0].astype(program.dtype)
        tiles = tuple(a[:, None, None] * tile for tile in state.t)
    if len(tiles) == 1:
        return tiles[0]
    return np.concatenate(tiles, axis=2)


def prepared(store: Store, p: int, program: Program) -> LocalMatrix:
    """Return the matrix of a part, made once in each process."""
    key = (store.token, p, program.kind, program.hops, program.dtype)
    return CACHE.get(
        key, lambda: prepare_part(store, p, program.kind, program.hops, np.dtype(program.dtype)), cache_bytes()
    )


def whole_graph(store: Store, kind: LaplacianKind, dtype: str) -> KernelGraph:
    """Return the matrix of the whole graph in the numbers of the parts, made once in each process."""
    key = (store.token, "whole", kind, dtype)
    return CACHE.get(key, lambda: whole_matrix(store, kind, np.dtype(dtype)), cache_bytes())


#: Signals of all filters, tile by tile of the columns, each of shape (n_filters, n_rows, width).
Inputs = list[Array]


def cut_inputs(f: Array, rows: IntArray, counts: IntArray, hops: int) -> Array:
    """Return the signals that another part needs, shape (n_filters, n_rows, m): all but those of the last ring."""
    return f[:, rows[: counts[hops - 1]]]


def join_inputs(
    store: Store, p: int, program: Program, f: Array, sources: Sequence[int], *pieces: Array
) -> tuple[Array, ...]:
    """Return the signals of a part and around it but for the last ring, in tiles, in the precision to work in."""
    local, dtype = prepared(store, p, program), np.dtype(program.dtype)
    n_own, n_rows = int(local.ends[0]), int(local.ends[program.hops - 1])
    x = aligned_empty((f.shape[0], n_rows, f.shape[2]), dtype)
    x[:, :n_own] = f
    for source, piece in zip(sources, pieces, strict=True):
        x[:, local.slots[source][: piece.shape[1]]] = piece
    return tuple(np.ascontiguousarray(x[:, :, c]) for c in column_tiles(f.shape[2], dtype.itemsize))


def first_adjoint_state(inputs: tuple[Array, ...], n_own: int, program: Program) -> State:
    """Return the state of degree 0: the sum of the signals by the highest coefficients."""
    a = program.coeffs[:, -1].astype(program.dtype)
    return State(0, (), tuple(np.tensordot(a, x[:, :n_own], axes=1) for x in inputs), ())


def advance_adjoint(
    store: Store,
    p: int,
    program: Program,
    state: State,
    n_steps: int,
    inputs: tuple[Array, ...],
    sources: Sequence[int],
    *pieces: Piece,
) -> State:
    """Step Clenshaw's rule on a part; the parameters are those of :func:`cayleygsp.distributed.recurrence.advance`.

    ``inputs`` are what :func:`join_inputs` returns.
    """
    local = prepared(store, p, program)
    n_own = int(local.ends[0])
    n_local = int(local.ends[max(n_steps, program.hops - 1)])  # no fewer rows than the signals have
    limits = local.ends[n_steps - 1 :: -1]
    done: list[tuple[Array, Array]] = []
    for q, x in enumerate(inputs):
        blocks = (*join_blocks(local, state, q, n_local, sources, pieces), x)
        arguments = (local.graph, program.lmax, program.coeffs, state.degree, limits, blocks)
        old, new = advance_adjoint_rows(*arguments, n_threads=program.n_threads)
        done.append((old[:n_own], new[:n_own]))
    t_olds, ts = zip(*done, strict=True) if done else ((), ())
    return State(state.degree + n_steps, t_olds, ts, ())


def adjoint_answer(state: State) -> Array:
    """Return the answer of a part, shape (1, n_own, m)."""
    return np.concatenate([np.zeros((state.t[0].shape[0], 0), state.t[0].dtype), *state.t], axis=1)[None]


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


# Rings around a part that are looked at when degrees for one exchange are chosen, and how many vertices they may have
# relative to the part, or at all.
_MOST_HOPS = 64
_MOST_AROUND, _FREE_AROUND = 0.5, 20_000


class Exchanges:
    """Exchanges of a graph in parts, planned when they are first asked for.

    Parameters
    ----------
    executor : Executor
        Calls functions on the parts.
    store : Store
        The parts.
    """

    def __init__(self, executor: Executor, store: Store) -> None:
        self.executor, self.store = executor, store
        self._planned: dict[int, Exchange] = {}
        self._hops: dict[tuple[int, int, str], int] = {}
        self._rings: list[tuple[IntArray, IntArray]] | None = None

    def of(self, hops: int) -> Exchange:
        """Return what parts exchange to do so many degrees."""
        if hops not in self._planned:
            self._planned[hops] = plan_exchange(self.executor, self.store, hops)
        return self._planned[hops]

    def cheapest_hops(self, most: int, n_columns: int, dtype: Any) -> int:
        """Return the degrees for one exchange, at most so many, that cost the fewest bytes."""
        key = (most, n_columns, np.dtype(dtype).str)
        if key not in self._hops:
            item = np.dtype(dtype).itemsize
            rings = self._count_rings()
            self._hops[key] = _cheapest_hops(self.executor, rings, most, n_columns * item, 4.0 + item * n_columns)
        return self._hops[key]

    def _count_rings(self) -> list[tuple[IntArray, IntArray]]:
        if self._rings is None:
            most = [int(max(_MOST_AROUND * size, _FREE_AROUND)) for size in np.diff(self.store.starts)]
            calls = [self.executor.call(p, count_rings, self.store, p, _MOST_HOPS, n) for p, n in enumerate(most)]
            self._rings = self.executor.values(self.executor.commit(calls))
        return self._rings


def _cheapest_hops(
    executor: Executor, rings: Sequence[tuple[IntArray, IntArray]], most: int, row_bytes: float, entry_bytes: float
) -> int:
    """Return the degrees for one exchange that cost the fewest bytes per degree.

    A task counts as many bytes as a core reads in its time, and a byte on its way from part to part as several.

    Parameters
    ----------
    executor : Executor
        Knows what tasks and exchanges cost.
    rings : sequence of tuple
        Of each part, see :func:`cayleygsp.distributed.recurrence.count_rings`.
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
