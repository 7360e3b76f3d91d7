"""A bank whose filters are applied by different methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cayleygsp._rounding import unit_roundoff
from cayleygsp._typing import Array, FloatArray
from cayleygsp.methods.base import Applied, FilterMethod, weakest


class GroupedMethod(FilterMethod):
    """Groups of filters, each applied by a method of its own.

    Parameters
    ----------
    groups : sequence of (sequence of int, FilterMethod)
        The filters of each group by their numbers, which are 0, 1, … all together, and their method.
    """

    is_bank = True

    def __init__(self, groups: Sequence[tuple[Sequence[int], FilterMethod]]) -> None:
        self.groups = [(np.asarray(members, np.intp), method) for members, method in groups]
        n_filters = sum(members.size for members, _ in self.groups)
        self.gains = np.empty(n_filters)
        names = [""] * n_filters
        for members, method in self.groups:
            self.gains[members] = method.gains
            for i in members:
                names[i] = method.name
        self.names = tuple(names)
        self.name = ", ".join(sorted(set(names)))
        self.promotes = all(method.promotes for _, method in self.groups)
        self.certificate = weakest(method.certificate for _, method in self.groups)
        self.evidence = "; ".join(dict.fromkeys(m.evidence for _, m in self.groups if m.evidence))

    def filter_names(self) -> tuple[str, ...]:
        """Return the name of each filter's method."""
        return self.names

    def expected_errors(self) -> FloatArray:
        """Return those of the groups."""
        errors = np.empty(len(self.gains))
        for members, method in self.groups:
            errors[members] = method.expected_errors()
        return errors

    def working_dtype(self, dtype: Any) -> Any:
        """Return the precision that all methods compute in, double precision if they differ."""
        wanted = {np.dtype(method.working_dtype(dtype)) for _, method in self.groups}
        return wanted.pop() if len(wanted) == 1 else np.float64

    def apply(self, f: Array, *, certify: bool) -> Applied:
        """Filter by every response; shape (n_filters, n, m)."""
        return self.apply_bank(f, certify=certify)

    def apply_bank(self, f: Array, *, certify: bool) -> Applied:
        """Filter to shape (n_filters, n, m); bounds have shape (n_filters, m)."""
        bounds = np.empty((len(self.gains), f.shape[1]))
        signals: Array | None = None
        n_matvecs = 0
        residuals: tuple[FloatArray, ...] = ()
        for members, method in self.groups:
            applied = method.apply_bank(f, certify=certify)
            if signals is None:
                signals = np.empty((len(self.gains), *f.shape), self._dtype(f))
            signals[members] = applied.signals
            bounds[members] = applied.error_bound
            n_matvecs += applied.n_matvecs
            residuals += applied.residuals
        assert signals is not None
        return Applied(signals, bounds, n_matvecs, residuals)

    def _dtype(self, f: Array) -> Any:
        return np.dtype(self.working_dtype(f.dtype))

    def apply_adjoint(self, f: Array, *, certify: bool) -> Applied:
        r"""Add up the filters' answers to their own blocks, shape (n_filters, n, m) to (n, m).

        Errors of groups add up: :math:`\sum_g e_g \|f_g\| \le (\sum_g e_g^2)^{1/2} \|f\|`.
        """
        total = np.zeros(f.shape[1:], self._dtype(f))
        squares = np.zeros(f.shape[2])
        n_matvecs = 0
        for members, method in self.groups:
            applied = method.apply_bank_adjoint(np.ascontiguousarray(f[members]), certify=certify)
            total += applied.signals
            adding = unit_roundoff(total.dtype) * len(self.groups) * float(np.abs(method.gains).sum())
            squares = squares + (np.asarray(applied.error_bound) * (1 + 1e-6) + 2 * adding) ** 2
            n_matvecs += applied.n_matvecs
        return Applied(total, np.sqrt(squares), n_matvecs)
