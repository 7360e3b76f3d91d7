"""Problems on which the benchmarks measure, and the reference for their errors."""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

import cayleygsp as cg
from cayleygsp import gallery
from cayleygsp._typing import Array, FloatArray
from cayleygsp.methods.base import filter_gain
from cayleygsp.responses.base import Response

COMMUNITY_SIZE = 100

INNER_DEGREE = 9.0

OUTER_DEGREE = 1.0


def community_graph(n_vertices: int, seed: int) -> cg.Graph:
    """Return communities of about 100 vertices with average degree 10, of which 9 stay inside."""
    n_communities = max(n_vertices // COMMUNITY_SIZE, 1)
    size = n_vertices / n_communities
    p_out = OUTER_DEGREE / max(n_vertices - size, OUTER_DEGREE)
    return gallery.communities(
        n_communities, n_vertices=n_vertices, p_in=INNER_DEGREE / (size - 1), p_out=p_out, rng=seed
    )


def cayley_polynomial(order: int, zoom: float, seed: int) -> cg.CayleyPolynomial:
    """Return a Cayley polynomial with random coefficients of equal size."""
    rng = np.random.default_rng((seed, order))
    c = (rng.standard_normal(order + 1) + 1j * rng.standard_normal(order + 1)) / math.sqrt(order + 1)
    c[0] = c[0].real
    return cg.CayleyPolynomial(c, zoom)


def series_reference(L: cg.Laplacian, p: Response, f: FloatArray) -> FloatArray:
    """Return g(Δ) f to nearly all digits, by scipy's products alone; f has shape (n,) or (n, m)."""
    series = p.series(L.lmax, 1e-13 * filter_gain(L, p))
    block = f.reshape(f.shape[0], -1)
    return sum_series_by_scipy(L.matrix, series.lmax, series.coeffs[None], block)[0].reshape(f.shape)


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


def relative_error(y: Array, reference: Array, gain: float, f: Array) -> float:
    """Return ‖y − reference‖ / (gain ‖f‖), all signals together."""
    difference = y.astype(np.float64).reshape(reference.shape) - reference
    return float(np.linalg.norm(difference) / (gain * np.linalg.norm(f)))
