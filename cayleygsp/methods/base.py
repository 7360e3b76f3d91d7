"""What the methods have in common."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from cayleygsp._rounding import unit_roundoff
from cayleygsp._typing import Array, FloatArray
from cayleygsp.laplacians import Laplacian
from cayleygsp.responses.base import Response

# Single precision is used for numbers of sizes between one over this and this: sums and products stay in its range.
_SINGLE_RANGE = 1e15


class Applied(NamedTuple):
    """Filtered signals and what is known of them.

    Attributes
    ----------
    signals : numpy.ndarray
        Shape (n_filters, n, m), of the adjoint (n, m).
    error_bound : float or numpy.ndarray
        Bound of the error relative to the norm of the signal; broadcasts to (n_filters, m), of the adjoint to (m,).
    n_matvecs : int
        Passes over the graph: products of the Laplacian with the block of signals, real or complex.
    residuals : tuple of numpy.ndarray
        For iterative methods, the residual norms of each power's solve, relative to the signal.
    note : str
        How a graph in parts was worked on.
    """

    signals: Array
    error_bound: Any
    n_matvecs: int
    residuals: tuple[FloatArray, ...] = ()
    note: str = ""


class FilterMethod(ABC):
    """One way to apply a bank of responses to signals, prepared for one Laplacian; a single filter is a bank of one.

    Parameters
    ----------
    L : Laplacian
        The graph.
    responses : sequence of Response
        Those of the bank.
    gains : numpy.ndarray, optional
        Their gains, where they are known already.
    """

    name: str
    certificate: str = "proved"
    evidence: str = ""  # what was looked at, where a bound is not proved
    promotes: bool = False  # whether signals may come in their own precision, to be promoted a few at a time

    def __init__(self, L: Laplacian, responses: Sequence[Response], gains: FloatArray | None = None) -> None:
        self.laplacian = L
        self.gains = filter_gains(L, responses) if gains is None else gains

    @abstractmethod
    def apply(self, f: Array, *, certify: bool) -> Applied:
        """Filter a real block, (n, m) to (n_filters, n, m); bounds broadcast to (n_filters, m).

        Without ``certify`` costly bounds may be left out.
        """

    def apply_adjoint(self, f: Array, *, certify: bool) -> Applied:
        """Apply the transposed operator, (n_filters, n, m) to (n, m); by default the one filter, which is symmetric.

        Bounds are relative to the norm of all blocks of a signal together.
        """
        applied = self.apply(f[0], certify=certify)
        return applied._replace(signals=applied.signals[0], error_bound=applied.error_bound[0])

    def filter_names(self) -> tuple[str, ...]:
        """Return the name of the method of each filter."""
        return (self.name,) * len(self.gains)

    def expected_errors(self) -> FloatArray:
        """Return the error of each filter that is expected, relative to its gain; results tell what is certain."""
        return np.full(len(self.gains), np.inf)

    def reaches_tolerance(self, tol: float | None) -> bool:
        """Return whether errors are expected to be within ``tol``."""
        return tol is None or bool((self.expected_errors() <= tol).all())

    def sample_seconds(self, n_signals: int) -> float | None:
        """Time a small part of the work and return what all of it will take; None if there is no small part."""
        return None

    def working_dtype(self, dtype: Any) -> Any:
        """Return the precision to compute in for signals of the given precision."""
        return np.float64


class GroupedMethod(FilterMethod):
    """Groups of filters by their numbers, which are 0, 1, … all together, each applied by a method of its own."""

    def __init__(self, groups: Sequence[tuple[Sequence[int], FilterMethod]]) -> None:
        self.groups = [(np.asarray(members, np.intp), method) for members, method in groups]
        self.gains = self._of_filters([method.gains for _, method in self.groups])
        names = dict(sorted((i, method.name) for members, method in self.groups for i in members))
        self.names = tuple(names.values())
        self.name = ", ".join(sorted(set(self.names)))
        self.promotes = all(method.promotes for _, method in self.groups)
        self.certificate = weakest(method.certificate for _, method in self.groups)
        self.evidence = "; ".join(dict.fromkeys(m.evidence for _, m in self.groups if m.evidence))

    def _of_filters(self, values: Sequence[FloatArray]) -> FloatArray:
        """Put numbers of the filters of all groups in the order of the filters."""
        order = np.concatenate([members for members, _ in self.groups])
        return np.concatenate(values)[np.argsort(order)]

    def filter_names(self) -> tuple[str, ...]:
        """Return the name of each filter's method."""
        return self.names

    def expected_errors(self) -> FloatArray:
        """Return those of the groups."""
        return self._of_filters([method.expected_errors() for _, method in self.groups])

    def working_dtype(self, dtype: Any) -> Any:
        """Return the precision that all methods compute in, double precision if they differ."""
        wanted = {np.dtype(method.working_dtype(dtype)) for _, method in self.groups}
        return wanted.pop() if len(wanted) == 1 else np.dtype(np.float64)

    def apply(self, f: Array, *, certify: bool) -> Applied:
        """Filter by every response, one group after the other."""
        signals = np.empty((len(self.gains), *f.shape), self.working_dtype(f.dtype))
        bounds = np.empty((len(self.gains), f.shape[1]))
        n_matvecs = 0
        residuals: tuple[FloatArray, ...] = ()
        for members, method in self.groups:
            applied = method.apply(f, certify=certify)
            signals[members], bounds[members] = applied.signals, applied.error_bound
            n_matvecs += applied.n_matvecs
            residuals += applied.residuals
        return Applied(signals, bounds, n_matvecs, residuals)

    def apply_adjoint(self, f: Array, *, certify: bool) -> Applied:
        r"""Add up the groups' answers; errors add up to :math:`\sum_g e_g \|f_g\| \le (\sum_g e_g^2)^{1/2} \|f\|`."""
        total = np.zeros(f.shape[1:], self.working_dtype(f.dtype))
        squares = np.zeros(f.shape[2])
        n_matvecs = 0
        for members, method in self.groups:
            applied = method.apply_adjoint(np.ascontiguousarray(f[members]), certify=certify)
            total += applied.signals
            adding = unit_roundoff(total.dtype) * len(self.groups) * float(np.abs(method.gains).sum())
            squares = squares + (np.asarray(applied.error_bound) * (1 + 1e-6) + 2 * adding) ** 2
            n_matvecs += applied.n_matvecs
        return Applied(total, np.sqrt(squares), n_matvecs)


