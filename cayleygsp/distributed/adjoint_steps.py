r"""Steps on one part for the adjoint of a bank: a sum of series, each of its own signals, by Clenshaw's rule.

With :math:`x_k = \sum_i a_{ik} f_i`, one recurrence for all filters goes down from the highest degree K,

.. math:: b_k = x_k + 2\tilde\Delta b_{k+1} - b_{k+2}, \qquad y = x_0 + \tilde\Delta b_1 - b_2,

on states as those of :mod:`cayleygsp.distributed.steps`. Rows around a part that are stepped as well need the signals
there: they are exchanged once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cayleygsp._typing import Array, IntArray
from cayleygsp.distributed.parts import Store
from cayleygsp.distributed.steps import Piece, Program, State, join_blocks, prepared
from cayleygsp.engine.part_steps import advance_adjoint_rows
from cayleygsp.engine.recurrence import aligned_empty, column_tiles

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
    """Step Clenshaw's rule on a part; the parameters are those of :func:`cayleygsp.distributed.steps.advance`.

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
