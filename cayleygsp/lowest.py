r"""The lowest frequencies of a large graph, with what can be proved of them.

Zeros are counted. The positive ones come from a block of vectors that is improved by conjugate gradients behind a
multigrid cycle (LOBPCG). By Courant and Fischer the k-th eigenvalue is at most the k-th Ritz value of any block; and as
many eigenvalues as there are Ritz values lie within the norm of the block's residual of them. That no lower one was
missed is not proved.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import linalg, sparse

from cayleygsp._format import ShortRepr
from cayleygsp._typing import FloatArray
from cayleygsp._validation import check_integer
from cayleygsp.density import count_zeros, null_vector
from cayleygsp.laplacians import Laplacian

__all__ = ["LowestFrequencies", "lowest_frequencies"]

# Vectors beyond those asked for, which make the last of them converge, and the most rounds.
_GUARD, _ROUNDS = 4, 40

_EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True, eq=False, repr=False)
class LowestFrequencies(ShortRepr):
    """The lowest eigenvalues of a graph.

    Attributes
    ----------
    values : numpy.ndarray, shape (m,)
        Ascending.
    residual : float
        There are m eigenvalues within this of the values.
    certificate : {"exact", "at most"}
        Whether these are the lowest eigenvalues to within ``residual``, or the k-th lowest is proved not to be above
        the k-th value and nothing more.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> frequencies = cg.lowest.lowest_frequencies(cg.laplacian(cg.gallery.grid(60)), 4, rng=0)
    >>> frequencies.values.round(5), frequencies.certificate
    (array([0.     , 0.00274, 0.00274, 0.00548]), 'at most')
    """

    values: FloatArray
    residual: float
    certificate: Literal["exact", "at most"]


def lowest_frequencies(L: Laplacian, n_lowest: int, rng: np.random.Generator | int | None = None) -> LowestFrequencies:
    """Return the lowest eigenvalues, without an eigendecomposition if the graph is large.

    Parameters
    ----------
    L : Laplacian
        The graph.
    n_lowest : int
        From 1 to the number of vertices; some hundred at most if the eigenbasis has not been computed.
    rng : numpy.random.Generator or int, optional
        For the vectors to start from.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.lowest import lowest_frequencies
    >>> lowest = lowest_frequencies(cg.laplacian(cg.gallery.grid(40)), 4, rng=0)
    >>> lowest.values.round(4), lowest.certificate
    (array([0.    , 0.0062, 0.0062, 0.0123]), 'at most')
    """
    m = check_integer(n_lowest, "n_lowest", at_least=1)
    if m > L.n_vertices:
        raise ValueError(f"`n_lowest` must be at most the number of vertices {L.n_vertices}, got {m}")
    n_zero = count_zeros(L)
    if m <= n_zero:
        return LowestFrequencies(np.zeros(m), 0.0, "exact")
    if L.has_eigenbasis or L.n_vertices < 5 * (m + _GUARD):
        lam = np.clip(L.eigenvalues[:m], 0.0, None)
        lam[:n_zero] = 0.0
        return LowestFrequencies(lam, L.eigenbasis.residual, "exact")
    theta, residual = _ritz(L, m - n_zero, _null_space(L, n_zero), np.random.default_rng(rng))
    return LowestFrequencies(np.append(np.zeros(n_zero), theta), residual, "at most")


def _null_space(L: Laplacian, n_zero: int) -> FloatArray:
    """Return an orthonormal basis of the null space, shape (n, n_zero)."""
    n = L.n_vertices
    if n_zero == 0:
        return np.zeros((n, 0))
    Y = np.zeros((n, n_zero))
    Y[np.arange(n), L.components] = null_vector(L)
    return Y / np.linalg.norm(Y, axis=0)


def _ritz(L: Laplacian, k: int, Y: FloatArray, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """Return k Ritz values on the complement of Y, never below the eigenvalues, and the norm of their residual."""
    from pyamg import smoothed_aggregation_solver  # slow to load
    from scipy.sparse.linalg import lobpcg

    width = min(k + _GUARD, L.n_vertices - Y.shape[1])
    X = rng.standard_normal((L.n_vertices, width))
    shift = 1e-3 * float(L.diagonal[L.diagonal > 0].min())
    # A is as good a preconditioner as L, and not singular
    A = sparse.csr_matrix(L.matrix + shift * sparse.eye_array(L.n_vertices))
    A.indices, A.indptr = A.indices.astype(np.int32), A.indptr.astype(np.int32)
    # plain aggregation stays sparse on random graphs, and needs no random vectors: the same seed gives the same numbers
    sweep = ("gauss_seidel", {"sweep": "symmetric"})
    hierarchy = smoothed_aggregation_solver(
        A, symmetry="symmetric", smooth=None, presmoother=sweep, postsmoother=sweep, max_coarse=200
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge is seen by the residual
        _, X = lobpcg(
            L.matrix,
            X,
            M=hierarchy.aspreconditioner(),
            Y=Y if Y.size else None,
            tol=1e-6 * L.lmax,
            maxiter=_ROUNDS,
            largest=False,
        )
    X = np.asarray(X) - Y @ (Y.T @ X)
    X = linalg.qr(X, mode="economic", check_finite=False)[0]
    LX = L.matrix @ X
    H = X.T @ LX
    theta, S = linalg.eigh((H + H.T) / 2, check_finite=False)
    theta, S = theta[:k], S[:, :k]
    residual = float(np.linalg.norm(LX @ S - (X @ S) * theta))
    rounding = 8 * _EPS * (L.rounding_norm + L.n_vertices**0.5 * L.lmax)
    return theta + rounding, residual + rounding
