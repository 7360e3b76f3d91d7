"""Least squares and minimax fits in a given basis, and the search for a zoom."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from scipy import linalg

from cayleygsp._typing import Array, FloatArray, IntArray
from cayleygsp.design.problem import Norm, Problem

# Rounds of Lawson's method: on the grid of a search for the zoom, in its closer look, and for what is returned.
GRID_ROUNDS, SEARCH_ROUNDS, ROUNDS = 10, 25, 400

# Numbers in a block of rows of a least squares problem.
_BLOCK = 8192


class BasisFit(NamedTuple):
    """Coefficients of a basis, the error that was made small, and a bound of what is possible."""

    coeffs: Array
    error: float
    lower_bound: float


def solve(
    A: FloatArray, problem: Problem, norm: Norm, ridge: float, n_rounds: int, decide: float | None = None
) -> BasisFit:
    """Solve for coefficients in the given norm."""
    t = problem.values
    if norm == "minimax":
        return _lawson(Basis(A, ridge), t, n_rounds, decide)
    w = np.sqrt(problem.weights)
    small = _fewer_rows(np.column_stack([w[:, None] * A, w * t]))
    R, z = small[:, :-1], small[:, -1]
    basis = Basis(R, ridge)
    x = basis.coefficients(basis.D * (basis.U.T @ z))
    return BasisFit(x, float(np.linalg.norm(R @ x - z)), 0.0)


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


def _lawson(basis: Basis, t: FloatArray, n_rounds: int, decide: float | None) -> BasisFit:
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
        try:
            z = linalg.cho_solve(linalg.cho_factor(G, check_finite=False), Bw.T @ t, check_finite=False)
        except linalg.LinAlgError:
            z = np.linalg.lstsq(G, Bw.T @ t, rcond=1e-13)[0]
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
    return BasisFit(basis.coefficients(np.sqrt(m) * best_z), best, bound)


def search_zoom(error: Callable[[float, int], float], problem: Problem, order: int) -> float:
    """Return the zoom of the least error, and of equally good ones the smallest, which is the cheapest to apply.

    The error has several minima, more of them the higher the order: after a grid the best few are looked at closely.
    """
    from scipy import optimize  # slow to load, and needed for a search alone

    if problem.lmax == 0:
        return 1.0
    lows = [f for f in problem.target.features if f > 0]
    if not lows:
        lows = problem.nodes[problem.nodes > 1e-4 * problem.lmax].tolist()
    grid = zoom_grid(problem.lmax, lows, min(8 + order, 20))
    step = grid[1] - grid[0]
    values = [error(float(np.exp(x)), GRID_ROUNDS) for x in grid]
    trials = list(zip(values, grid.tolist(), strict=True))
    for k in local_minima(np.array(values))[:3]:
        if values[k] > 1e-13:
            closer = optimize.minimize_scalar(
                lambda y: error(float(np.exp(y)), SEARCH_ROUNDS),
                bounds=(grid[k] - step, grid[k] + step),
                method="bounded",
                options={"maxiter": 25},
            )
            trials.append((float(closer.fun), float(closer.x)))
    least = min(value for value, _ in trials)
    scale = float(np.abs(problem.values).max(initial=0.0))
    return float(np.exp(min(x for value, x in trials if value <= least * (1 + 1e-6) + 1e-13 * scale)))


def zoom_grid(lmax: float, lows: Iterable[float], per_decade: int) -> FloatArray:
    """Return logarithms of zooms, from one that sees all of [0, lmax] alike to one that sees low frequencies well."""
    low, high = np.log(0.1 / lmax), np.log(max(30 / min([*lows, lmax]), 1e4 / lmax))
    return np.linspace(low, high, int(np.ceil((high - low) / np.log(10) * per_decade)) + 1)


def local_minima(curve: FloatArray) -> IntArray:
    """Return where values are no larger than those beside them, the least value first."""
    padded = np.pad(curve, 1, constant_values=np.inf)
    minima = np.flatnonzero((curve <= padded[:-2]) & (curve <= padded[2:]))
    return minima[np.argsort(curve[minima], kind="stable")]
