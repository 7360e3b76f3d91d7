"""Masses outside k hops against the definition, and the support of polynomial filters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import cayleygsp as cg
from cayleygsp import localization
from tests.localization.helpers import EXPONENTS, brute_force_masses
from tests.oracle import random_polynomial
from tests.strategies import cayley_polynomials, laplacians


@given(L=laplacians(), poly=cayley_polynomials(max_order=5, max_zoom=10), p=EXPONENTS, vertex=st.integers(0, 13))
def test_masses_are_those_of_the_definition(L, poly, p, vertex):
    vertex %= L.n_vertices
    g = cg.CayleyFilter(L, poly, method="exact")
    expected = brute_force_masses(g.localize(vertex), localization.hops(L, vertex), p)
    assert_allclose(localization.mass_outside(g, vertex, p), expected, rtol=1e-9, atol=1e-300)


def test_small_masses_in_high_norms_do_not_underflow():
    g = cg.ChebyshevFilter(cg.gallery.path(4), [1.0, 1e-6, 1e-12, 1e-18], lmax=4.0)
    masses = localization.mass_outside(g, 0, p=100)
    y = np.abs(g.localize(0))
    assert_allclose(masses[:3], y[1:] / y.max(), rtol=1e-9)


def test_several_vertices_have_rows_and_short_ones_stay_at_their_end():
    W = np.zeros((6, 6))
    for i in (0, 1, 2, 3):
        W[i, i + 1] = W[i + 1, i] = 1.0  # a path of five, and one alone
    g = cg.CayleyFilter(W, cg.CayleyPolynomial([0.5, -0.25], 1.0), method="exact")
    table = localization.mass_outside(g, [0, 2])
    assert table.shape == (2, 5)
    assert_allclose(table[0], localization.mass_outside(g, 0))
    assert_allclose(table[1, :3], localization.mass_outside(g, 2))
    assert_array_equal(table[1, 3:], table[1, 2])
    assert_allclose(localization.mass_outside(g, 5), [0.0], atol=1e-15)


def test_length_of_the_curve_can_be_set():
    g = cg.CayleyFilter(cg.gallery.ring(12), cg.CayleyPolynomial([0.5, -0.25], 1.0), method="exact")
    full = localization.mass_outside(g, 0)
    assert_array_equal(localization.mass_outside(g, 0, n_hops=2), full[:3])
    assert_array_equal(localization.mass_outside(g, 0, n_hops=9), np.append(full, np.zeros(3)))


def test_a_filter_that_is_zero_has_no_mass():
    g = cg.CayleyFilter(cg.gallery.ring(8), cg.CayleyPolynomial([0, 0], 1.0), method="exact")
    assert not localization.mass_outside(g, 0).any()
    curve = localization.decay_curve(g, 0)
    assert not curve.mass.any()
    assert curve.fit.n_points == 0
    assert np.isnan(curve.fit.gamma)


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
@pytest.mark.parametrize(("order", "n_iter"), [(1, 0), (1, 4), (3, 0), (3, 2), (4, 3)])
@pytest.mark.parametrize("make", [cg.gallery.path, cg.gallery.ring])
def test_jacobi_reaches_exactly_r_times_k_plus_one_hops(make, order, n_iter, kind):
    reach = localization.jacobi_support(order, n_iter)
    assert reach == order * (n_iter + 1)
    L = cg.laplacian(make(60), kind)
    p = random_polynomial(order, 0.7, np.random.default_rng(0))
    masses = localization.mass_outside(
        cg.CayleyFilter(L, p, method="jacobi", n_iter=n_iter), 30 if make(3).n_edges == 2 else 0
    )
    assert masses[reach - 1] > 0
    assert (masses[reach:] == 0).all()


@pytest.mark.parametrize("order", [1, 4, 9])
def test_chebyshev_filter_of_the_same_order_reaches_exactly_that_many_hops(order):
    L = cg.laplacian(cg.gallery.ring(40))
    g = cg.CayleyFilter(L, random_polynomial(order, 1.0, np.random.default_rng(0)), method="exact")
    other = localization.chebyshev_of_same_order(g)
    masses = localization.mass_outside(other, 0)
    assert masses[order - 1] > 0
    assert (masses[order:] == 0).all()
    nodes = np.cos((np.arange(order + 1) + 0.5) * np.pi / (order + 1)) * L.lmax / 2 + L.lmax / 2
    assert_allclose(other.evaluate(nodes), g.evaluate(nodes), atol=1e-10)


def test_chebyshev_filter_of_a_function_needs_an_order():
    heat = cg.KernelFilter(cg.gallery.ring(12), lambda lam: np.exp(-lam))
    with pytest.raises(ValueError, match="`order` must be given"):
        localization.chebyshev_of_same_order(heat)
    assert localization.chebyshev_of_same_order(heat, 3).response.order == 3
