"""The recurrence on parts: functions of plain arrays, called where a part is, and what goes from part to part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cayleygsp._typing import Array, FloatArray, IntArray, LaplacianKind
from cayleygsp.distributed.executor import Executor, Handle, Kept, Progress
from cayleygsp.distributed.parts import Import, LocalMatrix, Store, imports, local_matrix, region
from cayleygsp.engine.recurrence import advance_rows, aligned_empty, column_tiles


@dataclass(frozen=True, eq=False)
class State:
    """The recurrence on one part, tile by tile of the columns, once it has reached a degree.

    ``t_old`` and ``t``, each tile of shape (n_own, width), are the last two terms; of degree 0 there is no older one.
    ``sums``, each tile of shape (n_filters, n_own, width), are none of degree 0 and for the adjoint, and have no values
    of degree 1 if it is not the last.
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
    """What all parts do: series on [0, lmax], one per row of coefficients, or their adjoint.

    ``dtype`` is the precision to work in, ``hops`` the most degrees for one exchange, and ``n_threads`` the threads of
    a part, None for as many as are useful.
    """

    kind: LaplacianKind
    lmax: float
    coeffs: FloatArray
    dtype: str
    hops: int
    n_threads: int | None
    adjoint: bool

    @property
    def degree(self) -> int:
        """Degree of the series."""
        return self.coeffs.shape[1] - 1

    def matrix(self, store: Store, p: int) -> LocalMatrix:
        """Return the matrix of a part."""
        return local_matrix(store, p, self.kind, self.hops, self.dtype)

    def tiles(self, f: Array) -> tuple[Array, ...]:
        """Return columns, on the last axis, in tiles and in the precision to work in."""
        dtype = np.dtype(self.dtype)
        return tuple(np.ascontiguousarray(f[..., c], dtype) for c in column_tiles(f.shape[-1], dtype.itemsize))


#: Values that go from part to part: tiles of the newest term, then of the older one.
Piece = list[Array]


def plan_imports(store: Store, p: int, hops: int) -> dict[int, Import]:
    """Return what a part takes from the others for ``hops`` degrees."""
    return imports(store, region(store, p, hops))


def count_imports(plan: dict[int, Import]) -> dict[int, IntArray]:
    """Return from which parts a part takes something, and how much by the distance."""
    return {q: one.counts for q, one in plan.items()}


def rows_to_send(plan: dict[int, Import], q: int) -> IntArray:
    """Return the rows that one part takes from another."""
    return plan[q].rows


def count_rings(store: Store, p: int, hops: int, most: int) -> tuple[IntArray, IntArray]:
    """Return the vertices of a part and with 1, 2, … rings around it, and the entries of their rows, but the last's."""
    around = region(store, p, hops, most)
    return around.ends, around.entries


def first_state(f: Array, program: Program) -> State:
    """Return the state of degree 0."""
    return State(0, (), program.tiles(f), ())


def cut_piece(state: State, rows: IntArray, counts: IntArray, n_steps: int) -> Piece:
    """Return what another part needs for some steps: the newest term, and the older one of what is one edge nearer.

    Of the ``rows`` that the other part takes, the nearest first, ``counts`` are at most 0, 1, … edges away.
    """
    newest = [tile[rows[: counts[n_steps]]] for tile in state.t]
    return newest + [tile[rows[: counts[n_steps - 1]]] for tile in state.t_old]


def advance(
    store: Store,
    p: int,
    program: Program,
    state: State,
    n_steps: int,
    inputs: tuple[Array, ...] | None,
    sources: Sequence[int],
    *pieces: Piece,
) -> State:
    """Return the state of a part after so many steps, at most ``program.hops``; the one that is given stays as it is.

    The pieces come from the parts ``sources``; ``inputs``, for the adjoint, are what :func:`join_inputs` returns.
    """
    local = program.matrix(store, p)
    n_own, limits = int(local.ends[0]), local.ends[n_steps - 1 :: -1]
    # of the adjoint no fewer rows than the signals have
    n_local = int(local.ends[n_steps if inputs is None else max(n_steps, program.hops - 1)])
    terms: list[tuple[Array, Array]] = []
    all_sums: list[Array] = []
    for q, tile in enumerate(state.t):
        terms_here = _join_terms(local, state, q, n_local, sources, pieces)
        if inputs is None:
            sums = aligned_empty((program.coeffs.shape[0], n_own, tile.shape[1]), tile.dtype)
            if state.sums:
                sums[...] = state.sums[q]
            all_sums.append(sums)
        arguments = (local.graph, program.lmax, program.coeffs, state.degree, limits)
        blocks = (*terms_here, sums if inputs is None else inputs[q])
        old, new = advance_rows(*arguments, blocks, adjoint=inputs is not None, n_threads=program.n_threads)
        terms.append((old[:n_own], new[:n_own]))
    t_old, t = zip(*terms, strict=True)
    return State(state.degree + n_steps, t_old, t, tuple(all_sums))


