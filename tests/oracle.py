"""The dense truth that every approximate path is compared with."""

from __future__ import annotations

import numpy as np
from scipy import linalg

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


def refined_filter(L, p, f):
    """Return the Cayley filter's answer by dense solves that are refined in extended precision."""
    n, wide = L.n_vertices, np.clongdouble
    A = np.longdouble(p.zoom) * L.matrix.toarray().astype(np.longdouble) + wide(1j) * np.eye(n)
    factors = linalg.lu_factor(A.astype(complex))
    y = f.astype(wide)
    total = p.coeffs[0].real * f.astype(np.longdouble)
    for c in p.coeffs[1:]:
        z = np.zeros_like(y)
        for _ in range(6):
            z = z + linalg.lu_solve(factors, (y - A @ z).astype(complex))
        y = y - wide(2j) * z
        total = total + 2 * (wide(c) * y).real
    return total


def rounding_of_oracle(L, p):
    """Return how far `refined_filter` may be off where extended precision is no wider than double precision."""
    units = np.finfo(np.longdouble).eps * p.zoom * L.lmax + 1e-18
    return 100 * units * np.abs(p.coeffs).sum() * (p.order + 1)


def random_polynomial(order, zoom, rng):
    """Return a Cayley polynomial with coefficients of size one."""
    c = rng.standard_normal(order + 1) + 1j * rng.standard_normal(order + 1)
    c[0] = c[0].real
    return cg.CayleyPolynomial(c, zoom)
