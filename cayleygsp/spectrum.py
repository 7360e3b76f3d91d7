"""Bounds of the spectra of Laplacian matrices: Collatz and Wielandt, Lanczos, Perron vectors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import cg

from cayleygsp._rounding import rounded_up
from cayleygsp._typing import FloatArray

#: Steps of the power iteration behind the guaranteed bound of the combinatorial spectrum.
POWER_STEPS = 8

# Up to this many vertices the largest eigenvalue of a non-negative matrix is taken from a dense decomposition.
_DENSE_VERTICES = 2000

# Solves of the inverse iteration that improves a positive vector, each of at most so many steps.
_PERRON_SOLVES = 6
_PERRON_STEPS = 2000


@dataclass(frozen=True)
class LanczosBound:
    """What a Lanczos run says of the largest eigenvalue.

    Attributes
    ----------
    lower : float
        The largest Ritz value: never above λ_max.
    residual : float
        Norm of the residual of that Ritz pair: an eigenvalue lies within it.
    upper : float
        ``lower + residual``, or the guaranteed bound where that is smaller. An estimate, if a good one: a top
        eigenvector of which the random start vector holds almost nothing is not seen.
    n_steps : int
        Steps taken, each one product with the Laplacian.
    """

    lower: float
    residual: float
    upper: float
    n_steps: int


def largest_quotient(diagonal: float, others: FloatArray, values: FloatArray) -> float:
    """Return the largest Rayleigh quotient of a vertex or of one of its edges, less what rounding may have added.

    Given are the vertex's entry of the diagonal, those of its neighbours, and the entries beside the diagonal.
    """
    quotients = (diagonal + others) / 2 - values
    return float(max(diagonal, quotients.max(initial=0.0))) * (1 - 4 * float(np.finfo(np.float64).eps))


def collatz_wielandt(L: sparse.csr_array, diagonal: FloatArray) -> float:
    """Bound the largest eigenvalue of a matrix with non-positive off-diagonal entries from above, for certain.

    Returns max_i (Qx)_i / x_i for Q = abs(L) and a positive x improved by power steps, rounding included.
    """
    inner = diagonal > 0
    if not inner.any():
        return 0.0
    x = np.where(inner, diagonal, 1.0)
    x /= x.max()
    best = np.inf
    for _ in range(POWER_STEPS):
        Qx = 2 * diagonal * x - L @ x
        ratio = float((Qx[inner] / x[inner]).max())
        best = min(best, ratio)
        x = np.where(inner, Qx / Qx.max(), 1.0)
        if not (x > 1e-200).all():
            break
    return rounded_up(best, int(np.diff(L.indptr).max()))


def spectral_radius_bound(A: sparse.csr_array) -> float:
    r"""Bound the largest eigenvalue of a non-negative symmetric matrix from above, for certain.

    That of a small matrix is computed, and the error of computing it added. For a large one
    :math:`\max_i (Ax)_i / x_i` of a positive x is a bound (Collatz and Wielandt). With x = 1 it is the largest row
    sum; :math:`x \leftarrow ((1 + \mu)I - A)^{-1} x`, which is positive again where 1 + μ is above the spectrum,
    brings it near to the eigenvalue in a few solves. This suits matrices with a largest eigenvalue near 1.
    """
    n = A.shape[0]
    if A.nnz == 0:
        return 0.0
    if n <= _DENSE_VERTICES:
        lam = np.linalg.eigvalsh(A.toarray())  # backward stable: the matrix's norm is its largest eigenvalue
        return float(lam[-1]) * (1 + 4 * n * float(np.finfo(np.float64).eps))
    longest_row = int(np.diff(A.indptr).max())
    inner = np.diff(A.indptr) > 0
    x = np.where(inner, 1.0, 0.0)
    best = np.inf
    for shift in [0.0] + [10.0**-k for k in range(3, 3 + _PERRON_SOLVES)]:
        if shift:
            shifted = sparse.eye_array(n, format="csr") * (1 + shift) - A
            x, _ = cg(shifted, x, x0=x / shift, rtol=1e-3 * shift, maxiter=_PERRON_STEPS)
        if not (x[inner] > 1e-200 * x.max()).all():
            break  # not positive: no bound follows
        x /= x.max()
        best = min(best, float(((A @ x)[inner] / x[inner]).max()))
    return rounded_up(best, longest_row)


def lanczos_steps(L: sparse.csr_array, rng: np.random.Generator) -> Iterator[tuple[float, float]]:
    """Yield what a Lanczos run on a symmetric matrix puts on and beside the diagonal of the tridiagonal matrix."""
    n = L.shape[0]
    v = rng.standard_normal(n)
    v /= np.linalg.norm(v)
    v_prev = np.zeros(n)
    beta = 0.0
    while True:
        w = L @ v
        alpha = float(v @ w)
        w -= alpha * v + beta * v_prev
        beta = float(np.linalg.norm(w))
        yield alpha, beta
        v_prev, v = v, w / beta


def bound_by_ritz(
    steps: Iterator[tuple[float, float]], n_steps: int, *, floor: float, at_least: float, at_most: float
) -> LanczosBound:
    """Bound the largest eigenvalue by a Lanczos run: without reorthogonalisation extreme Ritz values stay right.

    No more of the steps, see :func:`lanczos_steps`, are taken than are needed, ``n_steps`` at most: the run ends when
    the residual is 1e-4 of the Ritz value. ``floor`` bounds what rounding does to a product with a vector of norm one,
    ``at_least`` and ``at_most`` the eigenvalue.
    """
    alphas: list[float] = []
    betas: list[float] = []
    theta = theta_before = residual = 0.0
    for step, (alpha, beta) in enumerate(steps):
        alphas.append(alpha)
        if step % 10 == 9 or step + 1 == n_steps or beta <= 1e-14 * at_most:
            thetas, S = linalg.eigh_tridiagonal(alphas, betas)
            theta, residual = float(thetas[-1]), beta * abs(float(S[-1, -1]))
            settled = step > 20 and theta - theta_before <= 1e-4 * theta
            if (settled and residual <= 1e-4 * theta) or beta <= 1e-14 * at_most or step + 1 == n_steps:
                break
            theta_before = theta
        betas.append(beta)
    residual += 2 * floor
    lower = max(theta - floor, at_least)
    return LanczosBound(lower, residual, min(lower + residual, at_most), len(alphas))
