"""The dense truth that every approximate path is compared with."""

from __future__ import annotations

import numpy as np

import cayleygsp as cg


def eigenpairs(L):
    """Return eigenvalues and eigenvectors by numpy, not by the package."""
    return np.linalg.eigh(L.matrix.toarray())


def dense_filter(L, response):
    """Return Phi g(Lam) Phi^T."""
    lam, Phi = eigenpairs(L)
    return (Phi * response(lam)) @ Phi.T


def relative_error(y, reference, f):
    """Return the error of each signal, relative to its norm."""
    return np.linalg.norm(y - reference, axis=0) / np.linalg.norm(f, axis=0)


def rounding_of_oracle(L, p):
    """Return how far the oracle itself may be off: its eigenvalues are right to a few units of lmax."""
    slope = 4 * p.zoom * (np.arange(p.order + 1) @ np.abs(p.coeffs))
    return 2e-15 * (np.sqrt(L.n_vertices) * np.abs(p.coeffs).sum() * 4 + L.lmax * slope)


def random_polynomial(order, zoom, rng):
    """Return a Cayley polynomial with coefficients of size one."""
    c = rng.standard_normal(order + 1) + 1j * rng.standard_normal(order + 1)
    c[0] = c[0].real
    return cg.CayleyPolynomial(c, zoom)
