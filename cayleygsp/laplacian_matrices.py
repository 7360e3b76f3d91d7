"""Laplacian matrices of adjacency matrices, and checks of matrices that are said to be Laplacians."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from cayleygsp._typing import Array, FloatArray, LaplacianKind
from cayleygsp.graph import AsymmetryError, as_adjacency
from cayleygsp.spectrum import spectral_radius_bound

# How far the diagonal may be from what the other entries say, relative to the largest: ten decimals are common. In
# single precision a sum of m entries is wrong by some m units of rounding.
_DIAGONAL_TOLERANCE = 1e-10

# How far below zero an eigenvalue may be before a matrix is no normalized Laplacian, relative to the diagonal 1.
_SPECTRUM_TOLERANCE = 1e-6


@dataclass(frozen=True)
class GivenLaplacian:
    """A matrix that was seen to be a Laplacian, but for rounding.

    Attributes
    ----------
    matrix : sparse.csr_array
        The matrix in double precision, exactly symmetric.
    degrees : numpy.ndarray
        What the diagonal is without rounding: row sums of the weights, or one where there are edges.
    lmin : float
        No eigenvalue is below this: 0, or a small negative number that rounding of the entries has made.
    """

    matrix: sparse.csr_array
    degrees: FloatArray
    lmin: float


def combinatorial_matrix(W: sparse.csr_array) -> sparse.csr_array:
    """Return D - W, in which self-loops cancel."""
    W = _without_loops(W)
    return (sparse.diags_array(W.sum(axis=1)) - W).tocsr()


def normalized_matrix(W: sparse.csr_array, d: FloatArray) -> sparse.csr_array:
    """Return I - D^{-1/2} W D^{-1/2}, zero where the degree is zero, symmetric to the last bit."""
    A = _without_loops(W).copy()
    diagonal, A.data = normalized_entries(A, d, d.max(initial=0.0))
    return (sparse.diags_array(diagonal) - A).tocsr()


def normalized_entries(A: sparse.csr_array, d: FloatArray, largest: float) -> tuple[FloatArray, FloatArray]:
    r"""Return the diagonal of the normalized Laplacian and the entries :math:`w_{ij} / \sqrt{d_i d_j}` beside it.

    Parameters
    ----------
    A : sparse.csr_array, shape (n_rows, n)
        The first rows of the weights, without self-loops.
    d : numpy.ndarray, shape (n,)
        Degrees of the columns, the first of which belong to the rows.
    largest : float
        The largest degree of the graph.
    """
    # a power of two that makes the largest degree about one, so that nothing over- or underflows
    unit = 2.0 ** -np.frexp(max(largest, 1.0))[1]
    values = A.data * unit
    sums = sparse.csr_array((values, A.indices, A.indptr), shape=A.shape).sum(axis=1)
    d = d * unit
    connected = d > 0
    # 1 - w_ii / d_i is written as the other edges' share of the degree, which is never negative
    rows = slice(0, A.shape[0])
    diagonal = np.divide(sums, d[rows], out=np.zeros(A.shape[0]), where=connected[rows])
    scale = np.divide(1.0, np.sqrt(d), out=np.zeros_like(d), where=connected)
    return diagonal, values * (np.repeat(scale[rows], np.diff(A.indptr)) * scale[A.indices])


def _without_loops(W: sparse.csr_array) -> sparse.csr_array:
    """Return the off-diagonal part; self-loops are in the degrees already."""
    loops = W.diagonal()
    return (W - sparse.diags_array(loops)).tocsr() if loops.any() else W


def check_laplacian(matrix: Any, kind: LaplacianKind) -> GivenLaplacian:
    """Return a given Laplacian with a certain lower bound of its spectrum.

    Raises
    ------
    ValueError, TypeError
        If it is no Laplacian of that kind: the diagonal does not fit to the other entries, relative to the matrix's
        own scale and precision, or an eigenvalue is negative by more than rounding of the entries.
    """
    given, eps = _as_csr(matrix)
    diagonal = given.diagonal()
    W = _weights_of(given, diagonal, single=bool(eps > np.finfo(np.float64).eps))
    row_lengths = np.diff(W.indptr)
    expected = W.sum(axis=1) if kind == "combinatorial" else (row_lengths > 0).astype(np.float64)
    allowed = np.maximum(_DIAGONAL_TOLERANCE, (row_lengths + 8) * eps) * float(np.abs(diagonal).max())
    _check_diagonal(diagonal, expected, allowed, kind)
    if kind == "combinatorial":
        rounding = float(((row_lengths + 8) * np.abs(diagonal)).max()) * float(np.finfo(np.float64).eps)
        if (np.abs(diagonal - expected) <= rounding).all():  # nothing but the rounding of sums
            return GivenLaplacian(combinatorial_matrix(W), expected, 0.0)
        # by Gershgorin no eigenvalue is below the smallest row sum
        lmin = min(float((diagonal - expected).min()) - rounding, 0.0)
    else:
        lmin = min(1 - spectral_radius_bound(W) + float((diagonal - expected).min(initial=0.0)), 0.0)
        if lmin < -max(_SPECTRUM_TOLERANCE, (int(row_lengths.max()) + 8) * eps):
            raise ValueError(
                "`matrix` is no normalized Laplacian, or it could not be seen to be one: I - matrix must have no "
                f"eigenvalue above 1, and it may have one of {1 - lmin:.10g}; give the adjacency matrix to "
                "cayleygsp.laplacian instead"
            )
    return GivenLaplacian((sparse.diags_array(diagonal) - W).tocsr(), expected, lmin)


def _as_csr(matrix: Any) -> tuple[sparse.csr_array, float]:
    """Return a square real matrix in double precision, and the unit of rounding that it came with."""
    given = matrix if sparse.issparse(matrix) else np.asarray(matrix)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or given.shape[0] == 0:
        raise ValueError(f"`matrix` must be square and not empty, got shape {given.shape}")
    if given.dtype.kind not in "biuf":
        raise TypeError(f"`matrix` must hold real numbers, got dtype {given.dtype}")
    eps = float(np.finfo(given.dtype if given.dtype.kind == "f" else np.float64).eps)
    return sparse.csr_array(given, dtype=np.float64), eps


def _weights_of(given: sparse.csr_array, diagonal: FloatArray, *, single: bool) -> sparse.csr_array:
    """Return the weights that stand beside the diagonal; the precision decides how symmetric they must be."""
    _reject_entries(given, ~np.isfinite(given.data), "finite")
    off = (sparse.diags_array(diagonal) - given).tocsr()
    _reject_entries(-off, off.data < 0, "at most 0 beside its diagonal")
    try:
        return as_adjacency(off.astype(np.float32) if single else off, name="matrix")
    except AsymmetryError:  # which tells the entries with the other sign
        difference = np.abs(off - off.T).tocoo()
        worst = int(np.argmax(difference.data))
        i, j = int(difference.row[worst]), int(difference.col[worst])
        raise AsymmetryError(
            f"`matrix` must be symmetric, got matrix[{i}, {j}] = {given[i, j]} but matrix[{j}, {i}] = {given[j, i]}"
        ) from None


def _reject_entries(matrix: sparse.csr_array, wrong: Array, expected: str) -> None:
    """Raise if a stored entry is wrong."""
    if wrong.any():
        entry, k = matrix.tocoo(), int(np.argmax(wrong))
        raise ValueError(f"`matrix` must be {expected}, got matrix[{entry.row[k]}, {entry.col[k]}] = {entry.data[k]}")


def _check_diagonal(diagonal: FloatArray, expected: FloatArray, allowed: FloatArray, kind: LaplacianKind) -> None:
    excess = np.abs(diagonal - expected) - allowed
    worst = int(np.argmax(excess))
    if excess[worst] > 0:
        raise ValueError(
            f"`matrix` is no {kind} Laplacian: expected {expected[worst]:.15g} on the diagonal of vertex {worst}, got "
            f"{diagonal[worst]:.15g}, which differs by more than the {allowed[worst]:.2g} that rounding explains"
        )
