"""Random graphs, polynomials and other responses for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import cayleygsp as cg
from cayleygsp import responses
from tests.oracle import random_polynomial


@st.composite
def weighted_graphs(draw, max_vertices=14, self_loops=True):
    """Symmetric weights of very different sizes: sparse, dense, disconnected, stars, with isolated vertices."""
    n = draw(st.integers(1, max_vertices))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    shape = draw(st.sampled_from(["sparse", "dense", "star", "blocks", "unit"]))
    density = {"sparse": 0.2, "dense": 0.9, "star": 0.0, "blocks": 0.7, "unit": 0.4}[shape]
    W = np.triu(rng.random((n, n)) < density, 1).astype(float)
    if shape == "star":
        W[0, 1:] = 1.0
    if shape == "blocks":
        W[: n // 2, n // 2 :] = 0.0
    if shape != "unit":
        W *= 10.0 ** rng.uniform(-2, 2, (n, n))
    W += W.T
    if self_loops and draw(st.booleans()):
        W[np.diag_indices(n)] = rng.random(n) * (rng.random(n) < 0.5)
    return W


@st.composite
def laplacians(draw, max_vertices=14, kinds=("combinatorial", "normalized")):
    return cg.laplacian(draw(weighted_graphs(max_vertices)), draw(st.sampled_from(kinds)))


@st.composite
def cayley_polynomials(draw, max_order=15, min_zoom=1e-3, max_zoom=1e3):
    zoom = 10 ** draw(st.floats(np.log10(min_zoom), np.log10(max_zoom)))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return random_polynomial(draw(st.integers(1, max_order)), zoom, rng)


# Logarithms of parameters within eight orders of magnitude.
_LOGS = st.floats(-4, 4)


@st.composite
def analytic_responses(draw, lmax=1.0):
    """One response whose scale lies anywhere within eight orders of magnitude of the spectrum's."""
    lmax = lmax or 1.0
    s = 10 ** draw(_LOGS) / lmax
    kind = draw(
        st.sampled_from(["heat", "hat", "gauss", "tikhonov", "matern", "low", "high", "band", "poles", "cayley"])
    )
    if kind in ("heat", "hat"):
        return responses.Heat(s) if kind == "heat" else responses.MexicanHat(s)
    if kind == "gauss":
        return responses.Gaussian(draw(st.floats(0, 1.5)) * lmax, 10 ** draw(_LOGS) * lmax)
    if kind in ("tikhonov", "matern"):
        return responses.Tikhonov(s, 1.0 if kind == "tikhonov" else draw(st.sampled_from([0.5, 2.0, 3.7])))
    cutoff = 10 ** draw(st.floats(-7, 1)) * lmax
    if kind in ("low", "high"):
        transition = cutoff * 10 ** draw(st.floats(-1.5, 0.3))
        return (responses.LowPass if kind == "low" else responses.HighPass)(cutoff, transition)
    if kind == "band":
        return responses.BandPass(cutoff, cutoff * (1 + 10 ** draw(st.floats(-1, 1))))
    if kind == "poles":
        p = complex(draw(st.floats(-1, 1.5)), 10 ** draw(st.floats(-2, 0.5))) * lmax
        r = complex(draw(st.floats(-2, 2)), draw(st.floats(-2, 2))) * abs(p.imag)
        return responses.Rational(
            [p, p.conjugate(), -cutoff], [r, r.conjugate(), cutoff], constant=draw(st.floats(-1, 1))
        )
    coeffs = draw(st.lists(st.complex_numbers(max_magnitude=2), min_size=1, max_size=4))
    return cg.CayleyPolynomial([draw(st.floats(-1, 1)), *coeffs], s)


@st.composite
def combined_responses(draw, lmax=1.0):
    """A response, or a sum, product or power of two."""
    g, h = draw(analytic_responses(lmax)), draw(analytic_responses(lmax))
    return draw(st.sampled_from([g, g + h, g - 2 * h, g * h, g**2, -(g**3) / 7]))


tolerances = st.sampled_from([1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10])
