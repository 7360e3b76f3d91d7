"""What every response says of itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp.responses.base import Response
from cayleygsp.responses.cayley import as_cayley
from cayleygsp.responses.function import KernelResponse, as_response
from tests.strategies import cayley_polynomials

RESPONSES = {
    "cayley": cg.CayleyPolynomial([0.3, -0.5, 0.2j], 3.0),
    "chebyshev": cg.ChebyshevPolynomial([0.3, -0.5, 0.2, 0.1], 4.0),
    "short chebyshev": cg.ChebyshevPolynomial([0.3, -0.5, 0.2, 0.1], 3.0),
    "function": KernelResponse(lambda lam: np.exp(-lam)),
    "known slope": KernelResponse(lambda lam: np.exp(-lam), lipschitz=1.0),
}


@pytest.mark.parametrize("name", RESPONSES)
@pytest.mark.parametrize("lmin", [0.0, -1e-9])
def test_every_response_keeps_the_protocol(name, lmin):
    g = RESPONSES[name]
    assert isinstance(g, Response)
    assert as_response(g) is g
    lam = np.linspace(lmin, 4.0, 20_001)
    values = g.on_spectrum(lam)
    series = g.on_interval(lmin, 4.0)
    assert (series.lmin, series.lmax) == (lmin, 4.0)
    assert series.certificate == g.certificate
    assert np.abs(series(lam) - values).max() <= series.error + 1e-14
    assert g.degree_bound(4.0, 1e-4, lmin=lmin) < 1000
    slope = g.lipschitz_bound(lmin, 4.0)
    assert slope is None or np.abs(np.diff(values)).max() <= slope * (lam[1] - lam[0]) * (1 + 1e-6)
    tails = g.tails(4.0, 8, lmin=lmin)
    for degree, tail in enumerate(tails):
        cut = np.polynomial.chebyshev.chebval(2 * (lam - lmin) / (4 - lmin) - 1, series.coeffs[: degree + 1])
        assert np.abs(cut - values).max() <= tail + 1e-13


def test_only_cayley_polynomials_have_a_cayley_form():
    forms = {name: g.cayley_form for name, g in RESPONSES.items()}
    assert [name for name, form in forms.items() if form is not None] == ["cayley"]
    assert as_cayley(RESPONSES["cayley"]) is RESPONSES["cayley"]
    for other in (RESPONSES["chebyshev"], [1, 2]):
        with pytest.raises(TypeError, match="`polynomial` must be a CayleyPolynomial, got"):
            as_cayley(other)


def test_poles_are_told():
    assert_allclose(RESPONSES["cayley"].poles, [1j / 3, -1j / 3])
    assert RESPONSES["chebyshev"].poles.size == 0
    assert RESPONSES["function"].poles is None


@given(p=cayley_polynomials(max_order=6, max_zoom=1e5), log_start=st.floats(-9, -1))
def test_cayley_series_may_start_below_zero(p, log_start):
    lmin = -(10**log_start)
    if p.degree_bound(2.0, 1e-6, lmin=lmin) > 50_000:
        return
    series = p.series(2.0, 1e-6, lmin=lmin)
    lam = lmin + np.append(np.linspace(0, 2 - lmin, 500), np.geomspace(1e-12, 2 - lmin, 500))
    assert np.abs(series(lam) - p(lam)).max() <= series.error * (1 + 1e-9) + 1e-12 * np.abs(p.coeffs).sum()
