"""What each step of a recurrence multiplies by, and which terms it adds up."""

from __future__ import annotations

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
def due_terms(coeffs, k, terms):  # type: ignore[no-untyped-def]
    """Return what step k adds up: a_{k-2}, a_{k-1}, a_k every third step, what is left at the end, else nothing.

    It is written to ``terms``, shape (n_filters, 3).
    """
    if k % 3 != 2 and k != coeffs.shape[1] - 1:
        return terms[:0]
    begun = 2 - k % 3
    for s in range(coeffs.shape[0]):
        for q in range(3):
            terms[s, q] = coeffs[s, k - 2 + q] if q >= begun else 0
    return terms
