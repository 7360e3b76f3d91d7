"""Solves with hΔ + iI at any zoom: conjugate gradients behind a multigrid cycle on the real hΔ + I."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from cayleygsp._typing import Array, ComplexArray, FloatArray
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import (
    Applied,
    FilterMethod,
    accumulated_error,
    column_norms,
    complex_product,
    filter_gain,
    over,
    residual_norms,
    solve_floor,
    sum_powers,
    summation_floor,
)
from cayleygsp.responses.cayley import CayleyPolynomial

MAX_ITERATIONS = 500


def cocg(
    A: Callable[[ComplexArray], ComplexArray],
    M: Callable[[ComplexArray], ComplexArray],
    b: ComplexArray,
    atol: float,
    max_iterations: int = MAX_ITERATIONS,
) -> tuple[ComplexArray, FloatArray]:
    r"""Solve A x = b for a complex symmetric A by the conjugate orthogonal conjugate gradient method.

    The conjugate gradient recurrence with the bilinear form :math:`x^\top y` in place of the inner product (van
    der Vorst and Melissen, 1990). It stops when the recurred residual is at most ``atol``, when it has not
    improved for 30 iterations, or at ``max_iterations``.

    Parameters
    ----------
    A, M : callable
        The operator and a real symmetric preconditioner, on vectors.
    b : ndarray, shape (n,)
        Right-hand side.
    atol : float
        Residual norm to reach.
    max_iterations : int
        The most iterations.

    Returns
    -------
    x : ndarray, shape (n,)
        The iterate with the smallest residual.
    residuals : ndarray
        Residual norms, the start's first.
    """
    x = np.zeros_like(b)
    r = b.copy()
    z = M(r)
    p = z
    rho = r @ z
    residuals = [float(np.linalg.norm(r))]
    best, best_x, best_at = residuals[0], x, 0
    target = max(atol, 1e-17 * residuals[0])  # below that, the recurred residual says nothing of the true one
    for k in range(1, max_iterations + 1):
        if best <= target:
            break
        q = A(p)
        mu = p @ q
        if rho == 0 or mu == 0:  # the method has broken down; the residual tells how far it came
            break
        alpha = rho / mu
        x = x + alpha * p
        r = r - alpha * q
        residuals.append(float(np.linalg.norm(r)))
        if residuals[-1] < best:
            best, best_x, best_at = residuals[-1], x, k
        elif k - best_at >= 30:
            break
        z = M(r)
        rho, rho_prev = r @ z, rho
        p = z + (rho / rho_prev) * p
    return best_x, np.array(residuals)


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
    """

    name = "multigrid"

    def __init__(self, L: Laplacian, p: CayleyPolynomial, tol: float) -> None:
        from pyamg import smoothed_aggregation_solver

        self.laplacian = L
        self.polynomial = p
        self.gain = filter_gain(L, p)
        # an error of e in each of the solves for z costs 2e Σ_j j 2|c_j|
        self.target = 0.5 * tol * self.gain / (2 * p.error_weight()) if p.error_weight() else np.inf
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
