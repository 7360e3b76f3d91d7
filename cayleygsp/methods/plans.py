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

#: The ways between which there is a choice, and what they are called.
KINDS = {
    "chebyshev": "chebyshev",
    "multigrid": "multigrid",
    "factorisation": "exact by factorisation",
    "eigenbasis": "exact by eigenbasis",
}

#: A way, and the filters that go it together.
Part = tuple[str, tuple[int, ...]]
Plan = tuple[Part, ...]

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
        self._limits: dict[int, float] = {}  # seconds beyond which no other way is tried
        self._pinned: dict[int, str] = {}

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
        if len(everything) == 1:
            plans: list[Plan] = [((kind, everything),) for kind in KINDS if self._may(kind, 0)]
            costed = [(self._part_seconds(*plan[0], n_signals, prepared), plan) for plan in plans]
        else:
            costed = self._bank_plans(n_signals, prepared)
        return sorted((one for one in costed if np.isfinite(one[0])), key=lambda one: one[0])

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
        limit = self._limits.setdefault(i, _TOO_DEAR * seconds)
        others = [name for name in KINDS if name not in self._errors[i]]
        for name in others:
            if not self._part_seconds(name, (i,), n_signals, ()) <= limit:
                self._errors[i][name] = np.inf  # not worth trying
        if len(self._errors[i]) == len(KINDS):
            self._pinned[i] = min(self._errors[i], key=lambda name: self._errors[i][name])

    def is_last_resort(self, i: int) -> bool:
        """Return whether no way is expected to bring a filter within the tolerance."""
        return i in self._pinned

    def _may(self, kind: str, i: int) -> bool:
        return self._pinned[i] == kind if i in self._pinned else kind not in self._errors[i]

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
        if i in self._limits:
            return factorisation_seconds(L, self.responses[i], n_signals, self._limits[i])
        others = [self.cost(name, members, n_signals).seconds(n_signals) for name in KINDS if name != kind]
        return factorisation_seconds(L, self.responses[i], n_signals, min(others))

    def _bank_plans(self, n_signals: int, prepared: Collection[Part]) -> list[tuple[float, Plan]]:
        """Return plans in which the series of lowest degrees share a recurrence, and each other filter goes alone."""
        members = range(len(self.responses))
        alone = {i: self._alone(i, n_signals, prepared) for i in members}
        by_degree = sorted((i for i in members if self._may("chebyshev", i)), key=lambda i: self.degrees[i])
        plans: list[tuple[float, Plan]] = []
        for k in range(len(by_degree) + 1):
            together = tuple(sorted(by_degree[:k]))
            rest = [i for i in members if i not in together]
            parts = ([("chebyshev", together)] if together else []) + _merged([(alone[i][1], i) for i in rest])
            seconds = sum(alone[i][0] for i in rest)
            if together:
                seconds += self._part_seconds("chebyshev", together, n_signals, prepared)
            plans.append((seconds, tuple(parts)))
        if all(self._may("eigenbasis", i) for i in members):
            part = ("eigenbasis", tuple(members))
            plans.append((self._part_seconds(*part, n_signals, prepared), (part,)))
        return plans

    def _alone(self, i: int, n_signals: int, prepared: Collection[Part]) -> tuple[float, str]:
        """Return the cheapest way of a filter that shares no recurrence."""
        ways = [kind for kind in KINDS if kind != "chebyshev" and self._may(kind, i)]
        costs = [(self._part_seconds(kind, (i,), n_signals, prepared), kind) for kind in ways]
        return min(costs, default=(IMPOSSIBLE.setup, "multigrid"))


def _merged(ways: Sequence[tuple[str, int]]) -> list[Part]:
    """Put the filters that go by the eigenbasis together, which serves all."""
    together = tuple(i for kind, i in ways if kind == "eigenbasis")
    parts: list[Part] = [(kind, (i,)) for kind, i in ways if kind != "eigenbasis"]
    return [*parts, ("eigenbasis", together)] if together else parts
