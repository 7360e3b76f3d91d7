"""Fits: residuals, optimality, conditioning, the zoom, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import linprog

import cayleygsp as cg
from cayleygsp import design
from cayleygsp.density import spectral_density
from cayleygsp.design.fit import MAX_CHEBYSHEV_ORDER
from cayleygsp.design.problem import NORMS
from cayleygsp.design.target import as_target
from tests.oracle import dense_filter, eigenpairs, random_polynomial
from tests.strategies import laplacians


@pytest.fixture(scope="module")
def communities():
    return cg.laplacian(cg.gallery.communities(rng=0))


@pytest.fixture(scope="module")
def lowest(communities):
    """The indicator of the 15 lowest frequencies."""
    lam = communities.eigenvalues
    return design.Indicator(0, (lam[14] + lam[15]) / 2)


@given(seed=st.integers(0, 1000), order=st.integers(1, 5), real=st.booleans(), h=st.floats(0.05, 20))
def test_a_cayley_polynomial_is_its_own_fit(seed, order, real, h):
    p = random_polynomial(order, h, np.random.default_rng(seed))
    if real:
        p = cg.CayleyPolynomial(p.coeffs.real, h)
    fit = design.fit_cayley(p, order, 8.0, h, real_coeffs=real, ridge=0)
    assert fit.residual_max <= 1e-7
    lam = np.linspace(0, 8, 50)
    assert_allclose(fit.polynomial(lam), p(lam), atol=1e-7)
    assert not (real and fit.polynomial.coeffs.imag.any())


@given(alpha=st.lists(st.floats(-1, 1), min_size=2, max_size=30), lmax=st.floats(0.1, 50))
def test_a_chebyshev_polynomial_is_its_own_fit(alpha, lmax):
    fit = design.fit_chebyshev(cg.ChebyshevPolynomial(alpha, lmax), len(alpha) - 1, lmax)
    assert_allclose(fit.polynomial.coeffs, alpha, atol=1e-8)


@pytest.mark.parametrize("order", [1, 2])
def test_search_finds_the_zoom_that_made_the_target(order):
    p = cg.CayleyPolynomial([0.3, 0.5, 0.4j][: order + 1], zoom=3.7)
    fit = design.fit_cayley(p, order, 8.0)
    assert_allclose(fit.zoom, 3.7, rtol=1e-2)
    assert fit.residual_max < 1e-3


@given(L=laplacians(), order=st.integers(1, 6), scale=st.floats(0.1, 10), seed=st.integers(0, 99))
def test_least_squares_on_eigenvalues_is_optimal(L, order, scale, seed):
    """No small change of the coefficients makes the sum of squares over the true eigenvalues smaller."""
    lam = eigenpairs(L)[0]
    target = design.Heat(scale)
    fit = design.fit_cayley(target, order, L.lmax, 1.0, lam, ridge=0)
    rms = np.sqrt(np.mean((fit.polynomial(lam) - target(lam)) ** 2))
    assert_allclose(fit.residual_rms, rms, atol=1e-9)
    change = random_polynomial(order, 1.0, np.random.default_rng(seed)).coeffs * 1e-3
    other = cg.CayleyPolynomial(fit.polynomial.coeffs + change, 1.0)
    assert np.sqrt(np.mean((other(lam) - target(lam)) ** 2)) >= rms - 1e-9


@settings(max_examples=15)
@given(order=st.integers(1, 9), cutoff=st.floats(0.5, 6), family=st.sampled_from(["cayley", "chebyshev"]))
def test_minimax_is_that_of_linear_programming(order, cutoff, family):
    target = design.LowPass(cutoff, cutoff / 2)
    if family == "cayley":
        order = min(order, 3)
        fit = design.fit_cayley(target, order, 8.0, 1.0, ridge=0, norm="minimax")
        A = np.column_stack(
            [np.ones_like(fit.nodes)]
            + [wave(j * cg.cayley_angle(fit.nodes)) for j in range(1, order + 1) for wave in (np.cos, np.sin)]
        )
    else:
        fit = design.fit_chebyshev(target, order, 8.0, ridge=0, norm="minimax")
        A = np.polynomial.chebyshev.chebvander(fit.nodes / 4 - 1, order)
    t, ones = fit.target(fit.nodes), np.ones((len(A), 1))
    solved = linprog(
        np.eye(A.shape[1] + 1)[-1],
        A_ub=np.block([[A, -ones], [-A, -ones]]),
        b_ub=np.concatenate([t, -t]),
        bounds=(None, None),
    )
    assert fit.lower_bound <= solved.fun * (1 + 1e-6) + 1e-9
    assert fit.residual_max >= solved.fun * (1 - 1e-6) - 1e-9
    assert fit.residual_max <= solved.fun * 1.03 + 1e-9  # a little is between the points


def test_minimax_is_smaller_at_the_maximum_and_larger_in_the_mean():
    fits = [design.fit_cayley("mexican:1", 2, 8.0, 1.0, norm=norm) for norm in NORMS]
    assert fits[1].residual_max < fits[0].residual_max
    assert fits[1].residual_rms > fits[0].residual_rms


def test_more_order_is_never_worse():
    for norm in NORMS:
        errors = [
            design.fit_chebyshev("low:2:1", r, 8.0, norm=norm).residual_max
            if norm == "minimax"
            else design.fit_chebyshev("low:2:1", r, 8.0, norm=norm).residual_rms
            for r in (2, 4, 8, 16)
        ]
        assert errors == sorted(errors, reverse=True)


def test_ridge_trades_residual_for_coefficients():
    fits = [design.fit_cayley("low:1:0.3", 12, 8.0, 1.0, ridge=ridge) for ridge in (0, 1e-6, 1e-3)]
    norms, errors = [f.coeff_norm for f in fits], [f.residual_rms for f in fits]
    assert norms == sorted(norms, reverse=True)
    assert errors == sorted(errors)
    assert norms[1] < 1e-2 * norms[0]
    assert errors[1] < 1e-2


def test_default_ridge_keeps_coefficients_moderate():
    for r in (4, 8, 12, 16):
        assert design.fit_cayley("mexican:1", r, 8.0).coeff_norm < 1e3


def test_weight_moves_the_fit_to_where_it_counts():
    plain = design.fit_chebyshev("heat:2", 3, 8.0).polynomial
    low = design.fit_chebyshev("heat:2", 3, 8.0, lambda lam: (lam <= 1).astype(float)).polynomial
    lam = np.linspace(0, 1, 50)
    error = [np.abs(p(lam) - np.exp(-2 * lam)).max() for p in (plain, low)]
    assert error[1] < 0.1 * error[0]


def test_transition_band_is_left_free():
    fit = design.fit_cayley("low:2:1", 3, 8.0)
    assert not ((fit.nodes > 1.5) & (fit.nodes < 2.5)).any()
    sharp = design.fit_cayley("low:2", 3, 8.0)
    assert sharp.residual_max > 0.4
    assert fit.residual_rms < 0.5 * sharp.residual_rms


def test_density_fit_is_near_the_fit_to_the_eigenvalues():
    L = cg.laplacian(cg.gallery.grid(30))
    lam = eigenpairs(L)[0]
    density = spectral_density(L, 128, 32, method="kpm", rng=0)
    fits = [design.fit_cayley("heat:2", 2, L.lmax, 1.0, weight) for weight in (lam, density)]
    rms = [np.sqrt(np.mean((f.polynomial(lam) - np.exp(-2 * lam)) ** 2)) for f in fits]
    assert rms[0] <= rms[1] <= 1.1 * rms[0]
    assert_allclose(fits[1].residual_rms, rms[1], rtol=0.1)


def test_graph_without_edges_is_fitted_at_zero():
    for g in (
        cg.CayleyFilter.fit(np.zeros((3, 3)), "heat:1", 2),
        cg.ChebyshevFilter.fit(np.zeros((3, 3)), "heat:1", 2),
        cg.CayleyFilter.fit(np.zeros((3, 3)), "heat:1", 2, weight="uniform"),
        cg.CayleyFilter.fit(np.zeros((3, 3)), "heat:1", 2, weight="density", rng=0),
    ):
        assert_allclose(g @ np.ones(3), 1, atol=1e-6)


def test_order_four_cuts_out_the_fifteen_lowest_frequencies(communities, lowest):
    """What the zoom is for: the paper's communities with nine real coefficients and a zoom."""
    g, info = cg.CayleyFilter.fit(communities, lowest, order=4, norm="minimax", return_info=True)
    lam, Phi = eigenpairs(communities)
    response = g.evaluate(lam)
    assert response[:15].min() > 0.9
    assert np.abs(response[15:]).max() < 0.1
    assert info.residual_max < 0.08
    assert info.coeff_norm < 100
    # and as an operator: it keeps the span of the first 15 eigenvectors to a tenth, and nothing else
    f = np.random.default_rng(0).standard_normal(communities.n_vertices)
    kept = Phi[:, :15] @ (Phi[:, :15].T @ f)
    assert np.linalg.norm(g @ f - kept) <= 0.1 * np.linalg.norm(f)


