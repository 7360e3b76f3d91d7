"""Solvers of linear systems: conjugate gradients on blocks, and sparse factorisations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.linalg import LinAlgError
from scipy import sparse
from scipy.sparse.linalg import splu

from cayleygsp._typing import Array, FloatArray
from cayleygsp.engine.blas import one_blas_thread
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.base import Applied
from cayleygsp.methods.fill import check_factorisation, elimination

MAX_ITERATIONS = 500

# Columns that are solved for at once: enough to share the passes over the hierarchy, few enough for the caches.
_BLOCK = 16

#: What an iteration takes in units of a cycle and a product, the sums of vectors included.
ITERATION_COST = 1.5

# Iterations without improvement after which rounding has the word.
_PATIENCE = 30


def block_cg(
    A: Callable[[Array], Array],
    M: Callable[[Array], Array],
    b: Array,
    atol: FloatArray,
    max_iterations: int = MAX_ITERATIONS,
) -> tuple[Array, FloatArray]:
    r"""Solve A x = b for a symmetric A, real or complex, for every column of b.

    For a real positive definite A these are conjugate gradients, for a complex symmetric one COCG (van der Vorst and
    Melissen, 1990): the same recurrence with the bilinear form :math:`x^\top y` in place of the inner product.

    Parameters
    ----------
    A, M : callable
        The operator and a real symmetric preconditioner, on blocks.
    b : ndarray, shape (n, m)
        Right-hand sides.
    atol : ndarray, shape (m,)
        Residual norms to reach.
    max_iterations : int
        The most iterations.

    Returns
    -------
    x : ndarray, shape (n, m)
        The iterates with the smallest residuals.
    residuals : ndarray, shape (n_iterations + 1, m)
        Residual norms, the start's first.
    """
    x, r = np.zeros_like(b), b.copy()
    norms = np.linalg.norm(r, axis=0)
    history, best, best_x = [norms], norms.copy(), x.copy()
    target = np.maximum(atol, 1e-17 * norms)  # below that, the recurred residual says nothing of the true one
    z = M(r)
    p = z.copy()
    rho = _dots(r, z)
    stalled = 0
    while (best > target).any() and len(history) <= max_iterations and stalled < _PATIENCE:
        q = A(p)
        alpha = _ratio(rho, _dots(p, q))
        x += alpha * p
        r -= alpha * q
        norms = np.linalg.norm(r, axis=0)
        history.append(norms)
        better = norms < best
        best_x[:, better], best[better] = x[:, better], norms[better]
        stalled = 0 if better.any() else stalled + 1
        z = M(r)
        rho, rho_old = _dots(r, z), rho
        p = z + _ratio(rho, rho_old) * p
    return best_x, np.array(history)


def expected_iterations(largest: float, tol: float) -> float:
    """Return about how many iterations a solve behind a multigrid cycle takes.

    Parameters
    ----------
    largest : float
        Largest eigenvalue of the matrix over its shift.
    tol : float
        Error allowed to the filter.
    """
    digits = -np.log10(min(max(tol, 1e-14), 0.1))
    return float(2 + digits * (0.7 + 1.4 * min(np.log10(1 + largest), 2.0)))


def blocks_of(n_signals: int) -> tuple[int, int]:
    """Return in how many blocks signals are solved for, and how many columns the first has."""
    return max(-(-n_signals // _BLOCK), 1), min(n_signals, _BLOCK)


def by_blocks(f: Array, apply: Callable[[Array], Applied]) -> Applied:
    """Apply a method to some columns at a time and put the answers side by side.

    Parameters
    ----------
    f : ndarray, shape (n, m)
        Signals.
    apply : callable
        Takes some of the columns; its error bounds are one per signal.
    """
    parts = [apply(f[:, k : k + _BLOCK]) for k in range(0, max(f.shape[1], 1), _BLOCK)]
    histories = [side_by_side(columns) for columns in zip(*(part.residuals for part in parts), strict=True)]
    return Applied(
        np.concatenate([part.signals for part in parts], axis=1),
        np.concatenate([np.asarray(part.error_bound) for part in parts]),
        max(part.n_matvecs for part in parts),
        tuple(histories),
    )


def side_by_side(histories: Sequence[FloatArray]) -> FloatArray:
    """Put histories of different lengths side by side; the shorter ones end with NaN."""
    longest = max(len(history) for history in histories)
    padded = [np.pad(h, ((0, longest - len(h)), (0, 0)), constant_values=np.nan) for h in histories]
    return np.concatenate(padded, axis=1)


def _dots(a: Array, b: Array) -> Array:
    return np.einsum("ij,ij->j", a, b)


def _ratio(a: Array, b: Array) -> Array:
    """Divide, and give 0 where a column has broken down or is solved."""
    return np.divide(a, b, out=np.zeros_like(a), where=(b != 0) & np.isfinite(b))


class Factors:
    r"""Solves with :math:`h\Delta + zI`, by factors that are made once.

    No pivots are looked for: none are needed if the matrix is definite or has a definite imaginary part.

    Parameters
    ----------
    L : Laplacian
        The graph.
    h : float
        Its multiple.
    z : float or complex
        The multiple of the identity.

    Raises
    ------
    MemoryError
        If the factors would not fit, before any work.
    numpy.linalg.LinAlgError
        If z is lost in rounding, and the matrix singular.
    """

    def __init__(self, L: Laplacian, h: float, z: complex) -> None:
        check_factorisation(L)
        known = elimination(L)
        assert known is not None  # or the check would have said so
        self._order = known.order
        A = L.matrix[self._order][:, self._order]
        matrix = (h * A + z * sparse.eye_array(L.n_vertices)).tocsc()
        try:
            with one_blas_thread():
                self._factors = splu(
                    matrix, permc_spec="NATURAL", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
                )
        except RuntimeError as error:  # what SuperLU says of a pivot that is zero
            raise LinAlgError(str(error)) from None

    @property
    def n_entries(self) -> int:
        """Entries of both factors together, as they are stored."""
        return int(self._factors.nnz)

    def solve(self, y: Array) -> Array:
        """Return the solutions for all columns of a block."""
        x = np.empty_like(y)
        with one_blas_thread():
            x[self._order] = self._factors.solve(y[self._order])
        return x
