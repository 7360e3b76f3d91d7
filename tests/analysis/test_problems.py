"""The problems of the benchmarks are what they say."""

from __future__ import annotations

import numpy as np

import cayleygsp as cg
from analysis import _problems


def test_community_graph_has_degree_ten():
    graph = _problems.community_graph(5000, 0)
    assert 9.7 < graph.W.nnz / graph.n_vertices < 10.3
    assert np.bincount(graph.labels).tolist() == 50 * [100]


def test_series_reference_is_the_dense_filter():
    L = cg.laplacian(_problems.community_graph(200, 0))
    p = _problems.cayley_polynomial(8, 30 / L.lmax, 0)
    f = np.random.default_rng(0).standard_normal((200, 2))
    lam, Phi = np.linalg.eigh(L.matrix.toarray())
    expected = Phi @ (p(lam)[:, None] * (Phi.T @ f))
    np.testing.assert_allclose(_problems.series_reference(L, p, f), expected, atol=1e-10)
