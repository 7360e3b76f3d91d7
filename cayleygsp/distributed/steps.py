"""The work on one part: functions of plain arrays, called where the part is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cayleygsp._typing import Array, FloatArray, IntArray, LaplacianKind
from cayleygsp.distributed.local_matrix import Import, LocalMatrix, imports, prepare_part, region, whole_matrix
from cayleygsp.distributed.parts import Store
from cayleygsp.distributed.worker_cache import CACHE, cache_bytes
from cayleygsp.engine.packed import KernelGraph
from cayleygsp.engine.part_steps import advance_rows
from cayleygsp.engine.recurrence import aligned_empty, column_tiles


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
