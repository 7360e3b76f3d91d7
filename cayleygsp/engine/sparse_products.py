"""Compiled products of transposed sparse matrices, by the rows of the matrix itself."""

from __future__ import annotations

from cayleygsp._typing import Array
from cayleygsp.engine.compiling import compiled


def transposed_product(indptr: Array, indices: Array, values: Array, g: Array, out: Array) -> None:
    """Add the transposed of a matrix given by rows, times g, to ``out``.

    Parameters
    ----------
    indptr, indices, values : ndarray
        The matrix, shape (n, m).
    g, out : ndarray, shapes (n, k) and (m, k)
        What it is multiplied with, and where the product goes.
    """
    _add_rows(indptr, indices, values, g, out)


@compiled()
def _add_rows(indptr, indices, values, g, out):  # type: ignore[no-untyped-def]
    width = g.shape[1]
    for i in range(g.shape[0]):
        for p in range(indptr[i], indptr[i + 1]):
            w, j = values[p], indices[p]
            for k in range(width):
                out[j, k] += w * g[i, k]
