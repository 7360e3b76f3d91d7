"""Sparse signals and their products."""

import pytest
import torch

from cayleygsp.nn import CayleyConv, ChebConv
from cayleygsp.nn.ops.convolution import sparse_product
from tests.nn.helpers import random_graph, randomized, signals

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")


def test_product_and_its_gradients_are_those_of_dense_matrices():
    x = signals(7, 5) * (signals(7, 5, seed=1) > 0.3)
    for sparse in (x.to_sparse_coo(), x.to_sparse_csr(), x.to_sparse_coo().requires_grad_()):
        weight = signals(5, 4, seed=2).requires_grad_()
        y = sparse_product(sparse, weight)
        torch.testing.assert_close(y, x @ weight)
        (gradient,) = torch.autograd.grad(y.sin().sum(), weight, create_graph=True)
        torch.testing.assert_close(gradient, x.T @ (x @ weight).cos())
        (second,) = torch.autograd.grad(gradient.sum(), weight)
        torch.testing.assert_close(second, -x.T @ ((x @ weight).sin() * x.sum(1, keepdim=True)))


@pytest.mark.parametrize("options", [{}, {"real_coeffs": True}, {"shared_filter": True}, {"zoom_per_channel": True}])
@pytest.mark.parametrize("channels", [(6, 2), (2, 3)])
def test_sparse_signals_give_what_dense_ones_give(options, channels):
    _, prepared = random_graph()
    layer = randomized(CayleyConv(*channels, 2, tol=1e-10, **options))
    x = signals(13, channels[0]) * (signals(13, channels[0], seed=1) > 0.5)
    results = []
    for given in (x, x.to_sparse_csr(), x.to_sparse_coo()):
        y = layer(given, prepared)
        results.append([y, *torch.autograd.grad(y.sin().sum(), list(layer.parameters()))])
    for other in results[1:]:
        for got, wanted in zip(other, results[0], strict=True):
            torch.testing.assert_close(got, wanted, atol=1e-8, rtol=1e-8)


def test_what_is_no_matrix_of_finite_numbers_is_refused():
    _, prepared = random_graph()
    layer = CayleyConv(3, 2, 2)
    with pytest.raises(ValueError, match=r"sparse `x` must be of shape \(n, channels\)"):
        layer(torch.zeros(2, 13, 3).to_sparse_coo(), prepared)
    with pytest.raises(ValueError, match="`x` must be finite, got nan"):
        layer(torch.full((13, 3), torch.nan).to_sparse_csr(), prepared)


@pytest.mark.parametrize("make", [ChebConv, CayleyConv])
def test_second_derivatives_are_refused(make):
    _, prepared = random_graph()
    layer = randomized(make(3, 2, 2))
    parameters = [p for p in layer.parameters() if p is not layer.bias]
    y = layer(signals(13, 3).to_sparse_csr(), prepared)
    gradients = torch.autograd.grad(y.square().sum(), parameters, create_graph=True)
    with pytest.raises(NotImplementedError, match="cannot be differentiated again"):
        torch.autograd.grad(sum(g.square().sum() for g in gradients), parameters)
