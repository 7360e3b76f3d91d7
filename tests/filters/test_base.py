"""One conformance suite for all methods, against the dense eigendecomposition."""

import copy
import inspect
import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.linalg import cg as conjugate_gradients

import cayleygsp as cg
from tests.oracle import dense_filter, random_polynomial, refined_filter, relative_error, rounding_of_oracle
from tests.strategies import cayley_polynomials, laplacians, tolerances

GALLERY = {
    "communities": lambda: cg.gallery.communities(6, rng=0),
    "grid": lambda: cg.gallery.grid(9, 7),
    "ring": lambda: cg.gallery.ring(40),
    "path": lambda: cg.gallery.path(33),
    "random regular": lambda: cg.gallery.random_regular(40, 3, rng=0),
    "sensor": lambda: cg.gallery.sensor(60, rng=0),
    "star": lambda: cg.gallery.star(30),
    "mnist": lambda: cg.gallery.mnist_grid(12),
    "no edges": lambda: cg.Graph(np.zeros((5, 5))),
    "one vertex": lambda: cg.Graph(np.zeros((1, 1))),
}
KINDS = ("combinatorial", "normalized")
METHODS = ("exact", "chebyshev", "multigrid", "auto")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", GALLERY)
def test_every_method_matches_the_dense_filter_within_its_tolerance(name, kind):
    """Every zoom with every order, and both with every tolerance in turn; random graphs have them in any mixture."""
    L = cg.laplacian(GALLERY[name](), kind)
    rng = np.random.default_rng(5)
    f = rng.standard_normal((L.n_vertices, 2))
    for i, zoom in enumerate((1e-3, 0.1, 1.0, 10.0, 1e3)):
        for j, order in enumerate((1, 4, 15)):
            p = random_polynomial(order, zoom, rng)
            expected = refined_filter(L, p, f)
            tol = (1e-2, 1e-6, 1e-10)[(i + j) % 3]
            for method in METHODS:
                _check(L, p, method, tol, f, expected)


def _check(L, p, method, tol, f, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)
        g = cg.CayleyFilter(L, p, method=method, tol=tol)
        y, info = g.filter(f, return_info=True)
    error = relative_error(y, expected, f)
    allowed = 1e-10 if method == "exact" else tol
    case = f"{L} {p} {method} tol={tol}: error {error}, bound {info.error_bound}, gain {info.gain}"
    assert (error <= allowed * info.gain + rounding_of_oracle(L, p)).all(), case
    assert (error <= info.error_bound + rounding_of_oracle(L, p)).all(), case
    assert info.converged or tol < 1e-9, case


@settings(max_examples=150)
@given(L=laplacians(), p=cayley_polynomials(), tol=tolerances, method=st.sampled_from(METHODS), seed=st.integers(0, 99))
def test_certified_bound_is_never_below_the_error_on_random_graphs(L, p, tol, method, seed):
    f = np.random.default_rng(seed).standard_normal((L.n_vertices, 1))
    _check(L, p, method, tol, f, refined_filter(L, p, f))


@given(L=laplacians(), p=cayley_polynomials(max_zoom=10), tol=tolerances)
def test_moderate_zooms_always_converge(L, p, tol):
    for method in ("chebyshev", "multigrid"):
        g = cg.CayleyFilter(L, p, method=method, tol=tol)
        if p.zoom * L.lmax < 100 or tol >= 1e-8:
            assert g.filter(np.ones(L.n_vertices), return_info=True)[1].converged


@given(L=laplacians(), p=cayley_polynomials(), K=st.integers(0, 30), normalize=st.booleans(), seed=st.integers(0, 99))
def test_jacobi_bound_is_never_below_the_error(L, p, K, normalize, seed):
    f = np.random.default_rng(seed).standard_normal((L.n_vertices, 2))
    y, info = cg.CayleyFilter(L, p, method="jacobi", n_iter=K, normalize=normalize).filter(f, return_info=True)
    error = relative_error(y, refined_filter(L, p, f), f)
    assert (error <= info.error_bound + rounding_of_oracle(L, p)).all()
    assert info.n_matvecs == p.order * (K + 1)


