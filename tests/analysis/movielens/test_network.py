"""The compiled diffusion is what the layers compute one after the other, with the same gradients."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

import cayleygsp as cg
from analysis.movielens.data import load_ratings
from analysis.movielens.diffusion import Diffusion, Workspace
from analysis.movielens.network import Network, start_factors
from analysis.movielens.objective import Objective, ends, entries, quadratic_form
from analysis.movielens.settings import NETWORKS, QUICK
from analysis.movielens.terms import ScaledGraph

CPU = torch.device("cpu")


def small_network(model, **changes):
    ratings, config = load_ratings("drawn"), dataclasses.replace(QUICK, gamma=1e-4, **changes)
    torch.manual_seed(3)
    network = Network(ratings, start_factors(ratings, ratings.train, config.rank), model, config, CPU)
    return network, Objective(ratings, ratings.train, config.gamma, CPU)


@pytest.mark.parametrize("model", NETWORKS)
def test_diffusion_is_what_the_layers_compute(model):
    network, objective = small_network(model, tol=1e-6)
    plain = [
        side.diffuse(start, network.diffusions)
        for side, start in zip((network.users, network.movies), network.start, strict=True)
    ]
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


def small_diffusion(n_steps=3, rank=2, features=2, n_terms=3):
    torch.manual_seed(5)
    graph = ScaledGraph(cg.laplacian(cg.gallery.ring(4), "normalized"), 2.0, torch.float64)
    start = torch.randn(4, rank, dtype=torch.float64)
    shapes = [(n_terms, rank, features), (features,), (features, 4 * features), (features, 4 * features)]
    shapes += [(4 * features,), (features, rank), (rank,)]
    weights = [(0.5 * torch.randn(shape, dtype=torch.float64)).requires_grad_() for shape in shapes]
    return (lambda space, *w: Diffusion.apply(start, graph, n_steps, space, *w)), weights


def test_gradients_are_those_of_finite_differences():
    diffuse, weights = small_diffusion()
    assert torch.autograd.gradcheck(lambda *w: diffuse(Workspace(), *w), weights)


def test_only_the_last_forward_pass_is_differentiated():
    diffuse, weights = small_diffusion()
    space = Workspace()
    first = diffuse(space, *weights)
    diffuse(space, *weights)
    with pytest.raises(RuntimeError, match="only the last forward pass"):
        first.sum().backward()


@pytest.mark.parametrize("n_terms", [1, 2, 5])
@pytest.mark.parametrize("rank", [3, 17])
def test_terms_are_chebyshev_polynomials_and_their_sum_is_the_adjoint(n_terms, rank):
    L = cg.laplacian(cg.gallery.grid(4), "normalized")
    graph = ScaledGraph(L, 1.9, torch.float64)
    x, z = torch.randn(16, rank, dtype=torch.float64), torch.randn(16, n_terms, rank, dtype=torch.float64)
    terms = torch.empty_like(z)
    graph.write_terms(x, terms)
    angles = np.arccos(np.clip(2 / 1.9 * L.eigenvalues - 1, -1, 1) + 0j)
    inside = abs(2 / 1.9 * L.eigenvalues - 1) <= 1
    for k in range(n_terms):
        coordinates = L.eigenvectors.T @ terms[:, k].numpy()
        expected = np.cos(k * angles).real[:, None] * (L.eigenvectors.T @ x.numpy())
        np.testing.assert_allclose(coordinates[inside], expected[inside], atol=1e-12)
    assert float((terms * z).sum()) == pytest.approx(float((x * graph.sum_terms(z)).sum()), abs=1e-10)


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
