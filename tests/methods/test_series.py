"""The series by one recurrence: what its certificate rests on."""

import warnings

import numpy as np
import pytest

import cayleygsp as cg
from cayleygsp.methods.series import ChebyshevMethod
from tests.oracle import dense_filter, refined_filter, relative_error, rounding_of_oracle

PASS = cg.CayleyPolynomial([0.5, -0.25], 1e3)


def quiet(g, f):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)
        return g.filter(f, return_info=True)


def test_an_eigenvalue_beyond_an_estimate_is_counted_and_not_called_proved():
    sure = cg.laplacian(cg.gallery.path(4000))
    L = sure.with_lmax(sure.lanczos_lower)
    alternating = (-1.0) ** np.arange(4000)
    truth = cg.CayleyFilter(sure, PASS, method="exact", tol=1e-8) @ alternating
    for g in (cg.CayleyFilter(L, PASS, method="chebyshev"), cg.FilterBank(L, [PASS], method="chebyshev")):
        y, info = quiet(g, alternating)
        assert info.certificate == "estimated"
        assert not info.converged
        error = np.linalg.norm(np.squeeze(y) - truth) / np.linalg.norm(alternating)
        assert error <= np.max(info.error_bound)
        assert "no eigenvalue is expected above" in g.reason


def test_an_estimate_from_above_is_used_and_called_one():
    L = cg.laplacian(cg.gallery.communities(rng=0))
    tighter = L.with_lmax(L.lanczos_bound(rng=0).upper)
    f = np.random.default_rng(0).standard_normal((L.n_vertices, 2))
    y, info = cg.CayleyFilter(tighter, PASS, method="chebyshev").filter(f, return_info=True)
    assert info.certificate == "estimated"
    assert info.converged
    assert (relative_error(y, dense_filter(L, PASS) @ f, f) <= info.error_bound).all()
    assert info.n_matvecs < cg.CayleyFilter(L, PASS, method="chebyshev").filter(f, return_info=True)[1].n_matvecs


@pytest.mark.parametrize("method", ["exact", "multigrid", "jacobi"])
def test_methods_that_need_no_lmax_stay_proved(method):
    L = cg.laplacian(cg.gallery.sensor(60, rng=0))
    options = {"n_iter": 3} if method == "jacobi" else {}
    p = cg.CayleyPolynomial([0.5, -0.25], 1.0)
    g = cg.CayleyFilter(L.with_lmax(L.lanczos_lower), p, method=method, **options)
    f = np.random.default_rng(0).standard_normal((60, 2))
    y, info = g.filter(f, return_info=True)
    assert info.certificate == "proved"
    assert (relative_error(y, dense_filter(L, p) @ f, f) <= info.error_bound).all()


