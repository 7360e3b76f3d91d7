"""Solves with hΔ + iI at any zoom: conjugate gradients behind a multigrid cycle on the real hΔ + I."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from cayleygsp._typing import Array, ComplexArray, FloatArray
from cayleygsp.bounds.jacobi import solve_floor, summation_floor
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import Applied, FilterMethod, column_norms, filter_gain, over, relative, seconds_of
from cayleygsp.methods.cycle import BlockCycle
from cayleygsp.methods.powers import accumulated_error, complex_product, residual_norms, sum_powers
from cayleygsp.methods.solvers import ITERATION_COST, block_cg, blocks_of, by_blocks, expected_iterations
from cayleygsp.responses.cayley import CayleyPolynomial


class MultigridMethod(FilterMethod):
    r"""Powers of :math:`C(h\Delta) = I - 2i(h\Delta + iI)^{-1}`, each by one solve.

    :math:`h\Delta + I` differs from :math:`h\Delta + iI` by a factor between 1 and √2 at every frequency, whatever
    h and n are, so a multigrid cycle for the former makes the latter's iteration count flat.

    Parameters
    ----------
    L : Laplacian
        The graph.
    p : CayleyPolynomial
        The response.
    tol : float
        Error allowed, relative to the gain.
    gain : float, optional
        The gain, where that is known already.

    Notes
    -----
    The hierarchy is not pickled; it is built again on arrival.
    """

    name = "multigrid"

    def __init__(self, L: Laplacian, p: CayleyPolynomial, tol: float, gain: float | None = None) -> None:
        self.laplacian = L
        self.polynomial = p
        self.tol = tol
        self.gain = filter_gain(L, p) if gain is None else gain
        self.gains = np.array([self.gain])
        # an error of e in each of the solves for z costs 2e Σ_j j 2|c_j|
        self.target = 0.5 * tol * self.gain / (2 * p.error_weight()) if p.error_weight() else np.inf
        self._prepare()

    def _prepare(self) -> None:
        L = self.laplacian
        self._cycle = BlockCycle((self.polynomial.zoom * L.matrix + sparse.eye_array(L.n_vertices)).tocsr())

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_cycle"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def expected_errors(self) -> FloatArray:
        """Return twice the rounding that measured residuals will have."""
        return relative(2 * solve_floor(self.laplacian, self.polynomial), self.gains)

    def reaches_tolerance(self, tol: float | None) -> bool:
        """Compare the rounding of the measured residuals with the tolerance, without which no solve ends."""
        return tol is not None and super().reaches_tolerance(tol)

    def sample_seconds(self, n_signals: int) -> float | None:
        """Time a cycle and a product."""
        n_blocks, width = blocks_of(n_signals)
        r = np.ones((self.laplacian.n_vertices, width), np.complex128)
        p = self.polynomial
        iterations = p.order * expected_iterations(p.zoom * self.laplacian.lmax, self.tol)
        return n_blocks * iterations * ITERATION_COST * seconds_of(lambda: self._shifted(self._precondition(r)))

    def _precondition(self, r: ComplexArray) -> ComplexArray:
        """Apply the cycle to real and imaginary parts, all columns at once."""
        return np.ascontiguousarray(self._cycle(np.ascontiguousarray(r).view(np.float64))).view(np.complex128)

    def _shifted(self, y: ComplexArray) -> ComplexArray:
        """Return (hΔ + iI) y."""
        return self.polynomial.zoom * complex_product(self.laplacian.matrix, y) + 1j * y

    def apply(self, f: Array, *, certify: bool) -> Applied:
        """Filter, some signals at a time; the residual of every solve is measured anew at its end."""
        return by_blocks(f, self._apply_block)

    def _apply_block(self, f: Array) -> Applied:
        norms = column_norms(f)
        steps: list[FloatArray] = []
        histories: list[FloatArray] = []
        h = self.polynomial.zoom

        def next_power(y: ComplexArray, j: int) -> ComplexArray:
            z, residuals = block_cg(self._shifted, self._precondition, np.ascontiguousarray(y), self.target * norms)
            histories.append(over(residuals, np.broadcast_to(norms, residuals.shape)))
            steps.append(2 * over(residual_norms(self.laplacian, h, z, y), norms))
            return y - 2j * z

        total = sum_powers(self.polynomial, f, next_power)
        bound = accumulated_error(self.polynomial, steps) + summation_floor(self.polynomial, np.float64)
        # the last product of each solve is the check of its residual
        return Applied(total, bound, sum(len(history) for history in histories), tuple(histories))
