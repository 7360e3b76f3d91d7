import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import cayleygsp as cg
from tests.strategies import cayley_polynomials, laplacians


@given(p=cayley_polynomials(), lam=st.lists(st.floats(0, 1e4), min_size=1, max_size=20))
def test_response_is_the_definition(p, lam):
    lam = np.array(lam)
    C = (p.zoom * lam - 1j) / (p.zoom * lam + 1j)
    powers = C[:, None] ** np.arange(1, p.order + 1)
    expected = p.coeffs[0].real + 2 * (powers @ p.coeffs[1:]).real
    assert_allclose(p(lam), expected, atol=1e-11)


def test_response_keeps_the_shape_and_is_real():
    p = cg.CayleyPolynomial([1, 1j, 2 - 1j], 2.0)
    assert p(3.0).shape == ()
    assert p(np.ones((2, 3, 4))).shape == (2, 3, 4)
    assert p(np.ones(3, dtype=np.float32)).dtype == np.float64
    assert p([0, 1]).dtype == np.float64


def test_transform_takes_zero_to_minus_one_and_infinity_to_one():
    assert_allclose(cg.cayley_transform([0.0, np.inf, 1.0]), [-1, 1, -1j])


def test_angles_are_those_of_the_transform_and_do_not_jump_at_zero():
    x = np.array([0.3, 2.0, 40.0])
    assert_allclose(cg.cayley_angle(x), np.angle(cg.cayley_transform(x)))
    assert_allclose(cg.cayley_angle([-1e-16, 0.0, np.inf]), [-np.pi, -np.pi, 0.0])


@given(L=laplacians(), zoom=st.floats(1e-3, 1e3))
def test_transform_of_the_laplacian_is_unitary(L, zoom):
    A = zoom * L.matrix.toarray()
    n = L.n_vertices
    C = (A - 1j * np.eye(n)) @ np.linalg.inv(A + 1j * np.eye(n))
    assert_allclose(C.conj().T @ C, np.eye(n), atol=1e-9)
    lam, Phi = np.linalg.eigh(L.matrix.toarray())
    assert_allclose((Phi * cg.cayley_transform(zoom * lam)) @ Phi.T, C, atol=1e-9 + 1e-13 * zoom * L.lmax)


@given(p=cayley_polynomials(), log_lmax=st.floats(-3, 3), tol=st.sampled_from([1e-2, 1e-6, 1e-10]))
def test_series_error_is_never_below_the_largest_distance(p, log_lmax, tol):
    lmax = 10**log_lmax
    lam = lmax * np.sort(np.concatenate([np.linspace(0, 1, 4001), np.geomspace(1e-9, 1, 2000)]))
    gain = np.abs(p(lam)).max()
    series = p.series(lmax, tol * gain)
    # chebval itself is rounded: it cannot see errors below this
    blur = 1e-15 * (np.abs(series.coeffs).sum() * series.degree**0.5 + p.zoom * lmax * np.abs(p.coeffs).sum())
    assert np.abs(series(lam) - p(lam)).max() <= series.error + blur
    assert series.error <= max(tol * gain, 1e-11 * gain)
    assert series.degree <= p.degree_bound(lmax, tol * gain) + 16


@given(p=cayley_polynomials(max_order=5, max_zoom=10))
def test_series_is_not_much_longer_than_it_must_be(p):
    lmax = 20.0
    gain = np.abs(p(np.linspace(0, lmax, 1000))).max()
    series = p.series(lmax, 1e-6 * gain)
    shorter = np.polynomial.Chebyshev(series.coeffs[: int(0.6 * series.degree)], [0, lmax])
    lam = np.linspace(0, lmax, 2000)
    assert series.degree < 3 or np.abs(shorter(lam) - p(lam)).max() > 1e-6 * gain


@pytest.mark.parametrize(
    ("coeffs", "zoom", "error", "text"),
    [
        ([1 + 0.3j, 1], 1.0, ValueError, r"`coeffs\[0\]` must be real, got imaginary part 0\.3"),
        ([1.0], 1.0, ValueError, r"at least one more \(order r ≥ 1\), got 1"),
        ([], 1.0, ValueError, "got 0 of them"),
        ([[1.0, 2.0]], 1.0, ValueError, r"`coeffs` must be one-dimensional, got shape \(1, 2\)"),
        ([1.0, np.nan], 1.0, ValueError, "`coeffs` must be finite, got nan at position 1"),
        (["a", "b"], 1.0, TypeError, "`coeffs` must be numbers"),
        ([1, 1], 0.0, ValueError, "`zoom` must be positive and finite, got 0"),
        ([1, 1], -2, ValueError, "`zoom` must be positive and finite, got -2"),
        ([1, 1], np.inf, ValueError, "`zoom` must be positive and finite, got inf"),
        ([1, 1], "big", TypeError, "`zoom` must be a real number, got 'big'"),
        ([1, 1], 1j, TypeError, "`zoom` must be a real number, got 1j"),
    ],
)
def test_bad_polynomials_are_refused_by_name(coeffs, zoom, error, text):
    with pytest.raises(error, match=text):
        cg.CayleyPolynomial(coeffs, zoom)


def test_complex_frequencies_are_refused():
    with pytest.raises(TypeError, match="`eigenvalues` must be real numbers, got dtype complex128"):
        cg.CayleyPolynomial([1, 1], 1.0)([1j])


def test_coefficients_cannot_be_changed_behind_the_filter():
    given_coeffs = np.array([1.0, 2.0])
    p = cg.CayleyPolynomial(given_coeffs, 1.0)
    given_coeffs[1] = 7.0
    assert p.coeffs[1] == 2.0
    with pytest.raises(ValueError, match="read-only"):
        p.coeffs[1] = 3.0


def test_a_zoom_beyond_every_series_points_to_multigrid():
    p = cg.CayleyPolynomial([1, 1], 1e15)
    with pytest.raises(ValueError, match="method='multigrid'"):
        p.series(10.0, 1e-6)
