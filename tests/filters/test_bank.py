import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

import cayleygsp as cg
from tests.oracle import dense_filter, eigenpairs, random_polynomial
from tests.strategies import laplacians, tolerances

ZOOMS = (0.1, 1.0, 7.0)


def responses(rng):
    return [random_polynomial(3, zoom, rng) for zoom in ZOOMS] + [lambda lam: np.exp(-lam)]


@pytest.mark.parametrize("method", ["chebyshev", "exact", "auto"])
@given(L=laplacians(), tol=tolerances)
def test_bank_equals_its_filters_one_by_one_in_one_recurrence(method, L, tol):
    rng = np.random.default_rng(0)
    bank = cg.FilterBank(L, responses(rng), tol=tol, method=method)
    f = rng.standard_normal((L.n_vertices, 2))
    y, info = bank.filter(f, return_info=True)
    assert y.shape == (L.n_vertices, 2, 4)
    for i, g in enumerate(bank):
        expected = dense_filter(L, g.evaluate) @ f
        error = np.linalg.norm(y[..., i] - expected, axis=0) / np.linalg.norm(f, axis=0)
        assert (error <= info.error_bound[i] + 1e-11 * (1 + L.lmax) * info.gain[i]).all()
    if method == "chebyshev":
        assert info.n_matvecs == max(g.filter(f, return_info=True)[1].n_matvecs for g in bank)


@pytest.mark.parametrize("method", ["chebyshev", "exact"])
def test_synthesis_is_the_adjoint_of_analysis(method):
    rng = np.random.default_rng(0)
    bank = cg.FilterBank(cg.gallery.sensor(40, rng=0), responses(rng), tol=1e-8, method=method)
    f, c = rng.standard_normal((40, 3)), rng.standard_normal((40, 3, 4))
    assert np.sum(bank.filter(f) * c) == pytest.approx(np.sum(f * bank.synthesize(c)))
    assert bank.synthesize(c).shape == (40, 3)
    assert bank.synthesize(c[:, 0]).shape == (40,)
    assert_allclose(bank.synthesize(c[:, 0]), bank.synthesize(c)[:, 0], atol=1e-12)
    complex_c = c + 1j * rng.standard_normal(c.shape)
    assert_allclose(bank.synthesize(complex_c).real, bank.synthesize(c), atol=1e-12)


def test_shapes_and_dtypes_follow_the_input():
    bank = cg.FilterBank(cg.gallery.ring(20), [cg.CayleyPolynomial([0, 1], h) for h in ZOOMS], tol=1e-4)
    assert len(bank) == 3
    assert isinstance(bank[-1], cg.CayleyFilter)
    assert len(cg.FilterBank(cg.gallery.ring(20), cg.CayleyPolynomial([0, 1], 1.0))) == 1
    with pytest.raises(TypeError, match="`index` must be an integer"):
        bank[1:]
    for index in (3, -4, np.int64(3)):
        with pytest.raises(IndexError, match=f"`index` must be between -3 and 2, got {index}"):
            bank[index]
    for dtype in (np.float32, np.float64, np.complex64, np.complex128):
        assert bank.filter(np.ones(20, dtype)).shape == (20, 3)
        assert bank.filter(np.ones((20, 1), dtype)).shape == (20, 1, 3)
        assert bank.filter(np.ones((20, 3), dtype)).shape == (20, 3, 3)
        assert bank.filter(np.ones((20, 3), dtype)).dtype == dtype
        assert bank.synthesize(np.ones((20, 3), dtype)).dtype == dtype
    assert bank.evaluate(np.zeros((4, 5))).shape == (3, 4, 5)


