import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp.responses.function import KernelResponse
from tests.oracle import dense_filter, relative_error
from tests.strategies import laplacians, tolerances

KERNELS = {
    "heat": lambda lam: np.exp(-3 * lam),
    "inverse": lambda lam: 1 / (1 + 20 * lam),
    "mexican hat": lambda lam: lam * np.exp(-lam),
    "constant": np.ones_like,
    "zero": np.zeros_like,
    "linear": lambda lam: 2 * lam - 1,
    "oscillating": lambda lam: np.sin(15 * lam),
}


@given(L=laplacians(), name=st.sampled_from(list(KERNELS)), tol=tolerances)
def test_smooth_kernels_keep_the_tolerance(L, name, tol):
    if name == "oscillating":
        L = cg.laplacian(cg.gallery.ring(12))
    f = np.random.default_rng(0).standard_normal((L.n_vertices, 2))
    expected = dense_filter(L, KERNELS[name]) @ f
    for method in ("chebyshev", "exact", "auto"):
        y, info = cg.KernelFilter(L, KERNELS[name], tol=tol, method=method).filter(f, return_info=True)
        error = relative_error(y, expected, f)
        assert (error <= info.error_bound + 1e-13 * max(1, L.lmax)).all()
        assert (error <= tol * info.gain + 1e-13 * max(1, L.lmax)).all()
        assert info.certificate == "sampled"


def test_a_step_has_no_short_series_and_says_so():
    L = cg.laplacian(cg.gallery.ring(40))
    step = cg.KernelFilter(L, lambda lam: (lam < 1.0).astype(float), tol=1e-6, method="chebyshev")
    with pytest.warns(cg.ConvergenceWarning):
        _, info = step.filter(np.eye(40, 1), return_info=True)
    assert not info.converged
    assert (info.error_bound > 0.1).all()


def test_auto_uses_the_eigenbasis_for_a_step_on_a_small_graph():
    L = cg.laplacian(cg.gallery.path(41))

    def step(lam):
        return (lam < 1.0).astype(float)

    g = cg.KernelFilter(L, step)
    assert g.method == "exact"
    assert "exact" in g.reason


@pytest.mark.parametrize(
    ("graph", "function"),
    [
        (cg.gallery.ring(12), lambda lam: (lam > 0) * 1.0),
        (cg.gallery.path(6), lambda lam: (lam <= 0) * 1.0),
        (cg.gallery.ring(12), lambda lam: (lam < 1) * 1.0),
        (cg.gallery.ring(12), np.sqrt),
        (cg.gallery.ring(6), np.sqrt),
    ],
)
def test_a_jump_at_an_eigenvalue_is_never_certified(graph, function):
    L = cg.laplacian(graph)
    f = np.eye(L.n_vertices)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)
        y, info = cg.KernelFilter(L, function, tol=1e-9, method="exact").filter(f, return_info=True)
    lam, Phi = np.linalg.eigh(L.matrix.toarray())
    lam = np.where(np.abs(lam) < 1e-12, 0.0, lam)
    for shift in (0.0, 1e-13):  # either side of the jump may be the right one
        error = relative_error(y, (Phi * function(np.round(lam, 12) + shift)) @ Phi.T @ f, f)
        assert (error <= info.error_bound).all()
    assert not info.converged


def test_a_jump_between_eigenvalues_is_certified_by_the_eigenbasis():
    L = cg.laplacian(cg.gallery.path(41))
    y, info = cg.KernelFilter(L, lambda lam: (lam < 1.003) * 1.0, tol=1e-8, method="exact").filter(
        np.eye(41), return_info=True
    )
    assert info.converged
    assert_allclose(y, dense_filter(L, lambda lam: (lam < 1.003) * 1.0), atol=1e-10)


