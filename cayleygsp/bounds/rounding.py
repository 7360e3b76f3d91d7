"""What rounding adds to the error of the powers of C(hΔ)."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayleygsp._rounding import unit_roundoff
from cayleygsp.bounds.contraction import jacobi_condition, modulus
from cayleygsp.laplacians import Laplacian
from cayleygsp.responses.cayley import CayleyPolynomial


def summation_floor(p: CayleyPolynomial, dtype: Any) -> float:
    """Bound the rounding of adding the powers up, of which residuals say nothing."""
    return unit_roundoff(dtype) * 4 * (p.order + 4) * float(np.abs(p.coeffs).sum())


def solve_floor(L: Laplacian, p: CayleyPolynomial) -> float:
    """Return an error bound that measured residuals of the solves with hΔ + iI will hardly exceed by rounding."""
    # the solutions' high frequencies are small: |hΔz| is at most |y|, so rounding is that of m |y|, not of m h |Δ| |z|
    longest_row = float(np.diff(L.matrix.indptr).max()) + 10
    return 2 * p.error_weight() * unit_roundoff(np.float64) * min(p.zoom * L.rounding_norm + 10, 20 * longest_row)


def sweep_rounding(L: Laplacian, zoom: float, n_iter: int, dtype: Any) -> float:
    r"""Bound what rounding adds to :math:`\|J^{K+1}\|` in the recurrence of the Jacobi scheme's error.

    No iterate is larger than :math:`1 + q` times the solution, :math:`q = (\max E/\min E)^{1/2}` over the vertices with
    edges; a sweep is wrong by a few units of roundoff times that, weighted by the rows' lengths, and later sweeps do
    not enlarge it by more than q. K + 1 sweeps make one power. At a vertex without edges nothing is iterated.
    """
    q = jacobi_condition(L, zoom)
    smallest = float(modulus(L, zoom)[L.diagonal > 0].min(initial=np.inf))
    return (n_iter + 1) * q * (1 + q) * _one_sweep(L.rounding_norm * zoom / smallest, dtype)


def adjoint_sweep_rounding(L: Laplacian, zoom: float, n_iter: int, dtype: Any) -> float:
    r"""Bound what rounding adds to :math:`\|J^{K+1}\|` in the error of the transposed scheme.

    A power is :math:`(h\Delta - iI) \sum_{k \le K} J^k E^{-1}`. The iterates :math:`E^{-1/2} w` of the sum have
    :math:`\|w\| \le 2 \max |E|^{1/2}` and are multiplied in the end by :math:`(h\Delta - iI) E^{-1/2}`, of norm at most
    :math:`2 \max |E|^{1/2}`. In the weighted norm a sweep passes errors on as they are and makes one of a few units of
    roundoff times the longest row, as :math:`|E|^{-1/2} h|\Delta| |E|^{-1/2}` has norm 2 at most. The product at the
    end counts for two sweeps.
    """
    longest_row = float(np.diff(L.matrix.indptr).max())
    return 4 * float(modulus(L, zoom).max()) * (n_iter + 2) * _one_sweep(longest_row + 3, dtype)


def _one_sweep(product: float, dtype: Any) -> float:
    """Return what one sweep is wrong by: twice the product, which is in units of roundoff, and steps row by row."""
    return unit_roundoff(dtype) * (2 * product + 12)
