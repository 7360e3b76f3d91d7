"""Graphs as edges, and the dense truth for layers."""

from __future__ import annotations

import numpy as np
import torch

import cayleygsp as cg
from cayleygsp.nn import GraphLaplacian, _step, chebyshev_features, coefficients, conv_op, jacobi_features, product_op
from tests.oracle import dense_filter

NORMALIZATIONS = ("sym", None)
KIND = {"sym": "normalized", None: "combinatorial"}


def edges_of(W):
    """Return edge_index and edge_weight of a dense adjacency matrix."""
    row, col = np.nonzero(W)
    return torch.from_numpy(np.stack([row, col])), torch.from_numpy(W[row, col])


def random_adjacency(n, seed, density=0.4):
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    return W + W.T


def random_graph(n=13, seed=0, normalization="sym"):
    """Return a core Laplacian and the same for the layers, with isolated vertex and self-loop."""
    W = random_adjacency(n, seed)
    W[3, :] = W[:, 3] = 0
    W[1, 1] = 0.7
    L = cg.laplacian(W, KIND[normalization])
    return L, GraphLaplacian.from_laplacian(L)


def dense_conv(layer, L, x):
    """Return what the layer should give on x of shape (batch, n, in), by the dense eigendecomposition."""
    y = np.zeros((*x.shape[:2], layer.out_channels))
    for i in range(layer.in_channels):
        for o in range(layer.out_channels):
            G = dense_filter(L, layer.polynomial(i, o))
            y[:, :, o] += x[:, :, i] @ G.T
    if layer.bias is not None:
        y += layer.bias.detach().numpy()
    return y


def signals(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def randomized(layer, seed=0):
    """Give the layer random weights, bias and zoom, in double precision."""
    generator = torch.Generator().manual_seed(seed)
    layer = layer.double()
    layer.reset_parameters(generator)
    with torch.no_grad():
        if layer.bias is not None:
            layer.bias.normal_(generator=generator)
        if hasattr(layer, "log_zoom"):
            layer.log_zoom.uniform_(-1, 1, generator=generator)
        if hasattr(layer, "coeffs"):
            layer.coeffs.normal_(generator=generator)
    return layer


def compiled(module, **options):
    """Compile without breaks, forgetting what other tests compiled: torch counts versions of the same code."""
    torch.compiler.reset()
    return torch.compile(module, fullgraph=True, **options)


def use_torch_operations(monkeypatch):
    """Compute on the CPU as on other devices; return the names of what was called."""
    called = []

    def terms(graph, x, coeffs, n_terms):
        called.append("terms")
        n_blocks = n_terms if coeffs is None else coeffs.shape[0]
        y = x.new_empty((x.shape[0], x.shape[1], n_blocks, x.shape[2]))
        return _step._terms_by_torch(graph, x, coeffs, n_terms, y)

    def combine(graph, z, coeffs, n_terms):
        called.append("combine")
        return _step._combine_by_torch(graph, z, coeffs, n_terms)

    def product(graph, x):
        called.append("product")
        return graph.diagonal[:, None] * x - _step._adjacency(graph) @ x

    def series(log_zoom, like, graph, basis, order, tol, bound, hint):
        if log_zoom is None:
            return None, order + 1
        n_terms = coefficients.series_matrix(basis, order, 1.5 * float(log_zoom.exp()), bound, tol).shape[1]
        real = basis == coefficients.CAYLEY_REAL
        return coefficients.differentiable_series(log_zoom, order + 1, bound, n_terms, 2 * n_terms, real=real), n_terms

    def blocks(*arguments):
        called.append("blocks")
        return jacobi_features.blocks_by_torch(*arguments)

    for file in (conv_op, chebyshev_features):
        monkeypatch.setattr(file, "terms", terms)
    monkeypatch.setattr(conv_op, "combine", combine)
    monkeypatch.setattr(conv_op, "series_coefficients", series)
    monkeypatch.setattr(product_op, "product", product)
    monkeypatch.setattr(jacobi_features, "_blocks_by_loops", blocks)
    return called
