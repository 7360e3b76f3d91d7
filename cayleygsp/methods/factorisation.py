"""Exact filtering of large graphs: one sparse factorisation of hΔ + iI."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayleygsp._typing import Array, ComplexArray, FloatArray
from cayleygsp.bounds.jacobi import solve_floor, summation_floor
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import Applied, FilterMethod, column_norms, filter_gain, over, relative
from cayleygsp.methods.powers import accumulated_error, residual_norms, sum_powers
from cayleygsp.methods.solvers import Factors
from cayleygsp.responses.cayley import CayleyPolynomial


class FactorisationMethod(FilterMethod):
    r"""One sparse factorisation of :math:`h\Delta + iI`, used for all powers and signals.

    The matrix is complex symmetric with a positive definite imaginary part, so elimination is stable without
    pivoting, in any order that keeps the factors sparse. A pickled one is factored again on arrival.

    Parameters
    ----------
    L : Laplacian
        The graph.
    p : CayleyPolynomial
        The response.
    gain : float, optional
        Its gain, where that is known already.
    """

    name = "exact"

    def __init__(self, L: Laplacian, p: CayleyPolynomial, gain: float | None = None) -> None:
        self.laplacian = L
        self.polynomial = p
        self.gains = np.array([filter_gain(L, p) if gain is None else gain])
        self._prepare()

    def _prepare(self) -> None:
        self._factors = Factors(self.laplacian, self.polynomial.zoom, 1j)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_factors"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def expected_errors(self) -> FloatArray:
        """Return twice the rounding that measured residuals will have."""
        return relative(2 * solve_floor(self.laplacian, self.polynomial), self.gains)

    def apply(self, f: Array, *, certify: bool) -> Applied:
        """Filter; one product per power measures the residual of its solve, also without ``certify``."""
        p, L = self.polynomial, self.laplacian
        norms = column_norms(f)
        steps: list[FloatArray] = []

        def next_power(y: ComplexArray, j: int) -> ComplexArray:
            z = self._factors.solve(y)
            steps.append(2 * over(residual_norms(L, p.zoom, z, y), norms))
            return y - 2j * z

        total = sum_powers(p, f, next_power)
        return Applied(total, accumulated_error(p, steps) + summation_floor(p, np.float64), 0)
