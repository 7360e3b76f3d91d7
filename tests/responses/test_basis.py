import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import chebyshev

import cayleygsp as cg
from cayleygsp.responses.basis import basis_coefficients, basis_size, power_basis, power_coefficients, zoom_derivative
from tests.oracle import random_polynomial

orders = st.integers(1, 15)
zooms = st.floats(-3, 2).map(lambda e: 10.0**e)


@given(order=orders, zoom=zooms, lmax=st.floats(0.01, 100), tol=st.sampled_from([1e-2, 1e-4, 1e-8, 1e-11]))
def test_series_are_within_the_error_that_they_state(order, zoom, lmax, tol):
    series = power_coefficients(order, zoom, lmax, tol=tol)
    lam = lmax * np.linspace(0, 1, 401) ** 2
    values = chebyshev.chebval(2 * lam / lmax - 1, series.coeffs.T)
    error = np.abs(values.T - power_basis(order, zoom * lam)).max()
    assert error <= series.error * (1 + 1e-9) + 1e-14
    assert series.error <= 1.2 * tol


def test_degree_is_the_smallest_that_the_tail_allows():
    tight, loose = (power_coefficients(6, 1.0, 2.0, tol=tol) for tol in (1e-12, 1e-4))
    assert loose.degree < tight.degree
    np.testing.assert_allclose(tight.coeffs[:, : loose.degree + 1], loose.coeffs, atol=1e-4)
    # one term less would leave out too much
    assert np.abs(tight.coeffs[:, loose.degree :]).sum(axis=1).max() > 0.9e-4


@given(order=orders, zoom=zooms)
def test_basis_spans_cayley_polynomials(order, zoom):
    p = random_polynomial(order, zoom, np.random.default_rng(order))
    c = p.coeffs
    weights = np.append(c[0].real, np.stack([c[1:].real, c[1:].imag], axis=1).ravel())
    lam = np.linspace(0, 5, 50)
    np.testing.assert_allclose(power_basis(order, zoom * lam) @ weights, p(lam), atol=1e-10)
    np.testing.assert_allclose(basis_coefficients(weights), c)


@pytest.mark.parametrize("real", [False, True])
def test_zoom_derivative_is_that_of_the_corrected_appendix(real):
    # dG/dh = 2 Re sum_j j c_j C^{j-1} C'(hλ) λ with C'(x) = 2i / (x + i)²
    order, h, lam = 5, 0.8, np.linspace(0, 7, 40)
    rng = np.random.default_rng(0)
    weights = rng.standard_normal(basis_size(order, real=real))
    c = basis_coefficients(weights, real=real)
    x = h * lam
    C, dC = (x - 1j) / (x + 1j), 2j / (x + 1j) ** 2
    expected = 2 * np.real(sum(j * c[j] * C ** (j - 1) * dC * lam for j in range(1, order + 1)))
    got = power_basis(order + 1, x, real=real) @ (zoom_derivative(order, real=real).T @ weights) / h
    np.testing.assert_allclose(got, expected, atol=1e-12)
    difference = cg.CayleyPolynomial(c, h + 1e-6)(lam) - cg.CayleyPolynomial(c, h - 1e-6)(lam)
    np.testing.assert_allclose(got, difference / 2e-6, atol=1e-7)


def test_real_basis_is_part_of_the_full_one():
    x = np.linspace(0, 3, 7)
    full, real = power_basis(4, x), power_basis(4, x, real=True)
    np.testing.assert_array_equal(real, full[:, [0, 1, 3, 5, 7]])
    a, b = power_coefficients(4, 1.0, 3.0, tol=1e-6), power_coefficients(4, 1.0, 3.0, tol=1e-6, real=True)
    n = min(a.coeffs.shape[1], b.coeffs.shape[1])
    np.testing.assert_allclose(b.coeffs[:, :n], a.coeffs[[0, 1, 3, 5, 7], :n], atol=1e-12)


def test_graph_without_edges_has_one_term():
    assert power_coefficients(3, 1.0, 0.0, tol=1e-4).coeffs.tolist() == power_basis(3, [0.0]).T.tolist()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((-1, 1.0, 2.0, 1e-4), ValueError, "`order` must be at least 0, got -1"),
        ((2, 0.0, 2.0, 1e-4), ValueError, "`zoom` must be positive and finite, got 0.0"),
        ((2, 1.0, -2.0, 1e-4), ValueError, "`lmax` must be at least 0 and finite, got -2.0"),
        ((2, 1.0, 2.0, 0.0), ValueError, "`tol` must be positive and finite, got 0.0"),
        ((2, 1e18, 2.0, 1e-4), ValueError, "would need about"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        power_coefficients(*arguments[:3], tol=arguments[3])
    with pytest.raises(ValueError, match="`weights` must hold 2r \\+ 1 numbers, got 2"):
        basis_coefficients([1.0, 2.0])
