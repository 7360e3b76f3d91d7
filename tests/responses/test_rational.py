"""Responses with poles: their special cases."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp import responses


def test_cayley_is_a_special_case_of_rational():
    p = cg.CayleyPolynomial([0.5, -0.3 + 0.2j, 0.05 + 0.1j, 0.2], zoom=3.0)
    q = responses.Rational.from_cayley(p)
    lam = np.linspace(0, 9, 50)
    assert_allclose(q(lam), p(lam), atol=1e-13)
    assert abs(q.series(9.0, 1e-10).degree - p.series(9.0, 1e-10).degree) <= 1


def test_a_power_out_of_range_is_no_partial_fraction():
    assert [cg.responses.Tikhonov(1e110, nu).rational_form is None for nu in (1, 2, 3)] == [False, False, True]
    assert cg.responses.Tikhonov(1e-110, 3).rational_form is None


def test_a_pole_listed_twice_has_the_powers_one_and_two():
    g = responses.Rational([-1.0, -1.0], [2.0, 3.0])
    assert_allclose(g([0.0, 1.0]), [5.0, 1.75])


def test_page_rank_is_the_paper_walk():
    L = cg.laplacian(cg.gallery.path(6), "normalized")
    g = cg.KernelFilter(L, responses.page_rank(0.85), method="chebyshev", tol=1e-10)
    walk = np.eye(6) - L.matrix.toarray()
    assert_allclose(g.toarray(), 0.15 * np.linalg.inv(np.eye(6) - 0.85 * walk), atol=1e-9)


@pytest.mark.parametrize(
    "response",
    [responses.Tikhonov(1e16), responses.Tikhonov(1e16, 0.5), responses.Rational([-1e-16], [1e-16])],
)
def test_slopes_have_no_bound_where_the_pole_is(response):
    assert response.lipschitz_bound(-3e-16, 4.0) == np.inf
    assert response.lipschitz_bound(0.0, 4.0) == pytest.approx(1e16 * getattr(response, "power", 1.0))
