import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

import cayleygsp as cg
from cayleygsp.bounds import jacobi_rounding, jacobi_sweeps
from cayleygsp.bounds.contraction import jacobi_decay, jacobi_error, jacobi_factor
from cayleygsp.methods.jacobi import JacobiMethod
from tests.oracle import dense_filter, random_polynomial, relative_error
from tests.strategies import cayley_polynomials, laplacians, weighted_graphs


def scheme_of_the_paper(L, p, K, f, normalize=False):
    """Eq. (6) with dense complex matrices, letter by letter."""
    A = p.zoom * L.matrix.toarray()
    eye = np.eye(L.n_vertices)
    Diag = np.diag(np.diag(A + 1j * eye))
    Off = (A + 1j * eye) - Diag
    J = -np.linalg.inv(Diag) @ Off
    y = f.astype(complex)
    total = p.coeffs[0] * y
    for j in range(1, p.order + 1):
        b = np.linalg.inv(Diag) @ (A - 1j * eye) @ y
        y = b
        for _ in range(K):
            y = J @ y + b
        if normalize:
            y = y * np.linalg.norm(f, axis=0) / np.linalg.norm(y, axis=0)
        total = total + 2 * (p.coeffs[j] * y).real
    return total.real


@given(L=laplacians(), p=cayley_polynomials(max_order=6, max_zoom=10), K=st.integers(0, 12), normalize=st.booleans())
def test_scheme_is_the_paper_s_to_the_letter(L, p, K, normalize):
    f = np.random.default_rng(0).standard_normal((L.n_vertices, 2))
    expected = scheme_of_the_paper(L, p, K, f, normalize)
    y = cg.CayleyFilter(L, p, method="jacobi", n_iter=K, normalize=normalize).filter(f)
    assert_allclose(y, expected, atol=1e-9 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_residual_after_k_sweeps_is_the_power_k_plus_one_of_the_iteration_matrix(kind):
    L = cg.laplacian(cg.gallery.sensor(20, rng=0), kind)
    h, K = 0.7, 4
    A = h * L.matrix.toarray() + 1j * np.eye(20)
    E = np.diag(np.diag(A))
    J = np.eye(20) - np.linalg.inv(E) @ A
    C = np.linalg.inv(A) @ (A - 2j * np.eye(20))
    f = np.random.default_rng(0).standard_normal((20, 1))
    expected = 2 * ((np.eye(20) - np.linalg.matrix_power(J, K + 1)) @ C @ f).real
    y = cg.CayleyFilter(L, cg.CayleyPolynomial([0, 1], h), method="jacobi", n_iter=K).filter(f)
    assert_allclose(y, expected, atol=1e-12)


def test_residual_histories_have_one_row_a_sweep_and_fall():
    L = cg.laplacian(cg.gallery.ring(30))
    p = cg.CayleyPolynomial([0, 1, 1j], 0.3)
    _, info = cg.CayleyFilter(L, p, method="jacobi", n_iter=20).filter(np.eye(30, 2), return_info=True)
    assert [r.shape for r in info.residuals] == [(21, 2), (21, 2)]
    for history in info.residuals:
        assert (history[-1] < 1e-3 * history[0]).all()


@pytest.mark.parametrize("order", [1, 3, 6])
@pytest.mark.parametrize("zoom", [0.2, 3.0])
def test_zero_sweeps_on_a_regular_graph_give_the_stated_polynomial(order, zoom):
    d = 4
    L = cg.laplacian(cg.gallery.random_regular(24, d, rng=0))
    p = random_polynomial(order, zoom, np.random.default_rng(0))
    P = (zoom * L.matrix.toarray() - 1j * np.eye(24)) / (zoom * d + 1j)
    expected = p.coeffs[0].real * np.eye(24)
    for j in range(1, order + 1):
        expected = expected + 2 * (p.coeffs[j] * np.linalg.matrix_power(P, j)).real
    assert_allclose(cg.CayleyFilter(L, p, method="jacobi", n_iter=0).toarray(), expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
@pytest.mark.parametrize("zoom", [0.3, 1.0, 4.0])
@given(alpha=st.lists(st.floats(-1, 1), min_size=2, max_size=7))
def test_a_chebyshev_filter_is_a_special_cayley_filter(kind, zoom, alpha):
    L = cg.laplacian(cg.gallery.random_regular(20, 4, rng=1), kind)
    degree = {"combinatorial": 4.0, "normalized": 1.0}[kind]
    p = cg.chebyshev_as_cayley(alpha, L.lmax, degree, zoom)
    cayley = cg.CayleyFilter(L, p, method="jacobi", n_iter=0).toarray()
    assert_allclose(cayley, cg.ChebyshevFilter(L, alpha).toarray(), atol=1e-8)


@given(L=laplacians(), p=cayley_polynomials(max_order=6, max_zoom=10), K=st.integers(0, 12))
def test_adjoint_is_the_transposed_scheme_and_within_its_bound(L, p, K):
    n = L.n_vertices
    transposed = scheme_of_the_paper(L, p, K, np.eye(n)).T
    scale = max(1, np.abs(transposed).max())
    for dtype, atol in ((np.float64, 1e-9), (np.float32, 2e-3)):
        f = np.eye(n, dtype=dtype)
        applied = JacobiMethod(L, p, K, False).apply_adjoint(f[None], certify=False)
        assert_allclose(applied.signals, transposed, atol=atol * scale)
        # the exact filter is symmetric
        error = np.linalg.norm(applied.signals.astype(np.float64) - dense_filter(L, p), axis=0)
        assert (error <= applied.error_bound * (1 + 1e-9) + 1e-12 * scale).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 3])
