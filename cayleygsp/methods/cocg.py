"""Conjugate gradients for complex symmetric systems."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cayleygsp._typing import ComplexArray, FloatArray

MAX_ITERATIONS = 500


def cocg(
    A: Callable[[ComplexArray], ComplexArray],
    M: Callable[[ComplexArray], ComplexArray],
    b: ComplexArray,
    atol: float,
    max_iterations: int = MAX_ITERATIONS,
) -> tuple[ComplexArray, FloatArray]:
    r"""Solve A x = b for a complex symmetric A by the conjugate orthogonal conjugate gradient method.

    The conjugate gradient recurrence with the bilinear form :math:`x^\top y` in place of the inner product (van
    der Vorst and Melissen, 1990). It stops when the recurred residual is at most ``atol``, when it has not
    improved for 30 iterations, or at ``max_iterations``.

    Parameters
    ----------
    A, M : callable
        The operator and a real symmetric preconditioner, on vectors.
    b : ndarray, shape (n,)
        Right-hand side.
    atol : float
        Residual norm to reach.
    max_iterations : int
        The most iterations.

    Returns
    -------
    x : ndarray, shape (n,)
        The iterate with the smallest residual.
    residuals : ndarray
        Residual norms, the start's first.
    """
    x = np.zeros_like(b)
    r = b.copy()
    z = M(r)
    p = z
    rho = r @ z
    residuals = [float(np.linalg.norm(r))]
    best, best_x, best_at = residuals[0], x, 0
    target = max(atol, 1e-17 * residuals[0])  # below that, the recurred residual says nothing of the true one
    for k in range(1, max_iterations + 1):
        if best <= target:
            break
        q = A(p)
        mu = p @ q
        if rho == 0 or mu == 0:  # the method has broken down; the residual tells how far it came
            break
        alpha = rho / mu
        x = x + alpha * p
        r = r - alpha * q
        residuals.append(float(np.linalg.norm(r)))
        if residuals[-1] < best:
            best, best_x, best_at = residuals[-1], x, k
        elif k - best_at >= 30:
            break
        z = M(r)
        rho, rho_prev = r @ z, rho
        p = z + (rho / rho_prev) * p
    return best_x, np.array(residuals)