@given(L=laplacians(), p=cayley_polynomials(max_order=4, max_zoom=3), dtype=st.sampled_from([np.float32, np.complex64]))
def test_bound_holds_in_single_precision_too(L, p, dtype):
    rng = np.random.default_rng(0)
    f = rng.standard_normal((L.n_vertices, 2)).astype(dtype)
    f += 1j * rng.standard_normal(f.shape).astype(np.float32) if dtype == np.complex64 else 0
    expected = dense_filter(L, p) @ f.astype(np.complex128)
    for method, tol in [("chebyshev", 1e-2), ("chebyshev", 1e-6), ("exact", 1e-6), ("multigrid", 1e-6)]:
        y, info = cg.CayleyFilter(L, p, method=method, tol=tol).filter(f, return_info=True)
        assert y.dtype == dtype
        assert (relative_error(y.astype(np.complex128), expected, f) <= info.error_bound).all()
        assert info.converged
    y, info = cg.CayleyFilter(L, p, method="jacobi", n_iter=8).filter(f, return_info=True)
    assert y.dtype == dtype
    assert (relative_error(y.astype(np.complex128), expected, f) <= info.error_bound).all()


@pytest.fixture(scope="module")
def sensor():
    return cg.laplacian(cg.gallery.sensor(50, rng=1))


@pytest.fixture(scope="module")
def low_pass():
    return cg.CayleyPolynomial([0.5, -0.25, 0.1j], 2.0)


ALL_METHODS = [
    ("exact", {}),
    ("chebyshev", {}),
    ("multigrid", {}),
    ("jacobi", {"n_iter": 6}),
    ("jacobi", {"n_iter": 6, "normalize": True}),
    ("auto", {}),
]


@pytest.mark.parametrize(("method", "options"), [m for m in ALL_METHODS if "normalize" not in m[1]])
def test_filters_are_linear(sensor, low_pass, method, options):
    rng = np.random.default_rng(0)
    f1, f2 = rng.standard_normal((2, 50))
    g = cg.CayleyFilter(sensor, low_pass, method=method, tol=1e-10, **options)
    assert_allclose(g @ (2 * f1 - 3 * f2), 2 * (g @ f1) - 3 * (g @ f2), atol=1e-8)


@pytest.mark.parametrize(("method", "options"), ALL_METHODS)
def test_relabelling_the_vertices_relabels_the_output(low_pass, method, options):
    W = cg.gallery.sensor(50, rng=1).W
    rng = np.random.default_rng(0)
    order = rng.permutation(50)
    f = rng.standard_normal(50)
    y = cg.CayleyFilter(W, low_pass, method=method, tol=1e-10, **options) @ f
    relabelled = cg.CayleyFilter(W[order][:, order], low_pass, method=method, tol=1e-10, **options) @ f[order]
    assert_allclose(relabelled, y[order], atol=1e-8)


@pytest.mark.parametrize(("method", "options"), [m for m in ALL_METHODS if "normalize" not in m[1]])
@pytest.mark.parametrize("name", ["star", "path", "sensor"])
@pytest.mark.parametrize("kind", KINDS)
def test_adjoint_passes_the_dot_test(low_pass, method, options, name, kind):
    """<G u, v> = <u, G^H v>, also with complex vectors."""
    g = cg.CayleyFilter(GALLERY[name](), low_pass, method=method, tol=1e-10, kind=kind, **options)
    rng = np.random.default_rng(0)
    u, v = rng.standard_normal((2, g.n_vertices)) + 1j * rng.standard_normal((2, g.n_vertices))
    scale = np.linalg.norm(u) * np.linalg.norm(v)
    assert abs(np.vdot(g @ u, v) - np.vdot(u, g.H @ v)) <= 1e-9 * scale
    assert_allclose(g.H @ np.eye(g.n_vertices), g.toarray().T, atol=1e-8)
    assert_allclose(g.T @ np.eye(g.n_vertices), g.toarray().T, atol=1e-8)


def test_exact_filter_is_symmetric_and_the_jacobi_filter_on_a_path_is_not(low_pass):
    path = cg.gallery.path(12)
    exact = cg.CayleyFilter(path, low_pass, method="exact").toarray()
    assert_allclose(exact, exact.T, atol=1e-13)
    jacobi = cg.CayleyFilter(path, low_pass, method="jacobi", n_iter=2).toarray()
    assert np.abs(jacobi - jacobi.T).max() > 1e-3


