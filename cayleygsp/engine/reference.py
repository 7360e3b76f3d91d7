"""The recurrence in plain scipy, to test the compiled loops against."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cayleygsp._typing import Array, FloatArray


def sum_series_by_scipy(L: sparse.csr_array, lmax: float, coeffs: FloatArray, f: Array) -> Array:
    """Do what :func:`~cayleygsp.engine.recurrence.sum_series` does with scipy's products alone."""
    a = coeffs.astype(f.dtype)
    out = a[:, 0, None, None] * f
    if a.shape[1] == 1:
        return out
    scale = f.dtype.type(2 / lmax)
    t_prev, t = f, scale * (L @ f) - f
    out += a[:, 1, None, None] * t
    for k in range(2, a.shape[1]):
        t_prev, t = t, 2 * scale * (L @ t) - 2 * t - t_prev
        out += a[:, k, None, None] * t
    return out


def sum_series_adjoint_by_scipy(L: sparse.csr_array, lmax: float, coeffs: FloatArray, f: Array) -> Array:
    """Do what :func:`~cayleygsp.engine.recurrence.sum_series_adjoint` does with scipy's products alone."""
    a = coeffs.astype(f.dtype)
    if a.shape[1] == 1:
        return np.tensordot(a[:, 0], f, axes=1)
    scale = f.dtype.type(2 / lmax)
    b1, b2 = np.tensordot(a[:, -1], f, axes=1), np.zeros_like(f[0])
    for k in range(a.shape[1] - 2, 0, -1):
        b1, b2 = 2 * scale * (L @ b1) - 2 * b1 - b2 + np.tensordot(a[:, k], f, axes=1), b1
    return scale * (L @ b1) - b1 - b2 + np.tensordot(a[:, 0], f, axes=1)
