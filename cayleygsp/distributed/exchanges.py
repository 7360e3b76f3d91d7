"""Plans of exchanges: how many degrees the parts compute for one exchange, and which values they exchange."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cayleygsp._typing import IntArray
from cayleygsp.distributed.executor import Executor
from cayleygsp.distributed.parts import Store
from cayleygsp.distributed.series import Exchange, plan_exchange
from cayleygsp.distributed.steps import count_rings

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
