"""Arguments of Chebyshev polynomials."""

import numpy as np
import pytest

import cayleygsp as cg


@pytest.mark.parametrize("lmax", [-3, np.nan, np.inf])
def test_interval_must_be_finite_and_not_negative(lmax):
    with pytest.raises(ValueError, match=f"`lmax` must be at least 0 and finite, got {lmax}"):
        cg.ChebyshevPolynomial([1.0, 2.0], lmax=lmax)


def test_interval_must_be_a_number():
    with pytest.raises(TypeError, match="`lmax` must be a real number, got 'a'"):
        cg.ChebyshevPolynomial([1.0, 2.0], lmax="a")


def test_interval_is_stored_as_a_number():
    assert type(cg.ChebyshevPolynomial([1.0, 2.0], lmax=np.array(4)).lmax) is float


def test_on_a_graph_without_edges_coefficients_are_added_exactly():
    assert cg.ChebyshevPolynomial([1e16, 1e16, 1.0], lmax=0.0)(0.0) == 1
    y, info = cg.ChebyshevFilter(np.zeros((3, 3)), [0.1, 0.2, 0.3]).filter(np.ones(3), return_info=True)
    assert abs(y[0] - 0.2) <= info.error_bound
