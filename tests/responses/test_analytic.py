"""Responses that prove their own series, alone and in sums and products, against the dense eigendecomposition."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp import responses
from cayleygsp.responses.series import ChebyshevSeries
from tests.strategies import laplacians

LOGS = st.floats(-4, 4)


@st.composite
def analytic(draw, lmax=1.0):
    """One response whose scale lies anywhere within eight orders of magnitude of the spectrum's."""
    lmax = lmax or 1.0
    s = 10 ** draw(LOGS) / lmax
    kind = draw(
        st.sampled_from(["heat", "hat", "gauss", "tikhonov", "matern", "low", "high", "band", "poles", "cayley"])
    )
    if kind in ("heat", "hat"):
        return responses.Heat(s) if kind == "heat" else responses.MexicanHat(s)
    if kind == "gauss":
        return responses.Gaussian(draw(st.floats(0, 1.5)) * lmax, 10 ** draw(LOGS) * lmax)
    if kind in ("tikhonov", "matern"):
        return responses.Tikhonov(s, 1.0 if kind == "tikhonov" else draw(st.sampled_from([0.5, 2.0, 3.7])))
    cutoff = 10 ** draw(st.floats(-7, 1)) * lmax
    if kind in ("low", "high"):
        transition = cutoff * 10 ** draw(st.floats(-1.5, 0.3))
        return (responses.LowPass if kind == "low" else responses.HighPass)(cutoff, transition)
    if kind == "band":
        return responses.BandPass(cutoff, cutoff * (1 + 10 ** draw(st.floats(-1, 1))))
    if kind == "poles":
        p = complex(draw(st.floats(-1, 1.5)), 10 ** draw(st.floats(-2, 0.5))) * lmax
        r = complex(draw(st.floats(-2, 2)), draw(st.floats(-2, 2))) * abs(p.imag)
        return responses.Rational(
            [p, p.conjugate(), -cutoff], [r, r.conjugate(), cutoff], constant=draw(st.floats(-1, 1))
        )
    coeffs = draw(st.lists(st.complex_numbers(max_magnitude=2), min_size=1, max_size=4))
    return cg.CayleyPolynomial([draw(st.floats(-1, 1)), *coeffs], s)


@st.composite
def combined(draw, lmax=1.0):
    """A response, or a sum, product or power of two."""
    g, h = draw(analytic(lmax)), draw(analytic(lmax))
    return draw(st.sampled_from([g, g + h, g - 2 * h, g * h, g**2, -(g**3) / 7]))


def distance(series: ChebyshevSeries, g, points):
    """Return the largest distance of a series from its response, and what evaluating the series itself may add."""
    return np.abs(series(points) - g(points)).max(), 4e-16 * (series.degree + 10) * series.size


@settings(max_examples=100)
@given(data=st.data(), lmax=st.sampled_from([1e-2, 1.0, 37.0]), log_tol=st.floats(-12, -2), seed=st.integers(0, 99))
def test_no_point_is_farther_than_the_series_says(data, lmax, log_tol, seed):
    g = data.draw(combined(lmax))
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
    g = data.draw(combined(L.lmax))
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


def test_cayley_is_a_special_case_of_rational():
    p = cg.CayleyPolynomial([0.5, -0.3 + 0.2j, 0.05 + 0.1j, 0.2], zoom=3.0)
    q = responses.Rational.from_cayley(p)
    lam = np.linspace(0, 9, 50)
    assert_allclose(q(lam), p(lam), atol=1e-13)
    assert abs(q.series(9.0, 1e-10).degree - p.series(9.0, 1e-10).degree) <= 1


def test_a_pole_listed_twice_has_the_powers_one_and_two():
    g = responses.Rational([-1.0, -1.0], [2.0, 3.0])
    assert_allclose(g([0.0, 1.0]), [5.0, 1.75])


def test_page_rank_is_the_paper_walk():
    L = cg.laplacian(cg.gallery.path(6), "normalized")
    g = cg.KernelFilter(L, responses.page_rank(0.85), method="chebyshev", tol=1e-10)
    walk = np.eye(6) - L.matrix.toarray()
    assert_allclose(g.toarray(), 0.15 * np.linalg.inv(np.eye(6) - 0.85 * walk), atol=1e-9)


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
    from cayleygsp.responses.function import KernelResponse

    sampled = KernelResponse(lambda x: np.exp(-x))
    assert (responses.Heat(1.0) + sampled).certificate == "sampled"
    assert (responses.Heat(1.0) * responses.Heat(2.0)).certificate == "proved"
    series = (responses.Heat(1.0) - sampled).series(5.0, 1e-8)
    assert np.abs(series(np.linspace(0, 5, 50))).max() < 1e-8