def rounded_laplacian(seed):
    """Return a normalized Laplacian with ten decimals, which often has a negative eigenvalue."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 25))
    W = np.triu(rng.random((n, n)) < rng.uniform(0.1, 0.8), 1) * rng.random((n, n))
    matrix = np.round(cg.laplacian(W + W.T, "normalized").matrix.toarray(), 10)
    return cg.Laplacian.from_matrix(matrix, "normalized")


@pytest.mark.parametrize(("zoom", "seeds"), [(1e3, range(7, 10)), (1e6, range(0, 40, 3)), (1e8, (8, 38))])
def test_eigenvalues_that_rounding_made_negative_are_not_passed_over(zoom, seeds):
    p = cg.CayleyPolynomial([0.3, -0.5, 0.2j], zoom)
    n_negative = 0
    for seed in seeds:
        L = rounded_laplacian(seed)
        lam, Phi = np.linalg.eigh(L.matrix.toarray())
        n_negative += lam[0] < -1e-12
        f = np.stack([Phi[:, 0], np.ones(L.n_vertices)], axis=1)
        truth = refined_filter(L, p, f).astype(float)
        for method in ("exact", "chebyshev"):
            y, info = quiet(cg.CayleyFilter(L, p, method=method), f)
            error = relative_error(y, truth, f)
            assert info.certificate == "proved"
            assert (error <= info.error_bound + rounding_of_oracle(L, p) + 1e-15).all()
            assert (error <= 1e-6 * info.gain).all() or not info.converged
    assert n_negative > 0


def test_functions_and_chebyshev_polynomials_on_rounded_matrices_keep_their_bounds():
    L = rounded_laplacian(8)
    assert L.lmin < 0
    f = np.random.default_rng(0).standard_normal((L.n_vertices, 2))
    bank = [np.sqrt, lambda lam: np.exp(-lam), cg.ChebyshevPolynomial([1.0, 0.5, -0.2], L.lmax)]
    lam, Phi = np.linalg.eigh(L.matrix.toarray())
    for method in ("exact", "chebyshev"):
        y, info = quiet(cg.FilterBank(L, bank, method=method), f)
        for i, g in enumerate(bank):
            truth = (Phi * g(lam if i == 2 else np.maximum(lam, 0.0))) @ Phi.T @ f
            assert (relative_error(y[..., i], truth, f) <= info.error_bound[i] + 1e-13).all()


def test_a_bank_of_polynomials_is_proved_whatever_their_intervals_are():
    L = cg.laplacian(cg.gallery.sensor(60, rng=0))
    polynomials = [
        cg.ChebyshevPolynomial([0.5, -0.5, 0.1], L.lmax),
        cg.ChebyshevPolynomial([0.3, 0.2, 0.1, 0.4], 2 * L.lmax),
        cg.ChebyshevPolynomial([0.3, 0.2, 0.1, 0.4], 0.9 * L.lmax),
        cg.CayleyPolynomial([0.5, -0.25], 2.0),
    ]
    f = np.random.default_rng(0).standard_normal((60, 3))
    for method in ("chebyshev", "exact"):
        bank = cg.FilterBank(L, polynomials, method=method)
        y, info = bank.filter(f, return_info=True)
        assert info.certificate == "proved"
        assert info.converged
        for i, p in enumerate(polynomials):
            assert (relative_error(y[..., i], dense_filter(L, p) @ f, f) <= info.error_bound[i]).all()
    one = cg.FilterBank(L, [polynomials[0]], method="chebyshev")
    assert one.filter(f, return_info=True)[1].certificate == "proved"


def test_a_spike_at_a_known_eigenvalue_is_seen():
    L = cg.laplacian(cg.gallery.grid(24))
    middle = L.eigenvalues[288]
    f = L.eigenvectors[:, 288]

    def spike(lam):
        return np.exp(-(((lam - middle) / 1e-6) ** 2))

    y, info = quiet(cg.KernelFilter(L, spike, method="chebyshev"), f)
    assert relative_error(y, dense_filter(L, spike) @ f, f) <= info.error_bound + 1e-13  # the oracle is rounded too
    assert not info.converged
    assert "at all 576 eigenvalues" in info.reason
    y, info = cg.KernelFilter(L, spike).filter(f, return_info=True)
    assert info.method == "exact"
    assert np.linalg.norm(y - f) < 1e-5


def test_a_spike_on_a_small_graph_is_seen_without_being_asked_for():
    lam = np.linalg.eigvalsh(cg.laplacian(cg.gallery.grid(12)).matrix.toarray())
    graph = cg.gallery.grid(12)
    g = cg.KernelFilter(graph, lambda x: np.exp(-(((x - lam[70]) / 1e-6) ** 2)))
    assert g.method == "exact"
    assert "eigenvalues" in g.reason
    assert g.gain == pytest.approx(1.0)


def test_gains_are_computed_once_for_a_filter(monkeypatch):
    calls = []
    polynomial = cg.CayleyPolynomial([0.5, -0.25], 2.0)
    original = cg.CayleyPolynomial.__call__

    def counted(self, lam):
        calls.append(np.size(lam) == 2050)
        return original(self, lam)

    monkeypatch.setattr(cg.CayleyPolynomial, "__call__", counted)
    cg.CayleyFilter(cg.gallery.grid(50), polynomial)
    assert 1 <= sum(calls) <= 3  # one gain looks at up to three intervals


def test_one_filter_has_the_shape_of_a_bank():
    L = cg.laplacian(cg.gallery.ring(12))
    method = ChebyshevMethod(L, [PASS], 1e-6)
    f = np.random.default_rng(0).standard_normal((12, 2))
    assert method.apply(f, certify=True).signals.shape == (1, 12, 2)
    assert method.apply_adjoint(f[None], certify=True).signals.shape == (12, 2)
