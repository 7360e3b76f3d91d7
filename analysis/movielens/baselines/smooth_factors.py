"""Completion by two factors that are smooth on the graphs of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from analysis.movielens.baselines import conjugate_gradients
from analysis.movielens.baselines.observed import Observed
from cayleygsp._typing import FloatArray

_CG_ITER = 10


def grals(
    known: Observed,
    laplacians: tuple[Any, Any],
    rank: int,
    penalty: float,
    smoothness: float,
    rng: np.random.Generator,
    n_iter: int = 40,
    tol: float = 1e-4,
) -> FloatArray:
    r"""Return :math:`X = W H^\top` by graph-regularised alternating least squares (GRALS).

    .. math:: \min_{W, H} \tfrac12 \|P_\Omega(W H^\top - M)\|_F^2
              + \tfrac12 \mathrm{tr}\,W^\top (\lambda I + \gamma \Delta_r) W
              + \tfrac12 \mathrm{tr}\,H^\top (\lambda I + \gamma \Delta_c) H

    Each factor in turn is found by some conjugate gradients, as the graph ties its rows together.

    Parameters
    ----------
    known : Observed
        The entries of M on Ω.
    laplacians : tuple of sparse arrays
        Those of the rows and of the columns.
    rank : int
        Columns of the factors.
    penalty, smoothness : float
        The numbers λ and γ.
    rng : numpy.random.Generator
        Of the factors to begin with.
    n_iter : int
        Most rounds.
    tol : float
        A round that changes the entries on Ω by less than this, relatively, is the last one.

    References
    ----------
    .. [1] N. Rao, H.-F. Yu, P. Ravikumar and I. Dhillon, "Collaborative filtering with graph information: consistency
       and scalable methods", NIPS 2015.
    """
    dtype = known.values.dtype
    L = [laplacian.astype(dtype) for laplacian in laplacians]
    W, H = (rng.standard_normal((n, rank)).astype(dtype) / np.sqrt(rank) for n in known.mask.shape)
    rows, columns = known.rows_columns
    M = known.as_sparse(known.entries)
    previous = np.zeros_like(known.entries)
    for _ in range(n_iter):

        def for_rows(S: FloatArray, H: FloatArray = H) -> FloatArray:
            fitted = known.as_sparse(np.einsum("ij,ij->i", S[rows], H[columns]))
            return fitted @ H + penalty * S + smoothness * (L[0] @ S)

        W = conjugate_gradients.solve(for_rows, M @ H, W, _CG_ITER, tol)

        def for_columns(S: FloatArray, W: FloatArray = W) -> FloatArray:
            fitted = known.as_sparse(np.einsum("ij,ij->i", W[rows], S[columns]))
            return fitted.T @ W + penalty * S + smoothness * (L[1] @ S)

        H = conjugate_gradients.solve(for_columns, M.T @ W, H, _CG_ITER, tol)
        fitted = np.einsum("ij,ij->i", W[rows], H[columns])
        if np.linalg.norm(fitted - previous) <= tol * np.linalg.norm(fitted):
            break
        previous = fitted
    return W @ H.T
