"""What each step of a recurrence multiplies by, and which terms it adds up."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit
def step_weights(scale, k, t):  # type: ignore[no-untyped-def]
    """Return the weights of Lt, t and the older t in step k of the recurrence, in the precision of t."""
    real = t.dtype.type
    if k > 1:
        return real(2 * scale), real(-2.0), real(-1.0)
    return real(scale), real(-1.0), real(0.0)


@njit
def clenshaw_weights(scale, k, t):  # type: ignore[no-untyped-def]
    """Return the same weights for degree k of Clenshaw's rule, which goes down to 0."""
    real = t.dtype.type
    if k > 0:
        return real(2 * scale), real(-2.0), real(-1.0)
    return real(scale), real(-1.0), real(-1.0)


@njit
def due_terms(coeffs, k):  # type: ignore[no-untyped-def]
    """Return what step k adds up: a_{k-2}, a_{k-1}, a_k every third step, what is left at the end, else nothing."""
    n_filters, K = coeffs.shape[0], coeffs.shape[1] - 1
    if k % 3 != 2 and k != K:
        return np.zeros((0, 3), coeffs.dtype)
    triple = np.zeros((n_filters, 3), coeffs.dtype)
    for q in range(2 - k % 3, 3):
        for s in range(n_filters):
            triple[s, q] = coeffs[s, k - 2 + q]
    return triple
