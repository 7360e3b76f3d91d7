"""Which filters of a bank are applied by which method, and what that is predicted to take."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np

from cayleygsp._typing import FloatArray
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.costs import (
    IMPOSSIBLE,
    Cost,
    chebyshev_cost,
    degrees_of,
    eigenbasis_cost,
    factorisation_seconds,
    multigrid_cost,
)
from cayleygsp.responses.base import Response

#: The methods between which there is a choice, and what they are called.
KINDS = {
    "chebyshev": "chebyshev",
    "multigrid": "multigrid",
    "factorisation": "exact by factorisation",
    "eigenbasis": "exact by eigenbasis",
}

#: A method, and the numbers of the filters that share it.
Part = tuple[str, tuple[int, ...]]
Plan = tuple[Part, ...]

# A filter, and the size of a block of signals in bits.
_Sized = tuple[int, int]

# How many times dearer than the cheapest a way may be that is tried for its smaller rounding.
_TOO_DEAR = 20.0


class Plans:
    """The plans for a bank, or for one filter, by their predicted costs.

    Parameters
    ----------
    L : Laplacian
        The graph.
    responses : sequence of Response
        The filters.
    gains : numpy.ndarray
        Their gains.
    tol : float or None
        Error allowed to each, relative to its gain.
    """

    def __init__(self, L: Laplacian, responses: Sequence[Response], gains: FloatArray, tol: float | None) -> None:
        self.laplacian = L
        self.responses = responses
        self.gains = gains
        self.tol = tol
        self.measured: dict[tuple[str, int], Cost] = {}  # of single filters, by the way and a number of signals
        self._errors: list[dict[str, float]] = [{} for _ in responses]  # of ways that were tried and miss `tol`
        self._closed: list[set[str]] = [set() for _ in responses]  # ways that cannot be prepared
        # by the filter and the size of a block, as what a way costs depends on that
        self._limits: dict[_Sized, float] = {}  # seconds beyond which no other way is tried
        self._too_dear: dict[_Sized, set[str]] = {}
        self._pinned: dict[_Sized, str] = {}

    @cached_property
    def degrees(self) -> list[float]:
        """The expected degree of each series."""
        return degrees_of(self.laplacian, self.responses, self.gains, self.tol)

    def ranked(self, n_signals: int, prepared: Collection[Part] = ()) -> list[tuple[float, Plan]]:
        """Return plans by their predicted seconds, the cheapest first; those that cannot be are left out.

        Parameters
        ----------
        n_signals : int
            Signals of a call.
        prepared : collection of Part
            What has been prepared already.
        """
        everything = tuple(range(len(self.responses)))
        for i in everything:
            self._settle(i, n_signals)
        if len(everything) == 1:
            plans: list[Plan] = [((kind, everything),) for kind in KINDS if self._may(kind, 0, n_signals)]
            costed = [(self._part_seconds(*plan[0], n_signals, prepared), plan) for plan in plans]
        else:
            costed = self._bank_plans(n_signals, prepared)
        possible = [one for one in costed if np.isfinite(one[0])]
        if not possible:  # what was prepared is there, whatever memory is left
            possible = [one for one in costed if one[1] and all(part in prepared for part in one[1])]
        return sorted(possible, key=lambda one: one[0])

    def miss(self, kind: str, i: int, error: float, n_signals: int, seconds: float) -> None:
        """Note that a way does not bring a filter within the tolerance; the last resort is the most accurate.

        Parameters
        ----------
        kind : str
            The way.
        i : int
            The filter.
        error : float
            What it reaches.
        n_signals : int
            Signals of a call.
        seconds : float
            What the plan was predicted to take; ways that are far dearer are not tried.
        """
        self._errors[i][kind] = error
        self._limits.setdefault((i, n_signals.bit_length()), _TOO_DEAR * seconds)
        self._settle(i, n_signals)

    def close(self, kind: str, members: tuple[int, ...]) -> None:
        """Note that a way cannot be prepared for some filters; it is not the last resort either."""
        for i in members:
            self._closed[i].add(kind)

    def _settle(self, i: int, n_signals: int) -> None:
        """Leave out what is not worth trying for a block of this size; if nothing is left, pin the most accurate."""
        errors, key = self._errors[i], (i, n_signals.bit_length())
        if not errors or key in self._pinned:
            return
        if key not in self._limits:  # ways were tried for blocks of other sizes
            self._limits[key] = _TOO_DEAR * min(self._part_seconds(name, (i,), n_signals, ()) for name in errors)
        others = [name for name in KINDS if name not in errors and name not in self._closed[i]]
        seconds = {name: self._part_seconds(name, (i,), n_signals, ()) for name in others}
        self._too_dear[key] = {
            name for name in others if not (np.isfinite(seconds[name]) and seconds[name] <= self._limits[key])
        }
        if len(self._too_dear[key]) == len(others):
            self._pinned[key] = min(errors, key=lambda name: errors[name])

    def is_last_resort(self, i: int, n_signals: int) -> bool:
        """Return whether no way is expected to bring a filter within the tolerance."""
        return (i, n_signals.bit_length()) in self._pinned

    def _may(self, kind: str, i: int, n_signals: int) -> bool:
        key = (i, n_signals.bit_length())
        if key in self._pinned:
            return self._pinned[key] == kind
        if kind in self._closed[i]:
            return False
        return kind not in self._errors[i] and kind not in self._too_dear.get(key, ())

    def _part_seconds(self, kind: str, members: tuple[int, ...], n_signals: int, prepared: Collection[Part]) -> float:
        is_prepared = (kind, members) in prepared
        if len(members) == len(self.responses) == 1 and (kind, n_signals) in self.measured:
            return self.measured[kind, n_signals].seconds(n_signals, prepared=is_prepared)
        return self.cost(kind, members, n_signals).seconds(n_signals, prepared=is_prepared)

    def cost(self, kind: str, members: tuple[int, ...], n_signals: int) -> Cost:
        """Predict what it takes some filters to go a way."""
        L = self.laplacian
        if kind == "chebyshev":
            return chebyshev_cost(L, [self.degrees[i] for i in members])
        if kind == "eigenbasis":
            return eigenbasis_cost(L, len(members))
        (i,) = members
        if kind == "multigrid":
            return multigrid_cost(L, self.responses[i], self.tol)
        # counting the entries of the factors is part of the choice, and must not take longer than what it may save
        key = (i, n_signals.bit_length())
        if self._pinned.get(key) == kind:  # it is known, and nothing else is left
            return factorisation_seconds(L, self.responses[i], n_signals)
        if key in self._limits:
            return factorisation_seconds(L, self.responses[i], n_signals, self._limits[key])
        open_ways = [name for name in KINDS if name != kind and name not in self._closed[i]]
        others = [self.cost(name, members, n_signals).seconds(n_signals) for name in open_ways]
        return factorisation_seconds(L, self.responses[i], n_signals, min(others))

    def _bank_plans(self, n_signals: int, prepared: Collection[Part]) -> list[tuple[float, Plan]]:
        """Return plans in which the series of lowest degrees share a recurrence, and each other filter goes alone."""
        members = range(len(self.responses))
        alone = {i: self._alone(i, n_signals, prepared) for i in members}
        by_degree = sorted((i for i in members if self._may("chebyshev", i, n_signals)), key=lambda i: self.degrees[i])
        plans: list[tuple[float, Plan]] = []
        for k in range(len(by_degree) + 1):
            together = tuple(sorted(by_degree[:k]))
            rest = [i for i in members if i not in together]
            parts = ([("chebyshev", together)] if together else []) + _merged([(alone[i][1], i) for i in rest])
            seconds = sum(alone[i][0] for i in rest)
            if together:
                seconds += self._part_seconds("chebyshev", together, n_signals, prepared)
            plans.append((seconds, tuple(parts)))
        if all(self._may("eigenbasis", i, n_signals) for i in members):
            part = ("eigenbasis", tuple(members))
            plans.append((self._part_seconds(*part, n_signals, prepared), (part,)))
        return plans

    def _alone(self, i: int, n_signals: int, prepared: Collection[Part]) -> tuple[float, str]:
        """Return the cheapest way of a filter that shares no recurrence."""
        ways = [kind for kind in KINDS if kind != "chebyshev" and self._may(kind, i, n_signals)]
        costs = [(self._part_seconds(kind, (i,), n_signals, prepared), kind) for kind in ways]
        return min(costs, default=(IMPOSSIBLE.setup, "multigrid"))


def _merged(ways: Sequence[tuple[str, int]]) -> list[Part]:
    """Put the filters that go by the eigenbasis together, which serves all."""
    together = tuple(i for kind, i in ways if kind == "eigenbasis")
    parts: list[Part] = [(kind, (i,)) for kind, i in ways if kind != "eigenbasis"]
    return [*parts, ("eigenbasis", together)] if together else parts
