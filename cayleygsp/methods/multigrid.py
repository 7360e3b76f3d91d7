"""Solves with hΔ + iI at any zoom: conjugate gradients behind a multigrid cycle on the real hΔ + I."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from cayleygsp._typing import Array, ComplexArray, FloatArray
from cayleygsp.bounds.rounding import solve_floor, summation_floor
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import Applied, FilterMethod, column_norms, filter_gain, over
from cayleygsp.methods.cocg import cocg
from cayleygsp.methods.powers import accumulated_error, complex_product, residual_norms, sum_powers
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
        self.gain = filter_gain(L, p) if gain is None else gain
        self.gains = np.array([self.gain])
        # an error of e in each of the solves for z costs 2e Σ_j j 2|c_j|
        self.target = 0.5 * tol * self.gain / (2 * p.error_weight()) if p.error_weight() else np.inf
        self._prepare()

    def _prepare(self) -> None:
        from pyamg import smoothed_aggregation_solver

        L, p = self.laplacian, self.polynomial
        A = sparse.csr_matrix(p.zoom * L.matrix + sparse.eye_array(L.n_vertices))
        A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
        # `local` weights and Gauss–Seidel need no random vectors: the hierarchy is the same every time
        self._hierarchy = smoothed_aggregation_solver(
            A,
            symmetry="symmetric",
            smooth=("jacobi", {"omega": 4.0 / 3.0, "weighting": "local"}),
            presmoother=("gauss_seidel", {"sweep": "symmetric"}),
            postsmoother=("gauss_seidel", {"sweep": "symmetric"}),
            max_coarse=200,
        )
        self._cycle = self._hierarchy.aspreconditioner(cycle="V")

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_hierarchy", "_cycle")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def reaches_tolerance(self, tol: float | None) -> bool:
        """Compare the rounding of the measured residuals with half the tolerance."""
        return tol is not None and solve_floor(self.laplacian, self.polynomial) <= 0.5 * tol * self.gain

    def _precondition(self, r: ComplexArray) -> ComplexArray:
        return self._cycle.matvec(r.real.copy()) + 1j * self._cycle.matvec(r.imag.copy())

    def _shifted(self, y: ComplexArray) -> ComplexArray:
        """Return (hΔ + iI) y."""
        return self.polynomial.zoom * complex_product(self.laplacian.matrix, y) + 1j * y

    def apply(self, f: Array, *, certify: bool) -> Applied:
        """Filter, signal by signal; the residual of every solve is measured anew at its end."""
        norms = column_norms(f)
        steps: list[FloatArray] = []
        histories: list[FloatArray] = []
        n_matvecs = 0
        h = self.polynomial.zoom

        def next_power(y: ComplexArray, j: int) -> ComplexArray:
            nonlocal n_matvecs
            z = np.empty_like(y)
            columns = []
            for k in range(y.shape[1]):
                z[:, k], residuals = cocg(
                    self._vector_product,
                    self._precondition,
                    np.ascontiguousarray(y[:, k]),
                    self.target * norms[k],
                )
                columns.append(residuals / norms[k] if norms[k] else residuals)
            n_matvecs += max((c.size for c in columns), default=0)  # the last one is the check below
            histories.append(_stack(columns))
            steps.append(2 * over(residual_norms(self.laplacian, h, z, y), norms))
            return y - 2j * z

        total = sum_powers(self.polynomial, f, next_power)
        bound = accumulated_error(self.polynomial, steps) + summation_floor(self.polynomial, np.float64)
        return Applied(total, bound, n_matvecs, tuple(histories))

    def _vector_product(self, x: ComplexArray) -> ComplexArray:
        return self._shifted(x[:, None])[:, 0]


def _stack(columns: list[FloatArray]) -> FloatArray:
    """Put histories of different lengths side by side; the shorter ones end with NaN."""
    longest = max((c.size for c in columns), default=0)
    table = np.full((longest, len(columns)), np.nan)
    for k, column in enumerate(columns):
        table[: column.size, k] = column
    return table
