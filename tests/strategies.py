"""Random graphs and polynomials for hypothesis."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import cayleygsp as cg
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


tolerances = st.sampled_from([1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10])
