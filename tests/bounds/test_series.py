"""Bounds of cut series against dense sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cayleygsp as cg
from cayleygsp import bounds
from cayleygsp.bounds.series import series_tails
from cayleygsp.responses.function import KernelResponse
from cayleygsp.responses.series import chebyshev_nodes
from tests.strategies import cayley_polynomials, laplacians

KINDS = ("sharp", "safe", "paper")


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
    tails, proved = series_tails(cg.laplacian(cg.gallery.ring(9)), p, 3000)
    assert proved
    assert (np.diff(tails) <= 0).all()
    assert tails[-1] < 1e-30


@pytest.mark.parametrize("lmax", [2.0, 4.0, 9.0])
def test_tail_of_a_chebyshev_filter_ends_with_its_order(lmax):
    """Also if the filter is scaled to less than the guaranteed spectrum, where coefficients say too little."""
    L = cg.laplacian(cg.gallery.ring(16))
    response = cg.ChebyshevFilter(L, [0.3, -0.2, 0.4, 0.1], lmax=lmax).response
    tails, proved = series_tails(L, response, 6)
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
    with pytest.raises(ValueError, match="the smallest bound that samples of this response give"):
        bounds.series_degree(L, heat, 1e-30)


def test_degree_of_the_zero_response_is_zero():
    assert bounds.series_degree(cg.gallery.ring(9), cg.CayleyPolynomial([0, 0], 1.0), 1e-6) == 0


def test_tails_of_series_too_long_to_compute_come_from_the_poles():
    L, p = cg.laplacian(cg.gallery.ring(9)), cg.CayleyPolynomial([0, 1], 1e13)
    tails, proved = series_tails(L, p, 5)
    assert proved
    assert (tails >= 2).all()  # nothing so short comes near a response of this zoom


def test_poles_very_far_away_leave_next_to_nothing():
    bound = bounds.series_bound(cg.gallery.ring(8), cg.CayleyPolynomial([0.5, -0.25], 1e-200), 0)
    assert bound.value < 1e-190


def test_a_function_is_taken_and_what_is_none_is_refused():
    ring = cg.gallery.ring(8)
    assert not bounds.series_bound(ring, lambda lam: np.exp(-lam), 30).valid
    assert bounds.series_degree(ring, lambda lam: np.exp(-lam), 1e-6) < 30
    with pytest.raises(TypeError, match="`response` must be a response or a function of frequency, got str"):
        bounds.series_bound(ring, "heat", 3)