def test_scipy_operator_algebra_and_krylov_solvers_work(sensor):
    p = cg.CayleyPolynomial([2.0, -0.5], 1.0)
    g = cg.CayleyFilter(sensor, p, method="chebyshev", tol=1e-10)
    f = np.random.default_rng(0).standard_normal(50)
    assert_allclose((2 * g + g * g) @ f, 2 * (g @ f) + g @ (g @ f), atol=1e-8)
    x, failed = conjugate_gradients(g, g @ f, rtol=1e-10)
    assert failed == 0
    assert_allclose(x, f, atol=1e-8)


def test_localize_toarray_and_evaluate_agree(sensor, low_pass):
    g = cg.CayleyFilter(sensor, low_pass, tol=1e-10)
    assert_allclose(g.localize(7), g.toarray()[:, 7], atol=1e-9)
    assert_allclose(g.toarray(), dense_filter(sensor, g.evaluate), atol=1e-9)


def test_auto_takes_the_series_for_small_zooms_a_factorisation_on_grids_and_multigrid_elsewhere():
    L = cg.laplacian(cg.gallery.grid(60))
    rng = np.random.default_rng(0)
    f = rng.standard_normal(L.n_vertices)
    for zoom, expected in [(0.5, "chebyshev"), (1e5, "exact")]:
        p = random_polynomial(3, zoom, rng)
        _, info = cg.CayleyFilter(L, p, tol=1e-5).filter(f, return_info=True)
        assert info.method == expected
        assert expected in info.reason
        assert info.converged
    L = cg.laplacian(cg.gallery.random_regular(4000, 12, rng=0))
    p = random_polynomial(3, 1e6, rng)
    _, info = cg.CayleyFilter(L, p, tol=1e-4).filter(rng.standard_normal(4000), return_info=True)
    assert info.method == "multigrid"
    assert info.converged


