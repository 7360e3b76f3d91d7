"""Kinds and sizes of numbers: what comes in, what comes back, and what the bound says of it."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import cayleygsp as cg
from cayleygsp.filters.signals import find_peaks
from cayleygsp.pygsp_filters import Cayley
from tests.oracle import random_polynomial, refined_filter, relative_error, rounding_of_oracle
from tests.strategies import laplacians

METHODS = [
    ("exact", {}),
    ("chebyshev", {}),
    ("multigrid", {}),
    ("jacobi", {"n_iter": 6}),
    ("jacobi", {"n_iter": 6, "normalize": True}),
]
LINEAR_METHODS = METHODS[:4]
# each kind of numbers, and what they are filtered as
KINDS = {
    ">f8": "f8",
    ">c16": "c16",
    ">f4": "f4",
    ">c8": "c8",
    "<f8": "f8",
    "f2": "f4",
    ">f2": "f4",
    "i1": "f8",
    ">i4": "f8",
    "u8": "f8",
    "?": "f8",
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(50, 3), (20_000, 1), (16_385, 1), (5003, 7), (30, 5000), (2, 4001, 5), (30_000, 0)])
def test_peaks_are_the_largest_absolute_values(shape, dtype):
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    for signals in (x, np.asfortranarray(x), np.abs(x), -np.abs(x)):
        assert_array_equal(find_peaks(signals), np.abs(x).max(axis=-2))


@pytest.fixture(scope="module")
def sensor():
    return cg.laplacian(cg.gallery.sensor(50, rng=1))


@pytest.fixture(scope="module")
def low_pass():
    return cg.CayleyPolynomial([0.5, -0.25, 0.1j], 2.0)


def whole_numbers(kind, shape):
    """Return numbers that every kind can hold."""
    return np.random.default_rng(0).integers(0, 2, shape).astype(kind)


@pytest.mark.parametrize(("method", "options"), METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_byte_order_and_odd_types_are_settled_at_the_door(sensor, low_pass, method, options, kind):
    g = cg.CayleyFilter(sensor, low_pass, method=method, tol=1e-3, **options)
    f = whole_numbers(kind, (50, 2))
    native = f.astype(KINDS[kind])
    y, info = g.filter(f, return_info=True)
    expected, expected_info = g.filter(native, return_info=True)
    assert y.dtype == native.dtype
    assert y.dtype.isnative
    assert_array_equal(y, expected)
    assert_array_equal(info.error_bound, expected_info.error_bound)
    if "normalize" not in options:
        assert_array_equal(g.H @ f, g.H @ native)
        assert (g.H @ f).dtype == native.dtype


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["chebyshev", "exact"])
def test_banks_and_their_pygsp_face_take_the_same_numbers(low_pass, method, kind):
    from pygsp import graphs

    G = graphs.Sensor(50, seed=1)
    polynomials = [low_pass, cg.CayleyPolynomial([0.5, 0.25], 1.0)]
    bank, face = cg.FilterBank(G, polynomials, method=method, tol=1e-3), Cayley(G, polynomials, tol=1e-3)
    f = whole_numbers(kind, (50, 3))
    native = f.astype(KINDS[kind])
    assert_array_equal(bank.filter(f), bank.filter(native))
    assert_array_equal(face.filter(f, method=method), bank.filter(native))
    c = whole_numbers(kind, (50, 3, 2))
    assert bank.synthesize(c).dtype == KINDS[kind]
    assert_array_equal(bank.synthesize(c), bank.synthesize(c.astype(KINDS[kind])))
    assert_array_equal(face.synthesize(c, method=method), bank.synthesize(c))


@pytest.mark.parametrize("kind", [">f8", ">f4", ">i8", "f2", "longdouble"])
def test_frequencies_and_coefficients_of_any_byte_order_are_the_same_numbers(kind):
    lam = np.array([0, 1, 2, 3]).astype(kind)
    p = cg.CayleyPolynomial(np.array([1, 2]).astype(kind), 1.0)
    assert p.coeffs.dtype.isnative
    q = cg.ChebyshevPolynomial(np.array([1, 2]).astype(kind), 4.0)
    for response, same in [(p, cg.CayleyPolynomial([1.0, 2.0], 1.0)), (q, cg.ChebyshevPolynomial([1.0, 2.0], 4.0))]:
        assert_array_equal(response(lam), same([0.0, 1.0, 2.0, 3.0]))
        assert response(lam).dtype.isnative
    assert_allclose(cg.cayley_angle(lam).astype(float), cg.cayley_angle([0.0, 1.0, 2.0, 3.0]), rtol=1e-7)


def test_coefficients_beyond_double_precision_are_refused():
    with pytest.raises(ValueError, match=r"`coeffs` must be finite, got 1e\+400 at position 1"):
        cg.CayleyPolynomial(np.longdouble(10) ** np.array([0, 400]), 1.0)


@pytest.mark.parametrize(("method", "options"), METHODS)
def test_overflow_of_the_result_is_said_and_not_certified(method, options):
    """Values of ±2e38, near which no-data marks lie, times a response of up to 5 in single precision."""
    g = cg.CayleyFilter(cg.gallery.ring(12), cg.CayleyPolynomial([1, 2], 1.0), method=method, tol=1e-4, **options)
    f = np.where(np.arange(24).reshape(12, 2) % 4 < 2, 2e38, -2e38).astype(np.float32)
    f[:, 1] = 1.0
    with pytest.warns(cg.ConvergenceWarning, match="the result overflows.* range of float32"):
        y, info = g.filter(f, return_info=True)
    assert np.isinf(y[:, 0]).any()
    assert not np.isnan(y).any()
    assert not info.converged
    assert info.certificate == "none"
    assert info.error_bound[0] == np.inf
    assert np.isfinite(info.error_bound[1])
    with pytest.warns(cg.ConvergenceWarning, match="overflows"):
        g @ f
    if "normalize" not in options:
        with pytest.warns(cg.ConvergenceWarning, match="overflows"):
            g.H @ f


@pytest.mark.parametrize("method", ["chebyshev", "exact"])
def test_overflow_of_a_bank_and_of_its_synthesis_is_said_and_not_certified(method):
    bank = cg.FilterBank(cg.gallery.ring(12), 2 * [cg.CayleyPolynomial([1, 2], 1.0)], method=method)
    f = np.where(np.arange(12) % 2, 2e38, -2e38).astype(np.float32)
    with pytest.warns(cg.ConvergenceWarning, match="overflows"):
        _, info = bank.filter(f, return_info=True)
    assert not info.converged
    with pytest.warns(cg.ConvergenceWarning, match="overflows"):
        y, info = bank.synthesize(np.stack([f, f], axis=-1), return_info=True)
    assert not info.converged
    assert info.error_bound == np.inf
    assert not np.isnan(y).any()


@pytest.mark.parametrize("weight", [1e-42, 1e40])
@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
@pytest.mark.parametrize(("method", "options"), LINEAR_METHODS)
def test_weights_beyond_single_precision_do_no_harm(method, options, kind, weight):
    L = cg.laplacian(weight * cg.gallery.ring(12).W, kind)
    p = cg.CayleyPolynomial([1, 2], 1 / L.lmax)
    f = np.random.default_rng(0).standard_normal((12, 2)).astype(np.float32)
    y, info = cg.CayleyFilter(L, p, method=method, **options).filter(f, return_info=True)
    error = relative_error(y.astype(float), refined_filter(L, p, f.astype(float)), f.astype(float))
    assert (error <= info.error_bound).all()
    assert info.converged or method == "jacobi"


@pytest.mark.parametrize("size", [1e-50, 1e-42, 1e40])
@pytest.mark.parametrize(("method", "options"), LINEAR_METHODS)
def test_coefficients_beyond_single_precision_do_no_harm(method, options, size):
    p = cg.CayleyPolynomial([size, 2 * size], 1.0)
    L = cg.laplacian(cg.gallery.ring(12))
    f = (np.random.default_rng(0).standard_normal((12, 2)) / size**0.75).astype(np.float32)
    y, info = cg.CayleyFilter(L, p, method=method, **options).filter(f, return_info=True)
    error = relative_error(y.astype(float), refined_filter(L, p, f.astype(float)), f.astype(float))
    assert (error <= info.error_bound).all()
    assert info.converged or method == "jacobi"


@st.composite
def extreme_signals(draw):
    """Columns of all sizes that a type holds, subnormal ones included, in either byte order."""
    single = draw(st.booleans())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sizes = [10 ** draw(st.floats(*((-44, 38.4) if single else (-322, 308)))) for _ in range(2)]
    numbers = rng.uniform(-1, 1, (14, 2)).astype(np.longdouble) * np.array(sizes, dtype=np.longdouble)
    return numbers.astype(draw(st.sampled_from([">f4", "<f4"] if single else [">f8", "<f8"])))


def scaled_error(y, L, p, f, exponent):
    """Return the errors of each column relative to its norm times 2^exponent, in a range where nothing is lost."""
    shift = np.frexp(np.abs(f).max(axis=0))[1].astype(int)
    scaled = np.ldexp(f.astype(np.longdouble), -shift).astype(float)
    distance = np.ldexp(y.astype(np.longdouble), -shift - exponent) - refined_filter(L, p, scaled)
    norms = np.linalg.norm(scaled, axis=0)
    return np.linalg.norm(distance.astype(float), axis=0) / np.where(norms > 0, norms, 1.0)


@given(
    L=laplacians(max_vertices=14),
    f=extreme_signals(),
    zoom=st.sampled_from([0.1, 1.0, 10.0]),
    method=st.sampled_from(LINEAR_METHODS),
    exponent=st.sampled_from([0, 0, -40, 40, -130, 130, -1000, 990]),
    seed=st.integers(0, 99),
)
def test_bound_holds_for_signals_and_coefficients_of_every_size(L, f, zoom, method, exponent, seed):
    p = random_polynomial(2, zoom, np.random.default_rng(seed))
    extreme = cg.CayleyPolynomial(p.coeffs * 2.0**exponent, zoom)
    f = f[: L.n_vertices]
    g = cg.CayleyFilter(L, extreme, method=method[0], tol=1e-4, **method[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)
        y, info = g.filter(f, return_info=True)
    assert not np.isnan(y).any()
    assert not np.isnan(info.error_bound).any()
    bounds = np.ldexp(info.error_bound, -exponent)
    finite = np.isfinite(y).all(axis=0)
    assert_array_equal(np.isfinite(bounds), finite)
    error = scaled_error(y[:, finite], L, p, f[:, finite], exponent)
    assert (error <= bounds[finite] + rounding_of_oracle(L, p)).all()
    if info.converged:
        assert (error <= 1.01e-4 * np.ldexp(info.gain, -exponent) + rounding_of_oracle(L, p)).all()
        assert finite.all()


@pytest.mark.parametrize(("dtype", "size"), [(np.float32, 1e-40), (np.float64, 1e-317)])
@pytest.mark.parametrize(("method", "options"), LINEAR_METHODS)
def test_lost_digits_of_subnormal_results_are_in_the_bound(sensor, method, options, dtype, size):
    p = cg.CayleyPolynomial([0.5, -0.25], 2.0)
    f = (size * np.random.default_rng(0).standard_normal((50, 2))).astype(dtype)
    g = cg.CayleyFilter(sensor, p, method=method, tol=1e-9, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)
        y, info = g.filter(f, return_info=True)
    error = scaled_error(y, sensor, p, f, 0)
    assert (error <= info.error_bound).all()
    assert not info.converged


@pytest.mark.parametrize(("method", "options"), [*METHODS, ("auto", {})])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("shape", [(50,), (50, 1), (50, 3), (50, 50)])
def test_shape_and_dtype_follow_the_input(sensor, low_pass, method, options, dtype, shape):
    g = cg.CayleyFilter(sensor, low_pass, method=method, tol=1e-5, **options)
    f = np.ones(shape, dtype=dtype)
    y, info = g.filter(f, return_info=True)
    assert y.shape == shape
    assert y.dtype == dtype
    assert np.shape(info.error_bound) in ((), shape[1:])
    assert (g @ f).shape == shape
    assert (g @ f).dtype == dtype


@pytest.mark.parametrize(("method", "options"), [*METHODS, ("auto", {})])
def test_fortran_order_strides_and_integers_change_nothing(sensor, low_pass, method, options):
    g = cg.CayleyFilter(sensor, low_pass, method=method, tol=1e-8, **options)
    wide = np.random.default_rng(0).integers(-3, 4, (50, 8))
    f = wide[:, ::2]
    y = g.filter(f.astype(float))
    assert_allclose(g.filter(np.asfortranarray(f, dtype=float)), y, atol=1e-12)
    assert_allclose(g.filter(f), y, atol=1e-12)
    assert g.filter(f).dtype == np.float64
    assert_allclose(g.filter(f[:, 0].tolist()), y[:, 0], atol=1e-7)


@pytest.mark.parametrize(("method", "options"), [*METHODS, ("auto", {})])
def test_inputs_are_not_modified(sensor, low_pass, method, options):
    f = np.random.default_rng(0).standard_normal((50, 3))
    kept = f.copy()
    cg.CayleyFilter(sensor, low_pass, method=method, **options).filter(f)
    assert_array_equal(f, kept)


@pytest.mark.parametrize(("method", "options"), [*LINEAR_METHODS, ("auto", {})])
def test_complex_signals_are_filtered_as_two_real_ones(sensor, low_pass, method, options):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 50, 3))
    g = cg.CayleyFilter(sensor, low_pass, method=method, tol=1e-9, **options)
    assert_allclose(g @ (a + 1j * b), (g @ a) + 1j * (g @ b), atol=1e-8)


def test_zero_signals_and_empty_blocks_are_fine(sensor, low_pass):
    for method, options in [*METHODS, ("auto", {})]:
        g = cg.CayleyFilter(sensor, low_pass, method=method, **options)
        y, info = g.filter(np.zeros((50, 2)), return_info=True)
        assert_array_equal(y, 0)
        assert np.isfinite(info.error_bound).all()
        assert g.filter(np.zeros((50, 0))).shape == (50, 0)


@pytest.mark.parametrize("scale", [1e-200, 1e-24, 1e20, 1e200])
@pytest.mark.parametrize(("method", "options"), [*METHODS, ("auto", {})])
def test_extreme_scales_of_the_signal_change_nothing(sensor, low_pass, method, options, scale):
    f = np.random.default_rng(0).standard_normal((50, 2))
    g = cg.CayleyFilter(sensor, low_pass, method=method, **options)
    y, info = g.filter(f, return_info=True)
    scaled, scaled_info = g.filter(scale * f, return_info=True)
    assert_allclose(scaled / scale, y, rtol=1e-9, atol=1e-6)
    assert_allclose(scaled_info.error_bound, info.error_bound, rtol=1e-2, atol=1e-7)
    if 1e-30 < scale < 1e30:
        f32 = (scale * f).astype(np.float32)
        single, single_info = g.filter(f32, return_info=True)
        in_double, info = g.filter(f32.astype(float), return_info=True)
        assert_allclose(single.astype(float) / scale, y, atol=1e-5)
        error = relative_error(single.astype(float), in_double, f32.astype(float))
        assert (error <= single_info.error_bound + info.error_bound).all()


def test_norms_in_single_precision_are_accumulated_in_double():
    n = 300_000
    J = 2 / (2 + 1j)
    p = cg.CayleyPolynomial([0, 0.5 * np.exp(-1j * np.angle(J**4))], 1.0)
    f = np.full((n, 3), 0.7, np.float32)
    y, info = cg.CayleyFilter(cg.gallery.ring(n), p, method="jacobi", n_iter=3).filter(f, return_info=True)
    error = relative_error(y.astype(float), p(0.0) * f.astype(float), f.astype(float))
    assert (error <= info.error_bound).all()


@pytest.mark.parametrize(
    ("signals", "error", "text"),
    [
        (np.ones(49), ValueError, r"`signals` must have shape \(50,\) or \(50, n_signals\), got \(49,\)"),
        (np.ones((50, 2, 2)), ValueError, r"got \(50, 2, 2\)"),
        (np.full(50, np.nan), ValueError, r"`signals` must be finite, got nan at \[0\]"),
        (np.where(np.eye(50, 3, -4), np.inf, 0), ValueError, r"`signals` must be finite, got inf at \[4, 0\]"),
        (np.array(["a"] * 50), TypeError, "`signals` must be a dense array of real or complex numbers"),
        (
            np.ones(50, dtype=np.longdouble),
            TypeError,
            "half, single or double precision, got ndarray with dtype float128",
        ),
        (np.ones(50, dtype=np.clongdouble), TypeError, "dtype complex256"),
        (np.ones(50, dtype=object), TypeError, "dtype object"),
        ([[1.0], [1.0, 2.0]], ValueError, "`signals` must be one array of numbers"),
    ],
)
def test_bad_signals_are_refused_by_name(sensor, low_pass, signals, error, text):
    with pytest.raises(error, match=text):
        cg.CayleyFilter(sensor, low_pass).filter(signals)