def test_bad_banks_are_refused_by_name():
    ring = cg.gallery.ring(20)
    with pytest.raises(ValueError, match="`responses` must hold at least one filter"):
        cg.FilterBank(ring, [])
    for bad in (3, "low:0.5"):
        with pytest.raises(TypeError, match=f"`responses` must be a response, .* got {bad!r}"):
            cg.FilterBank(ring, bad)
    with pytest.raises(TypeError, match=r"`responses\[1\]` must be a response or a function of frequency, got str"):
        cg.FilterBank(ring, [cg.responses.Heat(1.0), "low:0.5"])
    with pytest.raises(ValueError, match=r"`method` must be one of 'auto', .* got 'magic'"):
        cg.FilterBank(ring, [cg.CayleyPolynomial([0, 1], 1.0)], method="magic")
    with pytest.raises(ValueError, match="`method` must be 'auto', 'exact' or 'chebyshev' here, got 'multigrid'"):
        cg.FilterBank(ring, [cg.responses.Heat(1.0)], method="multigrid")
    bank = cg.FilterBank(ring, [cg.CayleyPolynomial([0, 1], h) for h in ZOOMS])
    with pytest.raises(ValueError, match=r"`coefficients` must have shape \(20, \[n_signals,\] 3\), got \(20, 2\)"):
        bank.synthesize(np.ones((20, 2)))
    with pytest.raises(ValueError, match=r"`coefficients` must have shape \(20, \[n_signals,\] 3\), got \(19, 3\)"):
        bank.synthesize(np.ones((19, 3)))


def test_a_bank_that_falls_short_names_the_filter():
    bank = cg.FilterBank(
        cg.gallery.ring(20), [cg.CayleyPolynomial([0, 1], h) for h in ZOOMS], tol=1e-17, method="chebyshev"
    )
    with pytest.warns(cg.ConvergenceWarning, match="the error of filter 2 is at most"):
        bank.filter(np.ones(20))


@pytest.mark.parametrize("method", ["chebyshev", "exact"])
@pytest.mark.parametrize("small", [1e-16, 1e-200, 1e-323])
@pytest.mark.parametrize("dtype", [float, complex])
def test_bands_of_very_different_sizes_are_added_on_one_scale(method, small, dtype):
    one = cg.CayleyPolynomial([1, 0], 1.0)
    bank = cg.FilterBank(cg.gallery.ring(8), [one, one], method=method)
    c = np.ones((8, 3, 2), dtype)
    c[:, 0, 1] = small
    c[:, 1, 0] = 1 / max(small, 1e-300)
    c[:, 2] = small
    y, info = bank.synthesize(c, return_info=True)
    assert_allclose(y, c.sum(axis=-1), rtol=1e-12)
    assert info.converged
    assert_allclose(bank.synthesize(c[:, 0]), 1 + small, rtol=1e-12)


def test_an_eigenvector_that_is_split_and_put_together_again_is_the_same():
    L = cg.laplacian(cg.gallery.sensor(30, rng=0))
    lam, Phi = eigenpairs(L)
    cut = (lam[14] + lam[15]) / 2
    bank = cg.FilterBank(L, [lambda x: (x < cut) * 1.0, lambda x: (x >= cut) * 1.0], method="exact")
    assert_allclose(bank.synthesize(bank.filter(Phi[:, 3])), Phi[:, 3], atol=1e-12)
    assert_allclose(bank.synthesize(bank.filter(Phi)), Phi, atol=1e-12)


@pytest.mark.parametrize("method", ["chebyshev", "exact"])
@given(L=laplacians(), tol=tolerances)
def test_bound_of_a_synthesis_is_never_below_its_error(method, L, tol):
    rng = np.random.default_rng(0)
    bank = cg.FilterBank(L, [random_polynomial(3, zoom, rng) for zoom in ZOOMS], tol=tol, method=method)
    c = rng.standard_normal((L.n_vertices, 2, 3)) * [1e3, 1.0, 1e-3]
    y, info = bank.synthesize(c, return_info=True)
    expected = sum(dense_filter(L, g.evaluate) @ c[..., i] for i, g in enumerate(bank))
    error = np.linalg.norm(y - expected, axis=0) / np.linalg.norm(c, axis=(0, 2))
    assert info.error_bound.shape == (2,)
    assert (error <= info.error_bound + 1e-11 * (1 + L.lmax) * info.gain).all()
    assert info.converged
    assert info.gain == pytest.approx(np.linalg.norm(bank.gains))
    assert np.ndim(bank.synthesize(c[:, 0], return_info=True)[1].error_bound) == 0


