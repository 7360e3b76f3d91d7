"""Angles, resolution, the best zoom, and what an order can tell apart."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp import zoom as cgz
from tests.strategies import cayley_polynomials

frequencies = st.floats(0, 100)
zooms = st.floats(1e-2, 1e2)


def on_the_circle(p, n=4001):
    """Return the response at angles all around the circle, negative frequencies included."""
    theta = np.linspace(-np.pi, np.pi, n)
    j = np.arange(1, p.order + 1)
    return p.coeffs[0].real + 2 * (p.coeffs[1:] @ np.exp(1j * np.outer(j, theta))).real


@given(lam=st.lists(frequencies, min_size=1, max_size=8), h=st.lists(zooms, min_size=1, max_size=3))
def test_angles_are_those_of_the_cayley_transform(lam, h):
    found = cgz.angles(lam, h)
    assert found.shape == (len(h), len(lam))
    for row, zoom in zip(found, h, strict=True):
        assert_allclose(np.exp(1j * row), cg.cayley_transform(zoom * np.array(lam)), atol=1e-14)
        assert_allclose(cgz.angles(lam, zoom), row)


@given(lam=frequencies, h=zooms)
def test_resolution_is_the_derivative_of_the_angle(lam, h):
    step = 1e-4 / h
    difference = np.diff(cgz.angles([lam, lam + step], h))[0] / step
    # the derivative changes by at most 2h² times the step
    assert_allclose(difference, cgz.resolution(lam + step / 2, h), rtol=1e-3, atol=1e-9 * h)


@given(lam=st.floats(1e-3, 1e3), h=zooms)
def test_resolution_is_largest_at_the_zoom_that_is_the_inverse_of_the_frequency(lam, h):
    assert cgz.resolution(lam, h) <= cgz.resolution(lam, 1 / lam) * (1 + 1e-12)
    assert_allclose(cgz.resolution(lam, 1 / lam), 1 / lam)


@pytest.mark.filterwarnings("error")
def test_resolution_does_not_overflow():
    assert_allclose(cgz.resolution([0.0, 1.0], 1e200), [2e200, 2e-200])
    assert_allclose(cgz.resolution(np.float32([1.0, 1e30]), 1e10), [2e-10, 2e-70])
    assert_allclose(cgz.resolution([1e300], 1e300), [0.0])


@pytest.mark.parametrize("band", [(0.0, 1e-320), (1e-322, 1e-320)])
def test_band_whose_zoom_overflows_is_rejected(band):
    with pytest.raises(ValueError, match="`high` must be larger: the zoom overflows, got a band from"):
        cgz.best_zoom(*band)


def test_rounded_zero_has_the_angle_of_zero():
    assert_allclose(cgz.angles([-1e-16], [1.0, 10.0]), [[-np.pi], [-np.pi]])


@given(low=st.floats(1e-3, 10), width=st.floats(1e-3, 10), h=st.floats(1e-3, 1e3))
def test_no_zoom_spreads_a_band_more_than_the_best(low, width, h):
    band = [low, low + width]
    best = cgz.best_zoom(*band)
    assert np.ptp(cgz.angles(band, h)) <= np.ptp(cgz.angles(band, best)) + 1e-12
    assert_allclose(cgz.angles(band, best).mean(), -np.pi / 2)


@given(high=st.floats(1e-3, 1e3))
def test_band_from_zero_gets_half_of_the_half_circle(high):
    assert_allclose(cgz.angles([0.0, high], cgz.best_zoom(0.0, high)), [-np.pi, -np.pi / 2])


@given(p=cayley_polynomials(max_order=8), lam=st.tuples(frequencies, frequencies))
def test_no_polynomial_changes_faster_than_its_order_allows(p, lam):
    """The inequality of Bernstein and Szegő behind `separating_order`, over the whole circle."""
    gain = np.abs(on_the_circle(p)).max() * (1 + 1e-4)  # sampled 500 times a wave or more
    change = np.abs(np.diff(np.arcsin(p(np.array(lam)) / gain)))[0]
    distance = np.abs(np.diff(cgz.angles(lam, p.zoom)))[0]
    assert change <= p.order * distance + 1e-7


@given(first=frequencies, second=frequencies, h=zooms)
def test_least_order_is_enough(first, second, h):
    assume(abs(first - second) >= 1e-3 * (1 + h * max(first, second) ** 2))
    p = cgz.separating_polynomial(first, second, h)
    assert p.order == cgz.separating_order(first, second, h)
    assert_allclose(p([first, second]), [1, 0], atol=1e-9 * p.order)
    assert abs(p.coeffs[0]) + 2 * np.abs(p.coeffs[1:]).sum() <= 1 + 1e-12  # bounds it on the whole circle


@given(first=frequencies, second=frequencies, h=zooms)
def test_least_order_is_the_first_whose_waves_fit_into_the_angle(first, second, h):
    assume(abs(first - second) >= 1e-6 * (1 + h * max(first, second) ** 2))
    angle = np.abs(np.diff(cgz.angles([first, second], h)))[0]
    least = cgz.separating_order(first, second, h)
    assert (least - 1) * angle <= np.pi / 2 + 1e-12 * least
    assert least * angle >= np.pi / 2 - 1e-12 * least


def test_one_order_less_than_the_least_cannot_separate():
    """The largest g(θ1) with g(θ2) = 0 and |g| ≤ 1 on a grid of the circle, by linear programming."""
    from scipy.optimize import linprog

    first, second, h = 1.0, 1.5, 1.0
    least = cgz.separating_order(first, second, h)
    reached = {}
    for r in (least - 1, least):
        j = np.arange(1, r + 1)

        def basis(theta, j=j):
            angle = np.outer(theta, j)
            return np.column_stack([np.ones(len(angle)), np.cos(angle), np.sin(angle)])

        grid = basis(np.linspace(-np.pi, np.pi, 400))
        theta = cgz.angles([first, second], h)
        solved = linprog(
            -basis(theta[:1])[0],
            A_ub=np.vstack([grid, -grid]),
            b_ub=np.ones(2 * len(grid)),
            A_eq=basis(theta[1:]),
            b_eq=[0.0],
            bounds=(None, None),
        )
        reached[r] = -solved.fun
    assert reached[least - 1] < 0.999
    assert reached[least] > 1 - 1e-9


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: cgz.angles([[1.0]], 1.0), ValueError, r"`eigenvalues` must have shape \(n,\), got \(1, 1\)"),
        (lambda: cgz.angles([1.0], [1.0, 0.0]), ValueError, "`zooms` must be positive and finite, got 0.0"),
        (lambda: cgz.angles([1.0], ["a"]), TypeError, "`zooms` must be real numbers"),
        (lambda: cgz.angles([1.0], [[1.0]]), ValueError, "`zooms` must be a number or have shape"),
        (lambda: cgz.resolution([1.0], -1), ValueError, "`zoom` must be positive and finite, got -1"),
        (lambda: cgz.best_zoom(2, 1), ValueError, "`low` must be at least 0 and below `high` = 1, got 2"),
        (lambda: cgz.best_zoom(-1, 1), ValueError, "`low` must be at least 0"),
        (lambda: cgz.separating_order(1, 1, 1), ValueError, "must be different frequencies, got 1 twice"),
        (lambda: cgz.separating_order(-1, 1, 1), ValueError, "`first` must be at least 0 and finite, got -1"),
        (lambda: cgz.separating_order(1e9, 1e9 + 1e-6, 1e6), ValueError, "must differ by more than rounding"),
    ],
)
def test_what_cannot_be_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_what_overflows_or_cannot_be_told_apart_is_refused():
    with pytest.raises(ValueError, match="`zoom` times the frequencies must be finite"):
        cgz.separating_order(1e200, 2e200, zoom=1e200)
    with pytest.raises(ValueError, match="must be further apart"):
        cgz.separating_polynomial(1.0, 1.0 + 1e-13, 1.0)
