"""The first eigenvectors of a Laplacian."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh, splu

from cayleygsp._memory import available_memory, fits
from cayleygsp._typing import FloatArray, GraphLike
from cayleygsp.eigenbasis import EIGENBASIS_VERTICES
from cayleygsp.laplacians import Laplacian
from cayleygsp.laplacians import laplacian as as_laplacian
from cayleygsp.methods.fill import factorisation_cost

# Beyond this predicted time a factorisation gives way to a Lanczos run that needs none: where factors fill up, as on
# random graphs, the first frequencies are well apart and found without.
_FACTORISATION_SECONDS = 5.0

# Shift, relative to the largest eigenvalue, that makes a Laplacian positive definite; far below what is looked for.
_SHIFT = 1e-10


def first_eigenpairs(laplacian: GraphLike, k: int) -> tuple[FloatArray, FloatArray]:
    """Return the k smallest eigenvalues and their eigenvectors; vertices without edges come last.

    Parameters
    ----------
    laplacian : graph-like
        A :class:`~cayleygsp.Laplacian`, or a graph, of which the combinatorial one is taken.
    k : int
        Number of eigenpairs, at most n_vertices.

    Returns
    -------
    eigenvalues : numpy.ndarray, shape (k,)
        Those of the vertices with edges ascending, then the zeros of the others.
    eigenvectors : numpy.ndarray, shape (n_vertices, k)
        One column per eigenvector.

    Notes
    -----
    A vertex without edges is an eigenvector of its own, with eigenvalue 0. The fake vertices of a coarsened graph would
    be the first of all, and say nothing; so they are taken only when all others are.

    Small graphs are decomposed densely. On large ones a Lanczos run finds the first eigenpairs to rounding, with the
    inverse of the matrix where its factors are cheap, else without; of an eigenvalue of high multiplicity it may miss
    copies.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.nn.graph.eigenpairs import first_eigenpairs
    >>> first_eigenpairs(cg.gallery.star(5), 3)[0].round(12)
    array([0., 1., 1.])
    """
    L = as_laplacian(laplacian)
    if k > L.n_vertices:
        raise ValueError(f"`n_eigenvectors` must be at most the number of vertices {L.n_vertices}, got {k}")
    joined, alone = np.flatnonzero(L.diagonal), np.flatnonzero(L.diagonal == 0)
    m = min(k, joined.size)
    lam, Phi = np.zeros(k), np.zeros((L.n_vertices, k))
    if m:
        lam[:m], Phi[joined, :m] = _smallest(L, joined, m)
    Phi[alone[: k - m], np.arange(m, k)] = 1.0
    return np.maximum(lam, 0.0), Phi


def _smallest(L: Laplacian, joined: Any, m: int) -> tuple[FloatArray, FloatArray]:
    """Return the m smallest eigenpairs on the vertices that have edges."""
    if joined.size == L.n_vertices and (L.has_eigenbasis or L.n_vertices <= EIGENBASIS_VERTICES):
        return L.eigenvalues[:m], L.eigenvectors[:, :m]
    A = L.matrix[joined][:, joined]
    if A.shape[0] <= EIGENBASIS_VERTICES or m > A.shape[0] // 4:
        lam, Phi = np.linalg.eigh(A.toarray())
        return lam[:m], Phi[:, :m]
    start = np.random.default_rng(0).standard_normal(A.shape[0])
    cost = factorisation_cost(L)
    if cost.seconds < _FACTORISATION_SECONDS and fits(cost.n_bytes, available_memory()):
        shift = _SHIFT * L.lmax
        return eigsh(A, m, sigma=-shift, OPinv=_inverse(A, shift), v0=start)
    flipped = (L.lmax * sparse.eye_array(A.shape[0]) - A).tocsr()
    lam, Phi = eigsh(flipped, m, which="LA", v0=start, ncv=min(A.shape[0], max(2 * m, 40)), maxiter=10_000)
    return L.lmax - lam[::-1], Phi[:, ::-1]


def _inverse(A: sparse.csr_array, shift: float) -> LinearOperator:
    """Return the inverse of A + shift·I as an operator; positive definite, so no pivoting is needed."""
    shifted = (A + shift * sparse.eye_array(A.shape[0])).tocsc()
    factors = splu(shifted, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return LinearOperator(A.shape, matvec=factors.solve, dtype=A.dtype)