def seconds_of(call: Callable[[], Any]) -> float:
    """Return the time that a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def relative(errors: float | FloatArray, gains: FloatArray) -> FloatArray:
    """Return errors over the gains; at a gain of zero no error is zero, and any other infinite."""
    at_zero = np.where(np.asarray(errors) == 0, 0.0, np.inf) + np.zeros_like(gains)
    with np.errstate(over="ignore"):
        return np.divide(errors, gains, out=at_zero, where=gains > 0)


def filter_gains(L: Laplacian, responses: Sequence[Response]) -> FloatArray:
    """Return the gain of each response."""
    return np.array([filter_gain(L, response) for response in responses])


def within_single_range(*sizes: float) -> bool:
    """Return whether computing with numbers of these sizes stays well inside the range of single precision."""
    return all(size == 0 or 1 / _SINGLE_RANGE <= size <= _SINGLE_RANGE for size in sizes)


# By graph and response, without and with known eigenvalues.
_gains: WeakKeyDictionary[Laplacian, WeakKeyDictionary[Response, dict[bool, float]]] = WeakKeyDictionary()


def filter_gain(L: Laplacian, response: Response) -> float:
    """Return sup |g| over [0, λ_max], never overestimated, so that a tolerance relative to it is kept.

    λ_max is replaced by a lower bound of it: the quick one if the response is not much larger beyond. Eigenvalues that
    are known are looked at, and so are the places that the response names. Looked for once for each graph and response;
    infinite where the response leaves the range of numbers. Parts of a tight frame count as having a gain of one.
    """
    known = _gains.setdefault(L, WeakKeyDictionary()).setdefault(response, {})
    with_eigenvalues = L.has_eigenbasis
    if with_eigenvalues not in known:
        gain = response.gain(0.0, L.lmax_lower)
        if gain < response.gain(0.0, L.lmax) / 2:
            gain = max(gain, response.gain(0.0, L.lanczos_lower))
        if with_eigenvalues:
            gain = max(gain, float(np.abs(response(np.maximum(L.eigenvalues, 0.0))).max()))
        known[with_eigenvalues] = max(gain, response.least_gain)
    return known[with_eigenvalues]


def column_norms(f: Array) -> FloatArray:
    """Return the 2-norm of each column, accumulated in double precision."""
    parts = (f.real, f.imag) if f.dtype.kind == "c" else (f,)
    return np.sqrt(sum(np.einsum("ij,ij->j", part, part, dtype=np.float64) for part in parts))


def over(norms: FloatArray, reference: FloatArray) -> FloatArray:
    """Divide norms by those of the signals; a zero signal counts as 0."""
    return np.divide(norms, reference, out=np.zeros_like(norms), where=reference > 0)


# From the strongest to the weakest.
_CERTIFICATES = ("proved", "estimated", "sampled", "none")


def weakest(certificates: Iterable[str]) -> str:
    """Return what a bound rests on that is made of several, the weakest of theirs; "proved" if there are none.

    "estimated" fails only if the random start of a Lanczos run holds almost nothing of the largest eigenvector, and
    then by one number, λ_max. "sampled" is weaker: a response may do anything between its samples. "none" is no bound.
    """
    return max(certificates, key=_CERTIFICATES.index, default="proved")
