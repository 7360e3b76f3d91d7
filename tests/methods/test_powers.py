"""Powers of C(hΔ): by factors and by multigrid, against the dense filter."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import cayleygsp as cg
from cayleygsp.methods.powers import PowersMethod
from cayleygsp.methods.solvers import ConjugateGradients, Factors
from tests.oracle import dense_filter, random_polynomial, refined_filter, relative_error, rounding_of_oracle


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
@pytest.mark.parametrize("zoom", [1e-3, 1.0, 1e3])
def test_factorisation_matches_the_dense_filter_and_certifies_it(kind, zoom):
    L = cg.laplacian(cg.gallery.communities(8, rng=0), kind)
    rng = np.random.default_rng(0)
    p = random_polynomial(6, zoom, rng)
    f = rng.standard_normal((L.n_vertices, 3))
    method = PowersMethod(L, p, Factors)
    applied = method.apply(f, certify=True)
    error = relative_error(applied.signals[0], refined_filter(L, p, f), f)
    assert (error <= 1e-10 * np.abs(p.coeffs).sum()).all()
    assert (error <= applied.error_bound + rounding_of_oracle(L, p)).all()
    assert np.isfinite(method.apply(f, certify=False).error_bound).all()


def test_large_graphs_are_factorised_and_agree_with_the_series():
    L = cg.laplacian(cg.gallery.grid(60))
    p = cg.CayleyPolynomial([0.5, -0.2, 0.1j], 5.0)
    f = np.random.default_rng(0).standard_normal(3600)
    y, info = cg.CayleyFilter(L, p, method="exact").filter(f, return_info=True)
    assert not L.has_eigenbasis
    assert info.converged
    assert_allclose(y, cg.CayleyFilter(L, p, method="chebyshev", tol=1e-11).filter(f), atol=1e-9)


def test_a_factorisation_that_would_not_fit_is_refused_before_it_starts(monkeypatch):
    L = cg.laplacian(cg.gallery.random_regular(3000, 4, rng=0))
    for module in ("methods.fill", "methods.costs"):
        monkeypatch.setattr(f"cayleygsp.{module}.available_memory", lambda: 10**7)
    with pytest.raises(MemoryError, match=r"method='exact' on 3000 vertices is expected to need .*'chebyshev'"):
        cg.CayleyFilter(L, cg.CayleyPolynomial([0, 1], 1.0), method="exact")
    # the automatic choice goes round it
    assert cg.CayleyFilter(L, cg.CayleyPolynomial([0, 1], 1.0)).method == "chebyshev"


def test_a_hopeless_exact_filter_is_refused_before_all_entries_are_counted(monkeypatch):
    monkeypatch.setattr("cayleygsp.methods.fill.available_memory", lambda: 10**9)
    L = cg.laplacian(cg.gallery.communities(15, n_vertices=50_000, p_in=2e-3, p_out=2e-4, rng=0))
    with pytest.raises(MemoryError, match=r"50000 vertices .* more than .*use\s+method='chebyshev'"):
        cg.CayleyFilter(L, cg.CayleyPolynomial([0, 1], 1.0), method="exact")


@pytest.mark.parametrize("graph", ["grid", "communities"])
def test_iterations_do_not_grow_with_the_zoom(graph):
    made = {"grid": cg.gallery.grid(40), "communities": cg.gallery.communities(rng=0)}[graph]
    L = cg.laplacian(made)
    f = np.random.default_rng(0).standard_normal(L.n_vertices)
    counts = []
    for zoom in (1.0, 10.0, 100.0, 1000.0, 1e4):
        p = cg.CayleyPolynomial([0, 0.5], zoom)
        _, info = cg.CayleyFilter(L, p, method="multigrid", tol=1e-6).filter(f, return_info=True)
        assert info.converged
        counts.append(info.n_matvecs)
    assert max(counts) <= 30


def test_extreme_zooms_keep_the_tolerance():
    L = cg.laplacian(cg.gallery.grid(12))
    rng = np.random.default_rng(0)
    f = rng.standard_normal((L.n_vertices, 2))
    for zoom in (1e4, 1e6):
        p = random_polynomial(4, zoom, rng)
        y, info = cg.CayleyFilter(L, p, method="multigrid", tol=1e-4).filter(f, return_info=True)
        assert info.converged
        assert (relative_error(y, dense_filter(L, p) @ f, f) <= 1e-4 * info.gain).all()


def test_results_repeat_and_leave_the_global_random_state_alone():
    L = cg.laplacian(cg.gallery.communities(rng=0))
    p = cg.CayleyPolynomial([0.5, -0.2, 0.1j], 50.0)
    f = np.random.default_rng(0).standard_normal(L.n_vertices)
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - the state that must not change
    first = cg.CayleyFilter(L, p, method="multigrid").filter(f)
    assert_array_equal(cg.CayleyFilter(L, p, method="multigrid").filter(f), first)
    assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_residual_histories_end_below_the_target():
    L = cg.laplacian(cg.gallery.grid(15))
    g = cg.CayleyFilter(L, cg.CayleyPolynomial([0, 1, 1j], 20.0), method="multigrid", tol=1e-6)
    _, info = g.filter(np.eye(225, 3), return_info=True)
    assert len(info.residuals) == 2
    for history in info.residuals:
        assert history.shape[1] == 3
        assert (np.nanmin(history, axis=0) <= 1e-6).all()
        assert_allclose(history[0], 1.0, atol=1e-5)


@pytest.mark.parametrize("solver", [Factors, ConjugateGradients])
def test_what_a_pickled_method_has_prepared_is_made_again_on_arrival(solver):
    L = cg.laplacian(cg.gallery.grid(20))
    method = PowersMethod(L, cg.CayleyPolynomial([0.5, -0.25, 0.1j], 300.0), solver, 1e-8)
    f = np.random.default_rng(0).standard_normal((400, 1))
    for again in (pickle.loads(pickle.dumps(method)), copy.deepcopy(method)):
        assert_array_equal(again.apply(f, certify=True).signals, method.apply(f, certify=True).signals)
        assert again.gains == method.gains
