"""Layers of the experiment's own, held to dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import cayleygsp as cg
from analysis.cora.data import core_laplacian
from analysis.cora.layers import (
    Diffusion,
    ShiftedCayleyConv,
    SparseDropout,
    diffused_features,
    series_length,
    transition,
)
from cayleygsp.nn import GraphLaplacian


def test_dropout_of_sparse_features_is_that_of_dense_ones(drawn):
    layer = SparseDropout(0.6)
    torch.manual_seed(0)
    mean = sum(layer(drawn.x).to_dense() for _ in range(600)) / 600
    x = drawn.x.to_dense()
    assert (layer(drawn.x).to_dense()[x == 0] == 0).all()
    # an entry has a standard deviation of √(0.6/0.4), so that of the mean is a twentieth; five of them are allowed
    torch.testing.assert_close(mean[x > 0] / x[x > 0], torch.ones(int((x > 0).sum())), rtol=0, atol=0.25)
    layer.eval()
    assert layer(drawn.x) is drawn.x


def dense_shifted(layer, x, graph):
    """Return a layer's result by the eigendecomposition of 2L/λ_max − I."""
    L = core_laplacian(graph, "combinatorial")
    lam, Phi = np.linalg.eigh(2 * L.matrix.toarray() / L.lmax - np.eye(L.n_vertices))
    C = (layer.zoom.item() * lam - 1j) / (layer.zoom.item() * lam + 1j)
    c = layer.coefficients().detach().double().numpy()
    real = layer.real_coeffs
    y = 0
    for i in range(c.shape[1]):
        g = c[0, i][None, :] * np.ones((lam.size, 1))
        for j in range(1, layer.order + 1):
            cj = c[j, i] if real else c[2 * j - 1, i] + 1j * c[2 * j, i]
            g = g + 2 * np.real(np.multiply.outer(C**j, cj))
        y = y + Phi @ (g * (Phi.T @ x[:, i])[:, None])
    return y


@pytest.mark.parametrize(("order", "real", "zoom"), [(1, False, 1.0), (3, True, 0.4), (2, False, 2.5)])
def test_filters_of_the_shifted_laplacian_are_those_of_its_eigenvalues(drawn, order, real, zoom):
    torch.manual_seed(order)
    layer = ShiftedCayleyConv(60, 3, order, None, False, real_coeffs=real, zoom=zoom, tol=1e-5)
    expected = dense_shifted(layer, drawn.x.to_dense().double().numpy(), drawn.graph)
    np.testing.assert_allclose(layer(drawn.x, drawn.combinatorial).detach().numpy(), expected, atol=1e-4)
    dense = layer(drawn.x.to_dense(), drawn.combinatorial).detach().numpy()
    np.testing.assert_allclose(dense, expected, atol=1e-4)


def test_the_shifted_layer_has_the_gradient_of_its_zoom(drawn):
    torch.manual_seed(0)
    layer = ShiftedCayleyConv(60, 3, 2, None, False, zoom=1.3, tol=1e-9).double()
    x = drawn.x.to_dense().double()
    graph = GraphLaplacian.from_laplacian(core_laplacian(drawn.graph, "combinatorial"))

    def value(log_zoom):
        with torch.no_grad():
            layer.log_zoom.fill_(log_zoom)
        return layer(x, graph).square().sum()

    value(0.2).backward()
    slope = (value(0.2 + 1e-4) - value(0.2 - 1e-4)).item() / 2e-4
    assert layer.log_zoom.grad.item() == pytest.approx(slope, rel=1e-4)


def test_the_package_refuses_the_shifted_laplacian(drawn):
    L = core_laplacian(drawn.graph, "combinatorial")
    shifted = (2 / L.lmax) * L.matrix.toarray() - np.eye(L.n_vertices)
    with pytest.raises(ValueError, match="is no combinatorial Laplacian"):
        cg.Laplacian.from_matrix(shifted)
    with pytest.raises(TypeError, match=r"must be a cayleygsp\.Laplacian"):
        GraphLaplacian.from_laplacian(shifted)


def test_series_of_the_shifted_laplacian_are_long_enough():
    x = np.cos(np.pi * (np.arange(4000) + 0.5) / 4000)
    for zoom in (0.2, 1.0, 4.0):
        for order in (1, 3, 6):
            C = ((zoom * x - 1j) / (zoom * x + 1j)) ** order
            k = np.arange(400)
            series = np.abs(2 / 4000 * np.cos(k[:, None] * np.arccos(x)) @ (2 * C))
            assert series[series_length(zoom, order, 1e-4) :].sum() < 1e-4


def test_diffusion_is_what_its_formula_says(drawn):
    torch.manual_seed(0)
    layer = Diffusion(60, 4, 2)
    P, X = transition(drawn).toarray(), drawn.x.to_dense().double().numpy()
    np.testing.assert_allclose(P.sum(0), 1 - 1 / (drawn.graph.adjacency.sum(axis=0) + 1))
    diffused = np.hstack([X, P @ X, P @ P @ X])
    w, W, b = (p.detach().double().numpy() for p in (layer.weight, layer.dense.weight, layer.dense.bias))
    x = diffused_features(drawn, 2)
    torch.testing.assert_close(layer(x).double(), torch.from_numpy(np.tanh(diffused * w) @ W.T + b), rtol=0, atol=1e-5)
    gradients = []
    for features in (x, x.to_dense()):
        layer.zero_grad()
        layer(features).square().sum().backward()
        gradients.append([p.grad.clone() for p in layer.parameters()])
    for sparse, dense in zip(*gradients, strict=True):
        torch.testing.assert_close(sparse, dense, rtol=1e-4, atol=1e-5)


def test_binary_words_are_diffused_as_ones(drawn):
    X = diffused_features(drawn, 1, binary=True).to_dense()
    words = (drawn.x.to_dense() > 0).float()
    torch.testing.assert_close(X[:, : words.shape[1]], words)
    np.testing.assert_allclose(X[:, words.shape[1] :], transition(drawn).toarray() @ words.numpy(), atol=1e-6)
