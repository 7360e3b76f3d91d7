"""Which method to use: the user's word, or the cheapest that reaches the tolerance, for a number of signals."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from cayleygsp._format import counted
from cayleygsp._typing import Method
from cayleygsp.eigenbasis import eigenbasis_seconds
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import FilterMethod, filter_gains
from cayleygsp.methods.costs import Cost, eigenbasis_cost
from cayleygsp.methods.eigenbasis import EigenbasisMethod
from cayleygsp.methods.groups import GroupedMethod
from cayleygsp.methods.plans import KINDS, Part, Plan, Plans
from cayleygsp.methods.preparation import SingularSystemError, prepare, prepare_kind
from cayleygsp.responses.base import Response

METHODS: tuple[Method, ...] = ("auto", "exact", "jacobi", "chebyshev", "multigrid")

# Seconds that the eigenvalues are worth where a response is known by samples alone.
WORTH_KNOWING = 0.25

# A choice between predictions that are no further apart than this is close, and measured if it is about this many
# seconds at least.
_CLOSE, _WORTH_MEASURING = 4.0, 0.02

# A measurement that is so many times the prediction is made again: other work on the machine makes one longer, never
# shorter.
_SURPRISING = 1.5

_BEST_SERIES = "no method is expected to reach tol; the best series taken"

_NO_METHOD = (
    "no method is sure to apply this filter: the response is not smooth enough for a Chebyshev series, and the graph "
    "is too large for an eigenbasis; soften the response, or ask for method='chebyshev' to get the best series with "
    "its error"
)


class Chosen(NamedTuple):
    """A prepared method, and why it is this one."""

    method: FilterMethod
    reason: str


class Choice:
    """The method of a filter or of a bank; where it is "auto", one for each size of blocks of signals.

    What was prepared for one size serves the others, and the same size gets the same method again.

    Parameters
    ----------
    L : Laplacian
        The graph.
    responses : sequence of Response
        One filter, or those of a bank.
    method : str
        The user's word.
    tol : float or None
        Error allowed to each filter, relative to its gain.
    n_iter, normalize
        Of Jacobi.
    best_effort : bool
        Take the best series, with its error, where no method is expected to reach the tolerance, instead of refusing.

    Attributes
    ----------
    gains : numpy.ndarray
        Of each filter.
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
        self._best_effort = best_effort
        self._decisions: dict[int, tuple[Plan, str]] = {}
        self._prepare()

    def _prepare(self) -> None:
        self._lock = Lock()
        self._chosen: dict[int, Chosen] = {}
        self._prepared: dict[Part, FilterMethod] = {}
        self._latest: Chosen | None = None
        self._only: Chosen | None = None
        if not self.laplacian.is_local:
            self._only = self._in_parts()
        elif self.asked != "auto":
            method = prepare(self.laplacian, self.responses, method=self.asked, tol=self.tol, **self._options)
            self._only = _chosen(method, "asked for")
        else:
            self._only = self._by_eigenvalues()
        if self._only is not None:
            self.gains = self._only.method.gains
            return
        self.gains = filter_gains(self.laplacian, self.responses)
        self._plans = Plans(self.laplacian, self.responses, self.gains, self.tol)
        solvable = all(g.cayley_form is not None for g in self.responses) and self.tol is not None
        if not solvable and not np.isfinite(eigenbasis_cost(self.laplacian).setup) and not self._plans.ranked(1):
            if self._best_effort:
                method = prepare(self.laplacian, self.responses, method="chebyshev", tol=self.tol)
                self._only = _chosen(method, _BEST_SERIES)
                return
            raise ValueError(_NO_METHOD)

    def __getstate__(self) -> dict[str, Any]:
        """Keep what was decided, and leave behind what was prepared."""
        kept = ("laplacian", "responses", "asked", "tol", "_options", "_best_effort", "_decisions")
        return {name: self.__dict__[name] for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

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

    def _in_parts(self) -> Chosen:
        """Return the series, which is what a graph in parts can do."""
        if self.asked not in ("auto", "chebyshev"):
            raise ValueError(f"`method` must be 'auto' or 'chebyshev' on a graph in parts, got {self.asked!r}")
        method = prepare(self.laplacian, self.responses, method="chebyshev", tol=self.tol)
        return _chosen(method, "asked for" if self.asked == "chebyshev" else "the method for graphs in parts")

    def _by_eigenvalues(self) -> Chosen | None:
        """Return the eigenbasis where a response is known by samples, if it is cheap and good enough.

        At the eigenvalues a feature is not overlooked that is narrower than samples lie apart.
        """
        L = self.laplacian
        cheap = L.has_eigenbasis or eigenbasis_seconds(L.n_vertices) <= WORTH_KNOWING
        if not cheap or not any(g.certificate == "sampled" or g.from_samples for g in self.responses):
            return None
        method = EigenbasisMethod(L, self.responses)
        reason = "exact: the eigenvalues tell more of such a response than a series through samples, and are cheap"
        return _chosen(method, reason) if method.reaches_tolerance(self.tol) else None

    def _choose(self, n_signals: int) -> Chosen:
        key = n_signals.bit_length()
        if key not in self._decisions:
            self._decisions[key] = self._decide(n_signals)
        if key not in self._chosen:
            plan, reason = self._decisions[key]
            parts = [(members, self._part((kind, members))) for kind, members in plan]
            method = parts[0][1] if len(parts) == 1 else GroupedMethod(parts)
            self._chosen[key] = _chosen(method, reason)
        return self._chosen[key]

    def _part(self, part: Part) -> FilterMethod:
        if part not in self._prepared:
            kind, members = part
            responses = [self.responses[i] for i in members]
            gains = self.gains[list(members)]
            self._prepared[part] = prepare_kind(self.laplacian, kind, responses, gains, tol=self.tol)
        return self._prepared[part]

    def _tried(self, part: Part) -> FilterMethod | None:
        """Return a way for some filters; None, and it is not tried again, if it cannot be prepared."""
        try:
            return self._part(part)
        except SingularSystemError:
            self._plans.close(*part)
            return None

    def _decide(self, n_signals: int) -> tuple[Plan, str]:
        """Try plans in the order of their cost until one is expected to reach the tolerance, or nothing better is."""
        while True:
            ranked = self._plans.ranked(n_signals, self._prepared)
            if len(self.responses) == 1 and self._measure(ranked, n_signals):
                ranked = self._plans.ranked(n_signals, self._prepared)
            if not ranked:
                return self._without_solves()
            seconds, plan = ranked[0]
            if self._keeps_tolerance(plan, n_signals, seconds):
                return plan, self._reason(ranked, n_signals)

    def _without_solves(self) -> tuple[Plan, str]:
        """Return the best series, or refuse, where solves were all that was left and cannot be prepared."""
        if not self._best_effort:
            raise ValueError(f"{_NO_METHOD}; its linear systems are singular in double precision, got {self.responses}")
        return (("chebyshev", tuple(range(len(self.responses)))),), _BEST_SERIES

    def _keeps_tolerance(self, plan: Plan, n_signals: int, seconds: float) -> bool:
        """Prepare a plan; note which of its filters miss the tolerance and have other ways left."""
        kept = True
        for kind, members in plan:
            method = self._tried((kind, members))
            if method is None:
                kept = False
                continue
            if method.reaches_tolerance(self.tol):
                continue
            errors = method.expected_errors()
            for i, error in zip(members, errors.tolist(), strict=True):
                missed = self.tol is None or not error <= self.tol
                if missed and not self._plans.is_last_resort(i, n_signals):
                    self._plans.miss(kind, i, error, n_signals, seconds)
                    kept = False
        return kept

    def _measure(self, ranked: list[tuple[float, Plan]], n_signals: int) -> bool:
        """Measure a step of the ways whose predictions are close; return whether anything was measured."""
        if not ranked:
            return False
        best = ranked[0][0]
        close = [plan[0] for seconds, plan in ranked if seconds <= _CLOSE * best]
        if len(close) == 1 or best < _WORTH_MEASURING:
            return False
        measured = False
        for kind, members in close:
            if (kind, n_signals) in self._plans.measured or kind not in ("chebyshev", "multigrid"):
                continue
            cost = self._plans.cost(kind, members, n_signals)
            if cost.setup > 0.4 * best and (kind, members) not in self._prepared:
                continue  # preparing it is most of what it takes
            method = self._tried((kind, members))
            if method is None:
                return True  # of the others some may be close
            seconds = _sampled(method, n_signals, cost)
            if seconds is not None:
                self._plans.measured[kind, n_signals] = Cost(cost.setup, 0.0, seconds / n_signals)
                measured = True
        return measured

    def _reason(self, ranked: list[tuple[float, Plan]], n_signals: int) -> str:
        seconds, plan = ranked[0]
        signals = _size(n_signals)
        predicted = "predicted" if n_signals == 1 else f"predicted for {n_signals:,}"
        if any(self._plans.is_last_resort(i, n_signals) for _, members in plan for i in members):
            return f"no method is expected to reach tol; the most accurate taken, for {signals}: {_names(plan)}"
        if len(self.responses) == 1:
            costs = ", ".join(f"{KINDS[one[0][0]]} {cost:.2g} s" for cost, one in ranked)
            return f"cheapest that reaches tol for {signals}, {predicted}: {costs}"
        return f"cheapest that reaches tol for {signals}, {predicted}: {seconds:.2g} s, {_names(plan)}"


def _sampled(method: FilterMethod, n_signals: int, cost: Cost) -> float | None:
    """Return what a call will take by a part of it, the lesser of two measurements if the first is surprising."""
    seconds = method.sample_seconds(n_signals)
    if seconds is None or seconds <= _SURPRISING * cost.seconds(n_signals, prepared=True):
        return seconds
    again = method.sample_seconds(n_signals)
    return seconds if again is None else min(seconds, again)


def _size(n_signals: int) -> str:
    """Say for which numbers of signals a choice holds: all of as many bits."""
    bits = n_signals.bit_length()
    return counted(1, "signal") if bits == 1 else f"{2 ** (bits - 1):,} to {2**bits - 1:,} signals"


def _names(plan: Plan) -> str:
    """Say which filters go which way."""
    if len(plan) == 1:
        kind, members = plan[0]
        return KINDS[kind] + (", one recurrence for all filters" if kind == "chebyshev" and len(members) > 1 else "")
    return "; ".join(
        f"{KINDS[kind]} for {'filter' if len(members) == 1 else 'filters'} {', '.join(map(str, members))}"
        for kind, members in plan
    )


def _chosen(method: FilterMethod, reason: str) -> Chosen:
    """Add what bounds rest on where they are not proved."""
    return Chosen(method, f"{reason}; {method.evidence}" if method.evidence else reason)
