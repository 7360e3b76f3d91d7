"""Numbers and words on decay: what is below the error of the method is not called measured."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from scipy import sparse

import cayleygsp as cg
from cayleygsp.report.localization import decay_columns, decay_numbers, decay_table, decay_text, typical_vertex


@pytest.fixture(scope="module")
def small():
    return cg.laplacian(cg.gallery.communities(rng=0))


@pytest.fixture(scope="module")
def ring_curve():
    p = cg.CayleyPolynomial([0.5, -0.25], zoom=0.1)
    curve = cg.localization.decay_curve(cg.CayleyFilter(cg.gallery.ring(128), p, method="exact"), 0)
    assert 0 < curve.mass[curve.mass > 0].min() < curve.floor
    return curve


def test_words_on_decay_follow_the_masses(small):
    curve = cg.localization.decay_curve(cg.CayleyFilter(small, cg.CayleyPolynomial([0.5, -0.25], 0.1), tol=1e-10), 0)
    k = next(hop for hop, mass in enumerate(curve.mass) if mass + curve.floor <= 0.01)
    text = decay_text(curve)
    assert text.startswith(f"Outside {k} hop{'' if k == 1 else 's'} there is at most 1 % of the norm. ")
    blurred = dataclasses.replace(curve, floor=0.5, bounds=())
    assert decay_text(blurred).startswith("The error of the method is too large to tell")
    wide = dataclasses.replace(curve, mass=np.full(curve.mass.shape, 0.02), bounds=())
    assert decay_text(wide).startswith("However many hops are taken, more than 1 % of the norm is outside.")


def test_table_shows_no_mass_below_the_floor(ring_curve):
    cells = [row[1] for row in decay_table(ring_curve).rows]
    numbers = [float(cell) for cell in cells if not cell.startswith("below ")]
    assert all(number == 0 or number > ring_curve.floor for number in numbers)
    assert [cell for cell in cells if cell.startswith("below ")]
    assert cells[-1] == "0"  # nothing is outside all hops
    assert "are not measured" in decay_text(ring_curve)


def test_numbers_have_no_mass_below_the_floor(ring_curve):
    numbers = decay_numbers(ring_curve)
    for mass, below, raw in zip(numbers["mass"], numbers["below_floor"], ring_curve.mass, strict=True):
        assert (mass is None) == below
        assert below or mass == raw
        assert below or mass == 0 or mass > ring_curve.floor
    json.dumps(numbers["mass"], allow_nan=False)


def test_columns_of_a_file_say_what_a_mass_is_below(ring_curve):
    columns = decay_columns(ring_curve)
    assert list(columns) == ["hops", "mass", "below", "theorem_4", "jacobi", "series"]
    assert {len(column) for column in columns.values()} == {ring_curve.hops.size}
    for mass, below in zip(columns["mass"], columns["below"], strict=True):
        assert (mass is None) == (below is not None)
        assert below in (None, ring_curve.floor)


def test_everything_reads_as_measured_where_it_is():
    curve = cg.localization.decay_curve(cg.ChebyshevFilter(cg.gallery.ring(12), [0.5, 0.3, 0.2]), 0)
    assert curve.resolved.all()
    assert not any(cell.startswith("below") for row in decay_table(curve).rows for cell in row)
    assert "are not measured" not in decay_text(curve)


def test_rate_below_one_never_reads_as_one(small):
    g = cg.CayleyFilter(small, cg.CayleyPolynomial([0.5, -0.25], 1e4), tol=1e-8)
    text = decay_text(cg.localization.decay_curve(g, 0))
    assert "Theorem 4 is 1 − " in text


def test_typical_vertex_is_in_the_largest_component():
    W = sparse.block_diag([cg.gallery.star(5).W, cg.gallery.star(30).W, sparse.csr_array((3, 3))], format="csr")
    L = cg.laplacian(W)
    vertex = typical_vertex(L)
    assert 5 <= vertex < 35
    assert L.degrees[vertex] == 1
