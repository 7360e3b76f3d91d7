"""Entries of Laplacians as functions of edge weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import cayleygsp as cg
from cayleygsp.nn.coefficients import CHEBYSHEV
from cayleygsp.nn.edge_values import asks_for_gradient, edge_values, largest_entry_scale
from cayleygsp.nn.graph_tensors import transposed_pattern
from cayleygsp.nn.series_op import series_conv
from tests.nn.helpers import KIND, edges_of, random_adjacency, signals


def directed_edges(n=9, seed=0):
    """Return a directed graph with a self-loop, an isolated vertex and an edge that is given twice."""
    W = random_adjacency(n, seed) * np.random.default_rng(seed).random((n, n))
    W[2, :] = W[:, 2] = 0
    W[1, 1] = 0.7
    edge_index, edge_weight = edges_of(W)
    return torch.cat([edge_index, edge_index[:, :1]], dim=1), torch.cat([edge_weight, edge_weight[:1]])


@pytest.mark.parametrize("normalization", ["sym", None])
def test_entries_are_those_of_the_core(normalization):
    W = random_adjacency(9, 0)
    W[2, :] = W[:, 2] = 0
    W[1, 1] = 0.7
    edge_index, edge_weight = edges_of(W)
    order = torch.argsort(edge_index[0], stable=True)
    L = cg.laplacian(W, KIND[normalization]).matrix.toarray()
    for tied in (True, False):
        values, diagonal = edge_values(edge_index, edge_weight, 9, normalization, order, tied=tied)
        dense = torch.diag(diagonal).index_put(tuple(edge_index[:, order]), -values, accumulate=True)
        np.testing.assert_allclose(dense, L, atol=1e-14)


@pytest.mark.parametrize("normalization", ["sym", "rw", None])
def test_gradients_of_entries_and_scale(normalization):
    edge_index, edge_weight = directed_edges()
    order = torch.argsort(edge_index[1], stable=True)
    batch = torch.zeros(9, dtype=torch.int64)

    def function(weights, batch):
        values, diagonal = edge_values(edge_index, weights, 9, normalization, order, tied=False, keep_loops=False)
        return values, diagonal, largest_entry_scale(values, diagonal, edge_index[1, order], batch)

    for graphs in (None, batch):
        assert torch.autograd.gradcheck(function, (edge_weight.requires_grad_(), graphs))


@pytest.mark.parametrize("normalization", ["sym", "rw", None])
@pytest.mark.parametrize("channels", [(2, 3), (3, 2)])
def test_values_and_gradients_are_those_of_pytorch_geometric(normalization, channels):
    ChebConv = pytest.importorskip("torch_geometric.nn").ChebConv
    edge_index, edge_weight = directed_edges()
    theirs = ChebConv(*channels, 11, normalization=normalization, bias=False).double()
    weight = torch.stack([linear.weight.T for linear in theirs.lins]).detach()
    x = signals(1, 9, channels[0])
    got, wanted = (edge_weight.clone().requires_grad_() for _ in range(2))
    target = edge_index[1]
    order = torch.argsort(target, stable=True)
    values, diagonal = edge_values(edge_index, got, 9, normalization, order, tied=False, keep_loops=False)
    scale = largest_entry_scale(values, diagonal, target[order], None)
    indptr = torch.zeros(10, dtype=torch.int32)
    indptr[1:] = torch.bincount(target, minlength=9).cumsum(0)
    indices = edge_index[0, order].int()
    graph = [indptr, indices, values, diagonal, scale, *transposed_pattern(indptr, indices)]
    y = series_conv(x, weight, None, graph, CHEBYSHEV, 0.0, None, None, False, False)[0]
    expected = theirs(x[0], edge_index, wanted)
    torch.testing.assert_close(y, expected, rtol=1e-10, atol=1e-10)
    direction = signals(*y.shape, seed=1)
    y.backward(direction)
    expected.backward(direction)
    torch.testing.assert_close(got.grad, wanted.grad, rtol=1e-9, atol=1e-10)


def test_gradients_are_asked_for_only_where_they_are_recorded():
    weights = torch.ones(3, requires_grad=True)
    assert asks_for_gradient(weights)
    assert not asks_for_gradient(None)
    assert not asks_for_gradient(weights.detach())
    with torch.no_grad():
        assert not asks_for_gradient(weights)
