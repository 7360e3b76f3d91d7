"""Matrix completion without networks: every solver on small matrices with a known answer."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import cayleygsp as cg
from analysis._runner import Run
from analysis._training import Checkpoint
from analysis.movielens.baselines import (
    biases,
    complete,
    descend,
    grals,
    graph_nuclear,
    implicit_factors,
    inductive,
    item_neighbours,
    rmse,
    search,
    settings,
    shrink,
    soft_impute,
)
from analysis.movielens.data import Observed, load_ratings, part_ratings
from analysis.movielens.settings import BASELINES, QUICK_BASELINES

N, M = 6, 9
LAPLACIANS = tuple(cg.laplacian(cg.gallery.ring(n), "normalized") for n in (N, M))
MATRICES = tuple(L.matrix for L in LAPLACIANS)


@pytest.fixture
def full():
    return np.random.default_rng(0).standard_normal((N, M))


def everything(matrix):
    return Observed.at(matrix, np.arange(matrix.size))


def some(matrix):
    return Observed.at(matrix, np.random.default_rng(1).permutation(matrix.size)[:40])


def dense_shrink(matrix, threshold):
    U, s, Vt = np.linalg.svd(matrix, full_matrices=False)
    return U * np.maximum(s - threshold, 0) @ Vt


@pytest.mark.parametrize("threshold", [0.0, 0.7, 100.0])
def test_shrinkage_is_that_of_singular_values(full, threshold):
    for matrix in (full, full.T):
        np.testing.assert_allclose(shrink(matrix, threshold), dense_shrink(matrix, threshold), atol=1e-12)


def test_nuclear_norm_of_a_known_matrix_is_a_shrinkage(full):
    np.testing.assert_allclose(soft_impute(everything(full), 0.7), dense_shrink(full, 0.7), atol=1e-12)


def test_nuclear_norm_solution_is_optimal(full):
    """The residual is λ times a subgradient: U Vᵀ on the space of X, and of norm 1 at most beside it."""
    known, penalty = some(full), 0.5
    X = soft_impute(known, penalty, n_iter=5000, tol=1e-12)
    G = np.where(known.mask, known.values - X, 0) / penalty
    U, s, Vt = np.linalg.svd(X)
    r = int((s > 1e-6).sum())
    np.testing.assert_allclose(U[:, :r].T @ G, Vt[:r], atol=1e-6)
    np.testing.assert_allclose(G @ Vt[:r].T, U[:, :r], atol=1e-6)
    assert np.linalg.norm(G, 2) < 1 + 1e-6
    assert 0 < r < N


def test_features_restrict_the_nuclear_norm(full):
    A, B = (L.eigenvectors[:, :4] for L in LAPLACIANS)
    expected = A @ dense_shrink(A.T @ full @ B, 0.5) @ B.T
    np.testing.assert_allclose(inductive(everything(full), (A, B), 0.5), expected, atol=1e-12)
    known = some(full)
    found = inductive(known, (np.eye(N), np.eye(M)), 0.5, n_iter=3000, tol=1e-12)
    np.testing.assert_allclose(found, soft_impute(known, 0.5, n_iter=3000, tol=1e-12), atol=1e-7)


def test_graphs_alone_are_a_filter_of_both_sides(full):
    found = graph_nuclear(everything(full), MATRICES, 0.0, 0.8, n_iter=300, tol=1e-9)
    lam, mu = (L.eigenvalues for L in LAPLACIANS)
    U, V = (L.eigenvectors for L in LAPLACIANS)
    expected = U @ (U.T @ full @ V / (1 + 0.8 * (lam[:, None] + mu))) @ V.T
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_graphs_with_no_weight_leave_the_nuclear_norm(full):
    known = some(full)
    found = graph_nuclear(known, MATRICES, 0.5, 0.0, n_iter=2000, tol=1e-9)
    np.testing.assert_allclose(found, soft_impute(known, 0.5, n_iter=3000, tol=1e-12), atol=1e-5)


def test_graphs_and_nuclear_norm_are_optimal_together(full):
    """The objective is not lower anywhere near."""
    known = some(full)
    X = graph_nuclear(known, MATRICES, 0.3, 0.4, n_iter=2000, tol=1e-9)

    def objective(Y):
        error = 0.5 * (np.where(known.mask, Y - known.values, 0) ** 2).sum()
        smooth = np.trace(Y.T @ (MATRICES[0] @ Y)) + np.trace(Y @ (MATRICES[1] @ Y.T))
        return error + 0.3 * np.linalg.norm(Y, "nuc") + 0.2 * smooth

    rng, least = np.random.default_rng(2), objective(X)
    assert all(objective(X + size * rng.standard_normal(X.shape)) > least for size in np.geomspace(1e-3, 1, 40))


def test_factors_without_graphs_have_the_nuclear_norm(full):
    """Squares of two factors of full rank are the nuclear norm of their product."""
    rng = np.random.default_rng(3)
    found = grals(everything(full), MATRICES, N, 0.7, 0.0, rng, n_iter=3000, tol=1e-10)
    np.testing.assert_allclose(found, dense_shrink(full, 0.7), atol=1e-5)


def test_smooth_factors_have_no_gradient(full):
    known, rng = some(full), np.random.default_rng(4)
    X = grals(known, MATRICES, 2, 0.3, 0.5, rng, n_iter=3000, tol=1e-12)
    # the factors of X with the same product: W = U a, H = V a⁻ᵀ; the gradient of the error must cancel theirs
    R = np.where(known.mask, X - known.values, 0)
    A, B = (0.3 * np.eye(n) + 0.5 * L.toarray() for n, L in zip((N, M), MATRICES, strict=True))
    # R H = −A W and Rᵀ W = −B H give R B⁻¹ Rᵀ W = A W: W spans eigenvectors of A⁻¹ R B⁻¹ Rᵀ at 1
    values = np.linalg.eigvals(np.linalg.solve(A, R @ np.linalg.solve(B, R.T)))
    assert np.sum(np.abs(values - 1) < 1e-5) == 2
    assert np.linalg.matrix_rank(X, tol=1e-8) == 2


def test_biases_solve_the_least_squares_problem():
    rng = np.random.default_rng(5)
    known = some(rng.integers(1, 6, (N, M)).astype(float))
    X = biases(known, 1.5, 0.5, n_iter=300)
    rows, columns = known.rows_columns
    design = np.zeros((len(rows), N + M))
    design[np.arange(len(rows)), rows] = design[np.arange(len(rows)), N + columns] = 1
    mean = known.entries.mean()
    penalty = np.diag([1.5] * N + [0.5] * M)
    b = np.linalg.solve(design.T @ design + penalty, design.T @ (known.entries - mean))
    np.testing.assert_allclose(X, mean + b[:N, None] + b[N:], atol=1e-8)


def test_neighbours_follow_movies_that_are_rated_alike():
    """Movies 0 and 1 are twins; who likes one is predicted to like the other more than the biases say."""
    rng = np.random.default_rng(6)
    ratings = rng.integers(1, 6, (40, 6)).astype(float)
    ratings[:, 1] = ratings[:, 0]
    mask = np.ones_like(ratings, bool)
    mask[:10, 1] = False
    known = Observed.at(ratings, np.flatnonzero(mask))
    wrong = [np.abs(X[:10, 1] - ratings[:10, 1]).mean() for X in (biases(known, 1, 1), item_neighbours(known, 1, 1.0))]
    assert wrong[1] < 0.5 * wrong[0]


def test_step_of_implicit_factors_is_the_gradient():
    """One rating: every parameter goes along the gradient of half of the squared error and of the penalty."""
    rng = np.random.default_rng(7)
    a, b, P, Q, Y = rng.standard_normal(1), rng.standard_normal(1), *rng.standard_normal((3, 1, 2))
    tensors = [torch.tensor(array, requires_grad=True) for array in (a, b, P, Q, Y)]
    ta, tb, tP, tQ, tY = tensors
    loss = 0.5 * (1.5 - ta[0] - tb[0] - (tQ[0] * (tP[0] + tY[0])).sum()) ** 2
    (loss + 0.05 * sum(t.square().sum() for t in tensors)).backward()
    descend.py_func(np.array([0]), np.array([0, 1]), np.array([0]), np.array([1.5]), a, b, P, Q, Y, 0.01, 0.1)
    for array, t in zip((a, b, P, Q, Y), tensors, strict=True):
        np.testing.assert_allclose(array, t.detach().numpy() - 0.01 * t.grad.numpy(), atol=1e-12)


def test_implicit_factors_find_a_sum_of_biases_and_a_product():
    rng = np.random.default_rng(8)
    exact = 3 + rng.standard_normal((N, 1)) + rng.standard_normal(M) + np.outer(*map(rng.standard_normal, (N, M)))
    found = implicit_factors(everything(exact), 3, 0.0, 40, np.random.default_rng(0), rate=0.3)
    assert np.abs(found - exact).max() < 0.05


@pytest.mark.parametrize("model", BASELINES)
def test_settings_are_chosen_on_validation_ratings(model, tmp_path):
    ratings = load_ratings("drawn")
    numbers = search(QUICK_BASELINES, Run({"model": model}, 0), Checkpoint(tmp_path / "c.pt"), torch.device("cpu"))
    tried = settings(model, QUICK_BASELINES)
    assert [tuple(row[:-1]) for row in numbers["tried"]] == tried
    best = min(numbers["tried"], key=lambda row: row[-1])
    assert list(numbers["chosen"].values()) == best[:-1]
    parts = part_ratings(ratings, QUICK_BASELINES.validation_share, 0)
    X = complete(model, ratings, parts.fitted, tuple(best[:-1]), 0)
    assert rmse(X, ratings, parts.validation) == pytest.approx(best[-1])
    centre = np.full(ratings.matrix.shape, ratings.values(ratings.train).mean())
    assert numbers["rmse"] < rmse(centre, ratings, ratings.test)
