"""Completion by the nuclear norm and smoothness on both graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from analysis.movielens.baselines import conjugate_gradients
from analysis.movielens.baselines.observed import Observed
from analysis.movielens.baselines.shrinkage import shrink
from cayleygsp._typing import FloatArray


def graph_nuclear(
    known: Observed,
    laplacians: tuple[Any, Any],
    penalty: float,
    smoothness: float,
    rho: float = 1.0,
    n_iter: int = 60,
    tol: float = 1e-3,
) -> FloatArray:
    r"""Return the completion by nuclear norm and graphs (GMC), by the alternating direction method of multipliers.

    .. math:: \min_X \tfrac12 \|P_\Omega(X - M)\|_F^2 + \lambda \|X\|_*
              + \tfrac\gamma2 \big(\mathrm{tr}\,X^\top \Delta_r X + \mathrm{tr}\,X \Delta_c X^\top\big)

    One copy of X has its singular values shrunk, the other solves a linear system by conjugate gradients; multipliers
    bring the two together.

    Parameters
    ----------
    known : Observed
        The entries of M on Ω.
    laplacians : tuple of sparse arrays
        Those of the rows and of the columns.
    penalty, smoothness : float
        The numbers λ and γ.
    rho : float
        Weight of the difference between the copies; it decides how fast they meet, not where.
    n_iter : int
        Most iterations.
    tol : float
        The iteration ends when the copies differ, and change, by less than this relatively.

    References
    ----------
    .. [1] V. Kalofolias, X. Bresson, M. Bronstein and P. Vandergheynst, "Matrix completion on graphs",
       arXiv:1408.1717, 2014.
    """
    rows, columns = (L.astype(known.values.dtype) for L in laplacians)

    def operator(Y: FloatArray) -> FloatArray:
        smooth = rows @ Y + (columns @ Y.T).T
        return np.where(known.mask, 1 + rho, rho).astype(Y.dtype) * Y + smoothness * smooth

    Y = known.values.copy()
    multiplier = np.zeros_like(Y)
    for _ in range(n_iter):
        X = shrink(Y + multiplier, penalty / rho)
        right = known.values + rho * (X - multiplier)
        before, Y = Y, conjugate_gradients.solve(operator, right, Y, 20, tol / 10)
        multiplier += Y - X
        largest = max(np.linalg.norm(Y - X), np.linalg.norm(Y - before))
        if largest <= tol * np.linalg.norm(Y):
            break
    return Y