def test_auto_reaches_a_large_zoom_on_ten_thousand_vertices_where_jacobi_is_hopeless():
    graph = cg.gallery.communities(15, n_vertices=10_000, p_in=0.02, p_out=1e-4, rng=0)
    L = cg.laplacian(graph)
    p = cg.CayleyPolynomial([0.5, -0.3, 0.1 + 0.1j, -0.05], 10.0)
    f = np.random.default_rng(0).standard_normal(10_000)
    y, info = cg.CayleyFilter(L, p, tol=1e-6).filter(f, return_info=True)
    assert info.converged
    assert info.error_bound <= 1e-6 * info.gain
    other = cg.CayleyFilter(L, p, method="multigrid", tol=1e-9).filter(f)
    assert np.linalg.norm(y - other) <= 1.01e-6 * info.gain * np.linalg.norm(f)
    with pytest.raises(ValueError, match=r"`tol` = 1e-06 would take Jacobi about .* sweeps.*method='chebyshev'"):
        cg.CayleyFilter(L, p, method="jacobi", tol=1e-6)
    assert cg.bounds.jacobi_sweeps(L, p, 1e-6 * info.gain) > 20_000


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("coeffs", [[0, 0], [2.0, 0], [1e-300, 1e-300], [1e300, 1e300], np.ones(501)])
def test_degenerate_coefficients_are_filtered_like_others(sensor, method, coeffs):
    p = cg.CayleyPolynomial(coeffs, 0.5)
    f = np.random.default_rng(0).standard_normal((50, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)
        y = cg.CayleyFilter(sensor, p, method=method).filter(f)
    scale = np.abs(p.coeffs).sum()
    assert_allclose(y / max(scale, 1e-300), dense_filter(sensor, p) @ f / max(scale, 1e-300), atol=1e-5)


@pytest.mark.parametrize("zoom", [1e-300, 1e11, 1e14])
def test_auto_finds_a_way_at_every_zoom(zoom):
    for n in (12, 3000):
        g = cg.CayleyFilter(cg.gallery.ring(n), cg.CayleyPolynomial([0.5, 0.3j], zoom), tol=1e-2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cg.ConvergenceWarning)
            y, info = g.filter(np.ones(n), return_info=True)
        # the constant signal has the frequency 0 and the response 0.5
        assert np.linalg.norm(y - g.evaluate(0.0)) <= info.error_bound * np.sqrt(n)


def test_auto_does_not_prepare_what_is_predicted_to_be_far_too_slow(monkeypatch):
    def refuse(*_):
        raise AssertionError("a factorisation was started")

    monkeypatch.setattr("cayleygsp.methods.choice.Factors", refuse)
    graph = cg.gallery.random_regular(6000, 8, rng=0)
    assert cg.CayleyFilter(graph, cg.CayleyPolynomial([0.5, -0.3], 100.0), tol=1e-15).method != "exact"


def test_wide_ranges_of_weights_are_fine():
    rng = np.random.default_rng(0)
    W = np.triu(10 ** rng.uniform(-8, 8, (12, 12)), 1)
    f = rng.standard_normal((12, 2))
    for scale in (1.0, 1e-310, 1e290):
        L = cg.laplacian(scale * (W + W.T), "normalized")
        p = cg.CayleyPolynomial([0.5, 0.3j], 3.0)
        y, info = cg.CayleyFilter(L, p).filter(f, return_info=True)
        assert (relative_error(y, dense_filter(L, p) @ f, f) <= info.error_bound + 1e-13).all()
    with pytest.raises(ValueError, match="`graph` must have finite degrees"):
        cg.laplacian(np.full((3, 3), 1e308))


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"method": "magic"}, ValueError, "`method` must be one of 'auto', .* got 'magic'"),
        ({"tol": 0}, ValueError, "`tol` must be positive and finite, got 0"),
        ({"tol": None}, TypeError, "`tol` must be a real number, got None"),
        ({"method": "jacobi", "n_iter": -1}, ValueError, "`n_iter` must be at least 0, got -1"),
        ({"method": "jacobi", "n_iter": 1.5}, TypeError, r"`n_iter` must be an integer, got 1\.5"),
        ({"method": "exact", "n_iter": 3}, ValueError, "`n_iter` and `normalize` belong to method='jacobi'"),
        ({"method": "jacobi", "normalize": "no"}, TypeError, "`normalize` must be True or False, got 'no'"),
        ({"polynomial": [1, 2]}, TypeError, "`polynomial` must be a CayleyPolynomial, got list"),
        ({"graph": np.ones((2, 3))}, ValueError, r"`graph` .*\(2, 3\)"),
        ({"graph": np.zeros((0, 0))}, ValueError, "`graph`"),
        ({"graph": np.array([[0, 1], [0, 0]])}, ValueError, r"`graph`.*W\[0, 1\] = 1"),
        ({"graph": np.array([[0, -1], [-1, 0]])}, ValueError, "`graph`.*negative|`graph`.*-1"),
        ({"graph": np.array([[0, np.nan], [np.nan, 0]])}, ValueError, "`graph`.*finite"),
    ],
)
def test_bad_filters_are_refused_by_name(sensor, low_pass, arguments, error, text):
    with pytest.raises(error, match=text):
        cg.CayleyFilter(**{"graph": sensor, "polynomial": low_pass, **arguments})


def test_signals_of_the_wrong_length_are_refused_by_the_operator_too(sensor, low_pass):
    with pytest.raises(ValueError, match=r"`signals` must have shape \(50,\)"):
        cg.CayleyFilter(sensor, low_pass) @ np.ones(5)
    with pytest.raises(TypeError, match="without a mask"):
        cg.CayleyFilter(sensor, low_pass).filter(np.ma.masked_array(np.ones(50)))


def test_bad_vertices_are_refused_by_name(sensor, low_pass):
    g = cg.CayleyFilter(sensor, low_pass)
    with pytest.raises(ValueError, match="`vertex` must be below the number of vertices 50, got 50"):
        g.localize(50)
    with pytest.raises(ValueError, match="`vertex` must be at least 0, got -1"):
        g.localize(-1)


