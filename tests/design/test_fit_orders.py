"""The least order that is enough."""

from __future__ import annotations

import pytest

from cayleygsp import design
from cayleygsp.design.fit import MAX_CAYLEY_ORDER, MAX_CHEBYSHEV_ORDER


@pytest.mark.parametrize("family", ["cayley", "chebyshev"])
def test_least_order_is_enough_and_one_less_is_not(family):
    fit = design.least_order("low:1:1", 0.05, 20.0, family=family)
    assert fit.residual_max <= 0.05
    r = fit.polynomial.order - 1
    assert r >= 1
    if family == "cayley":
        below = design.fit_cayley("low:1:1", r, 20.0, norm="minimax")
    else:
        below = design.fit_chebyshev("low:1:1", r, 20.0, norm="minimax", ridge=0)
        assert below.lower_bound > 0.05
    assert below.residual_max > 0.05


def test_narrow_low_bands_cost_chebyshev_orders_and_cayley_none():
    orders = {
        family: [design.least_order(f"low:{b}:{b}", 0.1, 10.0, family=family).polynomial.order for b in (1.0, 0.04)]
        for family in ("cayley", "chebyshev")
    }
    assert orders["cayley"][0] == orders["cayley"][1] <= 3
    # the root of 25
    assert 4 < orders["chebyshev"][1] / orders["chebyshev"][0] < 6


def test_order_that_is_not_enough_is_reported():
    with pytest.raises(ValueError, match=r"no chebyshev polynomial up to order 4 was found within 0\.001"):
        design.least_order("low:1:0.1", 1e-3, 20.0, family="chebyshev", max_order=4)
    with pytest.raises(ValueError, match=r"no cayley polynomial up to order 1 was found within 0\.001"):
        design.least_order("low:1:0.1", 1e-3, 20.0, max_order=1)


def test_the_largest_orders_are_documented():
    expected = f"{MAX_CAYLEY_ORDER} for Cayley polynomials and {MAX_CHEBYSHEV_ORDER} for Chebyshev ones"
    assert expected in " ".join(design.least_order.__doc__.split())
