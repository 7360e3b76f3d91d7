"""Sweeps and zooms that a tolerance asks for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cayleygsp as cg
from cayleygsp import bounds
from tests.strategies import cayley_polynomials, laplacians

KINDS = ("sharp", "safe", "paper")


@pytest.mark.parametrize("kind", KINDS)
@given(L=laplacians(), p=cayley_polynomials(max_order=6, max_zoom=3), log_atol=st.floats(-9, 1))
def test_number_of_sweeps_is_the_least_that_each_bound_allows(kind, L, p, log_atol):
    atol = 10**log_atol
    K = bounds.jacobi_sweeps(L, p, atol, kind)
    if K is None:
        assert kind != "sharp"
        assert bounds.kappa(L, p.zoom) * (1 + 1e-10) >= 1
        return
    assert bounds.jacobi_bound(L, p, K, kind).value <= atol * (1 + 1e-6)
    if K > 0:
        assert bounds.jacobi_bound(L, p, K - 1, kind).value > atol * (1 - 1e-6)


def test_no_number_of_sweeps_makes_the_error_zero():
    p = cg.CayleyPolynomial([1, 2], 1.0)
    assert bounds.jacobi_sweeps(cg.gallery.ring(8), p, 0.0) is None
    assert bounds.jacobi_sweeps(cg.gallery.ring(8), cg.CayleyPolynomial([1, 0], 1.0), 0.0) == 0


def test_without_edges_one_sweep_makes_the_printed_bound_zero():
    p = cg.CayleyPolynomial([1, 2], 1.0)
    assert [bounds.jacobi_sweeps(np.zeros((3, 3)), p, 0.0, kind) for kind in KINDS] == [0, 0, 1]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25)
@given(L=laplacians(), p=cayley_polynomials(max_order=4), K=st.integers(1, 40), log_atol=st.floats(-6, -1))
def test_affordable_zoom_is_the_largest_within_the_tolerance(kind, L, p, K, log_atol):
    atol = 10**log_atol
    h = bounds.affordable_zoom(L, p, K, atol, kind)
    assert h is not None

    def value(zoom):
        return bounds.jacobi_bound(L, cg.CayleyPolynomial(p.coeffs, zoom), K, kind).value

    if np.isinf(h):
        assert L.diagonal.max() == 0 or value(1e9) <= atol
    else:
        assert value(h) <= atol * (1 + 1e-9)
        assert value(1.01 * h) > atol


def test_affordable_zoom_takes_coefficients_and_knows_its_limits():
    ring = cg.gallery.ring(20)
    assert bounds.affordable_zoom(ring, [0, 1], 10, 1e-3) == bounds.affordable_zoom(
        ring, cg.CayleyPolynomial([0, 1], 7.0), 10, 1e-3
    )
    assert bounds.affordable_zoom(ring, [0, 1], 0, 1e-3, "paper") is None  # 2Mκ^0 does not depend on the zoom
    assert bounds.affordable_zoom(ring, [0, 1], 0, 3.0, "paper") == np.inf
    assert bounds.affordable_zoom(ring, [1, 0], 0, 0.0) == np.inf


def test_affordable_zoom_of_very_small_weights_is_found():
    ring = cg.gallery.ring(9)
    usual = bounds.affordable_zoom(ring, [0.5, -0.25], 5, atol=1e-3)
    small = bounds.affordable_zoom(ring.W * 1e-140, [0.5, -0.25], 5, atol=1e-3)
    assert small * 1e-140 == pytest.approx(usual, rel=1e-5)
