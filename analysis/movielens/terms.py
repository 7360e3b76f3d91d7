"""Chebyshev terms of the factors of one side, and the sum of terms, in compiled loops."""

from __future__ import annotations

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

import cayleygsp as cg
from cayleygsp._typing import FloatArray
from cayleygsp.engine.compiling import compiled
from cayleygsp.engine.rows import step_row

# Factors are padded to rows of so many numbers, which are summed in vector registers without a remainder.
_WIDTH = 16


class ScaledGraph:
    r"""The scaled Laplacian :math:`S = 2 \Delta / \lambda_{\max} - I` of one side.

    Parameters
    ----------
    laplacian : cayleygsp.Laplacian
        Δ.
    lmax : float
        What is scaled to 1.
    dtype : torch.dtype
        Of the factors.

    Examples
    --------
    >>> import torch
    >>> import cayleygsp as cg
    >>> from analysis.movielens.terms import ScaledGraph
    >>> graph = ScaledGraph(cg.laplacian(cg.gallery.ring(4), "normalized"), 2.0, torch.float32)
    >>> terms = torch.empty(4, 3, 1)
    >>> graph.write_terms(torch.tensor([[1.0], [0.0], [0.0], [0.0]]), terms)
    >>> terms[:, :, 0].T
    tensor([[ 1.0000,  0.0000,  0.0000,  0.0000],
            [ 0.0000, -0.5000,  0.0000, -0.5000],
            [ 0.0000,  0.0000,  1.0000,  0.0000]])
    """

    def __init__(self, laplacian: cg.Laplacian, lmax: float, dtype: torch.dtype) -> None:
        S = sparse.csr_array(2 / lmax * laplacian.matrix - sparse.eye_array(laplacian.n_vertices))
        S.eliminate_zeros()
        values = torch.as_tensor(S.data, dtype=dtype).numpy()
        self._matrix = S.indptr.astype(np.int64), S.indices.astype(np.int32), values
        self._n = laplacian.n_vertices

    def write_terms(self, x: Tensor, terms: Tensor) -> None:
        """Write T_k(S) x for signals x of shape (n, rank) into an array of shape (n, n_terms, rank)."""
        older, newer = self._buffers(x.shape[1])
        _write_terms(*self._matrix, x.numpy(), older, newer, terms.numpy())

    def sum_terms(self, z: Tensor) -> Tensor:
        """Return the sum of T_k(S) z_k for z of shape (n, n_terms, rank), by Clenshaw's recurrence."""
        older, newer = self._buffers(z.shape[2])
        _sum_terms(*self._matrix, z.numpy(), older, newer)
        return torch.as_tensor(newer if z.shape[1] % 2 else older)[:, : z.shape[2]]

    def _buffers(self, rank: int) -> tuple[FloatArray, FloatArray]:
        width = -(-rank // _WIDTH) * _WIDTH
        older, newer = (np.zeros((self._n, width), self._matrix[2].dtype) for _ in range(2))
        return older, newer


@compiled()
def _step(indptr, indices, values, factor, newer, older):  # type: ignore[no-untyped-def]
    """Overwrite ``older`` with factor * S newer - older."""
    zero = newer.dtype.type(0)
    w1, w3 = newer.dtype.type(factor), newer.dtype.type(-1)
    for i in range(len(indptr) - 1):
        step_row(np.int64(i), indptr[i], indptr[i + 1], indices, values, w1, zero, w3, newer, older, older, False)


@compiled()
def _write_terms(indptr, indices, values, x, older, newer, terms):  # type: ignore[no-untyped-def]
    n, n_terms, rank = terms.shape
    for i in range(n):
        for d in range(rank):  # assigning slices takes seconds to compile
            newer[i, d] = x[i, d]
    for k in range(n_terms):
        if k:
            _step(indptr, indices, values, 2 if k > 1 else 1, newer, older)
            older, newer = newer, older
        for i in range(n):
            for d in range(rank):
                terms[i, k, d] = newer[i, d]


@compiled()
def _sum_terms(indptr, indices, values, z, older, newer):  # type: ignore[no-untyped-def]
    """Leave the sum in ``older`` after an odd number of steps, in ``newer`` after an even one."""
    n, n_terms, rank = z.shape
    for k in range(n_terms - 1, -1, -1):
        if k < n_terms - 1:
            _step(indptr, indices, values, 2 if k else 1, newer, older)
            older, newer = newer, older
        for i in range(n):
            for d in range(rank):
                newer[i, d] += z[i, k, d]