def test_a_synthesis_that_falls_short_warns():
    bank = cg.FilterBank(cg.gallery.ring(20), [cg.CayleyPolynomial([0, 1], h) for h in ZOOMS], tol=1e-17)
    with pytest.warns(cg.ConvergenceWarning, match="the synthesis could not certify tol=1e-17"):
        bank.synthesize(np.ones((20, 3)))


def test_what_was_chosen_is_not_said_to_be_asked_for():
    L = cg.laplacian(cg.gallery.ring(200))
    p = cg.CayleyPolynomial([0, 1], 1.0)
    assert "one recurrence for all filters" in cg.FilterBank(L, [p, p]).reason
    assert cg.FilterBank(L, [p], method="exact").reason == "asked for"
    assert "exact by eigenbasis" in cg.FilterBank(L, [p, p]).reason  # it is known now


def test_chebyshev_polynomials_are_taken_as_they_are():
    L = cg.laplacian(cg.gallery.ring(20))
    polynomials = [cg.ChebyshevPolynomial([0.5, -0.5], L.lmax), cg.ChebyshevPolynomial([0.5, 0.3, 0.2], L.lmax)]
    bank = cg.FilterBank(L, polynomials)
    f = np.random.default_rng(0).standard_normal(20)
    y, info = bank.filter(f, return_info=True)
    assert info.certificate == "proved"
    assert info.n_matvecs == 2
    assert isinstance(bank[0], cg.GraphFilter)
    assert_allclose(y[:, 1], bank[1] @ f, atol=1e-14)
    mixed = cg.FilterBank(L, [*polynomials, cg.ChebyshevPolynomial([0.5, 0.3], 2 * L.lmax)])
    y, info = mixed.filter(f, return_info=True)
    assert info.certificate == "proved"
    assert_allclose(y[:, 2], dense_filter(L, mixed.responses[2]) @ f, atol=1e-6)


def test_responses_beyond_the_range_of_numbers_are_refused_by_name():
    with pytest.raises(ValueError, match=r"`responses\[1\]` must have responses of at most 1e\+305"):
        cg.FilterBank(cg.gallery.ring(8), [cg.CayleyPolynomial([0, 1], 1.0), cg.CayleyPolynomial([1e308, 1e308], 1.0)])


@pytest.mark.parametrize("method", ["chebyshev", "exact", "auto"])
@pytest.mark.parametrize("remake", [copy.copy, copy.deepcopy, lambda bank: pickle.loads(pickle.dumps(bank))])
def test_banks_can_be_copied_and_pickled(method, remake):
    bank = cg.FilterBank(cg.gallery.ring(20), [cg.CayleyPolynomial([0, 1], h) for h in ZOOMS], method=method)
    c = np.random.default_rng(0).standard_normal((20, 3))
    again = remake(bank)
    assert_array_equal(again.synthesize(c), bank.synthesize(c))
    assert_array_equal(again.filter(c), bank.filter(c))
    assert again.reason == bank.reason


@pytest.mark.parametrize("n_signals", [1, 5])
def test_one_extreme_zoom_does_not_make_all_filters_pay(n_signals):
    L = cg.laplacian(cg.gallery.grid(50))
    rng = np.random.default_rng(0)
    polynomials = [random_polynomial(2, zoom, rng) for zoom in (0.1, 1e7, 1.0)]
    bank = cg.FilterBank(L, [*polynomials, cg.responses.Tikhonov(1e9), cg.responses.Heat(1.0)], tol=1e-5)
    f = rng.standard_normal((2500, n_signals))
    y, info = bank.filter(f, return_info=True)
    assert info.methods == bank.methods
    assert [info.methods[i] for i in (0, 2, 4)] == 3 * ["chebyshev"]
    assert "chebyshev" not in [info.methods[i] for i in (1, 3)]
    assert "chebyshev for filters 0, 2, 4" in info.reason
    assert info.converged
    assert info.certificate == "proved"
    for i, g in enumerate(bank):
        expected, one = g.filter(f, return_info=True)
        error = np.linalg.norm(y[..., i] - expected, axis=0) / np.linalg.norm(f, axis=0)
        assert (error <= info.error_bound[i] + np.max(one.error_bound)).all()
    c = rng.standard_normal((2500, n_signals, 5))
    x, info = bank.synthesize(c, return_info=True)
    assert info.converged
    assert np.sum(y * c) == pytest.approx(np.sum(f * x), abs=1e-4 * np.linalg.norm(f) * np.linalg.norm(c))
    again = pickle.loads(pickle.dumps(bank))
    assert again.methods == bank.methods
    assert_allclose(again.filter(f), y, atol=1e-5)


