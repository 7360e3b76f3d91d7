"""Singular values made smaller: the proximal map of the nuclear norm."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from cayleygsp._typing import FloatArray


def shrink(matrix: FloatArray, threshold: float) -> FloatArray:
    r"""Return :math:`\arg\min_X \frac12 \|X - Y\|_F^2 + \tau \|X\|_*`: every singular value of Y less τ, if it is more.

    It goes through the eigenvalues of the smaller of :math:`Y Y^\top` and :math:`Y^\top Y`, which is cheaper than
    singular values and exact enough where τ is not tiny beside the largest of them.

    Parameters
    ----------
    matrix : ndarray, shape (n, m)
        The matrix Y.
    threshold : float
        The number τ, 0 or more.

    Examples
    --------
    >>> import numpy as np
    >>> from analysis.movielens.baselines.shrinkage import shrink
    >>> shrink(np.diag([3.0, 1.0, 0.5]), 1.0).round(6) + 0.0
    array([[2., 0., 0.],
           [0., 0., 0.],
           [0., 0., 0.]])
    """
    if threshold == 0:
        return matrix
    if matrix.shape[0] > matrix.shape[1]:
        return shrink(matrix.T, threshold).T
    squares, U = linalg.eigh(matrix @ matrix.T, subset_by_value=(threshold**2, np.inf), driver="evr")
    if not squares.size:
        return np.zeros_like(matrix)
    factors = (1 - threshold / np.sqrt(squares)).astype(matrix.dtype)
    return (U * factors) @ (U.T @ matrix)
