"""The network is what its layers compute one after the other, with the same gradients; entries and forms."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from analysis.movielens.data import load_ratings
from analysis.movielens.network import Network, start_factors
from analysis.movielens.objective import Objective, ends, entries, quadratic_form
from analysis.movielens.settings import NETWORKS, QUICK
from cayleygsp.nn import GraphLaplacian

CPU = torch.device("cpu")
LAPLACIANS = [GraphLaplacian.from_laplacian(L, dtype=torch.float32) for L in load_ratings("drawn").laplacians]


def small_network(model, **changes):
    ratings, config = load_ratings("drawn"), dataclasses.replace(QUICK, gamma=1e-4, **changes)
    torch.manual_seed(3)
    network = Network(ratings, start_factors(ratings, ratings.train, config.rank), model, config, CPU)
    return network, Objective(ratings, ratings.train, config.gamma, CPU)


@pytest.mark.parametrize("model", NETWORKS)
def test_network_is_what_its_layers_compute(model):
    network, objective = small_network(model, tol=1e-6)
    plain = []
    for side, start, L in zip((network.users, network.movies), network.start, LAPLACIANS, strict=True):
        factor, state = start, None
        for _ in range(network.diffusions):
            state, change = side.cell(side.conv(factor, L).relu(), state)
            factor = factor + change
        plain.append(factor)
    found = network()
    for y, expected in zip(found, plain, strict=True):
        torch.testing.assert_close(y, expected, rtol=1e-4, atol=1e-4)
    parameters = dict(network.named_parameters())
    gradients = torch.autograd.grad(objective.loss(*found), list(parameters.values()))
    expected = torch.autograd.grad(objective.loss(*plain), list(parameters.values()))
    # rounding is relative to what is summed: in orthogonal coordinates most of the gradient in log h cancels
    largest = max(float(b.abs().max()) for b in expected)
    for name, a, b in zip(parameters, gradients, expected, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=5e-5 * largest, msg=lambda m, n=name: f"{n}: {m}")


def test_entries_have_the_gradient_of_the_product():
    torch.manual_seed(6)
    W, H = (torch.randn(n, 3, dtype=torch.float64, requires_grad=True) for n in (5, 4))
    rows, columns = torch.tensor([0, 3, 3, 4]), torch.tensor([1, 1, 2, 1])
    torch.testing.assert_close(entries(W, H, rows, columns), (W @ H.T)[rows, columns])
    assert torch.autograd.gradcheck(lambda W, H: entries(W, H, rows, columns), (W, H))


@pytest.mark.parametrize("n", [3, 96, 250])
def test_ends_are_the_least_and_the_largest_entry(n):
    W, H = torch.randn(n, 3), torch.randn(40, 3)
    X = W @ H.T
    rows, columns = ends(W, H)
    places = (rows * 40 + columns).tolist()
    assert places == [int(X.argmin()), int(X.argmax())]


def test_quadratic_form_has_its_gradient():
    matrix = torch.tensor([[2.0, -1.0], [-1.0, 2.0]], dtype=torch.float64).to_sparse()
    H = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)
    torch.testing.assert_close(quadratic_form(matrix, H), H.T @ matrix.to_dense() @ H)
    assert torch.autograd.gradcheck(lambda H: quadratic_form(matrix, H), (H,))
