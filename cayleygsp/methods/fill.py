"""What a sparse factorisation of Δ plus a multiple of the identity costs: the entries of its factors are counted."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from cayleygsp._memory import available_memory, format_bytes
from cayleygsp._typing import IntArray
from cayleygsp.eigenbasis import warn_if_long
from cayleygsp.laplacians import Laplacian

# Measured for SuperLU, complex numbers, one thread: seconds per vertex, per entry of a factor, and per unit of work.
_SECONDS_PER_VERTEX, _SECONDS_PER_ENTRY, _SECONDS_PER_WORK = 6e-7, 2.5e-7, 3.4e-10

# A complex value and its index in both factors, and room to grow.
_BYTES_PER_ENTRY = 2 * 2.5 * 16

# Vertices with more neighbours than this times √n are eliminated last, without being looked at.
_MANY_NEIGHBOURS = 10.0

# Work up to which an order is always looked for.
_LEAST_WORK = 1e7


@dataclass(frozen=True, eq=False)
class Elimination:
    """An order of elimination with few new entries, and what is left of the matrix by it.

    ``n_entries`` of the factor stand below its diagonal: exact, or at most as many where vertices have very many
    neighbours. ``work`` is the sum of the squared lengths of its columns.
    """

    order: IntArray
    n_entries: float
    work: float


@dataclass(frozen=True)
class FactorisationCost:
    """What a sparse factorisation is expected to take; infinite if more than was worth looking at."""

    seconds: float
    n_bytes: float
    solve_seconds: float  # of one solve with one vector


# By graph: how much work was worth looking at, and the order, if its work is not more.
_eliminations: WeakKeyDictionary[Laplacian, tuple[float, Elimination | None]] = WeakKeyDictionary()


def elimination(L: Laplacian, max_work: float = np.inf) -> Elimination | None:
    """Return an order by approximate minimum degrees, None if its work exceeds what is worth; looked for once.

    More than memory has room for is never looked at.
    """
    looked, order = _eliminations.get(L, (0.0, None))
    max_work = max(max_work, _LEAST_WORK)
    if order is None and max_work > looked:
        available = available_memory()
        max_entries = np.inf if available is None else available / _BYTES_PER_ENTRY
        order = _find_elimination(L, max_work, max_entries)
        _eliminations[L] = (max_work, order)
    return order if order is not None and order.work <= max_work else None


def _find_elimination(L: Laplacian, max_work: float, max_entries: float) -> Elimination | None:
    from cayleygsp.engine.elimination import minimum_degree

    A, n = L.matrix, L.n_vertices
    n_neighbours = np.diff(A.indptr)
    many = n_neighbours > max(_MANY_NEIGHBOURS * np.sqrt(n), 16)
    last, others = np.flatnonzero(many), np.flatnonzero(~many)
    if last.size:
        A = A[others][:, others]
    pattern = (A.indptr.astype(np.int64), A.indices.astype(np.int64))
    order, lengths, work = minimum_degree(*pattern, float(max_work), float(max_entries))
    if not np.isfinite(work):
        return None
    if last.size:
        order = np.concatenate([others[order], last])
        lengths = np.concatenate([lengths + last.size, np.arange(last.size)[::-1]])
        work = float(np.sum(lengths.astype(np.float64) ** 2))
    return Elimination(order, float(lengths.sum()), work) if work <= max_work else None


def factorisation_cost(L: Laplacian, worth: float = np.inf) -> FactorisationCost:
    r"""Predict the cost of factoring :math:`h\Delta + iI` from the entries that its factors will have.

    Entries are not counted further where it would take more than ``worth`` seconds.
    """
    n = L.n_vertices
    order = elimination(L, worth / _SECONDS_PER_WORK)
    if order is None:
        return FactorisationCost(np.inf, np.inf, np.inf)
    return cost_of_entries(n, order.n_entries, order.work)


def cost_of_entries(n: int, n_entries: float, work: float) -> FactorisationCost:
    """Return what it costs to make and to use factors of so many entries."""
    seconds = _SECONDS_PER_VERTEX * n + _SECONDS_PER_ENTRY * n_entries + _SECONDS_PER_WORK * work
    return FactorisationCost(
        seconds=2e-3 + seconds,
        n_bytes=_BYTES_PER_ENTRY * (n + n_entries),
        solve_seconds=1e-5 + 4e-8 * n + 6e-9 * n_entries,
    )


def check_factorisation(L: Laplacian) -> None:
    """Raise MemoryError before a factorisation that would not fit, with what it would take and what to use instead."""
    cost, available = factorisation_cost(L), available_memory()
    if available is not None and cost.n_bytes > available:
        needs = f"{format_bytes(cost.n_bytes)}" if np.isfinite(cost.n_bytes) else f"more than {format_bytes(available)}"
        raise MemoryError(
            f"method='exact' on {L.n_vertices} vertices is expected to need {needs} for a sparse factorisation, and "
            f"{format_bytes(available)} are available; use method='chebyshev', or method='multigrid' for a very large "
            "zoom"
        )
    warn_if_long(f"method='exact' on {L.n_vertices} vertices", cost.seconds, cost.n_bytes)