@pytest.mark.parametrize("width", [0.02, 0.1])
def test_a_narrow_band_is_not_overlooked(width):
    L = cg.laplacian(cg.gallery.communities(rng=0))
    band = cg.KernelFilter(L, lambda lam: np.exp(-(((lam - 8) / width) ** 2)), tol=1e-6, method="chebyshev")
    f = np.random.default_rng(0).standard_normal((L.n_vertices, 2))
    y, info = band.filter(f, return_info=True)
    assert (relative_error(y, dense_filter(L, band.evaluate) @ f, f) <= info.error_bound).all()
    assert info.converged


def test_auto_refuses_a_step_on_a_large_graph():
    with pytest.raises(ValueError, match=r"not smooth enough.*method='chebyshev'"):
        cg.KernelFilter(cg.gallery.grid(50), lambda lam: np.sign(lam - 1.0))


@pytest.mark.parametrize(
    ("function", "error", "text"),
    [
        (3.0, TypeError, "`function` must be a response or a function of frequency, got float"),
        (lambda lam: 1.0, ValueError, r"`function` must return one number for each frequency: .* shape \(\)"),
        (lambda lam: 1j * lam, TypeError, "`function` must return real numbers, got dtype complex128"),
        (lambda lam: np.where(lam > 1, np.nan, lam), ValueError, "`function` must be finite on the spectrum, got nan"),
    ],
)
def test_bad_functions_are_refused_by_name(function, error, text):
    with pytest.raises(error, match=text):
        cg.KernelFilter(cg.gallery.ring(10), function)


def test_chebyshev_filter_is_equation_2_with_the_given_lmax():
    L = cg.laplacian(cg.gallery.sensor(30, rng=0))
    alpha = [0.3, -0.5, 0.2, 0.7]
    for lmax in (L.lmax, L.eigenvalues[-1], 3 * L.lmax):
        expected = dense_filter(L, lambda lam, b=lmax: np.polynomial.Chebyshev(alpha, [0, b])(lam))
        for method in ("chebyshev", "exact", "auto"):
            g = cg.ChebyshevFilter(L, alpha, lmax, method=method)
            assert_allclose(g.toarray(), expected, atol=1e-12)
    assert g.response.order == 3


@pytest.mark.parametrize("method", ["chebyshev", "exact"])
@given(L=laplacians(), seed=st.integers(0, 99), share=st.floats(0.6, 1.5))
def test_chebyshev_filter_bound_holds_even_for_a_wrong_lmax(method, L, seed, share):
    rng = np.random.default_rng(seed)
    f = rng.standard_normal((L.n_vertices, 1))
    g = cg.ChebyshevFilter(L, rng.standard_normal(8), max(share * L.lmax, 1e-3), method=method)
    y, info = g.filter(f, return_info=True)
    assert relative_error(y, dense_filter(L, g.evaluate) @ f, f) <= info.error_bound + 1e-13 * info.gain * (1 + L.lmax)


def test_a_bound_that_rests_on_lanczos_says_so():
    graph = cg.gallery.sensor(60, rng=0)
    lmax = np.linalg.eigvalsh(cg.laplacian(graph).matrix.toarray())[-1]
    alpha = np.ones(30)
    _, info = cg.ChebyshevFilter(graph, alpha, lmax).filter(np.ones(60), return_info=True)
    assert info.certificate == "estimated"
    assert info.error_bound < 1e-8
    assert cg.ChebyshevFilter(graph, alpha).filter(np.ones(60), return_info=True)[1].certificate == "proved"


def test_chebyshev_filter_far_beyond_its_interval_is_not_called_converged():
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _, info = cg.ChebyshevFilter(cg.gallery.ring(12), np.ones(200), lmax=1.0).filter(np.ones(12), return_info=True)
    assert not info.converged
    with pytest.raises(ValueError, match=r"`coeffs` must have responses of at most 1e\+305"):
        cg.ChebyshevFilter(cg.gallery.ring(12), np.ones(2000), lmax=1.0)