def _join_terms(
    local: LocalMatrix, state: State, q: int, n_local: int, sources: Sequence[int], pieces: Sequence[Piece]
) -> tuple[Array, Array]:
    """Return the older and the newest term of tile q on a part and around it, shape (n_local, width)."""
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
    """Return the sums of a state, shape (n_filters, n_own, m); for the adjoint its term, shape (1, n_own, m)."""
    tiles = state.sums
    if program.adjoint:
        tiles = tuple(tile[None] for tile in state.t)
    elif state.degree == 0:
        a = program.coeffs[:, 0].astype(program.dtype)
        tiles = tuple(a[:, None, None] * tile for tile in state.t)
    return tiles[0] if len(tiles) == 1 else np.concatenate(tiles, axis=2)


def cut_inputs(f: Array, rows: IntArray, counts: IntArray, hops: int) -> Array:
    """Return the signals that another part needs, shape (n_filters, n_rows, m): all but those of the last ring."""
    return f[:, rows[: counts[hops - 1]]]


def join_inputs(
    store: Store, p: int, program: Program, f: Array, sources: Sequence[int], *pieces: Array
) -> tuple[Array, ...]:
    """Return the signals of a part and around it but for the last ring, in tiles, in the precision to work in."""
    local = program.matrix(store, p)
    n_own, n_rows = int(local.ends[0]), int(local.ends[program.hops - 1])
    x = aligned_empty((f.shape[0], n_rows, f.shape[2]), np.dtype(program.dtype))
    x[:, :n_own] = f
    for source, piece in zip(sources, pieces, strict=True):
        x[:, local.slots[source][: piece.shape[1]]] = piece
    return program.tiles(x)


def first_adjoint_state(inputs: tuple[Array, ...], n_own: int, program: Program) -> State:
    """Return the state of degree 0: the sum of the signals by the highest coefficients."""
    a = program.coeffs[:, -1].astype(program.dtype)
    return State(0, (), tuple(np.tensordot(a, x[:, :n_own], axes=1) for x in inputs), ())


@dataclass(frozen=True, eq=False)
class Exchange:
    """What goes from part to part for at most ``hops`` degrees.

    ``counts`` has for each part how many values it takes from each of the others, by their distance; ``rows`` for each
    pair of parts where the rows are that the first takes from the second.
    """

    hops: int
    counts: list[dict[int, IntArray]]
    rows: dict[tuple[int, int], Handle]

    def entries(self, degree: int, n_inputs: int = 0) -> int:
        """Return how many values of a column go from part to part in all; the inputs of an adjoint go once."""
        total = 0
        for counts in [counts for takes in self.counts for counts in takes.values()]:
            total += n_inputs * int(counts[self.hops - 1])
            for before, n_steps in blocks_of_degrees(degree, self.hops):
                total += int(counts[n_steps]) + (int(counts[n_steps - 1]) if before else 0)
        return total


def blocks_of_degrees(degree: int, hops: int) -> list[tuple[int, int]]:
    """Return where each block of degrees begins, and how many there are in it."""
    return [(before, min(hops, degree - before)) for before in range(0, degree, hops)]


def kept_degrees(degree: int, hops: int, keep_every: int) -> list[int]:
    """Return the degrees whose states are kept: after ``keep_every`` or the first exchange behind that."""
    kept = [0]
    for before in range(0, degree, hops):
        if before - kept[-1] >= keep_every:
            kept.append(before)
    return kept[1:]


def sum_in_parts(
    executor: Executor,
    store: Store,
    exchange: Exchange,
    program: Program,
    signals: Sequence[Handle],
    keep_every: int,
    progress: Progress | None = None,
) -> list[Handle]:
    r"""Return :math:`\sum_k a_{ik} T_k(\tilde\Delta) f` for every series, of each part, shape (n_filters, n_own, m).

    For the adjoint, of signals of shape (n_filters, n_own, m), :math:`\sum_i \sum_k a_{ik} T_k(\tilde\Delta) f_i`,
    shape (1, n_own, m), by one recurrence. States are kept in two places after ``keep_every`` degrees.
    """
    call, hops = executor.call, exchange.hops
    inputs: list[Handle] = [None] * store.n_parts
    if program.adjoint:
        for p, takes in enumerate(exchange.counts):
            sources = [q for q, counts in takes.items() if counts[hops - 1]]
            cut = [call(q, cut_inputs, signals[q], exchange.rows[p, q], takes[q], hops) for q in sources]
            inputs[p] = call(p, join_inputs, store, p, program, signals[p], sources, *cut)
        inputs = executor.commit(inputs)
        sizes = np.diff(store.starts).tolist()
        states = [call(p, first_adjoint_state, x, sizes[p], program) for p, x in enumerate(inputs)]
    else:
        states = [call(p, first_state, f, program) for p, f in enumerate(signals)]
    kept, kept_at = Kept(), kept_degrees(program.degree, hops, keep_every)
    for before, n_steps in blocks_of_degrees(program.degree, hops):
        if before in kept_at:
            earlier, kept = kept, executor.keep(before, executor.commit(states), kept)
            # the next interval is sent while this one is under way, and begins when its states are safe
            executor.wait(earlier.safe)
            if progress is not None and earlier.degree:
                progress(earlier.degree, program.degree)
            del earlier  # what holds those states is with the new ones
            states = kept.states
        states = _advance_all(executor, store, exchange, program, states, n_steps, inputs)
    answers = executor.commit([call(p, answer, state, program) for p, state in enumerate(states)])
    holding = executor.hold(kept, answers)
    executor.wait(answers)
    del kept, states, holding
    if progress is not None:
        progress(program.degree, program.degree)
    return answers


