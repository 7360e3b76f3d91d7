import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from cayleygsp.responses.series import (
    ChebyshevSeries,
    chebyshev_coefficients,
    chebyshev_nodes,
    cut,
    series_from_samples,
)

coefficients = st.lists(st.floats(-1, 1), min_size=1, max_size=12).map(np.array)


@given(a=coefficients)
def test_coefficients_of_a_polynomial_are_found_exactly(a):
    nodes = chebyshev_nodes(16, 3.0)
    values = np.polynomial.Chebyshev(a, [0, 3.0])(nodes)
    found = chebyshev_coefficients(values)
    assert_allclose(found[: a.size], a, atol=1e-13)
    assert_allclose(found[a.size :], 0, atol=1e-13)


@given(a=coefficients, seed=st.integers(0, 1000))
def test_sensitivity_bounds_what_errors_in_the_recurrence_do(a, seed):
    """Disturb every step of the scalar recurrence by at most one."""
    rng = np.random.default_rng(seed)
    series = ChebyshevSeries(a, 2.0, 0.0)
    x = np.cos(np.linspace(0, np.pi, 301))
    d = rng.uniform(-1, 1, (a.size, x.size))
    t_prev, t = np.zeros_like(x), np.zeros_like(x)  # the recurrence is linear: follow the disturbances alone
    total = np.zeros_like(x)
    for k in range(1, a.size):
        step = x * t if k == 1 else 2 * x * t
        t_prev, t = t, step - t_prev + d[k]
        total += a[k] * t
    assert np.abs(total).max() <= series.sensitivity + 1e-12


@given(a=coefficients, x_max=st.floats(1.0, 1.5), seed=st.integers(0, 1000))
def test_sensitivity_beyond_the_interval_bounds_what_errors_do_there(a, x_max, seed):
    rng = np.random.default_rng(seed)
    series = ChebyshevSeries(a, 2.0, 0.0)
    x = np.linspace(-1, x_max, 301)
    t_prev, t, total = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    for k in range(1, a.size):
        size = np.cosh(k * np.arccosh(x_max))  # steps are wrong relative to their own size
        step = x * t if k == 1 else 2 * x * t
        t_prev, t = t, step - t_prev + size * rng.uniform(-1, 1, x.size)
        total += a[k] * t
    assert np.abs(total).max() <= series.sensitivity_beyond(0.0, 1 + x_max) + 1e-12


def test_truncation_is_counted():
    values = np.exp(-chebyshev_nodes(64, 4.0))
    exact = series_from_samples(values, 4.0, 0.0, beyond=0.0)
    short = series_from_samples(values, 4.0, 1e-3, beyond=0.0)
    assert short.degree < exact.degree
    lam = np.linspace(0, 4, 1000)
    assert 1e-5 < np.abs(short(lam) - np.exp(-lam)).max() <= short.error <= 1e-3


def test_series_are_cut_in_the_worst_row_to_what_the_fixed_error_leaves_or_a_tenth_of_it():
    a = np.array([[1.0, 0.5, 0.25, 0.125], [1.0, 0.25, -0.25, 0.25]])
    assert cut(a[0], 0.5, 0.0625) == (2, 0.4375)
    assert cut(a, 0.5, 0.0) == (2, 0.5)
    assert cut(a, 0.5, 0.25) == (3, 0.5)
    assert cut(a, 0.5, 1.0) == (4, 1.0)
    assert cut(a, 0.5, 2.5) == (3, 2.75)  # a tenth of 2.5 is left out
    assert cut(a, 9.0, 0.0) == (1, 0.875)  # one term is kept


def test_nodes_near_zero_are_accurate():
    n = 10**6
    assert_allclose(chebyshev_nodes(n, 1.0)[-1], (np.pi / (4 * n)) ** 2, rtol=1e-9)
