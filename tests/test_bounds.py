"""Bounds against measured errors: of Jacobi by spectral norms of dense matrices, of series by dense sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cayleygsp as cg
from cayleygsp import bounds
from cayleygsp.responses.function import KernelResponse
from cayleygsp.responses.series import chebyshev_nodes
from tests.oracle import dense_filter, eigenpairs, random_polynomial
from tests.strategies import cayley_polynomials, laplacians

KINDS = ("sharp", "safe", "paper")


def iteration_matrix(L, zoom):
    """J = I - Diag(hΔ + i)^{-1} (hΔ + i), dense."""
    A = zoom * L.matrix.toarray() + 1j * np.eye(L.n_vertices)
    return np.eye(L.n_vertices) - A / np.diag(A)[:, None]


def measured_error(L, p, K):
    """Return the worst error of K sweeps over all signals, relative to their norm."""
    G = cg.CayleyFilter(L, p, method="jacobi", n_iter=K).toarray()
    return np.linalg.norm(G - dense_filter(L, p), 2)


def rounding(L, p, K):
    """What rounding may add: to the scheme as the package says, to the oracle by a backward stable `eigh`."""
    oracle = p.error_weight() * p.zoom * L.lmax * L.n_vertices * 2**-50
    return bounds.jacobi_rounding(L, p, K) + oracle + 1e-13 * np.abs(p.coeffs).sum()


# ---------------------------------------------------------------------------------------------------------- kappa


@given(L=laplacians(), zoom=st.floats(1e-3, 1e3))
def test_kappa_is_the_largest_row_sum_of_the_iteration_matrix(L, zoom):
    J = iteration_matrix(L, zoom)
    assert bounds.kappa(L, zoom) == pytest.approx(np.abs(J).sum(axis=1).max(), rel=1e-10, abs=1e-13)


@given(L=laplacians(kinds=("combinatorial",)), zoom=st.floats(1e-3, 1e3))
def test_kappa_of_the_combinatorial_laplacian_is_that_of_the_largest_degree(L, zoom):
    hd = zoom * L.diagonal.max()
    assert bounds.kappa(L, zoom) == pytest.approx(hd / np.sqrt(hd**2 + 1), rel=1e-10, abs=1e-13)


def test_kappa_of_a_normalized_star_exceeds_one_but_the_sharp_rate_does_not():
    L = cg.laplacian(cg.gallery.star(17), "normalized")
    assert bounds.kappa(L, 1.0) == pytest.approx(4 / np.sqrt(2))
    assert bounds.jacobi_factor(L, 1.0) == pytest.approx(1 / np.sqrt(2))


@given(L=laplacians(), zoom=st.floats(1e-2, 1e2))
def test_a_sweep_contracts_on_every_graph(L, zoom):
    E = np.hypot(zoom * L.diagonal, 1)
    J = iteration_matrix(L, zoom)
    weighted = np.linalg.norm(np.sqrt(E)[:, None] * J / np.sqrt(E), 2)
    factor = bounds.jacobi_factor(L, zoom)
    assert weighted <= factor * (1 + 1e-9) + 1e-14
    assert factor < 1


@pytest.mark.parametrize(
    ("graph", "kind", "regular"),
    [
        (cg.gallery.ring(12), "combinatorial", True),
        (cg.gallery.ring(12), "normalized", True),
        (cg.gallery.random_regular(20, 4, rng=0), "combinatorial", True),
        (cg.gallery.path(5), "combinatorial", False),
        (cg.gallery.path(5), "normalized", False),
        (np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1), "normalized", False),
    ],
)
def test_regular_graphs_are_told_from_others(graph, kind, regular):
    assert bounds.is_regular(cg.laplacian(graph, kind)) is regular


# --------------------------------------------------------------------------------------------------------- Jacobi


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
    root = 1 if bounds.is_regular(L) else np.sqrt(n)
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


# ------------------------------------------------------------------------------------------------ inverse questions


@pytest.mark.parametrize("kind", KINDS)
@given(L=laplacians(), p=cayley_polynomials(max_order=6, max_zoom=3), log_atol=st.floats(-9, 1))
def test_number_of_sweeps_is_the_least_that_each_bound_allows(kind, L, p, log_atol):
    atol = 10**log_atol
    K = bounds.jacobi_sweeps(L, p, atol, kind)
    if K == bounds.UNREACHABLE:
        assert kind != "sharp"
        assert bounds.kappa(L, p.zoom) * (1 + 1e-10) >= 1
        return
    assert bounds.jacobi_bound(L, p, K, kind).value <= atol * (1 + 1e-6)
    if K > 0:
        assert bounds.jacobi_bound(L, p, K - 1, kind).value > atol * (1 - 1e-6)


def test_no_number_of_sweeps_makes_the_error_zero():
    p = cg.CayleyPolynomial([1, 2], 1.0)
    assert bounds.jacobi_sweeps(cg.gallery.ring(8), p, 0.0) == bounds.UNREACHABLE
    assert bounds.jacobi_sweeps(cg.gallery.ring(8), cg.CayleyPolynomial([1, 0], 1.0), 0.0) == 0


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(L=laplacians(), p=cayley_polynomials(max_order=4), K=st.integers(1, 40), log_atol=st.floats(-6, -1))
def test_affordable_zoom_is_the_largest_within_the_tolerance(kind, L, p, K, log_atol):
    atol = 10**log_atol
    h = bounds.affordable_zoom(L, p, K, atol, kind)
    assert h > 0

    def value(zoom):
        return bounds.jacobi_bound(L, cg.CayleyPolynomial(p.coeffs, zoom), K, kind).value

    if np.isinf(h):
        assert L.diagonal.max() == 0 or value(1e9) <= atol
    else:
        assert value(h) <= atol * (1 + 1e-9)
        assert value(1.01 * h) > atol


def test_affordable_zoom_takes_coefficients_and_knows_its_limits():
    ring = cg.gallery.ring(20)
    assert bounds.affordable_zoom(ring, [0, 1], 10, 1e-3) == bounds.affordable_zoom(
        ring, cg.CayleyPolynomial([0, 1], 7.0), 10, 1e-3
    )
    assert bounds.affordable_zoom(ring, [0, 1], 0, 1e-3, "paper") == 0  # 2Mκ^0 does not depend on the zoom
    assert bounds.affordable_zoom(ring, [0, 1], 0, 3.0, "paper") == np.inf
    assert bounds.affordable_zoom(ring, [1, 0], 0, 0.0) == np.inf


# --------------------------------------------------------------------------------------------------------- series


@given(L=laplacians(), p=cayley_polynomials(max_order=8, max_zoom=10), degree=st.integers(0, 60))
def test_error_of_a_cut_series_is_within_the_bound(L, p, degree):
    full = p.series(L.lmax, 0.0)
    lam = np.append(chebyshev_nodes(997, L.lmax), [0.0, L.lmax])
    cut = type(full)(full.coeffs[: degree + 1], full.lmax, 0.0)
    bound = bounds.series_bound(L, p, degree)
    assert bound.valid
    floor = full.error + 1e-14 * (p.error_weight() + np.abs(p.coeffs).sum())
    assert np.abs(cut(lam) - p(lam)).max() <= bound.value + floor


@given(L=laplacians(), p=cayley_polynomials(max_order=8, max_zoom=10), log_atol=st.floats(-25, 0))
def test_degree_is_the_least_that_the_series_bound_allows(L, p, log_atol):
    degree = bounds.series_degree(L, p, 10**log_atol)
    assert bounds.series_bound(L, p, degree).value <= 10**log_atol
    if degree > 0:
        assert bounds.series_bound(L, p, degree - 1).value > 10**log_atol


@given(p=cayley_polynomials(max_order=8, max_zoom=10))
def test_series_bounds_fall_and_reach_below_rounding(p):
    tails, proved = bounds.series_tails(cg.laplacian(cg.gallery.ring(9)), p, 3000)
    assert proved
    assert (np.diff(tails) <= 0).all()
    assert tails[-1] < 1e-30


@pytest.mark.parametrize("lmax", [2.0, 4.0, 9.0])
def test_tail_of_a_chebyshev_filter_ends_with_its_order(lmax):
    """Also if the filter is scaled to less than the guaranteed spectrum, where coefficients say too little."""
    L = cg.laplacian(cg.gallery.ring(16))
    response = cg.ChebyshevFilter(L, [0.3, -0.2, 0.4, 0.1], lmax=lmax).response
    tails, proved = bounds.series_tails(L, response, 6)
    assert proved
    assert (tails[3:] == 0).all()
    assert bounds.series_degree(L, response, 1e-12) == 3
    lam = np.linspace(0, L.lmax, 500)
    for degree in range(3):
        # the best polynomial of that degree is no worse than the cut series
        best = np.polynomial.Chebyshev.fit(lam, response(lam), degree, domain=[0, L.lmax])
        assert np.sqrt(np.mean((best(lam) - response(lam)) ** 2)) <= tails[degree] * (1 + 1e-9)


def test_a_users_function_has_a_bound_that_is_not_called_proved():
    L = cg.laplacian(cg.gallery.ring(16))
    heat = KernelResponse(lambda lam: np.exp(-lam))
    bound = bounds.series_bound(L, heat, 5)
    assert not bound.valid
    assert 1e-6 < bound.value < 1e-1
    with pytest.raises(ValueError, match="`atol` must be at least"):
        bounds.series_degree(L, heat, 1e-30)


# --------------------------------------------------------------------------------------------------------- checks


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


def test_affordable_zoom_of_very_small_weights_is_found():
    ring = cg.gallery.ring(9)
    usual = bounds.affordable_zoom(ring, [0.5, -0.25], 5, atol=1e-3)
    small = bounds.affordable_zoom(ring.W * 1e-140, [0.5, -0.25], 5, atol=1e-3)
    assert small * 1e-140 == pytest.approx(usual, rel=1e-5)


def test_degree_of_the_zero_response_is_zero():
    assert bounds.series_degree(cg.gallery.ring(9), cg.CayleyPolynomial([0, 0], 1.0), 1e-6) == 0


def test_tails_of_series_too_long_to_compute_come_from_the_poles():
    L, p = cg.laplacian(cg.gallery.ring(9)), cg.CayleyPolynomial([0, 1], 1e13)
    tails, proved = bounds.series_tails(L, p, 5)
    assert proved
    assert (tails >= 2).all()  # nothing so short comes near a response of this zoom
