"""What every response says of itself, alone and in sums and products, against the dense eigendecomposition."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp import responses
from cayleygsp.responses.base import Response
from cayleygsp.responses.cayley import as_cayley
from cayleygsp.responses.function import KernelResponse, as_response
from cayleygsp.responses.series import ChebyshevSeries
from tests.strategies import cayley_polynomials, combined_responses, laplacians

RESPONSES = {
    "cayley": cg.CayleyPolynomial([0.3, -0.5, 0.2j], 3.0),
    "chebyshev": cg.ChebyshevPolynomial([0.3, -0.5, 0.2, 0.1], 4.0),
    "short chebyshev": cg.ChebyshevPolynomial([0.3, -0.5, 0.2, 0.1], 3.0),
    "function": KernelResponse(lambda lam: np.exp(-lam)),
    "known slope": KernelResponse(lambda lam: np.exp(-lam), lipschitz=1.0),
}


@pytest.mark.parametrize("name", RESPONSES)
@pytest.mark.parametrize("lmin", [0.0, -1e-9])
def test_every_response_keeps_the_protocol(name, lmin):
    g = RESPONSES[name]
    assert isinstance(g, Response)
    assert as_response(g) is g
    lam = np.linspace(lmin, 4.0, 20_001)
    values = g.on_spectrum(lam)
    series = g.on_interval(lmin, 4.0)
    assert (series.lmin, series.lmax) == (lmin, 4.0)
    assert series.certificate == g.certificate
    assert np.abs(series(lam) - values).max() <= series.error + 1e-14
    assert g.degree_bound(4.0, 1e-4, lmin=lmin) < 1000
    slope = g.lipschitz_bound(lmin, 4.0)
    assert slope is None or np.abs(np.diff(values)).max() <= slope * (lam[1] - lam[0]) * (1 + 1e-6)
    tails = g.tails(4.0, 8, lmin=lmin)
    for degree, tail in enumerate(tails):
        cut = np.polynomial.chebyshev.chebval(2 * (lam - lmin) / (4 - lmin) - 1, series.coeffs[: degree + 1])
        assert np.abs(cut - values).max() <= tail + 1e-13


def test_only_cayley_polynomials_have_a_cayley_form():
    forms = {name: g.cayley_form for name, g in RESPONSES.items()}
    assert [name for name, form in forms.items() if form is not None] == ["cayley"]
    assert as_cayley(RESPONSES["cayley"]) is RESPONSES["cayley"]
    for other in (RESPONSES["chebyshev"], [1, 2]):
        with pytest.raises(TypeError, match="`polynomial` must be a CayleyPolynomial, got"):
            as_cayley(other)


def test_poles_are_told():
    assert_allclose(RESPONSES["cayley"].poles, [1j / 3, -1j / 3])
    assert RESPONSES["chebyshev"].poles.size == 0
    assert RESPONSES["function"].poles is None


@given(p=cayley_polynomials(max_order=6, max_zoom=1e5), log_start=st.floats(-9, -1))
def test_cayley_series_may_start_below_zero(p, log_start):
    lmin = -(10**log_start)
    if p.degree_bound(2.0, 1e-6, lmin=lmin) > 50_000:
        return
    series = p.series(2.0, 1e-6, lmin=lmin)
    lam = lmin + np.append(np.linspace(0, 2 - lmin, 500), np.geomspace(1e-12, 2 - lmin, 500))
    assert np.abs(series(lam) - p(lam)).max() <= series.error * (1 + 1e-9) + 1e-12 * np.abs(p.coeffs).sum()


def distance(series: ChebyshevSeries, g, points):
    """Return the largest distance of a series from its response, and what evaluating the series itself may add.

    A point is scaled to [-1, 1], where it is wrong by a rounding of one: the slope times that of the interval.
    """
    slack = 4e-16 * (series.degree + 10) * series.size + 2.3e-16 * series.lmax * g.lipschitz_bound(0.0, series.lmax)
    return np.abs(series(points) - g(points)).max(), slack


@settings(max_examples=100)
@given(data=st.data(), lmax=st.sampled_from([1e-2, 1.0, 37.0]), log_tol=st.floats(-12, -2), seed=st.integers(0, 99))
def test_no_point_is_farther_than_the_series_says(data, lmax, log_tol, seed):
    g = data.draw(combined_responses(lmax))
    rng = np.random.default_rng(seed)
    points = np.concatenate([lmax * rng.uniform(size=100) ** p for p in (1, 4, 12)] + [[0.0, lmax]])
    atol = 10**log_tol * max(np.abs(g(points)).max(), 1e-200)
    if g.degree_bound(lmax, atol) > 1500:
        return
    series = g.series(lmax, atol)
    far, slack = distance(series, g, points)
    assert series.certificate == "proved"
    assert far <= series.error + slack


@settings(max_examples=60)
@given(data=st.data(), L=laplacians(), log_tol=st.floats(-12, -2))
def test_filters_keep_their_bounds_on_random_graphs(data, L, log_tol):
    g = data.draw(combined_responses(L.lmax))
    f = np.random.default_rng(0).standard_normal((L.n_vertices, 2))
    lam, Phi = np.linalg.eigh(L.matrix.toarray())
    # what is too steep for a short series is left to whatever is chosen
    steep = g.degree_bound(L.lmax, 1e-3 * 10**log_tol) > 1500
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)
        F = cg.KernelFilter(L, g, method="auto" if steep else "chebyshev", tol=10**log_tol)
        y, info = F.filter(f, return_info=True)
    exact = Phi @ (g(np.maximum(lam, 0.0))[:, None] * (Phi.T @ f))
    error = np.linalg.norm(y - exact, axis=0) / np.linalg.norm(f, axis=0)
    # the reference itself is wrong by the rounding of the decomposition times the slope
    slope = g.lipschitz_bound(0.0, L.lmax)
    slack = 1e-13 * (info.gain + L.lmax * (slope if slope is not None else 0.0))
    assert info.certificate == "proved"
    assert (error <= np.asarray(info.error_bound) + slack).all()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: responses.Rational([1.0], [1.0]), "half axis"),
        (lambda: responses.Rational([1j], [1.0]), "conjugate pairs"),
        (lambda: responses.Rational([-1.0], [1.0, 2.0]), "as many"),
        (lambda: responses.Heat(-1.0), "scale"),
        (lambda: responses.Tikhonov(0.0), "strength"),
        (lambda: responses.LowPass(1.0, 3.0), "transition"),
        (lambda: responses.BandPass(2.0, 1.0), "low"),
        (lambda: responses.Gaussian(-1.0, 1.0), "center"),
        (lambda: responses.page_rank(1.0), "damping"),
        (lambda: responses.Heat(1.0) ** 0, "power"),
    ],
)
def test_bad_parameters_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_is_no_response_is_left_to_others():
    g = responses.Heat(1.0)
    for wrong in ("text", None, 1j):
        with pytest.raises(TypeError):
            g + wrong
        with pytest.raises(TypeError):
            g * wrong
    with pytest.raises(TypeError):
        g**0.5


def test_a_sum_with_a_sampled_part_is_sampled():
    sampled = KernelResponse(lambda x: np.exp(-x))
    assert (responses.Heat(1.0) + sampled).certificate == "sampled"
    assert (responses.Heat(1.0) * responses.Heat(2.0)).certificate == "proved"
    series = (responses.Heat(1.0) - sampled).series(5.0, 1e-8)
    assert np.abs(series(np.linspace(0, 5, 50))).max() < 1e-8


def test_equal_parts_of_a_sum_are_one():
    g = responses.Heat(1.0) + 2 * responses.Heat(1.0) - responses.Heat(2.0)
    assert g.parts == (responses.Heat(1.0), responses.Heat(2.0))
    assert g.weights == (3.0, -1.0)
    assert g == 3 * responses.Heat(1.0) - responses.Heat(2.0)
    assert hash(g) == hash(-responses.Heat(2.0) + 3 * responses.Heat(1.0))
    assert responses.Heat(1.0) * responses.Tikhonov(1.0) == responses.Tikhonov(1.0) * responses.Heat(1.0)


def test_weights_are_exact_on_the_way_to_a_sum():
    H = responses.Heat(1.0)
    assert ((H + 1e17 * H) - 1e17 * H)(0.5) == H(0.5)
    assert sum((0.1 * H for _ in range(9)), start=0.1 * H).weights == (float(10 * Fraction(0.1)),)


def test_weights_of_products_may_be_tiny_one_by_one():
    s, H = 1e-200 * responses.Heat(1.0), responses.Heat(1.0)
    g = s * s * (1e300 * H) * (1e100 * H)
    assert_allclose(g([0.0, 0.5]), np.exp([0.0, -2.0]), rtol=1e-14)
    low = (1e-160 * H) * (1e-155 * H) * (1e300 * H)
    assert low.rounding_at(np.array([0.0])) < 1e-28
    assert abs(low(0.0) - 1e-15) <= low.rounding_at(np.array([0.0]))


def test_weights_beyond_the_range_of_numbers_are_refused():
    with pytest.raises(ValueError, match="`weights` must be finite"):
        1e300 * (1e300 * responses.Heat(1.0))


def test_what_underflows_is_not_certain():
    g = 1e-160 * (1e-200 * responses.Heat(1.0))
    assert g(0.0) == 0
    assert not g.is_zero
    assert g.rounding_at(np.array([0.0])) > 0