def test_rounding_of_the_adjoint_is_within_its_bound_where_no_other_error_is_left(dtype, width):
    L = cg.laplacian(cg.gallery.sensor(60, rng=0))
    p = cg.CayleyPolynomial([0.2, 1, 0.5j, -0.3], 0.05)
    f = np.random.default_rng(0).standard_normal((60, width)).astype(dtype)
    K = jacobi_sweeps(L, p, 1e-18)
    applied = JacobiMethod(L, p, K, False).apply_adjoint(f[None], certify=False)
    error = np.linalg.norm(applied.signals - dense_filter(L, p) @ f, axis=0) / np.linalg.norm(f, axis=0)
    assert (error <= applied.error_bound).all()
    assert applied.error_bound <= 1e4 * np.finfo(dtype).eps * K
    assert applied.signals.dtype == dtype


def test_normalised_scheme_has_no_adjoint():
    g = cg.CayleyFilter(cg.gallery.path(5), cg.CayleyPolynomial([0, 1], 1.0), method="jacobi", n_iter=1, normalize=True)
    with pytest.raises(ValueError, match="`normalize=True` makes the Jacobi filter non-linear"):
        g.H @ np.ones(5)


def test_a_tolerance_alone_sets_the_number_of_sweeps():
    L = cg.laplacian(cg.gallery.ring(40))
    p = cg.CayleyPolynomial([0.3, 1, 0.5j], 0.5)
    f = np.random.default_rng(0).standard_normal(40)
    y, info = cg.CayleyFilter(L, p, method="jacobi", tol=1e-5).filter(f, return_info=True)
    assert info.converged
    assert relative_error(y, dense_filter(L, p) @ f, f) <= 1e-5 * info.gain
    assert info.n_matvecs < 2 * p.order * 120


def test_a_zoom_at_which_no_number_of_sweeps_is_known_is_refused():
    with pytest.raises(ValueError, match=r"sweeps per power than can be told; give `n_iter`"):
        cg.CayleyFilter(cg.gallery.ring(16), cg.CayleyPolynomial([0, 1], 1e9), method="jacobi")


