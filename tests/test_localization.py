"""Masses outside k hops and their decay, against the definition and the dense eigendecomposition."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import cayleygsp as cg
from cayleygsp import bounds, localization
from tests.oracle import dense_filter, random_polynomial
from tests.strategies import cayley_polynomials, laplacians, weighted_graphs

EXPONENTS = st.sampled_from([1.0, 1.5, 2.0, 3.0, 40.0, np.inf])


def brute_force_masses(y, distance, p):
    """Return relative masses outside k hops, straight from the definition."""
    far = int(distance.max())
    outside = [y[(distance > k) | (distance < 0)] for k in range(far + 1)]
    return np.array([scaled_norm(part, p) for part in outside]) / scaled_norm(y, p)


def scaled_norm(y, p):
    """Return the p-norm, computed where powers do not underflow."""
    peak = np.abs(y).max(initial=0.0)
    return peak * np.linalg.norm(y / peak, p) if peak else 0.0


@given(W=weighted_graphs(max_vertices=20), start=st.integers(0, 19))
def test_hops_are_those_of_networkx(W, start):
    start %= len(W)
    expected = np.full(len(W), -1)
    for vertex, length in nx.single_source_shortest_path_length(nx.from_numpy_array(W), start).items():
        expected[vertex] = length
    assert_array_equal(localization.hops(W, start), expected)


def test_hops_of_a_long_path_take_as_few_passes_as_its_logarithm():
    assert_array_equal(localization.hops(cg.gallery.path(100_000), 0), np.arange(100_000))
    middle = localization.hops(cg.gallery.path(100_001), 50_000)
    assert_array_equal(middle, np.abs(np.arange(100_001) - 50_000))


def test_vertices_that_cannot_be_reached_are_minus_one():
    W = np.zeros((4, 4))
    W[0, 1] = W[1, 0] = 1
    assert_array_equal(localization.hops(W, 1), [1, 0, -1, -1])


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
    reach = order * (n_iter + 1)
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


@given(L=laplacians(), poly=cayley_polynomials(max_order=6, max_zoom=10), p=EXPONENTS, vertex=st.integers(0, 13))
def test_measured_masses_are_within_every_curve_where_it_is_proved(L, poly, p, vertex):
    vertex %= L.n_vertices
    curve = localization.decay_curve(cg.CayleyFilter(L, poly, method="exact"), vertex, p)
    y = dense_filter(L, poly)[:, vertex]
    # how far the oracle itself may be off, as a share of the norm
    slack = poly.error_weight() * (poly.zoom * L.lmax + 1) * L.n_vertices * 2**-50 / np.linalg.norm(y, p)
    slack *= L.n_vertices ** max(1 / p - 0.5, 0)
    masses = brute_force_masses(y, localization.hops(L, vertex), p)
    assert {bound.name for bound in curve.bounds} == {"jacobi", "series"} | ({"theorem 4"} if p == 2 else set())
    for bound in curve.bounds:
        assert (masses <= bound.mass * (1 + 1e-9) + 2 * slack)[bound.valid].all(), bound.name
        assert bound.name == "theorem 4" or bound.valid.all()


@settings(max_examples=30)
@given(
    L=laplacians(), poly=cayley_polynomials(max_order=5, max_zoom=10), method=st.sampled_from(["jacobi", "chebyshev"])
)
def test_masses_of_other_methods_are_within_the_curves_and_the_floor(L, poly, method):
    options = {"n_iter": 8} if method == "jacobi" else {"tol": 1e-5}
    curve = localization.decay_curve(cg.CayleyFilter(L, poly, method=method, **options), range(L.n_vertices))
    for bound in curve.bounds:
        assert (curve.mass <= bound.mass * (1 + 1e-9) + curve.floor)[bound.valid].all(), bound.name


@pytest.mark.parametrize("zoom", [0.05, 0.5, 2.0])
def test_theorem_4_has_its_constants_and_holds_at_multiples_of_the_order(zoom):
    """Of c_5 alone, for which the bound that its proof uses is broken."""
    L = cg.laplacian(cg.gallery.ring(64))
    curve = localization.decay_curve(
        cg.CayleyFilter(L, cg.CayleyPolynomial([0, 0, 0, 0, 0, 1], zoom), method="exact"), 0
    )
    theorem = curve.bound("theorem 4")
    assert theorem.gamma == pytest.approx(bounds.kappa(L, zoom) ** (1 / 5))
    assert theorem.c == pytest.approx(4 * 5 / curve.norm)
    assert_allclose(theorem.mass, theorem.c * theorem.gamma**curve.hops)
    assert theorem.valid[::5].all()
    assert (curve.mass <= theorem.mass + curve.floor)[::5].all()


@given(a=st.floats(0, 100), j=st.integers(1, 50))
def test_the_factor_that_theorem_4_has_to_spare_covers_the_powers_that_it_drops(a, j):
    assert min(1.0, (1 + a) ** j - 1) <= 2 * j * a + 1e-13


def test_theorem_4_does_not_rest_on_a_series_that_is_not_proved():
    """Between multiples of the order the paper proves nothing, and the series only on a guaranteed spectrum."""
    L = cg.laplacian(cg.gallery.random_regular(200, 3, rng=0))
    p = cg.CayleyPolynomial([0.5, 0, 0, 0, 0, 0.3], 0.03)
    estimated = L.with_lmax(L.lanczos_bound(rng=0).upper)
    assert not estimated.lmax_guaranteed
    curve = localization.decay_curve(cg.CayleyFilter(estimated, p, tol=1e-10), 0, n_hops=11)
    theorem, jacobi = curve.bound("theorem 4"), curve.bound("jacobi")
    between = curve.hops % p.order != 0
    unproved = between & (theorem.mass < np.minimum(jacobi.mass, 1.0))
    assert unproved.any()
    assert not theorem.valid[unproved].any()
    assert theorem.valid[~between].all()
    known = localization.decay_curve(cg.CayleyFilter(L, p, tol=1e-10), 0, n_hops=11)
    assert known.bound("theorem 4").valid[unproved].any()


def test_theorem_4_carries_root_n_where_degrees_differ():
    L = cg.laplacian(cg.gallery.path(25))
    g = cg.CayleyFilter(L, cg.CayleyPolynomial([0, 1, 0.5], 0.5), method="exact")
    curve = localization.decay_curve(g, 12)
    assert curve.bound("theorem 4").c == pytest.approx(4 * np.sqrt(25) * (1 + 2 * 0.5) / curve.norm)


def test_fit_recovers_an_exponential_and_leaves_out_what_is_below_the_floor():
    masses = np.append(0.3 * 0.5 ** np.arange(10), [1e-9, 3e-9, 0.0])
    fit = localization.fit_decay(masses, floor=1e-8)
    assert (fit.c, fit.gamma, fit.r_squared) == pytest.approx((0.3, 0.5, 1.0))
    assert fit.n_points == 10
    assert localization.fit_decay(masses).gamma != pytest.approx(0.5)
    assert localization.fit_decay(np.array([0.4, 0.0])).n_points == 1


def test_series_curve_has_about_the_measured_rate_and_theorem_4_has_not():
    L = cg.laplacian(cg.gallery.ring(64))
    curve = localization.decay_curve(cg.CayleyFilter(L, cg.CayleyPolynomial([0.5, -0.25], 1.0), method="exact"), 0)
    proved = localization.fit_decay(curve.bound("series").mass, 1e-10)
    assert curve.fit.gamma == pytest.approx(proved.gamma, rel=0.03)
    assert curve.bound("theorem 4").gamma > 1.5 * curve.fit.gamma
    assert curve.fit.r_squared > 0.99


def test_several_vertices_give_the_mean_of_masses_and_of_curves():
    L = cg.laplacian(cg.gallery.sensor(30, rng=0))
    g = cg.CayleyFilter(L, cg.CayleyPolynomial([0.2, 0.5, 0.3j], 0.4), method="exact")
    both = localization.decay_curve(g, [3, 7])
    one, other = (localization.decay_curve(g, m, n_hops=both.hops[-1]) for m in (3, 7))
    assert_allclose(both.mass, (one.mass + other.mass) / 2)
    for name in ("theorem 4", "jacobi", "series"):
        assert_allclose(both.bound(name).mass, (one.bound(name).mass + other.bound(name).mass) / 2)


def test_other_filters_have_only_the_curve_of_their_series():
    L = cg.laplacian(cg.gallery.grid(6))
    heat = localization.decay_curve(cg.KernelFilter(L, lambda lam: np.exp(-lam), tol=1e-10), 0)
    assert [bound.name for bound in heat.bounds] == ["series"]
    assert not heat.bound("series").valid.any()  # nothing but samples is known
    assert heat.bound("theorem 4") is None
    curve = localization.decay_curve(cg.ChebyshevFilter(L, [0.5, 0.3, 0.2]), 0)
    assert curve.bound("series").valid.all()
    assert (curve.mass <= curve.bound("series").mass * (1 + 1e-9) + curve.floor).all()
    assert (curve.bound("series").mass[2:] == 0).all()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda g: localization.hops(cg.gallery.ring(5), 5), ValueError, "`vertex` must be below"),
        (lambda g: localization.mass_outside("g", 0), TypeError, "`filter` must be a graph filter, got str"),
        (lambda g: localization.mass_outside(g, 0, p=0.5), ValueError, "`p` must be at least 1, got 0.5"),
        (lambda g: localization.mass_outside(g, 0, p=np.nan), ValueError, "`p` must be at least 1"),
        (lambda g: localization.mass_outside(g, 0, n_hops=-1), ValueError, "`n_hops` must be at least 0"),
        (lambda g: localization.mass_outside(g, []), ValueError, "`vertices` must hold at least one"),
        (lambda g: localization.mass_outside(g, 1.5), TypeError, "`vertex` must be an integer"),
        (lambda g: localization.decay_curve(g, 0, floor=-1.0), ValueError, "`floor` must not be negative"),
        (lambda g: localization.chebyshev_of_same_order(g, 0), ValueError, "`order` must be at least 1"),
    ],
)
def test_bad_arguments_are_refused(call, error, message):
    g = cg.CayleyFilter(cg.gallery.ring(5), cg.CayleyPolynomial([1, 2], 1.0))
    with pytest.raises(error, match=message):
        call(g)


def test_where_nothing_is_left_of_a_filter_there_is_nothing_to_measure():
    g = cg.KernelFilter(cg.gallery.ring(7), cg.responses.BandPass(0.036, 0.0411))
    curve = localization.decay_curve(g, 2)
    assert curve.norm == 0
    assert np.isinf(curve.floor)
    assert not curve.resolved[:-1].any()
    assert np.isinf(curve.bound("series").mass[:-1]).all()
