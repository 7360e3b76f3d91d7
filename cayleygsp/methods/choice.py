"""Which method to use: the user's word, or the cheapest that reaches the tolerance, for a number of signals."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.linalg import LinAlgError

from cayleygsp._format import counted
from cayleygsp._typing import FloatArray, Method
from cayleygsp.bounds import jacobi_sweeps
from cayleygsp.eigenbasis import EIGENBASIS_VERTICES, eigenbasis_seconds
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import FilterMethod, GroupedMethod, filter_gains
from cayleygsp.methods.costs import (
    Cost,
    chebyshev_cost,
    eigenbasis_cost,
    expected_degree,
    factors_cost,
    multigrid_cost,
    systems_of,
)
from cayleygsp.methods.eigenbasis import EigenbasisMethod
from cayleygsp.methods.jacobi import JacobiMethod
from cayleygsp.methods.poles import PolesMethod
from cayleygsp.methods.powers import PowersMethod
from cayleygsp.methods.series import ChebyshevMethod
from cayleygsp.methods.solvers import ConjugateGradients, Factors
from cayleygsp.responses.base import Response

METHODS: tuple[Method, ...] = ("auto", "exact", "jacobi", "chebyshev", "multigrid")

#: The ways between which there is a choice, and what they are called.
WAYS = {
    "chebyshev": "chebyshev",
    "multigrid": "multigrid",
    "factorisation": "exact by factorisation",
    "eigenbasis": "exact by eigenbasis",
}

#: A way, and the numbers of the filters that share it.
Group = tuple[str, tuple[int, ...]]
Plan = tuple[Group, ...]

# Sweeps beyond which a tolerance is not worth reaching by Jacobi.
_MAX_SWEEPS = 100_000

# Seconds that the eigenvalues are worth where a response is known by samples alone.
_WORTH_KNOWING = 0.25

# A choice between predictions that are no further apart than this is close, and measured if it is about this many
# seconds at least.
_CLOSE, _WORTH_MEASURING = 4.0, 0.02

# A measurement that is so many times the prediction is made again: other work on the machine makes one longer, never
# shorter.
_SURPRISING = 1.5

# How many times the cost of the cheapest method another may have that is tried for its smaller rounding.
_TOO_DEAR = 20.0

_BEST_SERIES = "no method is expected to reach tol; the best series taken"

_NO_METHOD = (
    "no method is sure to apply this filter: the response is not smooth enough for a Chebyshev series, and the graph "
    "is too large for an eigenbasis; soften the response, or ask for method='chebyshev' to get the best series with "
    "its error"
)


class SingularSystemError(ValueError):
    """A method cannot be prepared, as its linear systems are singular in the rounding of double precision."""


def prepare(
    L: Laplacian,
    way: str,
    responses: Sequence[Response],
    tol: float | None,
    gains: FloatArray | None = None,
    *,
    n_iter: int | None = None,
    normalize: bool = False,
) -> FilterMethod:
    """Prepare the method that a user asked for, or one of the ways, for all filters of a bank."""
    if way == "exact":
        small = L.has_eigenbasis or L.n_vertices <= EIGENBASIS_VERTICES
        way = "factorisation" if not small and all(map(systems_of, responses)) else "eigenbasis"
    if way == "chebyshev":
        return ChebyshevMethod(L, responses, tol, gains)
    if way == "eigenbasis":
        return EigenbasisMethod(L, responses, gains)
    if gains is None:
        gains = filter_gains(L, responses)
    methods: list[FilterMethod] = []
    for g, gain in zip(responses, gains[:, None], strict=True):
        if way == "jacobi":
            methods.append(_prepare_jacobi(L, g, tol, gain, n_iter, normalize))
        else:
            methods.append(_prepare_solves(L, way, g, tol, gain))
    return methods[0] if len(methods) == 1 else GroupedMethod([([i], one) for i, one in enumerate(methods)])


def _prepare_solves(L: Laplacian, way: str, response: Response, tol: float | None, gain: FloatArray) -> FilterMethod:
    """Prepare solves by factors or by multigrid; name the response in errors about singular systems."""
    systems = systems_of(response)
    if not systems:
        _refuse(way, " or a rational response")
    if way == "multigrid" and any(one.z.real < 0 for one in systems):
        raise ValueError(
            "`method` = 'multigrid' needs poles with a real part ≤ 0: others make indefinite systems, which "
            "multigrid does not solve; use method='exact' or 'chebyshev'"
        )
    solver = Factors if way == "factorisation" else ConjugateGradients
    try:
        if response.cayley_form is not None:
            return PowersMethod(L, response.cayley_form, solver, tol, gain)
        return PolesMethod(L, response.rational_form, solver, tol, gain)
    except LinAlgError:
        raise SingularSystemError(
            "`response` must have a smaller strength or zoom, or poles farther from the spectrum: its linear systems "
            f"are singular in the rounding of double precision, got {response!r}; method='auto' may know another way"
        ) from None


def _prepare_jacobi(
    L: Laplacian, response: Response, tol: float | None, gain: FloatArray, n_iter: int | None, normalize: bool
) -> FilterMethod:
    """Prepare as many sweeps as are given, or as the tolerance asks for, if they are worth it."""
    p = response.cayley_form
    if p is None:
        _refuse("jacobi")
    if n_iter is None:
        n_iter = jacobi_sweeps(L, p, (tol or 0.0) * float(gain[0]))
        if n_iter is None or n_iter > _MAX_SWEEPS:
            needs = "more sweeps per power than can be told"
            if n_iter is not None:
                needs = f"about {n_iter:.3g} sweeps per power"
            raise ValueError(f"`tol` = {tol} would take Jacobi {needs}; give `n_iter`, or use method='chebyshev'")
    return JacobiMethod(L, p, n_iter, normalize, gain)


def _refuse(method: str, more: str = "") -> NoReturn:
    raise ValueError(
        f"`method` must be 'auto', 'exact' or 'chebyshev' here, got {method!r}, which applies a Cayley polynomial{more}"
    )


class Chosen(NamedTuple):
    """A prepared method, and why it is this one."""

    method: FilterMethod
    reason: str


class Choice:
    """The method of a filter or of a bank; where it is "auto", one for each size of blocks of signals.

    What was prepared for one size serves the others, and the same size gets the same method again. The error allowed to
    each filter, ``tol``, is relative to its gain; ``n_iter`` and ``normalize`` are for Jacobi. With ``best_effort`` the
    best series is taken, with its error, where no method is expected to reach the tolerance, instead of refusing.
    """

    def __init__(
        self,
        L: Laplacian,
        responses: Sequence[Response],
        method: Method,
        tol: float | None,
        n_iter: int | None = None,
        normalize: bool = False,
        *,
        best_effort: bool = False,
    ) -> None:
        self.laplacian = L
        self.responses = list(responses)
        self.asked = method
        self.tol = tol
        self._options: dict[str, Any] = {"n_iter": n_iter, "normalize": normalize}
        self.best_effort = best_effort
        self._decisions: dict[int, tuple[Plan, str]] = {}
        self._prepare()

    def _prepare(self) -> None:
        self._lock = Lock()
        self._chosen: dict[int, Chosen] = {}
        self._latest: Chosen | None = None
        self.prepared: dict[Group, FilterMethod] = {}
        self.missed: list[dict[str, float]] = [{} for _ in self.responses]
        self.singular: list[set[str]] = [set() for _ in self.responses]
        self._only = self._without_choice()
        if self._only is not None:
            self.gains = self._only.method.gains
            return
        self.gains = filter_gains(self.laplacian, self.responses)
        if not self._is_possible():
            if not self.best_effort:
                raise ValueError(_NO_METHOD)
            self._only = _chosen(prepare(self.laplacian, "chebyshev", self.responses, self.tol), _BEST_SERIES)

    def __getstate__(self) -> dict[str, Any]:
        """Keep what was decided, and leave behind what was prepared."""
        kept = ("laplacian", "responses", "asked", "tol", "best_effort", "_options", "_decisions")
        return {name: self.__dict__[name] for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def _without_choice(self) -> Chosen | None:
        """Return the method that was asked for, or the one for graphs in parts, or the eigenbasis for samples."""
        L, asked = self.laplacian, self.asked
        if not L.is_local:
            if asked not in ("auto", "chebyshev"):
                raise ValueError(f"`method` must be 'auto' or 'chebyshev' on a graph in parts, got {asked!r}")
            series = prepare(L, "chebyshev", self.responses, self.tol)
            return _chosen(series, "asked for" if asked == "chebyshev" else "the method for graphs in parts")
        if asked != "auto":
            return _chosen(prepare(L, asked, self.responses, self.tol, **self._options), "asked for")
        # at the eigenvalues a feature is not overlooked that is narrower than samples lie apart
        cheap = L.has_eigenbasis or eigenbasis_seconds(L.n_vertices) <= _WORTH_KNOWING
        if not cheap or not any(g.certificate == "sampled" or g.from_samples for g in self.responses):
            return None
        exact = prepare(L, "eigenbasis", self.responses, self.tol)
        reason = "exact: the eigenvalues tell more of such a response than a series through samples, and are cheap"
        return _chosen(exact, reason) if exact.reaches_tolerance(self.tol) else None

    @cached_property
    def degrees(self) -> list[float]:
        """The degree that each series is expected to have."""
        pairs = zip(self.responses, self.gains.tolist(), strict=True)
        return [expected_degree(self.laplacian, g, gain, self.tol) for g, gain in pairs]

    def _is_possible(self) -> bool:
        """Return whether there is a way for each filter; solves with hΔ + iI always are one."""
        L, tol = self.laplacian, self.tol
        others = [i for i, g in enumerate(self.responses) if g.cayley_form is None or tol is None]
        if not others or np.isfinite(eigenbasis_cost(L).setup):
            return True
        return all(
            np.isfinite(self.degrees[i])
            or np.isfinite(multigrid_cost(L, self.responses[i], tol).setup)
            or np.isfinite(factors_cost(L, self.responses[i]).setup)
            for i in others
        )

    @property
    def latest(self) -> Chosen:
        """What was used last; before the first call, what one signal would get."""
        return self.at(1) if self._latest is None else self._latest

    def at(self, n_signals: int) -> Chosen:
        """Return the method for a block of signals."""
        chosen = self._only or self._chosen.get(n_signals.bit_length())
        if chosen is None:
            with self._lock:  # threads that filter at the same time prepare once
                chosen = self._choose(max(n_signals, 1))
        self._latest = chosen
        return chosen

    def _choose(self, n_signals: int) -> Chosen:
        key = n_signals.bit_length()
        if key not in self._chosen:
            if key not in self._decisions:
                self._decisions[key] = Decision(self, n_signals).make()
            plan, reason = self._decisions[key]
            parts = [(members, self.part(way, members)) for way, members in plan]
            self._chosen[key] = _chosen(parts[0][1] if len(parts) == 1 else GroupedMethod(parts), reason)
        return self._chosen[key]

    def part(self, way: str, members: tuple[int, ...]) -> FilterMethod:
        """Return a way for some filters, prepared once."""
        if (way, members) not in self.prepared:
            responses, gains = [self.responses[i] for i in members], self.gains[list(members)]
            self.prepared[way, members] = prepare(self.laplacian, way, responses, self.tol, gains)
        return self.prepared[way, members]


def _chosen(method: FilterMethod, reason: str) -> Chosen:
    """Add what bounds rest on where they are not proved."""
    return Chosen(method, f"{reason}; {method.evidence}" if method.evidence else reason)


class Decision:
    """The decision for blocks of one size: plans are tried in the order of their cost until one keeps the tolerance.

    Each way is costed once, but for the factorisation: how far its entries are counted depends on what the others take.
    """

    def __init__(self, choice: Choice, n_signals: int) -> None:
        self.choice, self.n_signals = choice, n_signals
        self.everything = tuple(range(len(choice.responses)))
        self.costs: dict[Group, Cost] = {}
        self.measured: set[str] = set()
        # seconds beyond which no other way is tried for a filter for which some way misses the tolerance
        self.limits: dict[int, float] = {}
        for i, missed in enumerate(choice.missed):
            if missed:
                self.limits[i] = _TOO_DEAR * min(self.cost(way, (i,)).seconds(n_signals) for way in missed)

    def make(self) -> tuple[Plan, str]:
        """Return the plan, and why; the most accurate if none keeps the tolerance."""
        choice = self.choice
        while True:
            ranked = self.plans()
            if len(self.everything) == 1 and self.measure(ranked):
                ranked = self.plans()
            if not ranked:  # solves were all that was left, and cannot be prepared
                if choice.best_effort:
                    return (("chebyshev", self.everything),), _BEST_SERIES
                singular = f"its linear systems are singular in double precision, got {choice.responses}"
                raise ValueError(f"{_NO_METHOD}; {singular}")
            seconds, plan = ranked[0]
            if self.keeps_tolerance(plan, seconds):
                return plan, self.reason(ranked)

    def cost(self, way: str, members: tuple[int, ...]) -> Cost:
        """Return what it takes some filters to go a way."""
        if (way, members) not in self.costs:
            self.costs[way, members] = self.predict(way, members)
        return self.costs[way, members]

    def predict(self, way: str, members: tuple[int, ...]) -> Cost:
        """Predict what it takes some filters to go a way."""
        choice, L, i = self.choice, self.choice.laplacian, members[0]
        if way == "chebyshev":
            return chebyshev_cost(L, [choice.degrees[i] for i in members])
        if way == "eigenbasis":
            return eigenbasis_cost(L, len(members))
        if way == "multigrid":
            return multigrid_cost(L, choice.responses[i], choice.tol)
        # counting the entries of the factors is part of the choice, and must not take longer than what it may save
        if (way, members) in choice.prepared:
            worth = np.inf
        elif i in self.limits:
            worth = self.limits[i]
        else:
            others = [one for one in WAYS if one != way and one not in choice.singular[i]]
            worth = min(self.cost(one, members).seconds(self.n_signals) for one in others)
        return factors_cost(L, choice.responses[i], self.n_signals, worth)

    def seconds(self, way: str, members: tuple[int, ...]) -> float:
        """Return the predicted time of a call, without what has been prepared already."""
        prepared = (way, members) in self.choice.prepared
        return self.cost(way, members).seconds(self.n_signals, prepared=prepared)

    def ways(self, i: int) -> list[str]:
        """Return the ways that are left for a filter: if none is worth trying, the most accurate of those that miss."""
        missed = self.choice.missed[i]
        left = [way for way in WAYS if way not in missed and way not in self.choice.singular[i]]
        if not missed:
            return left
        fresh = {way: self.cost(way, (i,)).seconds(self.n_signals) for way in left}
        left = [way for way in left if np.isfinite(fresh[way]) and fresh[way] <= self.limits[i]]
        return left or [min(missed, key=lambda way: missed[way])]

    def plans(self) -> list[tuple[float, Plan]]:
        """Return plans by their predicted seconds, the cheapest first; those that cannot be are left out."""
        prepared = self.choice.prepared
        if len(self.everything) == 1:
            costed: list[tuple[float, Plan]] = [
                (self.seconds(way, self.everything), ((way, self.everything),)) for way in self.ways(0)
            ]
        else:
            costed = self.bank_plans()
        possible = [one for one in costed if np.isfinite(one[0])]
        if not possible:  # what was prepared is there, whatever memory is left
            possible = [one for one in costed if one[1] and all(part in prepared for part in one[1])]
        return sorted(possible, key=lambda one: one[0])

    def bank_plans(self) -> list[tuple[float, Plan]]:
        """Return plans in which the series of lowest degrees share a recurrence, and each other filter goes alone."""
        ways = [self.ways(i) for i in self.everything]
        alone = []
        for i in self.everything:
            solves = [(self.seconds(way, (i,)), way) for way in ways[i] if way != "chebyshev"]
            alone.append(min(solves, default=(np.inf, "multigrid")))
        by_degree = sorted((i for i in self.everything if "chebyshev" in ways[i]), key=lambda i: self.choice.degrees[i])
        plans: list[tuple[float, Plan]] = []
        for k in range(len(by_degree) + 1):
            together = tuple(sorted(by_degree[:k]))
            rest = [i for i in self.everything if i not in together]
            seconds = sum(alone[i][0] for i in rest) + (self.seconds("chebyshev", together) if together else 0.0)
            by_basis = tuple(i for i in rest if alone[i][1] == "eigenbasis")  # which serves all
            parts = [("chebyshev", together), *((alone[i][1], (i,)) for i in rest if i not in by_basis)]
            plans.append((seconds, tuple(part for part in [*parts, ("eigenbasis", by_basis)] if part[1])))
        if all("eigenbasis" in some for some in ways):
            plans.append((self.seconds("eigenbasis", self.everything), (("eigenbasis", self.everything),)))
        return plans

    def tried(self, way: str, members: tuple[int, ...]) -> FilterMethod | None:
        """Return a way for some filters; None, and it is not tried again, if it cannot be prepared."""
        try:
            return self.choice.part(way, members)
        except SingularSystemError:
            for i in members:
                self.choice.singular[i].add(way)
            return None

    def keeps_tolerance(self, plan: Plan, seconds: float) -> bool:
        """Prepare a plan; note which of its filters miss the tolerance and have other ways left."""
        kept, tol = True, self.choice.tol
        for way, members in plan:
            method = self.tried(way, members)
            if method is None:
                kept = False
                continue
            if method.reaches_tolerance(tol):
                continue
            for i, error in zip(members, method.expected_errors().tolist(), strict=True):
                if (tol is None or not error <= tol) and not self.is_last_resort(i):
                    self.choice.missed[i][way] = error
                    self.limits.setdefault(i, _TOO_DEAR * seconds)
                    self.costs.pop(("factorisation", (i,)), None)
                    kept = False
        return kept

    def is_last_resort(self, i: int) -> bool:
        """Return whether no way is expected to bring a filter within the tolerance."""
        return any(way in self.choice.missed[i] for way in self.ways(i))

    def measure(self, ranked: list[tuple[float, Plan]]) -> bool:
        """Measure a step of the ways whose predictions are close; return whether costs have changed."""
        best = ranked[0][0] if ranked else 0.0
        close = [plan[0] for seconds, plan in ranked if seconds <= _CLOSE * best]
        if len(close) <= 1 or best < _WORTH_MEASURING:
            return False
        measured = False
        for way, members in close:
            cost = self.cost(way, members)
            # preparing it may be most of what it takes
            too_dear = cost.setup > 0.4 * best and (way, members) not in self.choice.prepared
            if way in self.measured or way not in ("chebyshev", "multigrid") or too_dear:
                continue
            method = self.tried(way, members)
            if method is None:
                return True  # of the others some may be close
            seconds = method.sample_seconds(self.n_signals)
            if seconds is not None and seconds > _SURPRISING * cost.seconds(self.n_signals, prepared=True):
                seconds = min(seconds, method.sample_seconds(self.n_signals) or seconds)
            if seconds is not None:
                self.costs[way, members] = Cost(cost.setup, 0.0, seconds / self.n_signals)
                self.measured.add(way)
                measured = True
        return measured

    def reason(self, ranked: list[tuple[float, Plan]]) -> str:
        """Say why the cheapest of the plans is taken, and for which numbers of signals: all of as many bits."""
        (seconds, plan), bits = ranked[0], self.n_signals.bit_length()
        signals = counted(1, "signal") if bits == 1 else f"{2 ** (bits - 1):,} to {2**bits - 1:,} signals"
        predicted = "predicted" if self.n_signals == 1 else f"predicted for {self.n_signals:,}"
        if any(map(self.is_last_resort, self.everything)):
            return f"no method is expected to reach tol; the most accurate taken, for {signals}: {_names(plan)}"
        if len(self.everything) == 1:
            costs = ", ".join(f"{WAYS[one[0][0]]} {cost:.2g} s" for cost, one in ranked)
            return f"cheapest that reaches tol for {signals}, {predicted}: {costs}"
        return f"cheapest that reaches tol for {signals}, {predicted}: {seconds:.2g} s, {_names(plan)}"


def _names(plan: Plan) -> str:
    """Describe which method each filter uses."""
    if len(plan) == 1:
        way, members = plan[0]
        return WAYS[way] + (", one recurrence for all filters" if way == "chebyshev" and len(members) > 1 else "")
    return "; ".join(
        f"{WAYS[way]} for {'filter' if len(members) == 1 else 'filters'} {', '.join(map(str, members))}"
        for way, members in plan
    )
