"""Completion by the nuclear norm, without and with features."""

from __future__ import annotations

import math

import numpy as np

from analysis.movielens.baselines.observed import Observed
from analysis.movielens.baselines.shrinkage import shrink
from cayleygsp._typing import FloatArray


def soft_impute(known: Observed, penalty: float, n_iter: int = 100, tol: float = 1e-4) -> FloatArray:
    r"""Return :math:`\arg\min_X \frac12 \|P_\Omega(X - M)\|_F^2 + \lambda \|X\|_*` (MC).

    Missing entries are filled with those of the last X, then singular values are shrunk [1]_, with Nesterov's momentum.

    Parameters
    ----------
    known : Observed
        The entries of M on Ω.
    penalty : float
        The number λ.
    n_iter : int
        Most iterations.
    tol : float
        An iteration that changes X by less than this, relatively, is the last one.

    References
    ----------
    .. [1] R. Mazumder, T. Hastie and R. Tibshirani, "Spectral regularization algorithms for learning large incomplete
       matrices", Journal of Machine Learning Research 11, 2010. The problem is that of E. Candès and B. Recht, "Exact
       matrix completion via convex optimization", Foundations of Computational Mathematics 9, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from analysis.movielens.baselines.nuclear import soft_impute
    >>> from analysis.movielens.baselines.observed import Observed
    >>> known = Observed.at(np.ones((3, 3)), np.array([0, 1, 2, 3, 4, 6, 8]))
    >>> soft_impute(known, 0.01, n_iter=500, tol=1e-8).round(1)
    array([[1., 1., 1.],
           [1., 1., 1.],
           [1., 1., 1.]])
    """
    previous = ahead = np.zeros_like(known.values)
    momentum = 1.0
    for _ in range(n_iter):
        X = shrink(np.where(known.mask, known.values, ahead), penalty)
        change, size = np.linalg.norm(X - previous), np.linalg.norm(X)
        momentum, last = (1 + math.sqrt(1 + 4 * momentum**2)) / 2, momentum
        ahead, previous = X + (last - 1) / momentum * (X - previous), X
        if change <= tol * size:
            break
    return previous


def inductive(
    known: Observed, features: tuple[FloatArray, FloatArray], penalty: float, n_iter: int = 200, tol: float = 1e-4
) -> FloatArray:
    r"""Return the completion :math:`X = A Z B^\top` of low rank with features of rows and columns (IMC).

    .. math:: \min_Z \tfrac12 \|P_\Omega(A Z B^\top - M)\|_F^2 + \lambda \|Z\|_*

    Parameters
    ----------
    known : Observed
        The entries of M on Ω.
    features : tuple of ndarray, shapes (n, k) and (m, l)
        A and B, with orthonormal columns, so that steps of length 1 are safe.
    penalty : float
        The number λ.
    n_iter : int
        Most iterations.
    tol : float
        As in :func:`soft_impute`, which this is for A and B the identity.

    References
    ----------
    .. [1] P. Jain and I. Dhillon, "Provable inductive matrix completion", arXiv:1306.0626, 2013.
    .. [2] M. Xu, R. Jin and Z.-H. Zhou, "Speedup matrix completion with side information", NIPS 2013: this problem.
    """
    A, B = features
    previous = ahead = np.zeros((A.shape[1], B.shape[1]), known.values.dtype)
    momentum = 1.0
    for _ in range(n_iter):
        residual = np.where(known.mask, known.values - A @ ahead @ B.T, known.values.dtype.type(0))
        Z = shrink(ahead + A.T @ residual @ B, penalty)
        change, size = np.linalg.norm(Z - previous), np.linalg.norm(Z)
        momentum, last = (1 + math.sqrt(1 + 4 * momentum**2)) / 2, momentum
        ahead, previous = Z + (last - 1) / momentum * (Z - previous), Z
        if change <= tol * size:
            break
    return A @ previous @ B.T