def test_chebyshev_needs_a_much_higher_order_for_the_same(communities, lowest):
    lam = communities.eigenvalues
    fit = design.least_order(lowest, 0.1, lam[-1], lam, family="chebyshev")
    assert fit.polynomial.order >= 4 * 4
    assert fit.residual_max <= 0.1
    below = design.fit_chebyshev(lowest, fit.polynomial.order - 1, lam[-1], lam, ridge=0, norm="minimax")
    assert below.lower_bound > 0.1


@pytest.mark.parametrize("weight", ["auto", "spectrum", "density", "uniform"])
def test_filter_fits_act_as_their_response(weight):
    L = cg.laplacian(cg.gallery.sensor(60, rng=0))
    for g in (
        cg.CayleyFilter.fit(L, "mexican:1", 4, weight=weight, rng=0, tol=1e-8),
        cg.ChebyshevFilter.fit(L, "mexican:1", 8, weight, rng=0),
    ):
        f = np.random.default_rng(0).standard_normal(60)
        assert_allclose(g @ f, dense_filter(L, g.response) @ f, atol=1e-5)
        lam = eigenpairs(L)[0]
        assert np.abs(g.evaluate(lam) - design.MexicanHat(1.0)(lam)).max() < 0.1


@given(L=laplacians(), text=st.sampled_from(["heat:1r", "low:0.3r:0.2r", "mexican:5r", "indicator:0:0.5r"]))
@settings(max_examples=25)
def test_filters_can_be_fitted_on_any_graph(L, text):
    if L.lmax == 0:
        text = "heat:1"
    g, info = cg.CayleyFilter.fit(L, text, 2, return_info=True)
    lam = eigenpairs(L)[0]
    target = as_target(text, L.lmax)
    matters = target.weight(lam) > 0
    error = np.abs(g.evaluate(lam) - target(lam))[matters]
    # an eigenvalue that is on the step but for rounding may be on either side of it
    assert np.sqrt(np.mean(error**2)) <= info.residual_rms + 1e-6 or text.startswith("indicator")
    assert info.residual_rms <= 0.5


