"""Conjugate gradients for unknowns in the form of a matrix."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cayleygsp._typing import FloatArray


def solve(
    operator: Callable[[FloatArray], FloatArray], right: FloatArray, start: FloatArray, n_iter: int, tol: float
) -> FloatArray:
    """Return X with operator(X) = right; the operator is linear, symmetric and positive definite.

    Parameters
    ----------
    operator : callable
        From a matrix to one of the same shape.
    right, start : ndarray
        Right-hand side, and X to begin with.
    n_iter : int
        Most iterations.
    tol : float
        Of the residual, relative to the right-hand side.

    Examples
    --------
    >>> import numpy as np
    >>> from analysis.movielens.baselines.conjugate_gradients import solve
    >>> solve(lambda X: 2 * X, np.ones((1, 2)), np.zeros((1, 2)), 5, 1e-12)
    array([[0.5, 0.5]])
    """
    X = start.copy()
    residual = right - operator(X)
    direction, size = residual.copy(), float(np.vdot(residual, residual))
    enough = (tol * float(np.linalg.norm(right))) ** 2
    for _ in range(n_iter):
        if size <= enough:
            break
        image = operator(direction)
        step = size / float(np.vdot(direction, image))
        X += step * direction
        residual -= step * image
        new = float(np.vdot(residual, residual))
        direction = residual + new / size * direction
        size = new
    return X