@pytest.mark.parametrize("method", ["auto", "exact", "chebyshev", "jacobi", "multigrid"])
def test_banks_have_every_method(method):
    L = cg.laplacian(cg.gallery.sensor(40, rng=0))
    bank = cg.FilterBank(L, [cg.CayleyPolynomial([0.5, -0.25, 0.1j], h) for h in (0.05, 0.2)], method=method, tol=1e-6)
    f = np.random.default_rng(0).standard_normal((40, 3))
    y, info = bank.filter(f, return_info=True)
    assert info.converged
    for i in range(2):
        assert_allclose(y[..., i], dense_filter(L, bank.responses[i]) @ f, atol=1e-5)
    assert np.sum(y**2) == pytest.approx(np.sum(f * bank.synthesize(y)), rel=1e-4)
    if method != "jacobi":  # which works in the precision of the signals
        assert bank.filter(f.astype(np.float32)).dtype == np.float32


def test_a_zoom_beyond_every_series_is_no_reason_to_refuse_a_bank():
    bank = cg.FilterBank(cg.gallery.ring(40), [cg.CayleyPolynomial([0.5, 0.3], 1e10)], tol=1e-3)
    f = np.random.default_rng(0).standard_normal(40)
    y, info = bank.filter(f - f.mean(), return_info=True)
    assert info.converged
    assert_allclose(y[:, 0], 1.1 * (f - f.mean()), atol=1e-3)  # all frequencies but 0 are far beyond the zoom


def test_bank_of_a_step_on_a_large_graph_is_the_best_series_with_its_error():
    graph = cg.gallery.ring(2500)  # too large for an eigenbasis
    bank = cg.FilterBank(graph, [lambda lam: (lam < 1.0) * 1.0])
    with pytest.warns(cg.ConvergenceWarning):
        y, info = bank.filter(np.ones(graph.n_vertices), return_info=True)
    assert (info.method, info.certificate, info.converged) == ("chebyshev", "sampled", False)
    assert "the best series taken" in info.reason
    assert_allclose(y[:, 0], 1.0, atol=float(info.error_bound[0]))
    assert copy.copy(bank).method == "chebyshev"


def test_each_filter_has_its_own_scale_where_numbers_are_lost():
    L, f = cg.laplacian(cg.gallery.ring(8)), np.random.default_rng(0).standard_normal(8)
    small, large = cg.responses.Heat(1.0), 1e160 * cg.responses.Heat(1.0)
    reference = dense_filter(L, small)
    with pytest.warns(cg.ConvergenceWarning):
        y, info = cg.FilterBank(L, [small, large], tol=1e-10).filter(f.astype(np.float32), return_info=True)
    x = f.astype(np.float32).astype(float)
    assert np.linalg.norm(y[:, 0] - reference @ x) <= info.error_bound[0] * np.linalg.norm(x)
    with pytest.warns(cg.ConvergenceWarning):
        y, info = cg.FilterBank(L, [1e-220 * small, small], tol=1e-7).filter(1e-100 * f, return_info=True)
    lost = np.linalg.norm(y[:, 0] * 1e200 * 1e120 - reference @ f)
    assert 1e-5 < lost / np.linalg.norm(f) <= info.error_bound[0] * 1e220
