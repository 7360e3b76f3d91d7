"""Itersine, Meyer wavelets and complements: tight on the whole interval, with series that are proved."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pygsp import filters, graphs

import cayleygsp as cg
from cayleygsp.responses import Heat, Itersine, LowPass, MeyerScaling, MeyerWavelet, tight_bank
from cayleygsp.responses.complement import ComplementResponse
from tests.strategies import laplacians


@pytest.mark.parametrize("name", ["itersine", "meyer"])
@pytest.mark.parametrize("n_filters", [2, 3, 6])
def test_squares_add_up_to_one_as_in_pygsp(name, n_filters):
    lam = np.linspace(0, 7.5, 1001)
    values = np.array([g(lam) for g in tight_bank(name, n_filters, 7.5)])
    np.testing.assert_allclose((values**2).sum(axis=0), 1.0, atol=1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        G = graphs.Ring(8)
        G._lmax = 7.5
        theirs = (filters.Itersine if name == "itersine" else filters.Meyer)(G, n_filters)
    np.testing.assert_allclose(values, theirs.evaluate(lam), atol=1e-13)


@settings(max_examples=40)
@given(data=st.data(), log_tol=st.floats(-8, -1), log_scale=st.floats(-2, 2))
def test_no_point_is_farther_than_the_series_says(data, log_tol, log_scale):
    scale = 10**log_scale
    g = data.draw(
        st.sampled_from([Itersine(3 * scale, scale), Itersine(-0.1, scale), MeyerScaling(scale), MeyerWavelet(scale)])
    )
    if g.degree_bound(9.0, 10**log_tol) > 100_000:
        return
    series = g.series(9.0, 10**log_tol)
    assert series.certificate == "proved"
    assert series.error <= 10**log_tol
    lam = np.append(9 * np.random.default_rng(0).uniform(size=100) ** 2, g.places(0.0, 9.0))
    assert np.abs(series(lam) - g(lam)).max() <= series.error + 1e-15 * series.degree


@pytest.mark.parametrize("g", [Itersine(0.2, 1.0), MeyerScaling(1.0), MeyerWavelet(1.0)])
def test_variations_and_slopes_are_bounded(g):
    lam = np.linspace(0, 3, 200_001)
    derivative, step = g(lam), lam[1]
    assert np.abs(np.diff(derivative)).max() / step <= g.steepest()
    lam, step = lam[::100], 100 * step
    derivative = g(lam)
    for _ in range(g.smoothness):
        derivative = np.diff(derivative) / step
    # differences of a function are means of its derivative, whose variation is not larger
    assert np.abs(np.diff(derivative)).sum() <= g.variation()


@pytest.mark.parametrize("name", ["itersine", "meyer"])
@pytest.mark.parametrize("unit", [1e-100, 1e100])
def test_a_tight_bank_is_the_same_in_any_unit(name, unit):
    f = np.arange(36.0)
    filtered, info = cg.FilterBank.tight(cg.gallery.grid(6), name, 3, method="chebyshev").filter(f, return_info=True)
    scaled = cg.FilterBank.tight(unit * cg.gallery.grid(6).W, name, 3, method="chebyshev")
    again, scaled_info = scaled.filter(f, return_info=True)
    np.testing.assert_allclose(again, filtered, atol=1e-5 * np.linalg.norm(f))
    np.testing.assert_allclose(scaled_info.error_bound, info.error_bound, rtol=0.1)


def test_steps_far_narrower_than_the_spectrum_have_no_series():
    assert MeyerWavelet(1e100).degree_bound(8.0, 1e-6) == np.inf


@settings(max_examples=15)
@given(L=laplacians(), scale=st.floats(0.1, 50), room=st.floats(0.01, 2))
def test_a_complement_makes_a_tight_frame_and_is_proved(L, scale, room):
    parts = [Heat(scale / (L.lmax or 1.0)), 0.5 * cg.responses.MexicanHat(scale / (L.lmax or 1.0))]
    bank = cg.FilterBank(L, parts, tol=1e-8)
    whole = bank.complement((1 + room) * bank.frame_bounds()[1])
    A, B = whole.frame_bounds()
    lam = np.random.default_rng(0).uniform(0, L.lmax, 50)
    np.testing.assert_allclose((whole.evaluate(lam) ** 2).sum(axis=0), A, rtol=1e-12)
    assert A == B
    f = np.random.default_rng(0).standard_normal(L.n_vertices)
    c, info = cg.FilterBank(L, whole.responses, tol=1e-8, method="chebyshev").filter(f, return_info=True)
    assert info.certificate == "proved"
    w, Phi = np.linalg.eigh(L.matrix.toarray())
    exact = Phi @ (whole.evaluate(np.maximum(w, 0.0)).T * (Phi.T @ f)[:, None])
    error = np.linalg.norm(c - exact, axis=0)
    assert (error <= (np.asarray(info.error_bound) + 1e-12 * B) * np.linalg.norm(f)).all()
    x, info = whole.reconstruct(c, tol=1e-6, return_info=True)
    assert info.converged
    assert np.linalg.norm(x - f) <= 1e-5 * np.linalg.norm(f)


def test_a_complement_without_room_is_refused():
    bank = cg.FilterBank(cg.gallery.ring(20), [LowPass(1.0)])
    with pytest.raises(ValueError, match="bound` must be at least"):
        bank.complement(1.0)
    with pytest.raises(ValueError, match="above the sum of the squared"):
        ComplementResponse([Heat(1.0)], 0.9).series(4.0, 1e-6)
    assert ComplementResponse([Heat(1.0)], 0.9).degree_bound(4.0, 1e-6) == np.inf


@pytest.mark.parametrize("dtype", ["f4", "c8", "f8", "c16"])
def test_a_tight_frame_is_inverted_by_its_synthesis(dtype):
    bank = cg.FilterBank.tight(cg.gallery.grid(8), "meyer", 4, tol=1e-9)
    rng = np.random.default_rng(0)
    f = (rng.standard_normal((64, 2)) + (1j * rng.standard_normal((64, 2)) if dtype[0] == "c" else 0)).astype(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)  # single precision does not reach the tolerance
        x, info = bank.reconstruct(bank.filter(f), tol=1e-7, return_info=True)
    assert x.dtype == f.dtype
    assert info.certificate == "proved"
    assert np.linalg.norm(x - f) <= (1e-5 if dtype in ("f4", "c8") else 1e-7) * np.linalg.norm(f)


def test_bad_names_and_sizes_are_named():
    for call, name in [
        (lambda: tight_bank("haar", 4, 1.0), "name"),
        (lambda: tight_bank("meyer", 1, 1.0), "n_filters"),
        (lambda: tight_bank("meyer", 4, 0.0), "lmax"),
        (lambda: Itersine(np.inf, 1.0), "center"),
        (lambda: MeyerWavelet(-1.0), "scale"),
    ]:
        with pytest.raises(ValueError, match=name):
            call()


def test_filters_above_all_frequencies_are_no_burden():
    L = cg.laplacian(cg.gallery.random_regular(60, 10, rng=0))  # the certain bound is 20, and the spectrum ends at 16
    f = np.random.default_rng(0).standard_normal(60)
    c, info = cg.FilterBank.tight(L, "itersine", 8, method="chebyshev", tol=1e-4).filter(f, return_info=True)
    assert info.converged
    assert info.n_matvecs < 1000
    np.testing.assert_array_equal(info.gain, 1.0)
    assert np.linalg.norm(c[:, -1]) <= 1e-4 * np.linalg.norm(f)


def test_values_are_rounded_by_no_more_than_they_say():
    lam = np.random.default_rng(0).uniform(0.6, 2.8, 20_000)
    exact = lam.astype(np.longdouble)
    pi = np.longdouble("3.14159265358979323846")

    def angle(t):
        t = np.clip(t, 0, 1)
        return pi / 2 * t**4 * (35 - 84 * t + 70 * t**2 - 20 * t**3)

    x = (exact - 1) / np.longdouble(0.7)
    true_values = {
        MeyerScaling(1.0): np.cos(angle(1.5 * exact - 1)),
        MeyerWavelet(1.0): np.where(
            exact < np.longdouble(4) / 3, np.sin(angle(1.5 * exact - 1)), np.cos(angle(0.75 * exact - 1))
        ),
        Itersine(1.0, 0.7): np.where(np.abs(x) <= 0.5, np.sin(pi / 2 * np.cos(pi * x) ** 2), 0),
    }
    for g, values in true_values.items():
        off = np.abs(g(lam) - values).astype(np.float64) / 2**-52
        assert off.max() <= g.value_units
        assert off.max() <= g.rounding_at(lam) / 2**-52


def test_the_bound_of_the_eigenbasis_counts_the_rounding_of_values():
    w = 0.6613210316541077  # 2w lies where the step ends, and its polynomial used to cancel
    g = cg.KernelFilter(np.array([[0, w], [w, 0]]), MeyerScaling(1.0), method="exact")
    y, info = g.filter(np.array([1.0, -1.0]), return_info=True)
    t = 3 * np.longdouble(w) - 1
    true = np.cos(np.longdouble("1.57079632679489661923") * t**4 * (35 - 84 * t + 70 * t**2 - 20 * t**3))
    assert info.certificate == "proved"
    assert np.linalg.norm(y - true * np.array([1, -1])) <= info.error_bound * np.sqrt(2)
    assert info.error_bound >= MeyerScaling(1.0).rounding_at(np.array([0.0, 2 * w]))


@pytest.mark.parametrize("g", [MeyerScaling(1.0), MeyerWavelet(1.0), Itersine(np.array(1), np.array(2))])
def test_single_precision_frequencies_are_computed_with_in_double(g):
    lam = np.linspace(0.0, 1.5, 50, dtype=np.float32)
    np.testing.assert_array_equal(g(lam), g(lam.astype(np.float64)))
    assert hash(g) == hash(type(g)(*(float(v) for v in vars(g).values())))
