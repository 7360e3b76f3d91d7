"""A multigrid cycle for blocks of vectors: one pass over the hierarchy serves all columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse

from cayleygsp._typing import Array, FloatArray
from cayleygsp.methods.aggregation import AggregationLevel, aggregation_levels

# Vertices of the coarsest level, which is solved densely.
_COARSEST = 200

# Damped Jacobi steps before and after the coarse correction, which must be as many for a symmetric cycle.
_SMOOTHING_STEPS = 2


@dataclass(frozen=True, eq=False)
class _Level:
    """One level: its matrix, the way up and down, and the damped inverse of its diagonal."""

    A: sparse.csr_array
    P: sparse.csr_array
    R: sparse.csr_array
    smoother: FloatArray


class BlockCycle:
    """One V-cycle of smoothed aggregation for a symmetric positive definite matrix, on all columns of a block at once.

    Parameters
    ----------
    A : scipy.sparse.csr_array, shape (n, n)
        An M-matrix, such as a Laplacian plus a positive multiple of the identity.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the coarsest matrix is not positive definite: the multiple of the identity was lost in rounding.
    """

    def __init__(self, A: sparse.csr_array) -> None:
        matrix = sparse.csr_matrix(A)
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
        levels = aggregation_levels(matrix, _COARSEST)
        self._levels = [_level(one) for one in levels[:-1]]
        self._coarse = _inverse(levels[-1].A.toarray())

    def __call__(self, b: Array) -> Array:
        """Return an approximate solution for every column of a real block."""
        return self._cycle(0, b)

    def _cycle(self, k: int, b: Array) -> Array:
        if k == len(self._levels):
            return self._coarse @ b
        level = self._levels[k]
        x = level.smoother * b
        for _ in range(_SMOOTHING_STEPS - 1):
            x += level.smoother * (b - level.A @ x)
        x += level.P @ self._cycle(k + 1, level.R @ (b - level.A @ x))
        for _ in range(_SMOOTHING_STEPS):
            x += level.smoother * (b - level.A @ x)
        return x


def _level(level: AggregationLevel) -> _Level:
    A = sparse.csr_array(level.A)
    d = A.diagonal()
    # Gershgorin's bound of the spectrum of D^{-1} A; 4/3 over it is the classical damping
    radius = float((abs(A) @ np.ones(A.shape[0]) / d).max())
    P = sparse.csr_array(level.P)
    return _Level(A, P, sparse.csr_array(P.T), (4 / 3 / radius / d)[:, None])


def _inverse(A: FloatArray) -> sparse.csr_array:
    """Return the inverse of a small positive definite matrix, symmetric and without negative eigenvalues.

    It is applied by scipy's sparse product, in the thread that calls: BLAS would wake up its threads for a solve that
    takes less time than that, and wait for them where the machine is busy.
    """
    half = linalg.solve_triangular(linalg.cholesky(A, lower=True), np.eye(A.shape[0]), lower=True)
    return sparse.csr_array(half.T @ half)