@given(L=laplacians(), zoom=st.floats(1e-2, 1e2), K=st.integers(0, 20))
def test_contraction_bounds_the_power_of_the_iteration_matrix(L, zoom, K):
    A = zoom * L.matrix.toarray() + 1j * np.eye(L.n_vertices)
    J = np.eye(L.n_vertices) - A / np.diag(A)[:, None]
    norm = np.linalg.norm(np.linalg.matrix_power(J, K + 1), 2)
    assert norm <= jacobi_decay(L, zoom, "sharp").contraction(K) * (1 + 1e-9) + 1e-14


@given(W=weighted_graphs(self_loops=False), zoom=st.floats(1e-2, 1e2))
def test_factor_is_never_above_the_paper_s_kappa(W, zoom):
    L = cg.laplacian(W)
    h_d = zoom * L.degrees.max()
    assert jacobi_factor(L, zoom) <= h_d / np.sqrt(h_d**2 + 1) * (1 + 1e-9)


@given(p=cayley_polynomials(max_zoom=0.1), log_atol=st.floats(-8, 0))
def test_number_of_sweeps_is_the_least_that_the_bound_allows(p, log_atol):
    L = cg.laplacian(cg.gallery.sensor(20, rng=0))
    K = jacobi_sweeps(L, p, 10**log_atol)
    assert jacobi_error(p, jacobi_decay(L, p.zoom, "sharp").contraction(K)) <= 10**log_atol * (1 + 1e-6)
    if K > 0:
        assert jacobi_error(p, jacobi_decay(L, p.zoom, "sharp").contraction(K - 1)) > 10**log_atol * (1 - 1e-6)


def test_proposition_1_as_printed_is_false_and_the_safe_bound_holds():
    """16-ring, h = 0.5, r = 5, K = 2, only c_5: the printed bound 2 Σ j|c_j| κ^K is 5.00, the error 5.87."""
    L = cg.laplacian(cg.gallery.ring(16))
    h, r, K = 0.5, 5, 2
    lam = np.linalg.eigvalsh(L.matrix.toarray())
    kappa = 2 * h / np.sqrt(4 * h**2 + 1)
    J = h * (2 - lam) / (2 * h + 1j)
    C = (h * lam - 1j) / (h * lam + 1j)
    error = 2 * np.abs(((1 - J ** (K + 1)) * C) ** r - C**r).max()
    printed = 2 * r * kappa**K
    safe = jacobi_error(cg.CayleyPolynomial([0] * r + [1], h), kappa ** (K + 1))
    assert error == pytest.approx(5.87, abs=0.01)
    assert printed == pytest.approx(5.0, abs=0.01)
    assert printed < error <= safe
    worst = int(np.argmax(np.abs(((1 - J ** (K + 1)) * C) ** r - C**r)))
    phase = -np.angle((((1 - J ** (K + 1)) * C) ** r - C**r)[worst])
    p = cg.CayleyPolynomial([0] * r + [np.exp(1j * phase)], h)
    f = np.linalg.eigh(L.matrix.toarray())[1][:, worst]
    y, info = cg.CayleyFilter(L, p, method="jacobi", n_iter=K).filter(f, return_info=True)
    measured = relative_error(y, dense_filter(L, p) @ f, f)
    assert measured == pytest.approx(error)
    assert printed < measured <= info.error_bound


def test_vertices_without_edges_do_not_spoil_the_bound():
    ring = cg.laplacian(cg.gallery.ring(20))
    beside = cg.laplacian(sparse.block_diag([cg.gallery.ring(20).W, np.zeros((1, 1))], format="csr"))
    p = cg.CayleyPolynomial([0.5, -0.25], 1e6)
    f = np.eye(21, 1)
    bounds = [JacobiMethod(L, p, 5, False).apply(f[: L.n_vertices], certify=False).error_bound for L in (ring, beside)]
    assert bounds[1] == pytest.approx(bounds[0], rel=0.2)
    rounding = [jacobi_rounding(L, p, 5) for L in (ring, beside)]
    assert rounding[1] == pytest.approx(rounding[0], rel=0.2)
