import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp.methods.factorisation import FactorisationMethod
from tests.oracle import random_polynomial, refined_filter, relative_error, rounding_of_oracle


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
@pytest.mark.parametrize("zoom", [1e-3, 1.0, 1e3])
def test_factorisation_matches_the_dense_filter_and_certifies_it(kind, zoom):
    L = cg.laplacian(cg.gallery.communities(8, rng=0), kind)
    rng = np.random.default_rng(0)
    p = random_polynomial(6, zoom, rng)
    f = rng.standard_normal((L.n_vertices, 3))
    method = FactorisationMethod(L, p)
    applied = method.apply(f, certify=True)
    error = relative_error(applied.signals, refined_filter(L, p, f), f)
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


def test_a_pickled_factorisation_is_made_again_on_arrival():
    L = cg.laplacian(cg.gallery.grid(12))
    method = FactorisationMethod(L, cg.CayleyPolynomial([0.5, -0.25, 0.1j], 3.0))
    f = np.random.default_rng(0).standard_normal((144, 2))
    for again in (pickle.loads(pickle.dumps(method)), copy.deepcopy(method)):
        assert_allclose(again.apply(f, certify=True).signals, method.apply(f, certify=True).signals, rtol=1e-12)
        assert again.gains == method.gains
