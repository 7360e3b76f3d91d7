r"""Rational responses by solves with :math:`\Delta - pI`, one pole after the other."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from cayleygsp._rounding import unit_roundoff
from cayleygsp._typing import Array, FloatArray
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import relative
from cayleygsp.methods.solvers import SolveMethod, Solver, System
from cayleygsp.responses.rational import Rational


class PolesMethod(SolveMethod):
    r"""A rational response :math:`d + \sum_q r_q (\lambda - p_q)^{-m_q}` by solves, with the residuals as error bound.

    :math:`\|x - \hat x\| \le \|residual\| / d` for every solve, d being the distance of the pole from
    :math:`[\lambda_{min}, \lambda_{max}]`; conjugate poles share one. Solutions are multiplied by d, so that neither
    they nor the errors that they inherit grow.
    """

    def __init__(
        self,
        L: Laplacian,
        response: Rational,
        solver: type[Solver],
        tol: float | None = None,
        gains: FloatArray | None = None,
    ) -> None:
        self.response = response
        self.groups = list(pole_groups(response))
        # of the partial fractions from the response that they stand for, if that is not themselves
        self.missing = response.distance_on(L.lmin, L.lmax_bound)
        if response.certificate == "sampled":
            self.certificate = "sampled"
            self.evidence = "the response was compared with its rational approximation at some thousand frequencies"
        super().__init__(L, response, solver, pole_systems(response), tol, gains)

    def distance(self, pole: complex) -> float:
        """Return the distance of a pole from the spectrum, for certain."""
        L = self.laplacian
        return abs(pole - min(max(pole.real, L.lmin), L.lmax_bound))

    def _scaled(self, pole: complex, residues: list[complex]) -> list[complex]:
        r"""Return :math:`r_m / d^m`, which no term exceeds on the spectrum; powers of d alone may leave the range."""
        d, scaled = self.distance(pole), []
        for m, r in enumerate(residues, start=1):
            for _ in range(m):
                r = r / d
            scaled.append(r)
        return scaled

    def _apply_some(self, f: Array, norms: FloatArray, histories: list[FloatArray]) -> tuple[Array, FloatArray]:
        total = self.response.constant * f
        bound = np.zeros(f.shape[1])
        size = abs(self.response.constant)
        for q, (pole, residues) in enumerate(self.groups):
            weight, d = (1.0 if pole.imag == 0 else 2.0), self.distance(pole)
            y: Array = f if pole.imag == 0 else f.astype(np.complex128)
            error = np.zeros(f.shape[1])
            scaled = self._scaled(pole, residues)
            for m, r in enumerate(scaled, start=1):
                y, residual = self._solve(
                    q, y, self._allowed(weight * sum(map(abs, scaled[m - 1 :]))), norms, histories
                )
                y *= d
                error = error + residual
                if r:
                    total += weight * (r * y).real
                    bound += weight * abs(r) * error
                    size += weight * abs(r)
        n_terms = sum(len(residues) for _, residues in self.groups)
        return total, bound + unit_roundoff(np.float64) * 4 * (n_terms + 4) * size + self.missing

    def _allowed(self, cost: float) -> float:
        """Return the residual, relative to the signal, that a solve may leave, of which the error is ``cost`` times."""
        n_terms = sum(len(residues) for _, residues in self.groups)
        allowed = self.tol * float(self.gains[0])
        # what rounding and the approximation may take is not left for the residuals
        left = max(allowed - self.missing - self.floor(), 0.1 * allowed)
        return 0.8 * left / (n_terms * cost) if cost else np.inf

    def floor(self) -> float:
        """Return an error bound that measured residuals will hardly exceed by rounding."""
        u, total = unit_roundoff(np.float64), 0.0
        for pole, residues in self.groups:
            d, weight = self.distance(pole), (1.0 if pole.imag == 0 else 2.0)
            per_solve = u * (self.laplacian.rounding_norm + 10 * abs(pole)) / d
            total += weight * sum(m * abs(r) for m, r in enumerate(self._scaled(pole, residues), start=1)) * per_solve
        return total

    def expected_errors(self) -> FloatArray:
        """Return what the approximation misses, and a little more than the rounding of measured residuals."""
        return relative(1.25 * self.floor() + self.missing, self.gains)


def pole_groups(response: Rational) -> Iterator[tuple[complex, list[complex]]]:
    """Yield the poles on and above the real axis, each with the residues of its powers 1, 2 and so on."""
    for pole in dict.fromkeys(response.poles.tolist()):
        if pole.imag >= 0:
            mine = response.poles == pole
            order = np.argsort(response.powers[mine])
            yield pole, response.residues[mine][order].tolist()


def pole_systems(response: Rational) -> list[System]:
    """Return the systems Δ - pI of all poles, real ones by real numbers."""
    return [
        System(1.0, -pole.real if pole.imag == 0 else -pole, len(residues)) for pole, residues in pole_groups(response)
    ]
