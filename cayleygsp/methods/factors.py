"""A sparse factorisation in the order whose entries were counted."""

from __future__ import annotations

import numpy as np
from numpy.linalg import LinAlgError
from scipy import sparse
from scipy.sparse.linalg import splu

from cayleygsp._typing import Array
from cayleygsp.engine.blas import one_blas_thread
from cayleygsp.laplacians import Laplacian
from cayleygsp.methods.fill import check_factorisation, elimination


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
