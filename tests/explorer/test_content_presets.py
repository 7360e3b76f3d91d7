"""The filters that a page offers."""

from __future__ import annotations

import numpy as np
import pytest

import cayleygsp as cg
from cayleygsp.explorer.content import preset_coefficients

ORDERS = (1, 2, 5, 8, 16)


def responses(name, order):
    """Return the response at even steps along the half circle, from frequency zero to infinity."""
    p = cg.CayleyPolynomial(preset_coefficients(name, order), 1.0)
    return p(np.tan(np.linspace(0, np.pi / 2, 401)[:-1]))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", ["low", "band", "high"])
def test_passes_stay_between_0_and_1(name, order):
    g = responses(name, order)
    assert g.min() >= -1e-12
    assert g.max() <= 1 + 1e-12


@pytest.mark.parametrize("order", ORDERS)
def test_low_and_high_pass_add_up_to_one_and_fall_and_rise(order):
    low, high = responses("low", order), responses("high", order)
    np.testing.assert_allclose(low + high, 1, atol=1e-12)
    assert (np.diff(low) <= 1e-4).all()  # a positive kernel leaves ripples below a thousandth
    assert low[200] == pytest.approx(0.5)


def test_passes_are_sharper_the_higher_the_order():
    for name, inside, outside in (("low", 100, 300), ("band", 200, 60), ("high", 300, 100)):
        contrast = [responses(name, order)[inside] - responses(name, order)[outside] for order in (2, 4, 8, 16)]
        assert contrast == sorted(contrast)
        assert contrast[-1] > 0.95


def test_heat_is_fitted_better_the_higher_the_order():
    x = np.tan(np.linspace(0, np.pi / 2, 401)[:-1])
    errors = [np.abs(responses("heat", order) - np.exp(-x)).max() for order in (2, 4, 8)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.01
    assert max(np.abs(preset_coefficients("heat", order)).max() for order in ORDERS) < 1
