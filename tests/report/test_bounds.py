"""Errors and bounds of the Jacobi scheme against the dense filter."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import cayleygsp as cg
from cayleygsp.report.bounds import Needs, bound_rows, bound_table, gain_text, kappa_gap, kappa_text, needs, needs_text
from cayleygsp.report.design import compare_fits, low_pass
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
    fits = compare_fits(low_pass(result), 2, L.lmax, result.density)
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
    assert row.gain == cg.CayleyFilter(small, p).gain
    assert 0 < row.reference_bound <= 1e-10 * row.gain
    (unmeasured,) = bound_rows(small, p, [3])
    assert unmeasured.measured is None
    assert unmeasured.reference_bound is None


def test_needs_in_words_follow_the_numbers():
    needed = Needs(1e-6, None, None, 1200, 77, 13, 0.25, False)
    text = needs_text(needed)
    assert "1,200 by the sharp bound, no known number by the safe bound" in text
    assert "77 products" in text
    assert "With 13 sweeps zooms up to 0.25 are proved" in text
    assert "sweeps per power: " in text
    nothing = Needs(1e-6, None, None, None, None, 13, None, False)
    assert "no zoom is proved" in needs_text(nothing)
    assert "millions of terms" in needs_text(nothing)


@pytest.mark.parametrize("n_iter", [5, 13, 20, 80])
def test_the_zoom_that_is_written_keeps_the_error(n_iter):
    L, coeffs, atol = cg.laplacian(cg.gallery.ring(100)), [0.5, -0.25], 1e-3
    needed = needs(L, cg.CayleyPolynomial(coeffs, 1.0), atol, n_iter)
    zoom = float(re.search(r"zooms up to (\S+) are proved", needs_text(needed)).group(1))
    assert zoom == pytest.approx(needed.affordable_zoom, rel=1e-2)
    assert cg.bounds.jacobi_bound(L, cg.CayleyPolynomial(coeffs, zoom), n_iter).value <= atol


@pytest.mark.parametrize("zoom", [1e2, 1e5, 1e8, 1e12])
def test_kappa_below_one_never_reads_as_one(zoom):
    L = cg.laplacian(cg.gallery.communities(5, rng=0))
    text = kappa_text(L, zoom)
    assert text.startswith("1 − ")
    assert float(text.removeprefix("1 − ")) == pytest.approx(kappa_gap(L, zoom), rel=0.05)
    needed = needs(L, cg.CayleyPolynomial([0.5, -0.25], 1e5), 1e-3, 3)
    assert needed.n_iter == 3


def test_kappa_away_from_one_is_written_as_it_is():
    assert kappa_text(cg.laplacian(cg.gallery.ring(16)), 0.5) == "0.7071"
    assert kappa_text(cg.laplacian(cg.gallery.star(17), "normalized"), 1.0) == "2.828"
    assert kappa_text(cg.laplacian(cg.gallery.ring(6), "normalized"), 1e9) == "1 within rounding"


def test_errors_below_that_of_the_reference_do_not_read_as_measured(small):
    p = cg.CayleyPolynomial([0.5, -0.25], 0.02)
    rows = bound_rows(small, p, [1, 200], np.ones(small.n_vertices) + np.arange(small.n_vertices))
    cells = [row[2] for row in bound_table(rows).rows]
    assert re.fullmatch(r"\d\.\de-\d\d", cells[0])
    assert re.fullmatch(r"below \d\.\de-\d\d", cells[1])
    assert float(cells[1].removeprefix("below ")) >= rows[1].reference_bound


def test_bounds_are_rounded_up_in_the_table(small):
    p = cg.CayleyPolynomial([0.2, 0.3, -0.1j], 0.1)
    rows = bound_rows(small, p, [1, 9, 40])
    for row, cells in zip(rows, bound_table(rows).rows, strict=True):
        assert float(cells[3]) >= row.sharp
        assert float(cells[4]) >= row.safe
        assert float(cells[7]) >= row.series


def test_sentence_on_the_gain_counts_the_bounds_below_it(small):
    rows = bound_rows(small, cg.CayleyPolynomial([0.2, 0.3, -0.1j], 0.1), [1, 40, 400])
    below = {kind: sum(getattr(row, kind) < row.gain for row in rows) for kind in ("sharp", "safe", "paper")}
    assert 0 < below["sharp"] < 3
    text = gain_text(rows)
    assert f"of 3 rows, sharp in {below['sharp']}, safe in {below['safe']}, paper in {below['paper']}." in text
    assert gain_text(rows[:1]).endswith("Bounds below it: none in any row.")
