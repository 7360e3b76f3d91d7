"""Some entries of a matrix."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
from scipy import sparse

from cayleygsp._typing import Array, FloatArray, IntArray


@dataclasses.dataclass(frozen=True, eq=False)
class Observed:
    """The entries of a matrix that are known.

    Attributes
    ----------
    values : ndarray, shape (n, m)
        The entries, zero where they are not known.
    mask : ndarray of bool, shape (n, m)
        Where they are known.

    Examples
    --------
    >>> import numpy as np
    >>> from analysis.movielens.baselines.observed import Observed
    >>> known = Observed.at(np.array([[5.0, 1.0], [4.0, 2.0]]), np.array([0, 3]))
    >>> known.values
    array([[5., 0.],
           [0., 2.]])
    >>> centred, mean = known.centred()
    >>> centred.values, mean
    (array([[ 1.5,  0. ],
           [ 0. , -1.5]]), 3.5)
    """

    values: FloatArray
    mask: Array

    @classmethod
    def at(cls, matrix: FloatArray, places: IntArray) -> Observed:
        """Take the entries of a matrix at places of its flattened form."""
        mask = np.zeros(matrix.shape, bool)
        mask.ravel()[places] = True
        return cls(np.where(mask, matrix, matrix.dtype.type(0)), mask)

    def centred(self) -> tuple[Observed, float]:
        """Return the entries less their mean, and the mean."""
        mean = float(self.values.sum(dtype=np.float64) / self.mask.sum())
        return self.minus(np.full(self.mask.shape, mean, self.values.dtype)), mean

    def minus(self, matrix: FloatArray) -> Observed:
        """Return the entries less those of a matrix."""
        return Observed(np.where(self.mask, self.values - matrix, self.values.dtype.type(0)), self.mask)

    @functools.cached_property
    def rows_columns(self) -> tuple[IntArray, IntArray]:
        """Row and column of every entry, row by row."""
        rows, columns = np.nonzero(self.mask)
        return rows, columns

    @functools.cached_property
    def entries(self) -> FloatArray:
        """The entries themselves, row by row."""
        return self.values[self.mask]

    def as_sparse(self, entries: FloatArray) -> Any:
        """Return a sparse matrix with other entries at the same places."""
        starts = np.append(0, np.cumsum(self.mask.sum(axis=1)))
        return sparse.csr_array((entries, self.rows_columns[1], starts), shape=self.mask.shape)
