"""Cayley polynomials by the powers of C(hΔ), each from the one before by one solve with hΔ + iI."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cayleygsp._typing import Array, ComplexArray, FloatArray
from cayleygsp.bounds.jacobi import solve_floor, summation_floor
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import relative
from cayleygsp.methods.solvers import SolveMethod, Solver, System
from cayleygsp.responses.cayley import CayleyPolynomial


class PowersMethod(SolveMethod):
    r"""Powers of :math:`C(h\Delta) = I - 2i(h\Delta + iI)^{-1}`, all by the same solver.

    The matrix is complex symmetric with a positive definite imaginary part, so that elimination is stable without
    pivoting; and :math:`h\Delta + I` differs from it by a factor between 1 and √2 at every frequency, whatever h and n
    are, so that a multigrid cycle for the former makes the latter's iteration count flat.
    """

    def __init__(
        self,
        L: Laplacian,
        p: CayleyPolynomial,
        solver: type[Solver],
        tol: float | None = None,
        gains: FloatArray | None = None,
    ) -> None:
        self.polynomial = p
        super().__init__(L, p, solver, power_systems(p), tol, gains)
        # an error of e in each of the solves for z costs 2e Σ_j j 2|c_j|
        weight = p.error_weight()
        self.target = 0.5 * self.tol * float(self.gains[0]) / (2 * weight) if weight else np.inf

    def expected_errors(self) -> FloatArray:
        """Return twice the rounding that measured residuals will have."""
        return relative(2 * solve_floor(self.laplacian, self.polynomial), self.gains)

    def _apply_some(self, f: Array, norms: FloatArray, histories: list[FloatArray]) -> tuple[Array, FloatArray]:
        steps: list[FloatArray] = []

        def next_power(y: ComplexArray, j: int) -> ComplexArray:
            z, residual = self._solve(0, y, self.target, norms, histories)
            steps.append(2 * residual)
            return y - 2j * z

        total = sum_powers(self.polynomial, f, next_power)
        return total, accumulated_error(self.polynomial, steps) + summation_floor(self.polynomial, np.float64)


def power_systems(p: CayleyPolynomial) -> list[System]:
    """Return the one system that all powers are solved with."""
    return [System(p.zoom, 1j, p.order)]


def sum_powers(p: CayleyPolynomial, f: Array, next_power: Callable[[ComplexArray, int], ComplexArray]) -> Array:
    r"""Return :math:`c_0 f + 2\,\mathrm{Re} \sum_j c_j y_j` with :math:`y_0 = f` and :math:`y_j` from its predecessor.

    ``next_power`` takes y_{j-1} and j, and returns y_j ≈ C(hΔ) y_{j-1}.
    """
    total = p.coeffs[0].real.astype(f.dtype) * f
    y = f.astype(np.result_type(f.dtype, np.complex64))
    for j in range(1, p.order + 1):
        y = next_power(y, j)
        total += 2 * (y.dtype.type(p.coeffs[j]) * y).real
    return total


def accumulated_error(p: CayleyPolynomial, steps: list[FloatArray]) -> FloatArray:
    r"""Return :math:`2 \sum_j |c_j| e_j` where :math:`e_j = e_{j-1} + s_j`.

    ``steps`` holds :math:`s_j`, a bound of the error made in the step from :math:`y_{j-1}` to :math:`y_j`: as
    C(hΔ) is unitary, earlier errors are passed on as they are.
    """
    e = np.cumsum(np.asarray(steps), axis=0)
    return 2 * np.abs(p.coeffs[1:]) @ e
