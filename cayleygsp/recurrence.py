r"""The three-term recurrence :math:`T_{k+1} = 2\tilde\Delta T_k - T_{k-1}` on blocks of signals.

Functions of a sparse matrix and arrays; they know nothing of graphs or filters.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cayleygsp._typing import Array, FloatArray


def sum_series(L: sparse.csr_array, lmax: float, coeffs: FloatArray, f: Array) -> Array:
    r"""Return :math:`\sum_k a_{ik} T_k(\tilde\Delta) f` for every row i of coefficients, in one pass.

    Parameters
    ----------
    L : csr_array, shape (n, n)
        The Laplacian, in the precision of the signals.
    lmax : float
        The interval of the series is [0, lmax].
    coeffs : ndarray, shape (n_filters, K + 1)
        One series a row.
    f : ndarray, shape (n, m)
        Signals, real.

    Returns
    -------
    ndarray, shape (n_filters, n, m)
        K products with L in all.
    """
    a = coeffs.astype(f.dtype)
    out = a[:, 0, None, None] * f
    if a.shape[1] == 1:
        return out
    scale = f.dtype.type(2 / lmax)
    t_prev, t = f, scale * (L @ f) - f
    _accumulate(out, a[:, 1], t)
    for k in range(2, a.shape[1]):
        t_next = L @ t
        t_next *= 2 * scale
        t_next -= 2 * t
        t_next -= t_prev
        t_prev, t = t, t_next
        _accumulate(out, a[:, k], t)
    return out


def sum_series_adjoint(L: sparse.csr_array, lmax: float, coeffs: FloatArray, f: Array) -> Array:
    r"""Return :math:`\sum_i \sum_k a_{ik} T_k(\tilde\Delta) f_i`, by Clenshaw's rule in one pass.

    Parameters
    ----------
    L, lmax, coeffs
        As in :func:`sum_series`.
    f : ndarray, shape (n_filters, n, m)
        One block of signals a filter.

    Returns
    -------
    ndarray, shape (n, m)
        K products with L in all.
    """
    a = coeffs.astype(f.dtype)
    if a.shape[1] == 1:
        return np.tensordot(a[:, 0], f, axes=1)
    scale = f.dtype.type(2 / lmax)
    b1, b2 = np.tensordot(a[:, -1], f, axes=1), np.zeros_like(f[0])
    for k in range(a.shape[1] - 2, 0, -1):
        b = L @ b1
        b *= 2 * scale
        b -= 2 * b1
        b -= b2
        b += np.tensordot(a[:, k], f, axes=1)
        b1, b2 = b, b1
    return scale * (L @ b1) - b1 - b2 + np.tensordot(a[:, 0], f, axes=1)


def _accumulate(out: Array, a: Array, t: Array) -> None:
    """Add a_i t to every output i, where a_i is not zero."""
    for y, a_i in zip(out, a, strict=True):
        if a_i != 0:
            y += a_i * t
