r"""Solves with definite matrices of Laplacians, with an error that is proved vertex by vertex.

A symmetric matrix A whose off-diagonal entries are not positive, with a positive vector v for which Av is positive, is
definite and has an inverse without negative entries. If :math:`|r| \le t\,Av` for the residual r of a solution, then
the error :math:`|A^{-1}r|` is at most :math:`t\,v` at every vertex, and in the energy norm
:math:`\|e\|_A^2 = r^\top A^{-1} r \le t\,|r|^\top v`. No eigenvalue is below the least :math:`(Av)_i/v_i` (Collatz and
Wielandt), so that :math:`\|e\|_A^2` is at most :math:`\|r\|^2` over that, too. Rounding is counted in Av and in r.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cayleygsp._rounding import unit_roundoff
from cayleygsp._typing import Array, FloatArray, IntArray
from cayleygsp.methods.base import column_norms
from cayleygsp.methods.cycle import BlockCycle
from cayleygsp.methods.solvers import BLOCK, block_cg, side_by_side

# Residual norm of v, solved for with a right-hand side of ones: small enough for Av to be positive everywhere.
_BARRIER_RESIDUAL = 0.25


@dataclass(frozen=True, eq=False)
class Solution:
    """Solutions of shape (n, m) and how far they are off, for certain: in the energy norm and at the worst vertex.

    Bounds are infinite if nothing could be proved; histories of residual norms that are shorter end with NaN.
    """

    x: FloatArray
    energy_bounds: FloatArray
    largest_bounds: FloatArray
    residuals: FloatArray


class DefiniteSystem:
    """A definite matrix with off-diagonal entries ≤ 0, prepared for solves with a proved error.

    Each entry may be off by ``entry_error``, relative to its size. The matrix is kept times a power of two if all of it
    is small; ``v``, ``Av`` and ``least_eigenvalue`` are of this one.
    """

    def __init__(self, A: sparse.csr_array, entry_error: float = 0.0) -> None:
        # squares of small entries are numbers once the largest is about one; an even power, so that its root is one too
        self._exponent = 2 * min(int(np.frexp(A.diagonal().max(initial=0.0))[1]) // 2, 0)
        A = sparse.csr_array((np.ldexp(A.data, -self._exponent), A.indices, A.indptr), shape=A.shape)
        self.A = A
        # a row of m products and sums is off by at most m + 2 units, relative to the sum of the sizes
        units = np.diff(A.indptr) + 3.0
        self._units = (units * unit_roundoff(np.float64) * 1.01 + entry_error)[:, None]
        self._diagonal = np.abs(A.diagonal())[:, None]
        self._cycle = BlockCycle(A)
        ones = np.ones((A.shape[0], 1))
        v, self.barrier_steps = block_cg(self._product, self._cycle, ones, np.array([_BARRIER_RESIDUAL]))
        self.v = np.maximum(v, np.finfo(np.float64).tiny)
        Av = self._product(self.v)
        self.Av = (Av - self._rounding(self.v)) * (1 - 8 * unit_roundoff(np.float64))
        #: Whether the matrix is proved to be definite.
        self.proved = bool((self.Av > 0).all())

    @property
    def least_eigenvalue(self) -> float:
        """A lower bound of the smallest eigenvalue; 0 if none is proved."""
        return float((self.Av / self.v).min()) * (1 - 8 * unit_roundoff(np.float64)) if self.proved else 0.0

    def _product(self, x: Array) -> Array:
        return self.A @ x

    def _rounding(self, x: Array) -> Array:
        """Bound the rounding of a product at every vertex; only the diagonal of the matrix is positive."""
        size = np.abs(x)
        return self._units * (2 * self._diagonal * size - self.A @ size)

    def solve(self, b: FloatArray, b_error: FloatArray, energy: FloatArray) -> Solution:
        """Solve to the given errors in the energy norm, as far as rounding allows; b is off by ``b_error`` at most."""
        rhs = np.ldexp(b, -self._exponent)
        target = 0.5 * np.ldexp(energy, -self._exponent // 2) * np.sqrt(self.least_eigenvalue)
        parts = [
            block_cg(self._product, self._cycle, np.ascontiguousarray(rhs[:, k : k + BLOCK]), target[k : k + BLOCK])
            for k in range(0, b.shape[1], BLOCK)
        ]
        x = np.concatenate([part[0] for part in parts], axis=1)
        residuals = np.ldexp(side_by_side([part[1] for part in parts]), self._exponent)
        return Solution(x, *self.bound(x, b, b_error), residuals)

    def bound(self, x: FloatArray, b: FloatArray, b_error: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Bound the error of solutions in the energy norm and at the worst vertex."""
        if not self.proved:
            return np.full(x.shape[1], np.inf), np.full(x.shape[1], np.inf)
        b, b_error = np.ldexp(b, -self._exponent), np.ldexp(b_error, -self._exponent)
        residual = np.abs(b - self._product(x))
        residual += self._rounding(x) + b_error + 2 * unit_roundoff(np.float64) * (np.abs(b) + residual)
        t = (residual / self.Av).max(axis=0, initial=0.0)
        slack = 1 + 4 * unit_roundoff(np.float64) * (x.shape[0] + 8)
        # the second is sharper for a residual that is large at few vertices
        energy = np.minimum(
            np.sqrt(t) * np.sqrt((residual * self.v).sum(axis=0)),
            _norms(residual) / np.sqrt(self.least_eigenvalue),
        )
        return np.ldexp(energy * slack, self._exponent // 2), t * float(self.v.max()) * slack

    def energy_norms(self, x: FloatArray) -> FloatArray:
        """Bound the energy norm of each column from above."""
        exponents = _exponents(x)
        x = np.ldexp(x, -exponents)
        forms = (x * self._product(x)).sum(axis=0) + (np.abs(x) * self._rounding(x)).sum(axis=0)
        slack = 4 * unit_roundoff(np.float64) * (x.shape[0] + 8) * column_norms(x) ** 2 * 2 * self._diagonal.max()
        return np.ldexp(np.sqrt(np.maximum(forms, 0.0) + slack), exponents + self._exponent // 2)


def _exponents(x: FloatArray) -> IntArray:
    """Return the powers of two that bring the largest entry of each column to about one."""
    return np.frexp(np.abs(x).max(axis=0, initial=0.0))[1]


def _norms(x: FloatArray) -> FloatArray:
    """Return the 2-norm of each column, also where squares of its entries are too small for numbers."""
    exponents = _exponents(x)
    return np.ldexp(column_norms(np.ldexp(x, -exponents)), exponents)
