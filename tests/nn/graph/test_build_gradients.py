"""Entries of Laplacians as functions of edge weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import cayleygsp as cg
from cayleygsp.nn import ChebConv, GraphLaplacian
from cayleygsp.nn.graph.build import asks_for_gradient, entries_of_edges
from cayleygsp.nn.graph.laplacian import ScaledLaplacian
from tests.nn.helpers import KIND, edges_of, random_adjacency, signals


def directed_edges(n=9, seed=0):
    """Return a directed graph with a self-loop, an isolated vertex and an edge that is given twice."""
    W = random_adjacency(n, seed) * np.random.default_rng(seed).random((n, n))
    W[2, :] = W[:, 2] = 0
    W[1, 1] = 0.7
    edge_index, edge_weight = edges_of(W)
    return torch.cat([edge_index, edge_index[:, :1]], dim=1), torch.cat([edge_weight, edge_weight[:1]])


def undirected_edges(n=9, seed=0):
    """Return the edges of an undirected graph in no order."""
    edge_index, edge_weight = edges_of(random_adjacency(n, seed))
    order = torch.randperm(edge_weight.shape[0], generator=torch.Generator().manual_seed(0))
    return edge_index[:, order], edge_weight[order]


@pytest.mark.parametrize("normalization", ["sym", None])
def test_entries_are_those_of_the_core(normalization):
    W = random_adjacency(9, 0)
    W[2, :] = W[:, 2] = 0
    W[1, 1] = 0.7
    edge_index, edge_weight = edges_of(W)
    order = torch.argsort(edge_index[0], stable=True)
    L = cg.laplacian(W, KIND[normalization]).matrix.toarray()
    values, diagonal = entries_of_edges(edge_index, edge_weight, 9, normalization, order, undirected=True)
    dense = torch.diag(diagonal).index_put(tuple(edge_index[:, order]), -values, accumulate=True)
    np.testing.assert_allclose(dense, L, atol=1e-14)


@pytest.mark.parametrize("normalization", ["sym", "rw", None])
def test_gradients_of_entries_and_scale(normalization):
    edge_index, edge_weight = directed_edges()
    for graphs in (None, torch.zeros(9, dtype=torch.int64)):

        def function(weights, graphs=graphs):
            made = ScaledLaplacian.from_edge_index(
                edge_index, weights, 9, normalization=normalization, batch=graphs, dtype=torch.float64
            )
            return made.graph[2:5]

        assert torch.autograd.gradcheck(function, (edge_weight.requires_grad_(),))


@pytest.mark.parametrize("normalization", ["sym", "rw", None])
@pytest.mark.parametrize("channels", [(2, 3), (3, 2)])
@pytest.mark.parametrize("make", [directed_edges, undirected_edges])
@pytest.mark.parametrize("lambda_max", [None, 4.0])
def test_gradients_are_those_of_pytorch_geometric(normalization, channels, make, lambda_max):
    PygChebConv = pytest.importorskip("torch_geometric.nn").ChebConv
    edge_index, edge_weight = make()
    theirs = PygChebConv(*channels, 11, normalization=normalization).double()
    ours = ChebConv(*channels, 11, normalization=normalization).double()
    ours.load_state_dict(theirs.state_dict())
    x = signals(9, channels[0])
    direction = signals(9, channels[1], seed=1)
    answers = []
    for layer in (ours, theirs):
        weights, copy = edge_weight.clone().requires_grad_(), x.clone().requires_grad_()
        y = layer(copy, edge_index, weights, None, lambda_max)
        y.backward(direction)
        answers.append([y.detach(), copy.grad, weights.grad])
    for got, wanted in zip(*answers, strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-9, atol=1e-10)


def test_a_given_bound_that_may_be_too_small_keeps_terms():
    edge_index, edge_weight = undirected_edges()
    options = {"normalization": None, "dtype": torch.float64}
    bound = 2 * float(torch.zeros(9, dtype=torch.float64).index_add(0, edge_index[0], edge_weight).max())
    learned = edge_weight.requires_grad_()
    for lambda_max, reversible in ((None, True), (bound, True), (0.99 * bound, False)):
        made = ScaledLaplacian.from_edge_index(edge_index, learned, 9, lambda_max=lambda_max, **options)
        assert made.reversible == reversible
    prepared = GraphLaplacian.from_edge_index(edge_index, learned, 9, normalization=None, lambda_max=bound)
    assert not prepared.reversible


def test_gradients_are_asked_for_only_where_they_are_recorded():
    weights = torch.ones(3, requires_grad=True)
    assert asks_for_gradient(weights)
    assert not asks_for_gradient(None)
    assert not asks_for_gradient(weights.detach())
    with torch.no_grad():
        assert not asks_for_gradient(weights)
