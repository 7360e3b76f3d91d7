"""The first eigenpairs of a graph."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp.coarsening import coarsen
from cayleygsp.nn.layers import spectral_conv
from cayleygsp.nn.layers.spectral_conv import SpectralConv, first_eigenpairs
from tests.nn.helpers import signals
from tests.strategies import laplacians

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

DOUBLE = {"dtype": torch.float64}


def layer(*args, seed=0, **options):
    conv = SpectralConv(*args, **{**DOUBLE, **options})
    conv.reset_parameters(torch.Generator().manual_seed(seed))
    if conv.bias is not None:
        torch.nn.init.normal_(conv.bias, generator=torch.Generator().manual_seed(seed + 1))
    return conv


@given(L=laplacians(), data=st.data())
def test_first_eigenpairs_are_eigenpairs_with_lone_vertices_last(L, data):
    k = data.draw(st.integers(1, L.n_vertices))
    lam, Phi = first_eigenpairs(L, k)
    scale = max(L.lmax, 1.0)
    assert_allclose(L.matrix @ Phi, Phi * lam, atol=1e-12 * scale)
    assert_allclose(Phi.T @ Phi, np.eye(k), atol=1e-12)
    joined = L.diagonal > 0
    m = min(k, int(joined.sum()))
    expected = np.linalg.eigvalsh(L.matrix.toarray()[np.ix_(joined, joined)])[:m]
    assert_allclose(lam, np.concatenate([expected, np.zeros(k - m)]), atol=1e-12 * scale)
    assert not Phi[~joined, :m].any()


@pytest.mark.parametrize("seconds", [0.0, np.inf])
@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_iterative_eigenpairs_are_those_of_the_dense_decomposition(monkeypatch, seconds, kind):
    monkeypatch.setattr(spectral_conv, "EIGENBASIS_VERTICES", 50)
    monkeypatch.setattr(spectral_conv, "_FACTORISATION_SECONDS", seconds)
    # Two parts and lone vertices: eigenvalue 0 twice.
    W = np.zeros((430, 430))
    W[:200, :200] = cg.gallery.sensor(200, rng=0).W.toarray()
    W[220:420, 220:420] = cg.gallery.sensor(200, rng=1).W.toarray()
    L = cg.laplacian(W, kind)
    lam, Phi = first_eigenpairs(L, 20)
    joined = L.diagonal > 0
    expected, vectors = np.linalg.eigh(L.matrix.toarray()[np.ix_(joined, joined)])
    assert not L.has_eigenbasis
    assert_allclose(lam, expected[:20], atol=1e-12 * L.lmax)
    projector = vectors[:, :20] @ vectors[:, :20].T
    assert expected[20] - expected[19] > 1e-4  # so that the space is well defined
    assert_allclose((Phi @ Phi.T)[np.ix_(joined, joined)], projector, atol=1e-9)


def test_many_vertices_need_no_dense_matrix():
    n = 20_000
    lam, Phi = first_eigenpairs(cg.gallery.path(n), 12)
    assert_allclose(lam, 2 - 2 * np.cos(np.pi * np.arange(12) / n), atol=1e-14)
    assert_allclose(np.abs(Phi[:, 1]), np.sqrt(2 / n) * np.abs(np.cos(np.pi * (np.arange(n) + 0.5) / n)), atol=1e-9)


def test_fake_vertices_of_a_coarsened_graph_take_no_eigenvector():
    graph = cg.gallery.sensor(40, rng=0)
    tree = coarsen(graph, 3, rng=0)
    assert tree.n_fake[0]
    on_tree, on_graph = layer(2, 3, 10, laplacian=tree.graphs[0]), layer(2, 3, 10, laplacian=graph)
    x = signals(40, 2)
    y = on_tree(torch.tensor(tree.permute(x.numpy()))).detach().numpy()
    assert_allclose(tree.unpermute(y), on_graph(x).detach(), atol=1e-10)
