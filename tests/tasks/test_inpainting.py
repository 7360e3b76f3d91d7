"""Inpainting: the dense minimizer within the proved bounds, and what is refused."""

from __future__ import annotations

import warnings
from fractions import Fraction
from math import isqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cayleygsp as cg
from cayleygsp.tasks import inpaint
from tests.strategies import laplacians


def dense_inpainting(L, y, known, strength):
    """Return the minimizer, the matrix of the energy norm, and what errors are relative to."""
    wide = np.longdouble
    D = L.matrix.toarray()
    zeros = np.where(known[:, None], y, 0.0)
    if strength:
        A = np.diag(known.astype(float)) + strength * D
        return refined_solve(A, zeros), A, np.linalg.norm(zeros, axis=0)
    x, u = y.astype(wide), ~known
    x[u] = refined_solve(D[np.ix_(u, u)], -(D[np.ix_(u, known)].astype(wide) @ y[known].astype(wide)))
    return x, D, np.sqrt(np.maximum(np.einsum("ij,ij->j", zeros, D @ zeros), 0))


def refined_solve(A, b):
    """Solve densely, refined in extended precision."""
    x = np.zeros(b.shape, np.longdouble)
    for _ in range(8):
        x = x + np.linalg.solve(A, (b - A.astype(np.longdouble) @ x).astype(float))
    return x


@given(
    laplacians(max_vertices=12),
    st.integers(0, 2**32 - 1),
    st.sampled_from([0, 1e-3, 0.1, 1.0, 30.0, 1e4]),
    st.sampled_from([1e-2, 1e-6, 1e-9]),
)
@settings(max_examples=60)
def test_the_dense_minimizer_is_within_the_bounds(L, seed, strength, tol):
    rng = np.random.default_rng(seed)
    y, known = rng.standard_normal((L.n_vertices, 2)), rng.random(L.n_vertices) < 0.4
    known[[int(np.argmax(L.components == c)) for c in range(L.n_components)]] = True
    result = inpaint(L, y, known, strength, tol=tol)
    x, A, reference = dense_inpainting(L, y, known, strength)
    error = result.signals - x
    energy = np.sqrt(np.maximum(np.einsum("ij,ij->j", error, A @ error), 0)).astype(float)
    assert (energy <= result.error_bound * reference * (1 + 1e-9) + 1e-18).all()
    assert (np.abs(error).max(axis=0) <= result.largest_error * (1 + 1e-9)).all()
    assert result.converged
    assert (result.error_bound <= tol).all()
    assert result.certificate == "proved"
    if strength == 0:
        assert np.array_equal(result.signals[known], y[known])


def test_a_larger_graph_takes_few_steps():
    grid = cg.gallery.grid(25)
    rng = np.random.default_rng(0)
    known = rng.random(625) < 0.1
    y = rng.standard_normal((625, 2))
    x, A, reference = dense_inpainting(cg.laplacian(grid), y, known, 2.0)
    result = inpaint(grid, y, known, 2.0, tol=1e-8)
    error = (result.signals - x).astype(float)
    energy = np.sqrt(np.einsum("ij,ij->j", error, A @ error)) / reference
    assert (energy <= result.error_bound).all()
    assert (result.error_bound <= 100 * energy).all()
    assert result.n_iterations < 30
    assert result.residuals.shape == (result.n_iterations + 1, 2)
    assert "proved" in result.summary()


def test_missing_values_are_nan_or_masked():
    path = cg.gallery.path(5)
    y = np.array([1.0, np.nan, np.nan, np.nan, 3.0])
    known = ~np.isnan(y)
    by_nan, by_mask = inpaint(path, y, strength=0.5), inpaint(path, np.where(known, y, 99.0), known, 0.5)
    assert np.array_equal(by_nan.signals, by_mask.signals)
    assert by_nan.n_known == 2
    assert inpaint(path, y, known, 0.5).signals == pytest.approx(by_nan.signals)