def _advance_all(
    executor: Executor,
    store: Store,
    exchange: Exchange,
    program: Program,
    states: Sequence[Handle],
    n_steps: int,
    inputs: Sequence[Handle],
) -> list[Handle]:
    """Exchange the values at the borders, and step all parts."""
    after = []
    for p, takes in enumerate(exchange.counts):
        sources = [q for q, counts in takes.items() if counts[n_steps]]
        cut = [executor.call(q, cut_piece, states[q], exchange.rows[p, q], takes[q], n_steps) for q in sources]
        after.append(executor.call(p, advance, store, p, program, states[p], n_steps, inputs[p], sources, *cut))
    return after


# Rings around a part that are looked at when degrees for one exchange are chosen, and how many vertices they may have
# relative to the part, or at all.
_MOST_HOPS = 64
_MOST_AROUND, _FREE_AROUND = 0.5, 20_000


class Exchanges:
    """Exchanges of a graph in parts, planned when they are first asked for."""

    def __init__(self, executor: Executor, store: Store) -> None:
        self.executor, self.store = executor, store
        self._planned: dict[int, Exchange] = {}
        self._hops: dict[tuple[int, float], int] = {}
        self._rings: list[tuple[IntArray, IntArray]] = []

    def of(self, hops: int) -> Exchange:
        """Return what parts exchange to do so many degrees."""
        if hops not in self._planned:
            call, store = self.executor.call, self.store
            plans = [call(p, plan_imports, store, p, hops) for p in range(store.n_parts)]
            done = self.executor.commit([call(p, count_imports, plan) for p, plan in enumerate(plans)] + plans)
            counts, plans = self.executor.values(done[: store.n_parts]), done[store.n_parts :]
            pairs = [(p, q) for p, takes in enumerate(counts) for q in takes]
            rows = self.executor.commit([call(q, rows_to_send, plans[p], q) for p, q in pairs])
            self._planned[hops] = Exchange(hops, counts, dict(zip(pairs, rows, strict=True)))
        return self._planned[hops]

    def cheapest_hops(self, most: int, row_bytes: int) -> int:
        """Return the degrees for one exchange, at most so many, that cost the fewest bytes.

        A task counts as many bytes as a core reads in its time, and a byte on its way from part to part as several;
        ``row_bytes`` are those of one row of all signals.
        """
        if (most, row_bytes) not in self._hops:
            if not self._rings:
                around = [int(max(_MOST_AROUND * size, _FREE_AROUND)) for size in np.diff(self.store.starts)]
                calls = [self.executor.call(p, count_rings, self.store, p, _MOST_HOPS, n) for p, n in enumerate(around)]
                self._rings = self.executor.values(calls)
            n_rings = max(min([most, *(ends.size - 1 for ends, _ in self._rings)]), 1)
            costs = [self._cost_per_degree(hops, row_bytes) for hops in range(1, n_rings + 1)]
            self._hops[most, row_bytes] = 1 + int(np.argmin(costs))
        return self._hops[most, row_bytes]

    def _cost_per_degree(self, hops: int, row_bytes: int) -> float:
        tasks = sum([1 + 2 * bool(ends[1] > ends[0]) for ends, _ in self._rings])
        worst = 0.0
        for ends, entries in self._rings:
            halo = (int(ends[hops]) + int(ends[hops - 1]) - 2 * int(ends[0])) * row_bytes
            beside = entries[:hops].sum() - hops * entries[0]  # entries of rows that another part does as well
            beside_rows = ends[:hops].sum() - hops * ends[0]
            # a state is copied once for each exchange; a step moves an index and the signals for each entry
            moved = beside * (4.0 + row_bytes) + (3 * beside_rows + 4 * int(ends[0])) * row_bytes
            worst = max(worst, self.executor.wire_bytes * halo + moved)
        return (self.executor.task_bytes * tasks + worst) / hops