def test_parameters_are_counted():
    assert design.fit_cayley("heat:2", 3, 8.0, 1.0).n_parameters == 8
    assert design.fit_cayley("heat:2", 3, 8.0, 1.0, real_coeffs=True).n_parameters == 5
    assert design.fit_chebyshev("heat:2", 3, 8.0).n_parameters == 4


def test_peak_looks_where_the_fit_had_no_weight():
    lam = np.array([1.0, 1.1, 1.2])
    fit = design.fit_chebyshev(lambda x: (x > 1.15).astype(float), 2, 10.0, lam, ridge=0)
    assert fit.residual_max < 1e-6
    assert_allclose(fit.peak, np.abs(fit.polynomial(np.linspace(0, 10, 10001))).max(), rtol=1e-2)


HEAT = design.Heat(1.0)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"target": 3.0}, TypeError, "`target` must be callable on frequencies or a text, got float"),
        ({"target": lambda lam: lam[:1]}, ValueError, "`function` must return one number for each frequency"),
        ({"order": 0}, ValueError, "`order` must be at least 1, got 0"),
        (
            {"order": 65},
            ValueError,
            "`order` of a fit must be at most 48, as its time grows with the cube",
        ),
        ({"lmax": -1.0}, ValueError, "`lmax` must be at least 0 and finite, got -1.0"),
        ({"zoom": "best"}, TypeError, "`zoom` must be a real number, got 'best'"),
        ({"zoom": 0}, ValueError, "`zoom` must be positive and finite, got 0"),
        ({"ridge": -1}, ValueError, "`ridge` must be at least 0 and finite, got -1"),
        ({"norm": "L1"}, ValueError, "`norm` must be one of 'least-squares', 'minimax', got 'L1'"),
        ({"real_coeffs": 1}, TypeError, "`real_coeffs` must be True or False, got 1"),
        ({"weight": "spectrum"}, TypeError, "`weight` must be None, a SpectralDensity, a callable or frequencies"),
        ({"weight": [[1.0]]}, ValueError, r"`weight`, if frequencies, must have shape \(n,\), got \(1, 1\)"),
        ({"weight": [1.0, 9.0]}, ValueError, "frequencies in `weight` must be within 0 and `lmax` = 8, got 9"),
        ({"weight": [np.nan]}, ValueError, "frequencies in `weight` must be within 0 and `lmax` = 8, got nan"),
        ({"weight": lambda lam: -lam}, ValueError, "`weight` must return finite numbers that are not negative"),
        ({"weight": lambda lam: 1.0}, ValueError, "`weight` must return one real number for each frequency"),
        ({"weight": lambda lam: 0 * lam}, ValueError, "`weight` must be positive somewhere"),
    ],
)
def test_what_cannot_be_is_refused(options, error, message):
    arguments = {"target": HEAT, "order": 2, "lmax": 8.0, "zoom": 1.0, "weight": None} | options
    with pytest.raises(error, match=message):
        design.fit_cayley(**arguments)