def test_small_strengths_tend_to_interpolation():
    graph, rng = cg.gallery.communities(rng=0), np.random.default_rng(0)
    y, known = rng.standard_normal(graph.n_vertices), rng.random(graph.n_vertices) < 0.3
    limit = inpaint(graph, y, known, 0).signals
    assert inpaint(graph, y, known, 1e-9).signals == pytest.approx(limit, abs=1e-5)


def test_all_known_and_interpolated_is_what_was_given():
    y = np.arange(6.0)
    result = inpaint(cg.gallery.ring(6), y, np.ones(6, bool), 0)
    assert np.array_equal(result.signals, y)
    assert result.error_bound == result.largest_error == 0


def test_strengths_beyond_double_precision_are_refused_or_get_no_bound():
    y = [1.0, *(300 * [np.nan])]
    for strength in (1e-20, 1e20):
        with pytest.raises(ValueError, match=r"`strength` must be 0, or between .* and .* on this graph, got 1e.20: "):
            inpaint(cg.gallery.path(301), y, strength=strength)
    with pytest.warns(cg.ConvergenceWarning, match="no bound of the error could be proved"):
        result = inpaint(cg.gallery.path(301), y, strength=1e14)
    assert result.certificate == "none"
    assert not result.converged


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_values_of_any_size_and_zeros(size):
    y = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [3.0, 0.0]])
    known = np.array([True, False, False, True])
    result = inpaint(cg.gallery.path(4), size * y, known, 1.0)
    assert result.signals / size == pytest.approx(inpaint(cg.gallery.path(4), y, known, 1.0).signals)
    assert (result.signals[:, 1] == 0).all()
    assert result.converged


def test_single_precision_stays_and_its_rounding_is_counted():
    grid, rng = cg.gallery.grid(10), np.random.default_rng(0)
    y, known = rng.standard_normal((100, 1)).astype(np.float32), rng.random(100) < 0.3
    result = inpaint(grid, y, known, 1.0, tol=1e-5)
    assert result.signals.dtype == np.float32
    x, A, reference = dense_inpainting(cg.laplacian(grid), y.astype(float), known, 1.0)
    error = (result.signals - x).astype(float)
    assert np.sqrt((error * (A @ error)).sum()) / reference[0] <= result.error_bound[0] <= 1e-5
    assert np.abs(error).max() <= result.largest_error[0]
    with pytest.warns(cg.ConvergenceWarning, match="could not certify tol=1e-10"):
        assert not inpaint(grid, y, known, 1.0, tol=1e-10).converged


