"""Convolutions in the eigenbasis: all ways to mix the frequencies give the sum over the filters."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from torch.autograd import gradcheck, gradgradcheck

import cayleygsp as cg
from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian
from cayleygsp.nn.ops.exact import mix_frequencies
from tests.nn.helpers import edges_of, random_adjacency, random_graph, randomized, signals


@pytest.mark.parametrize("batch", [1, 2, 7])
@pytest.mark.parametrize("channels", [(1, 1), (2, 5), (5, 2), (40, 3)])
def test_frequencies_are_mixed_by_their_own_matrices(batch, channels):
    n, size = 6, 3
    x, weight = signals(batch, n, channels[0]), signals(size, *channels, seed=1)
    basis, Phi = signals(n, size, seed=2), torch.linalg.qr(signals(n, n, seed=3))[0]
    expected = torch.einsum("vk,kb,uk,nui,bio->nvo", Phi, basis, Phi, x, weight)
    assert_allclose(mix_frequencies(x, weight, basis, Phi), expected, rtol=1e-10, atol=1e-10)


def test_many_signals_stand_with_the_vertices_outside_and_are_taken_so():
    _, graph = random_graph()
    first, second = (randomized(CayleyConv(c, c + 1, 2, method="exact")) for c in (2, 3))
    x = signals(5, 13, 2)
    y = first(x, graph)
    assert y.transpose(0, 1).is_contiguous()
    assert_allclose(second(y, graph).detach(), second(y.contiguous(), graph).detach(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("normalization", ["sym", None])
@pytest.mark.parametrize("K", [1, 2, 9])
@pytest.mark.parametrize("batch", [1, 4])
def test_chebyshev_filters_in_the_eigenbasis_are_those_of_the_recurrence(normalization, K, batch):
    _, graph = random_graph(normalization=normalization)
    recurrence = randomized(ChebConv(2, 3, K, normalization))
    exact = ChebConv(2, 3, K, normalization, method="exact").double()
    exact.load_state_dict(recurrence.state_dict())
    results = []
    for layer in (recurrence, exact):
        x = signals(batch, 13, 2).requires_grad_()
        y = layer(x, graph)
        y.square().sum().backward()
        results.append([y.detach(), x.grad, *(p.grad for p in layer.parameters())])
    for found, expected in zip(results[1], results[0], strict=True):
        assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_chebyshev_filters_in_the_eigenbasis_have_derivatives_of_any_order():
    _, graph = random_graph()
    layer = randomized(ChebConv(2, 2, 3, method="exact"))
    assert gradcheck(lambda x: layer(x, graph), signals(2, 13, 2).requires_grad_())
    assert gradgradcheck(lambda x: layer(x, graph).square(), signals(1, 13, 2).requires_grad_())


def test_given_lambda_max_scales_in_the_eigenbasis_too():
    edges = edges_of(random_adjacency(9, 0))
    prepared = GraphLaplacian.from_edge_index(*edges, 9, lambda_max=2.5)
    recurrence = randomized(ChebConv(1, 2, 5))
    exact = ChebConv(1, 2, 5, method="exact").double()
    exact.load_state_dict(recurrence.state_dict())
    x = signals(3, 9, 1)
    assert_allclose(exact(x, prepared).detach(), recurrence(x, prepared).detach(), rtol=1e-10, atol=1e-10)


def test_layer_in_the_eigenbasis_needs_a_prepared_graph_with_one_scale():
    layer = ChebConv(1, 1, 3, normalization=None, method="exact").double()
    assert repr(layer) == "ChebConv(1, 1, K=3, normalization=None, method=exact)"
    x = signals(2, 5, 1)
    edges = edges_of(random_adjacency(5, 1, density=1.0))
    with pytest.raises(ValueError, match=r"'exact' must get a prepared GraphLaplacian or a cayleygsp\.Laplacian"):
        layer(x, *edges)
    with pytest.raises(ValueError, match="`method` must be one of"):
        ChebConv(1, 1, 3, method="dense")
    W = np.zeros((5, 5))
    W[0, 1] = W[1, 0] = 1
    W[2, 3] = W[3, 2] = W[3, 4] = W[4, 3] = 2
    two = GraphLaplacian.from_edge_index(*edges_of(W), 5, normalization=None, batch=torch.tensor([0, 0, 1, 1, 1]))
    with pytest.raises(ValueError, match="must have one λ_max for all vertices"):
        layer(x, two)
    learned = GraphLaplacian.from_edge_index(edges[0], edges[1].clone().requires_grad_(), 5, normalization=None)
    with pytest.raises(NotImplementedError, match="'exact' has no gradient in edge weights"):
        layer(x, learned)


def test_graph_without_edges_is_finite_in_the_eigenbasis():
    L = cg.laplacian(np.zeros((4, 4)))
    layer = randomized(ChebConv(1, 2, 4, normalization=None))
    exact = ChebConv(1, 2, 4, normalization=None, method="exact").double()
    exact.load_state_dict(layer.state_dict())
    x = signals(2, 4, 1)
    assert_allclose(exact(x, L).detach(), layer(x, L).detach(), rtol=1e-12)
