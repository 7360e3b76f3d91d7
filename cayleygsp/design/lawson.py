"""Least squares and minimax fits in a given basis."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from cayleygsp._typing import Array, FloatArray
from cayleygsp.design.problem import Norm, Problem

# Rounds of Lawson's method: on the grid of a search for the zoom, in its closer look, and for what is returned.
GRID_ROUNDS, SEARCH_ROUNDS, ROUNDS = 10, 25, 400

# Numbers in a block of rows of a least squares problem.
_BLOCK = 8192


@dataclass(frozen=True, eq=False)
class Solution:
    """Coefficients of a basis, the error that was made small, and a bound of what is possible."""

    coeffs: Array
    error: float
    lower_bound: float


def solve(
    A: FloatArray, problem: Problem, norm: Norm, ridge: float, n_rounds: int, decide: float | None = None
) -> Solution:
    """Solve for coefficients in the given norm."""
    t = problem.values
    if norm == "minimax":
        return _lawson(Basis(A, ridge), t, n_rounds, decide)
    w = np.sqrt(problem.weights)
    small = _fewer_rows(np.column_stack([w[:, None] * A, w * t]))
    R, z = small[:, :-1], small[:, -1]
    basis = Basis(R, ridge)
    x = basis.coefficients(basis.D * (basis.U.T @ z))
    return Solution(x, float(np.linalg.norm(R @ x - z)), 0.0)


def _fewer_rows(A: FloatArray) -> FloatArray:
    """Return a matrix with at most as many rows as columns and the same inner products of its columns.

    The rows are taken in blocks that stay in the cache; what is left is as well conditioned as the whole.
    """
    n = A.shape[1]
    step = max(_BLOCK // n, 2 * n)
    R = A[:0]
    for k in range(0, A.shape[0], step):
        R = np.asarray(np.linalg.qr(np.concatenate([R, A[k : k + step]]), mode="r"))
    return R


class Basis:
    """A = U S Vᵀ without singular values that are rounding, in unknowns z for which the ridge is the identity minus D².

    With z = (S² + μ²)^{1/2} Vᵀx, the ridge μ²|x|² is |z|² - |Dz|², and D = S (S² + μ²)^{-1/2} lies between 0 and 1: the
    normal equations are as well conditioned as the weights let them be.
    """

    def __init__(self, A: FloatArray, ridge: float) -> None:
        U, s, Vt = linalg.svd(A, full_matrices=False, check_finite=False)
        rank = int(np.count_nonzero(s > max(A.shape) * np.finfo(np.float64).eps * s[0]))
        self.U, s, self.V = U[:, :rank], s[:rank], Vt[:rank].T
        self.scale = np.hypot(s, ridge * s[0])
        self.D = s / self.scale
        # only then do lower bounds speak for all polynomials of the order
        self.is_whole = ridge == 0 and rank == min(A.shape)

    def coefficients(self, z: FloatArray) -> FloatArray:
        """Return the coefficients x for the unknowns z."""
        return self.V @ (z / self.scale)


def _lawson(basis: Basis, t: FloatArray, n_rounds: int, decide: float | None) -> Solution:
    """Return the coefficients with the least maximum distance, by least squares with weights that follow it.

    Whatever the weights, summing to 1, their least weighted mean square is not above the least maximum: without a ridge
    every round gives a lower bound. The rounds end when it is within 1e-3 of what was reached, or, with ``decide``,
    when it is settled whether that error can be reached.
    """
    m = t.size
    B = np.sqrt(m) * basis.U * basis.D
    ridge = 1 - basis.D**2
    w = np.full(m, 1 / m)
    best, best_z, lower = np.inf, np.zeros(B.shape[1]), 0.0
    for _ in range(n_rounds):
        Bw = B * w[:, None]
        G = Bw.T @ B
        G[np.diag_indices_from(G)] += ridge
        z = _solve_gram(G, Bw.T @ t)
        distance = np.abs(B @ z - t)
        largest = float(distance.max())
        if largest < best:
            best, best_z = largest, z
        lower = max(lower, float(np.sqrt(w @ distance**2)))
        if best <= lower * (1 + 1e-3) or best <= 1e-14 * np.abs(t).max(initial=0.0):
            break
        if decide is not None and (best <= decide or (lower > decide and basis.is_whole)):
            break
        w = w * (distance + 1e-9 * largest)
        w /= w.sum()
    # rounding may put a bound that is met above what meets it
    bound = min(lower, best) if basis.is_whole else 0.0
    return Solution(basis.coefficients(np.sqrt(m) * best_z), best, bound)


def _solve_gram(G: FloatArray, b: FloatArray) -> FloatArray:
    try:
        return linalg.cho_solve(linalg.cho_factor(G, check_finite=False), b, check_finite=False)
    except linalg.LinAlgError:
        return np.linalg.lstsq(G, b, rcond=1e-13)[0]