def test_components_without_a_known_vertex():
    W = np.zeros((5, 5))
    W[0, 1] = W[1, 0] = W[2, 3] = W[3, 2] = 1.0
    y = np.array([1.0, np.nan, np.nan, np.nan, np.nan])
    with pytest.raises(ValueError, match=r"2 components have none, such as that of vertex 2.*give `fill`"):
        inpaint(W, y)
    for strength in (0, 1.0):
        result = inpaint(W, y, strength=strength, fill=-7.0)
        assert result.signals == pytest.approx([1, 1, -7, -7, -7])
        assert result.n_filled == 3
    assert "filled" in result.summary()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y": [1.0, 2.0]}, ValueError, r"`y` must have shape \(3,\) or \(3, n_signals\), got \(2,\)"),
        ({"y": [1.0, np.nan, 3.0]}, ValueError, r"`y` must be finite, got nan at \[1\]"),
        ({"y": [1.0, np.inf, 3.0], "mask": None}, ValueError, "`y` must be finite, got inf"),
        ({"y": [1j, 2.0, 3.0]}, TypeError, "`y` must be real"),
        ({"y": ["a", "b", "c"]}, TypeError, "`y` must be a dense array"),
        ({"y": np.full(3, np.nan), "mask": None}, ValueError, "NaN everywhere"),
        ({"y": np.array([[1, np.nan], [2, 1], [3, 1]]), "mask": None}, ValueError, "got 1 of 2 at vertex 0"),
        ({"y": np.zeros((3, 0))}, ValueError, "at least one signal"),
        ({"y": np.ma.masked_array(np.zeros(3), [True, False, False])}, TypeError, "without a mask"),
        ({"mask": [True, False]}, ValueError, r"`mask` must have shape \(3,\), got \(2,\)"),
        ({"mask": [1, 0, 1]}, TypeError, "`mask` must be booleans"),
        ({"mask": [False] * 3}, ValueError, "`mask` must name at least one known vertex"),
        ({"strength": -1.0}, ValueError, "`strength` must be at least 0"),
        ({"strength": np.nan}, ValueError, "`strength` must be at least 0"),
        ({"strength": 1e200}, ValueError, "`strength` must be 0, or between"),
        ({"strength": "a"}, TypeError, "`strength` must be a real number"),
        ({"fill": np.inf}, ValueError, "`fill` must be finite"),
        (
            {"y": np.ones(3, np.float32), "fill": 1e300},
            ValueError,
            "`fill` must be within the range of float32, the type of `y`, got 1e\\+300",
        ),
        ({"tol": -1.0}, ValueError, "`tol` must be positive"),
    ],
)
def test_bad_arguments_are_rejected_before_work(change, error, message, monkeypatch):
    monkeypatch.setattr("cayleygsp.tasks.inpainting.DefiniteSystem", None)
    arguments = {"graph": cg.gallery.path(3), "y": [1.0, 2.0, 3.0], "mask": [True, True, False]}
    with pytest.raises(error, match=message):
        inpaint(**(arguments | change))


def exact_energy(W, x):
    """Return the root of xᵀΔx in rational numbers."""
    x = [Fraction(float(v)) for v in x]
    i, j = np.nonzero(np.triu(W))
    total = sum((Fraction(float(W[a, b])) * (x[a] - x[b]) ** 2 for a, b in zip(i, j, strict=True)), Fraction(0))
    shift = 2**1200  # roots of numbers below the least double
    return float(Fraction(isqrt(int(total * shift))) / Fraction(isqrt(shift)))


@pytest.mark.parametrize("links", [(1e-20, 2e-20), (1e-14, 2e-14), (1e-148, 1e-150)])
@pytest.mark.parametrize("heavy", [1.0, 1e-148])
@pytest.mark.parametrize("seed", [0, 2])
def test_interpolation_across_weak_links_is_within_a_bound_that_counts_the_rounding_of_its_reference(
    links, heavy, seed
):
    W = np.zeros((6, 6))
    W[:4, :4] = heavy * np.triu(np.random.default_rng(seed).random((4, 4)), 1)
    W[3, 4], W[4, 5] = links
    W += W.T
    y = np.array([0.7, 0.7, 0.7, 0.7, np.nan, 0.1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)
        result = inpaint(W, y, strength=0)
    a, b = map(Fraction, links)
    error = abs(Fraction(result.signals[4]) - (a * Fraction(0.7) + b * Fraction(0.1)) / (a + b))
    energy = float(error) * float(np.sqrt(sum(links)))
    reference = exact_energy(W, np.nan_to_num(y))
    assert reference > 0
    assert energy / reference <= result.error_bound * (1 + 1e-9)
    assert float(error) <= result.largest_error
    assert result.error_bound > 0
    assert result.converged == (result.error_bound <= result.tol)


@pytest.mark.filterwarnings("ignore::cayleygsp.ConvergenceWarning")
@pytest.mark.parametrize("strength", [0.0, 1.0])
def test_bounds_of_the_smallest_numbers_do_not_vanish(strength):
    result = inpaint(cg.gallery.ring(6), [1.5e-323, 0, *[np.nan] * 4], strength=strength)
    assert result.largest_error > 0
