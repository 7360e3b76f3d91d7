"""Words and tables on bounds follow the numbers."""

from __future__ import annotations

import re

import numpy as np
import pytest

import cayleygsp as cg
from cayleygsp.report.bound_numbers import Needs, bound_rows, kappa_gap, needs
from cayleygsp.report.bound_text import bound_table, gain_text, kappa_text, needs_text


@pytest.fixture(scope="module")
def small():
    return cg.laplacian(cg.gallery.communities(rng=0))


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
