"""The levels of smoothed aggregation for matrices like a Laplacian, in plain sparse rows and without random vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

# The classical damping of the smoother of prolongators, over a bound of the spectrum in every row.
_DAMPING = 4 / 3

_MOST_LEVELS = 20

# A level with more than this share of the vertices above it is not worth its cost.
_LEAST_GAIN = 0.9


@dataclass(frozen=True, eq=False)
class AggregationLevel:
    """A matrix, and the prolongator from the level below it; the last level has none."""

    A: sparse.csr_matrix
    P: sparse.csr_matrix | None


def aggregation_levels(A: sparse.csr_matrix, n_coarsest: int) -> list[AggregationLevel]:
    r"""Return the levels, the finest first.

    Vertices are put together with their neighbours by pyamg's standard aggregation; the prolongator of the near-kernel,
    constants on the finest level, is smoothed by one Jacobi step, damped in every row by the sum of its absolute
    entries, which bounds the spectrum.

    Parameters
    ----------
    A : scipy.sparse.csr_matrix, shape (n, n)
        Symmetric positive definite, with indices of 32 bits.
    n_coarsest : int
        Vertices of a level that needs none below it.
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