def test_dense_matrix_that_would_not_fit_is_refused(sensor, low_pass, monkeypatch):
    monkeypatch.setattr("cayleygsp.filters.base.available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="dense matrix of 50 vertices"):
        cg.CayleyFilter(sensor, low_pass).toarray()


@pytest.mark.parametrize("remake", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
@pytest.mark.parametrize(("method", "options"), [*ALL_METHODS, ("jacobi", {})])
def test_filters_can_be_copied_and_pickled(sensor, low_pass, method, options, remake):
    g = cg.CayleyFilter(sensor, low_pass, method=method, tol=1e-5, **options)
    f = np.random.default_rng(0).standard_normal((50, 2))
    again = remake(g)
    assert_array_equal(again @ f, g @ f)
    assert type(again) is cg.CayleyFilter
    assert (again.method, again.reason, again.tol, again.gain) == (g.method, g.reason, g.tol, g.gain)


@pytest.mark.parametrize("remake", [copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
@pytest.mark.parametrize("method", ["exact", "multigrid"])
def test_factors_and_hierarchies_are_made_anew(low_pass, method, remake):
    g = cg.CayleyFilter(cg.gallery.grid(46), low_pass, method=method)
    assert not g.laplacian.has_eigenbasis
    f = np.random.default_rng(0).standard_normal(g.n_vertices)
    assert_array_equal(remake(g) @ f, g @ f)


def test_chebyshev_and_kernel_filters_can_be_copied_and_pickled(sensor):
    f = np.random.default_rng(0).standard_normal(50)
    chebyshev = cg.ChebyshevFilter(sensor, [0.5, -0.3, 0.1])
    assert_array_equal(pickle.loads(pickle.dumps(chebyshev)) @ f, chebyshev @ f)
    kernel = cg.KernelFilter(sensor, np.cos)
    assert_array_equal(pickle.loads(pickle.dumps(kernel)) @ f, kernel @ f)
    assert_array_equal(copy.deepcopy(cg.KernelFilter(sensor, lambda lam: np.cos(lam))) @ f, kernel @ f)


@given(L=laplacians(), p=cayley_polynomials(max_zoom=100), K=st.integers(0, 12), single=st.booleans())
def test_bound_of_the_jacobi_adjoint_is_never_below_its_rounding(L, p, K, single):
    """The transposed sweeps in single and double precision, beside the dense transpose of what they approximate."""
    f = np.random.default_rng(0).standard_normal((L.n_vertices, 2)).astype(np.float32 if single else np.float64)
    method = cg.CayleyFilter(L, p, method="jacobi", n_iter=K)._choice.latest.method
    applied = method.apply_adjoint(f[None], certify=False)
    error = relative_error(applied.signals.astype(float), refined_filter(L, p, f.astype(float)), f.astype(float))
    assert (error <= applied.error_bound + rounding_of_oracle(L, p)).all()


@pytest.mark.parametrize("method", ["auto", "chebyshev", "exact", "multigrid"])
def test_a_filter_without_a_response_is_certified(sensor, method):
    g = cg.CayleyFilter(sensor, cg.CayleyPolynomial([0, 0], 1.0), method=method)
    y, info = g.filter(np.arange(50.0), return_info=True)
    assert not y.any()
    assert (info.error_bound, info.converged) == (0.0, True)


def test_method_and_tol_are_given_by_name_in_the_same_order():
    for make in (cg.CayleyFilter, cg.ChebyshevFilter, cg.KernelFilter, cg.FilterBank):
        parameters = inspect.signature(make).parameters
        by_name = [name for name, one in parameters.items() if one.kind is inspect.Parameter.KEYWORD_ONLY]
        assert by_name[:2] == ["method", "tol"]


def test_chebyshev_filter_takes_a_polynomial(sensor):
    p = cg.ChebyshevPolynomial([0.5, -0.3, 0.1], 12.0)
    f = np.random.default_rng(0).standard_normal(50)
    g = cg.ChebyshevFilter(sensor, p)
    assert g.response is p
    assert_array_equal(g @ f, cg.ChebyshevFilter(sensor, p.coeffs, 12.0) @ f)
    assert cg.ChebyshevFilter(sensor, p, lmax=12).response is p
    with pytest.raises(ValueError, match="`lmax` must be that of the given polynomial, 12, or left out, got 11"):
        cg.ChebyshevFilter(sensor, p, lmax=11.0)
