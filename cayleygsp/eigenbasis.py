"""The dense eigenbasis of a small graph, with the size of its own errors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cayleygsp._memory import available_memory, format_bytes
from cayleygsp._typing import FloatArray

#: Up to this many vertices the eigenbasis is computed; it serves all filters on the graph.
EIGENBASIS_VERTICES = 2000

# Dense n × n arrays alive at once in `compute_eigenbasis`: the matrix, LAPACK's workspace, Φ, and one product.
_DENSE_ARRAYS = 5


@dataclass(frozen=True)
class Eigenbasis:
    r"""Computed eigenpairs Δ ≈ Φ Λ Φᵀ and how far they are from exact.

    Attributes
    ----------
    eigenvalues : numpy.ndarray, shape (n,)
        Ascending, within the certain ends of the spectrum.
    eigenvectors : numpy.ndarray, shape (n, n)
        One eigenvector per column.
    defects : numpy.ndarray, shape (n,)
        Upper bounds of the norms of the columns of ΔΦ - ΦΛ.
    residual : float
        An upper bound of :math:`\|\Delta - Q \Lambda Q^\top\|_2`, Q being the orthogonal matrix nearest to Φ.
    orthogonality : float
        An upper bound of :math:`\|\Phi^\top\Phi - I\|_2`.
    """

    eigenvalues: FloatArray
    eigenvectors: FloatArray
    defects: FloatArray
    residual: float
    orthogonality: float


def eigenbasis_bytes(n_vertices: int) -> int:
    """Return the peak memory that the dense eigendecomposition takes."""
    return _DENSE_ARRAYS * 8 * n_vertices**2


def eigenbasis_seconds(n_vertices: int) -> float:
    """Return a rough time for the dense eigendecomposition, for choosing between methods."""
    return 8e-4 + 6e-8 * n_vertices**2 + 2.6e-10 * n_vertices**3


def warn_if_long(what: str, seconds: float, n_bytes: float) -> None:
    """Say what is ahead before a computation of more than a minute starts."""
    if seconds > 60:
        warnings.warn(
            f"{what} is expected to take {seconds:.3g} s and {format_bytes(n_bytes)}; method='chebyshev' needs neither",
            ResourceWarning,
            stacklevel=5,
        )


def compute_eigenbasis(L: sparse.csr_array, rounding_norm: float, lowest: float, highest: float) -> Eigenbasis:
    """Decompose a symmetric matrix and measure the residual; raise MemoryError before any work if it would not fit.

    Eigenvalues that rounding puts beyond certain ends of the spectrum are moved to them: a response may have a pole
    there. No true eigenvalue lies beyond, so that none is farther away, and the bounds of the residuals hold as before.
    A product is wrong by at most ``rounding_norm`` times the unit roundoff, relative to the vector's norm.
    """
    n = L.shape[0]
    needed, available = eigenbasis_bytes(n), available_memory()
    if available is not None and needed > available:
        raise MemoryError(
            f"the eigenbasis of {n} vertices needs {format_bytes(needed)} and {format_bytes(available)} are "
            "available; filter with method='chebyshev', which needs no eigenvectors"
        )
    warn_if_long(f"the eigenbasis of {n} vertices", eigenbasis_seconds(n), needed)
    lam, Phi = np.linalg.eigh(L.toarray())
    u = np.finfo(np.float64).eps / 2
    gram = Phi.T @ Phi
    gram[np.diag_indices(n)] -= 1.0
    orthogonality = float(np.linalg.norm(gram)) + n * u * np.sqrt(n)
    del gram
    residuals = L @ Phi
    residuals -= Phi * lam
    scale = float(np.abs(lam).max())
    defects = np.linalg.norm(residuals, axis=0) + u * (rounding_norm + 2 * scale)
    residual = float(np.linalg.norm(defects)) + 2 * orthogonality * scale
    return Eigenbasis(np.clip(lam, lowest, highest), Phi, defects, residual, orthogonality)
