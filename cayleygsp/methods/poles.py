r"""Rational responses by solves with :math:`\Delta - pI`, one pole after the other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from cayleygsp._rounding import unit_roundoff
from cayleygsp._typing import Array, FloatArray
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import Applied, FilterMethod, column_norms, filter_gain, over, relative, seconds_of
from cayleygsp.methods.cycle import BlockCycle
from cayleygsp.methods.powers import complex_product, product_rounding
from cayleygsp.methods.solvers import ITERATION_COST, Factors, block_cg, blocks_of, by_blocks, expected_iterations
from cayleygsp.responses.rational import Rational


class PoleMethod(FilterMethod):
    r"""A rational response :math:`d + \sum_q r_q (\lambda - p_q)^{-m_q}` by solves, with the residuals as error bound.

    :math:`\|x - \hat x\| \le \|residual\| / dist(p, [\lambda_{min}, \lambda_{max}])` for every solve; conjugate poles
    share one.

    Parameters
    ----------
    L : Laplacian
        The graph.
    response : Rational
        The response.
    tol : float
        Error allowed, relative to the gain.
    gain : float, optional
        Its gain, where that is known already.
    """

    def __init__(self, L: Laplacian, response: Rational, tol: float, gain: float | None = None) -> None:
        self.laplacian = L
        self.response = response
        self.gains = np.array([filter_gain(L, response) if gain is None else gain])
        self.groups = list(pole_groups(response))
        self.tol = tol
        # of the partial fractions from the response that they stand for, if that is not themselves
        self.missing = response.distance_on(L.lmin, L.lmax_bound)
        if response.certificate == "sampled":
            self.certificate = "sampled"
            self.evidence = "the response was compared with its rational approximation at some thousand frequencies"
        self._prepare()

    @abstractmethod
    def _prepare(self) -> None:
        """Build what solves need; called again after unpickling."""

    @abstractmethod
    def _solve(self, q: int, y: Array, atol: FloatArray) -> tuple[Array, FloatArray]:
        """Solve with the pole of group q to the given residual norms; also return the history of the residuals."""

    def distance(self, pole: complex) -> float:
        """Return the distance of a pole from the spectrum, for certain."""
        L = self.laplacian
        return abs(pole - min(max(pole.real, L.lmin), L.lmax_bound))

    def apply(self, f: Array, *, certify: bool) -> Applied:
        """Filter; the residual of every solve is measured anew at its end."""
        return by_blocks(f, self._apply_block)

    def _apply_block(self, f: Array) -> Applied:
        norms = column_norms(f)
        total = self.response.constant * f
        bound = np.zeros(f.shape[1])
        size = abs(self.response.constant)
        histories: list[FloatArray] = []
        for q, (pole, residues) in enumerate(self.groups):
            weight, d = (1.0 if pole.imag == 0 else 2.0), self.distance(pole)
            y: Array = f if pole.imag == 0 else f.astype(np.complex128)
            error = np.zeros(f.shape[1])
            for m, r in enumerate(residues, start=1):
                x, history = self._solve(q, y, self._allowed(pole, residues, m) * norms)
                histories.append(over(history, np.broadcast_to(norms, history.shape)))
                error = (error + over(pole_residuals(self.laplacian, pole, x, y), norms)) / d
                if r:
                    total += weight * (r * x).real
                    bound += weight * abs(r) * error
                    size += weight * abs(r) / d**m
                y = x
        n_terms = sum(len(residues) for _, residues in self.groups)
        bound += unit_roundoff(np.float64) * 4 * (n_terms + 4) * size + self.missing
        return Applied(total, bound, sum(len(h) for h in histories), tuple(histories))

    def _allowed(self, pole: complex, residues: list[complex], m: int) -> float:
        """Return the residual, relative to the signal, that the m-th solve with a pole may leave."""
        d, weight = self.distance(pole), (1.0 if pole.imag == 0 else 2.0)
        # an error of e in solve m costs Σ_{k ≥ m} |r_k| e / d^{k - m + 1}
        cost = weight * sum(abs(r) / d ** (k - m + 1) for k, r in enumerate(residues, start=1) if k >= m)
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
            total += weight * sum(k * abs(r) / d**k for k, r in enumerate(residues, start=1)) * per_solve
        return total

    def expected_errors(self) -> FloatArray:
        """Return what the approximation misses, and a little more than the rounding of measured residuals."""
        return relative(1.25 * self.floor() + self.missing, self.gains)

    def reaches_tolerance(self, tol: float | None) -> bool:
        """Compare the rounding of the measured residuals with the tolerance, without which no solve ends."""
        return tol is not None and super().reaches_tolerance(tol)

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_solvers"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()


class PoleFactorisation(PoleMethod):
    r"""Solves by one sparse factorisation of :math:`\Delta - pI` per pole."""

    name = "exact"

    def _prepare(self) -> None:
        self._solvers = [
            Factors(self.laplacian, 1.0, -pole.real if pole.imag == 0 else -pole) for pole, _ in self.groups
        ]

    def _solve(self, q: int, y: Array, atol: FloatArray) -> tuple[Array, FloatArray]:
        return self._solvers[q].solve(np.ascontiguousarray(y)), np.zeros((0, y.shape[1]))


class PoleMultigrid(PoleMethod):
    r"""Solves by conjugate gradients behind a multigrid cycle on :math:`\Delta + |p|I`.

    For a negative pole that is the matrix itself; for one with a real part ≤ 0 it differs from :math:`\Delta - pI` by a
    factor between 1 and √2 at every frequency.
    """

    name = "multigrid"

    def _prepare(self) -> None:
        eye = sparse.eye_array(self.laplacian.n_vertices)
        self._solvers = [BlockCycle((self.laplacian.matrix + abs(pole) * eye).tocsr()) for pole, _ in self.groups]

    def _solve(self, q: int, y: Array, atol: FloatArray) -> tuple[Array, FloatArray]:
        pole, cycle, L = self.groups[q][0], self._solvers[q], self.laplacian.matrix
        if pole.imag == 0:
            return block_cg(lambda x: L @ x - pole.real * x, cycle, np.ascontiguousarray(y), atol)

        def precondition(r: Array) -> Array:
            r = np.ascontiguousarray(r)
            return np.ascontiguousarray(cycle(r.view(np.float64))).view(np.complex128)

        return block_cg(lambda x: complex_product(L, x) - pole * x, precondition, np.ascontiguousarray(y), atol)

    def sample_seconds(self, n_signals: int) -> float | None:
        """Time a cycle and a product."""
        if not self.groups:
            return None
        L, (n_blocks, width) = self.laplacian, blocks_of(n_signals)
        r = np.ones((L.n_vertices, width))
        iteration = seconds_of(lambda: L.matrix @ self._solvers[0](r))
        iterations = sum(
            len(residues) * (1 if pole.imag == 0 else 2) * expected_iterations(L.lmax / abs(pole), self.tol)
            for pole, residues in self.groups
        )
        return n_blocks * iterations * ITERATION_COST * iteration


def pole_groups(response: Rational) -> Iterator[tuple[complex, list[complex]]]:
    """Yield the poles on and above the real axis, each with the residues of its powers 1, 2 and so on."""
    for pole in dict.fromkeys(response.poles.tolist()):
        if pole.imag >= 0:
            mine = response.poles == pole
            order = np.argsort(response.powers[mine])
            yield pole, response.residues[mine][order].tolist()


def solvable_by_multigrid(response: Rational) -> bool:
    """Return whether no pole has a positive real part, which would make an indefinite system."""
    return bool((response.poles.real <= 0).all())


def pole_residuals(L: Laplacian, pole: complex, x: Array, y: Array) -> FloatArray:
    r"""Bound :math:`\|y - (\Delta - pI)x\|` for each column, the rounding of computing it included."""
    if pole.imag == 0:
        residual = column_norms(y - L.matrix @ x + pole.real * x)
    else:
        residual = column_norms(y - complex_product(L.matrix, x) + pole * x)
    small = unit_roundoff(np.float64) * (8 * abs(pole) * column_norms(x) + 2 * column_norms(y) + 4 * residual)
    return residual + product_rounding(L, x) + small