def test_unknown_weight_of_a_filter_is_refused():
    with pytest.raises(ValueError, match="`weight` must be one of 'auto', 'spectrum', 'density', 'uniform'"):
        cg.CayleyFilter.fit(cg.gallery.ring(5), "heat:1", 2, weight="all")


def test_no_lower_bound_is_claimed_where_rounding_cuts_the_basis():
    points = np.linspace(0, 0.4, 11)  # order 10 goes through all of them, but not in double precision

    def zigzag(lam):
        return np.rint(np.asarray(lam) / 0.04) % 2

    fit = design.fit_chebyshev(zigzag, 10, 8.0, points, ridge=0, norm="minimax")
    assert fit.lower_bound == 0


def test_orders_of_chebyshev_fits_have_a_ceiling():
    with pytest.raises(ValueError, match="`order` of a fit must be at most 512"):
        design.fit_chebyshev("heat:1", MAX_CHEBYSHEV_ORDER + 1, 8.0)


def test_least_squares_in_blocks_is_least_squares():
    """Many more points than a block has rows, against numpy's solution of the whole."""
    lam = np.random.default_rng(0).uniform(0, 8, 5000)
    fit = design.fit_chebyshev("mexican:1", 6, 8.0, lam, ridge=0)
    expected = np.polynomial.chebyshev.chebfit(lam / 4 - 1, design.MexicanHat(1.0)(lam), 6)
    assert_allclose(fit.polynomial.coeffs, expected, atol=1e-10)