def test_chebyshev_filter_defaults_to_the_guaranteed_lmax_and_works_in_the_precision_of_the_signals():
    L = cg.laplacian(cg.gallery.sensor(30, rng=0))
    g = cg.ChebyshevFilter(L, [1.0, 0.5, 0.25])
    assert g.response.lmax == L.lmax
    y, info = g.filter(np.ones(30, dtype=np.float32), return_info=True)
    assert y.dtype == np.float32
    assert 1e-8 < info.error_bound < 1e-3
    assert info.n_matvecs == 2


def test_bad_chebyshev_filters_are_refused_by_name():
    ring = cg.gallery.ring(10)
    with pytest.raises(TypeError, match="`coeffs` of a Chebyshev filter must be real"):
        cg.ChebyshevFilter(ring, [1j, 2])
    with pytest.raises(ValueError, match=r"order r ≥ 1\), got 1"):
        cg.ChebyshevFilter(ring, [1.0])
    with pytest.raises(ValueError, match="`lmax` must be positive and finite, got -1"):
        cg.ChebyshevFilter(ring, [1.0, 2.0], lmax=-1)
    with pytest.raises(ValueError, match="`method` must be 'auto', 'exact' or 'chebyshev' here, got 'jacobi'"):
        cg.ChebyshevFilter(ring, [1.0, 2.0], method="jacobi")


def test_a_known_slope_makes_the_bound_a_proof():
    L = cg.laplacian(cg.gallery.sensor(60, rng=0))
    heat = KERNELS["heat"]
    f = np.random.default_rng(0).standard_normal((60, 2))
    for method, tol in (("chebyshev", 1e-4), ("exact", 1e-9)):
        y, info = cg.KernelFilter(L, heat, tol=tol, method=method, lipschitz=3.0).filter(f, return_info=True)
        assert info.certificate == "proved"
        assert info.converged
        assert (relative_error(y, dense_filter(L, heat) @ f, f) <= info.error_bound).all()


@pytest.mark.parametrize("place", [0.3, 1.7654, 3.9])
def test_a_slope_proves_that_a_narrow_spike_may_be_missed(place):
    response = KernelResponse(lambda lam: np.maximum(1 - np.abs(lam - place) * 1e5, 0.0), lipschitz=1e5)
    series = response.series(4.0, 1e-6)
    assert series.error >= np.abs(series(np.array([place])) - 1.0).max() - 1e-9


def test_breakpoints_show_a_narrow_spike():
    def spike(lam):
        return np.exp(-(((lam - 1.7654) / 1e-7) ** 2))

    L = cg.laplacian(cg.gallery.grid(50))
    assert cg.KernelFilter(L, spike, method="chebyshev").gain < 1e-6
    g = cg.KernelFilter(L, spike, method="chebyshev", breakpoints=[1.7654])
    assert g.gain == pytest.approx(1.0)
    with pytest.warns(cg.ConvergenceWarning):
        _, info = g.filter(np.eye(2500, 1), return_info=True)
    assert not info.converged
    assert (info.error_bound >= 0.9).all()


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"lipschitz": -1.0}, ValueError, "`lipschitz` must be at least 0 and finite, got -1"),
        ({"lipschitz": "3"}, TypeError, "`lipschitz` must be a real number"),
        ({"breakpoints": [1j]}, TypeError, "`breakpoints` must be real numbers"),
        ({"breakpoints": [np.nan]}, ValueError, "`breakpoints` must be finite"),
    ],
)
def test_bad_knowledge_is_refused_by_name(options, error, text):
    with pytest.raises(error, match=text):
        cg.KernelFilter(cg.gallery.ring(10), np.ones_like, **options)


def test_what_may_have_been_overlooked_is_said():
    g = cg.KernelFilter(cg.gallery.ring(30), lambda lam: np.exp(-(((lam - 1.2345) / 1e-7) ** 2)), method="chebyshev")
    info = g.filter(np.ones(30), return_info=True)[1]
    assert info.certificate == "sampled"
    assert "may have been overlooked, unless `breakpoints` name it" in info.reason
