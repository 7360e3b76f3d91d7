"""A multigrid cycle by smoothed aggregation for blocks of vectors: one pass over the hierarchy serves all columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from cayleygsp._typing import Array, FloatArray

# The classical damping of the smoother of prolongators, over a bound of the spectrum in every row.
_DAMPING = 4 / 3

_MOST_LEVELS = 20

# A level with more than this share of the vertices above it is not worth its cost.
_LEAST_GAIN = 0.9


class AggregationLevel(NamedTuple):
    """A matrix, and the prolongator from the level below it; the last level has none."""

    A: sparse.csr_matrix
    P: Any


def aggregation_levels(A: sparse.csr_matrix, n_coarsest: int) -> list[AggregationLevel]:
    r"""Return the levels, the finest first, until one has no more than ``n_coarsest`` vertices.

    Vertices are put together with their neighbours by pyamg's standard aggregation; the prolongator of the near-kernel,
    constants on the finest level, is smoothed by one Jacobi step, damped in every row by the sum of its absolute
    entries, which bounds the spectrum. The matrix is symmetric positive definite, with indices of 32 bits.
    """
    from pyamg.aggregation.aggregate import standard_aggregation
    from pyamg.strength import symmetric_strength_of_connection

    levels: list[AggregationLevel] = []
    kernel = np.ones(A.shape[0])
    while A.shape[0] > n_coarsest and len(levels) + 1 < _MOST_LEVELS:
        aggregates = standard_aggregation(symmetric_strength_of_connection(A))[0].tocsr()
        if aggregates.nnz == 0:  # nothing but isolated vertices, which the smoother solves for: nothing stands below
            nothing = sparse.csr_matrix((A.shape[0], 1))
            return [*levels, AggregationLevel(A, nothing), AggregationLevel(sparse.csr_matrix(np.eye(1)), None)]
        if aggregates.shape[1] > _LEAST_GAIN * A.shape[0]:
            break
        T = sparse.csr_matrix(sparse.diags_array(kernel) @ aggregates.astype(np.float64))
        kernel = np.sqrt(T.multiply(T).sum(axis=0)).A1
        T = T @ sparse.diags_array(1 / np.where(kernel > 0, kernel, 1.0))
        damped = _DAMPING / (abs(A) @ np.ones(A.shape[0]))
        P = sparse.csr_matrix(T - sparse.diags_array(damped) @ (A @ T))
        levels.append(AggregationLevel(A, P))
        A = sparse.csr_matrix(P.T @ (A @ P))
    return [*levels, AggregationLevel(A, None)]


# Vertices of the coarsest level, which is solved densely.
_COARSEST = 200

# Damped Jacobi steps before and after the coarse correction, which must be as many for a symmetric cycle.
_SMOOTHING_STEPS = 2


class BlockCycle:
    """One V-cycle of smoothed aggregation for a symmetric positive definite matrix, on all columns of a block at once.

    The matrix is an M-matrix, such as a Laplacian plus a positive multiple of the identity. Raises
    :class:`numpy.linalg.LinAlgError` if the coarsest is not positive definite: the multiple was lost in rounding.
    """

    def __init__(self, A: sparse.csr_array) -> None:
        matrix = sparse.csr_matrix(A)
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
        levels = aggregation_levels(matrix, _COARSEST)
        # of each level its matrix, the ways up and down, and the damped inverse of its diagonal
        self._levels = [
            (sparse.csr_array(A), sparse.csr_array(P), sparse.csr_array(P.T), _smoother(A)) for A, P in levels[:-1]
        ]
        self._coarse = _inverse(levels[-1][0].toarray())

    def __call__(self, b: Array) -> Array:
        """Return an approximate solution for every column of a real block."""
        return self._cycle(0, b)

    def _cycle(self, k: int, b: Array) -> Array:
        if k == len(self._levels):
            return self._coarse @ b
        A, P, R, smoother = self._levels[k]
        x = smoother * b
        for _ in range(_SMOOTHING_STEPS - 1):
            x += smoother * (b - A @ x)
        x += P @ self._cycle(k + 1, R @ (b - A @ x))
        for _ in range(_SMOOTHING_STEPS):
            x += smoother * (b - A @ x)
        return x


def _smoother(A: sparse.csr_matrix) -> FloatArray:
    """Return the inverse of the diagonal, damped by 4/3 over Gershgorin's bound of the spectrum of D^{-1} A."""
    d = A.diagonal()
    radius = float((abs(A) @ np.ones(A.shape[0]) / d).max())
    return (_DAMPING / radius / d)[:, None]


def _inverse(A: FloatArray) -> sparse.csr_array:
    """Return the inverse of a small positive definite matrix, symmetric and without negative eigenvalues.

    It is applied by scipy's sparse product, in the thread that calls: BLAS would wake up its threads for a solve that
    takes less time than that, and wait for them where the machine is busy.
    """
    half = linalg.solve_triangular(linalg.cholesky(A, lower=True), np.eye(A.shape[0]), lower=True)
    return sparse.csr_array(half.T @ half)
