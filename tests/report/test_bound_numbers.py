"""Errors and bounds of the Jacobi scheme against the dense filter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import cayleygsp as cg
from cayleygsp.report.bound_numbers import bound_rows, kappa_gap, needs
from cayleygsp.report.design_numbers import compare_fits, low_pass
from cayleygsp.report.frequencies import find_frequencies
from tests.oracle import dense_filter
from tests.strategies import laplacians


@pytest.fixture(scope="module")
def small():
    return cg.laplacian(cg.gallery.communities(rng=0))


def test_measured_errors_are_those_of_the_dense_filter(small):
    p = cg.CayleyPolynomial([0.2, 0.3, -0.1j], 0.1)
    f = np.random.default_rng(0).standard_normal(small.n_vertices)
    rows = bound_rows(small, p, [3, 20], f)
    reference = dense_filter(small, p) @ f
    for row in rows:
        y = cg.CayleyFilter(small, p, method="jacobi", n_iter=row.n_iter) @ f
        expected = np.linalg.norm(y - reference) / np.linalg.norm(f)
        assert row.measured == pytest.approx(expected, rel=1e-4)
        assert row.measured <= row.sharp + row.rounding
        assert row.series == pytest.approx(cg.bounds.series_bound(small, p, row.n_matvecs).value)


def test_needs_are_enough_and_least(small):
    p = cg.CayleyPolynomial([0.2, 0.3, -0.1j], 0.1)
    result = needs(small, p, 1e-4, 13)
    for kind in ("sharp", "safe"):
        K = getattr(result, kind)
        assert cg.bounds.jacobi_bound(small, p, K, kind).value <= 1e-4
        assert cg.bounds.jacobi_bound(small, p, K - 1, kind).value > 1e-4
    assert not result.every_zoom
    wider = cg.CayleyPolynomial(p.coeffs, result.affordable_zoom * 1.01)
    assert cg.bounds.jacobi_bound(small, wider, 13).value > 1e-4


@given(L=laplacians())
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_graph_has_numbers(L):
    result = find_frequencies(L)
    if L.lmax == 0:
        return
    fits = compare_fits(low_pass(result), 2, L.lmax, result.weight)
    rows = bound_rows(L, fits["Cayley"].polynomial, [1, 5], np.ones(L.n_vertices))
    assert all(row.measured <= row.sharp + row.rounding + 1e-9 for row in rows)
    needs(L, fits["Cayley"].polynomial, 1e-3, 5)


@pytest.mark.parametrize("zoom", [0.01, 1.0, 1e4, 1e7])
def test_gap_of_kappa_has_all_its_digits(zoom):
    L = cg.laplacian(cg.gallery.star(6))
    x = np.longdouble(zoom) * 5
    E = np.sqrt(x * x + 1)
    assert kappa_gap(L, zoom) == pytest.approx(float(1 / (E * (E + x))), rel=1e-14)
    assert 1 - kappa_gap(L, zoom) == pytest.approx(cg.bounds.kappa(L, zoom))


def test_gap_of_kappa_of_normalized_laplacians_is_negative_above_one_and_zero_within_rounding():
    star = cg.laplacian(cg.gallery.star(17), "normalized")
    assert kappa_gap(star, 1.0) == pytest.approx(1 - cg.bounds.kappa(star, 1.0))
    assert kappa_gap(star, 1.0) < 0
    assert kappa_gap(cg.laplacian(cg.gallery.ring(6), "normalized"), 1e9) == 0


def test_rows_hold_the_gain_and_what_the_reference_may_be_off_by(small):
    p = cg.CayleyPolynomial([0.2, 0.3, -0.1j], 0.1)
    f = np.random.default_rng(0).standard_normal(small.n_vertices)
    (row,) = bound_rows(small, p, [3], f)
    largest = np.abs(p(np.linspace(0, small.lmax, 40_001))).max()
    assert largest * (1 - 1e-9) <= row.gain <= 1.002 * largest
    assert 0 < row.reference_bound <= 1e-10 * row.gain
    (unmeasured,) = bound_rows(small, p, [3])
    assert unmeasured.measured is None
    assert unmeasured.reference_bound is None
