"""Bounds of the Jacobi scheme against measured errors by spectral norms of dense matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cayleygsp as cg
from cayleygsp import bounds
from cayleygsp.bounds.contraction import is_regular
from tests.oracle import dense_filter, eigenpairs, random_polynomial
from tests.strategies import cayley_polynomials, laplacians

KINDS = ("sharp", "safe", "paper")


def measured_error(L, p, K):
    """Return the worst error of K sweeps over all signals, relative to their norm."""
    G = cg.CayleyFilter(L, p, method="jacobi", n_iter=K).toarray()
    return np.linalg.norm(G - dense_filter(L, p), 2)


def rounding(L, p, K):
    """What rounding may add: to the scheme as the package says, to the oracle by a backward stable `eigh`."""
    oracle = p.error_weight() * p.zoom * L.lmax * L.n_vertices * 2**-50
    return bounds.jacobi_rounding(L, p, K) + oracle + 1e-13 * np.abs(p.coeffs).sum()


@given(L=laplacians(), p=cayley_polynomials(max_order=8, max_zoom=10), K=st.integers(0, 30))
def test_measured_error_of_the_scheme_is_within_the_safe_and_the_sharp_bound(L, p, K):
    error = measured_error(L, p, K)
    for kind in ("safe", "sharp"):
        bound = bounds.jacobi_bound(L, p, K, kind)
        assert bound.valid
        assert error <= bound.value * (1 + 1e-9) + rounding(L, p, K), kind


@given(L=laplacians(), p=cayley_polynomials(max_order=5, max_zoom=10), K=st.integers(0, 30))
def test_measured_error_is_within_the_printed_bound_where_that_is_called_valid(L, p, K):
    bound = bounds.jacobi_bound(L, p, K, "paper")
    if bound.valid:
        assert measured_error(L, p, K) <= bound.value * (1 + 1e-9) + rounding(L, p, K)


@given(L=laplacians(), p=cayley_polynomials(max_order=1), K=st.integers(0, 30))
def test_the_printed_bound_is_valid_for_order_one_if_its_assumption_holds(L, p, K):
    bound = bounds.jacobi_bound(L, p, K, "paper")
    dominant = next(a for a in bound.assumptions if a.name.startswith("κ < 1"))
    assert dominant.holds == (L.kind == "combinatorial" or bounds.kappa(L, p.zoom) < 1)
    if dominant.holds:
        assert bound.valid


@given(L=laplacians(), p=cayley_polynomials(max_order=6, max_zoom=10), K=st.integers(0, 40))
def test_formulas_are_those_of_the_proposition_and_its_proof(L, p, K):
    n, kappa = L.n_vertices, bounds.kappa(L, p.zoom)
    j, c = np.arange(1, p.order + 1), np.abs(p.coeffs[1:])
    root = 1 if is_regular(L) else np.sqrt(n)
    assert bounds.jacobi_bound(L, p, K, "paper").value == pytest.approx(2 * root * (j @ c) * kappa**K, rel=1e-9)
    d = L.diagonal[L.diagonal > 0]
    root = 1 if d.size == 0 or np.ptp(d) <= 1e-12 * d.max() else np.sqrt(n)
    proof = 2 * c @ ((1 + root * kappa ** (K + 1)) ** j - 1)
    assert bounds.jacobi_bound(L, p, K, "safe").value == pytest.approx(proof, rel=1e-7, abs=1e-13 * c.sum())


def test_proposition_1_is_broken_on_a_ring_and_the_bound_says_so():
    """16-ring, D - W, h = 0.5, K = 2, c_5 of size one and the worst phase: error 5.87, printed bound 5.00."""
    L, h, r, K = cg.laplacian(cg.gallery.ring(16)), 0.5, 5, 2
    lam, _ = eigenpairs(L)
    C = (h * lam - 1j) / (h * lam + 1j)
    difference = ((1 - (h * (2 - lam) / (2 * h + 1j)) ** (K + 1)) * C) ** r - C**r
    phase = -np.angle(difference[np.argmax(np.abs(difference))])
    p = cg.CayleyPolynomial([0] * r + [np.exp(1j * phase)], h)
    error = measured_error(L, p, K)
    paper, safe, sharp = (bounds.jacobi_bound(L, p, K, kind) for kind in ("paper", "safe", "sharp"))
    assert error == pytest.approx(5.87, abs=0.005)
    assert float(paper) == pytest.approx(5.0, abs=1e-9)
    assert paper.value < error
    assert not paper.valid
    assert [a.name for a in paper.assumptions if not a.holds] == [
        "no higher powers of κ^K",
        "a proved bound is no larger",
    ]
    assert error <= safe.value
    assert error <= sharp.value


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_sharp_is_far_below_the_printed_bound_on_the_community_graph(kind):
    L = cg.laplacian(cg.gallery.communities(rng=0), kind)
    p = random_polynomial(5, 0.1, np.random.default_rng(0))
    sharp, paper = (bounds.jacobi_bound(L, p, 80, name).value for name in ("sharp", "paper"))
    assert 10 * sharp < paper
    assert measured_error(L, p, 80) <= sharp + rounding(L, p, 80)


def test_rounding_covers_what_is_left_when_all_sweeps_are_made():
    L = cg.laplacian(cg.gallery.sensor(16, rng=0))
    p = random_polynomial(5, 0.1, np.random.default_rng(0))
    K = bounds.jacobi_sweeps(L, p, 1e-20)
    exact = bounds.jacobi_bound(L, p, K).value
    for dtype in (np.float64, np.float32):
        G = cg.CayleyFilter(L, p, method="jacobi", n_iter=K).filter(np.eye(16, dtype=dtype))
        error = np.linalg.norm(G - dense_filter(L, p), 2)
        floor = bounds.jacobi_rounding(L, p, K, dtype)
        assert exact < 1e-3 * error  # it is rounding that is seen
        assert error <= floor


def test_bounds_stay_numbers_where_powers_overflow():
    L = cg.laplacian(cg.gallery.star(17), "normalized")
    p = cg.CayleyPolynomial([1, 0, 0, 1], 1.0)
    assert bounds.jacobi_bound(L, p, 5000, "paper").value == np.inf
    assert bounds.jacobi_bound(L, cg.CayleyPolynomial([1, 0], 1.0), 5000, "paper").value == 0
    assert bounds.jacobi_bound(L, p, 5000, "safe").value == np.inf
    assert bounds.jacobi_bound(L, p, 5000, "sharp").value < 1e-300


def test_without_edges_nothing_is_left_to_iterate():
    p = cg.CayleyPolynomial([1, 2], 1.0)
    for kind, value in (("sharp", 0), ("safe", 0), ("paper", 4)):
        assert bounds.jacobi_bound(np.zeros((1, 1)), p, 0, kind).value == value
    assert bounds.jacobi_sweeps(np.zeros((1, 1)), p, 1e-9, "paper") == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda g, p: bounds.kappa(g, -1.0), ValueError, "`zoom` must be positive"),
        (lambda g, p: bounds.jacobi_bound(g, p, -1), ValueError, "`n_iter` must be at least 0, got -1"),
        (lambda g, p: bounds.jacobi_bound(g, p, 1.5), TypeError, "`n_iter` must be an integer"),
        (lambda g, p: bounds.jacobi_bound(g, p, 1, "tight"), ValueError, "`kind` must be one of 'sharp'"),
        (
            lambda g, p: bounds.jacobi_bound(g, [1, 2], 1),
            TypeError,
            "`polynomial` must be a CayleyPolynomial, got list",
        ),
        (lambda g, p: bounds.jacobi_sweeps(g, p, -1e-3), ValueError, "`atol` must not be negative"),
        (lambda g, p: bounds.jacobi_sweeps(g, p, np.nan), ValueError, "`atol` must not be negative"),
        (lambda g, p: bounds.jacobi_sweeps(g, p, "small"), TypeError, "`atol` must be a real number"),
        (lambda g, p: bounds.jacobi_rounding(g, p, 1, np.float16), ValueError, "`dtype` must be float32 or float64"),
        (lambda g, p: bounds.affordable_zoom(g, [1], 1, 1e-3), ValueError, "`coeffs` must hold"),
        (lambda g, p: bounds.series_bound(g, p, -1), ValueError, "`degree` must be at least 0"),
        (lambda g, p: bounds.series_degree(g, p, 0.0), ValueError, "`atol` must be positive"),
    ],
)
def test_bad_arguments_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(cg.gallery.ring(5), cg.CayleyPolynomial([1, 2], 1.0))


def test_overflowing_zoom_is_refused_not_called_valid():
    with pytest.raises(ValueError, match=r"`zoom` times the largest degree must be finite, got 1e\+308"):
        bounds.jacobi_bound(cg.gallery.ring(9), cg.CayleyPolynomial([0, 1], 1e308), 3)


@pytest.mark.parametrize("zoom", [1e5, 1e12])
def test_words_on_kappa_do_not_say_that_it_is_one(zoom):
    L, p = cg.laplacian(cg.gallery.ring(16)), cg.CayleyPolynomial([0.5, -0.25], zoom)
    texts = [assumption.text for assumption in bounds.jacobi_bound(L, p, 3, "paper").assumptions]
    (text,) = [text for text in texts if text.startswith("κ")]
    assert text.startswith(("κ = 1 − ", "κ is below 1 by less than rounding"))
