import networkx as nx
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import cayleygsp as cg
from cayleygsp.methods.exact import FactorisationMethod, factorisation_cost, separator_size
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


def test_eigenbasis_is_computed_once_for_all_filters():
    L = cg.laplacian(cg.gallery.ring(30))
    assert not L.has_eigenbasis
    cg.CayleyFilter(L, cg.CayleyPolynomial([0, 1], 1.0), method="exact")
    basis = L.eigenbasis
    cg.CayleyFilter(L, cg.CayleyPolynomial([0, 1], 2.0), method="exact")
    assert L.eigenbasis is basis


def test_eigenbasis_knows_its_own_errors():
    L = cg.laplacian(cg.gallery.communities(rng=0))
    basis = L.eigenbasis
    dense, Phi = L.matrix.toarray(), basis.eigenvectors
    assert np.linalg.norm(dense - (Phi * basis.eigenvalues) @ Phi.T, 2) <= basis.residual < 1e-10
    assert np.linalg.norm(Phi.T @ Phi - np.eye(L.n_vertices), 2) <= basis.orthogonality < 1e-10


def test_cost_of_a_random_graph_is_predicted_far_above_that_of_a_grid():
    grid = factorisation_cost(cg.laplacian(cg.gallery.grid(63)))
    random = factorisation_cost(cg.laplacian(cg.gallery.random_regular(3969, 4, rng=0)))
    assert random.n_bytes > 5 * grid.n_bytes
    assert random.seconds > 5 * grid.seconds


def test_separator_of_a_grid_is_a_line_and_a_random_graph_has_none():
    assert separator_size(cg.laplacian(cg.gallery.grid(40)).matrix, 0) <= 40
    assert separator_size(cg.laplacian(cg.gallery.ring(100)).matrix, 0) == 2
    assert separator_size(cg.laplacian(cg.gallery.random_regular(1000, 6, rng=0)).matrix, 0) > 200


def test_every_component_counts_and_trees_do_not():
    random = cg.gallery.random_regular(1000, 6, rng=0).W
    both = sparse.block_diag([100 * cg.gallery.ring(50).W, random], format="csr")
    alone, beside = factorisation_cost(cg.laplacian(random)), factorisation_cost(cg.laplacian(both))
    assert alone.n_bytes <= beside.n_bytes < 1.1 * alone.n_bytes
    for tree in (cg.gallery.star(5000), cg.Graph(nx.to_scipy_sparse_array(nx.balanced_tree(2, 11)))):
        assert factorisation_cost(cg.laplacian(tree)).n_bytes < 1e8
        assert cg.CayleyFilter(tree, cg.CayleyPolynomial([0, 1], 1e4), method="exact").method == "exact"


def test_long_work_is_announced(monkeypatch):
    monkeypatch.setattr("cayleygsp.eigenbasis.eigenbasis_seconds", lambda n: 1e4)
    with pytest.warns(ResourceWarning, match=r"eigenbasis of 20 vertices is expected to take 1e\+04 s"):
        _ = cg.laplacian(cg.gallery.ring(20)).eigenvalues


def test_a_factorisation_that_would_not_fit_is_refused_before_it_starts(monkeypatch):
    L = cg.laplacian(cg.gallery.random_regular(3000, 4, rng=0))
    monkeypatch.setattr("cayleygsp.methods.exact.available_memory", lambda: 10**7)
    with pytest.raises(MemoryError, match=r"method='exact' on 3000 vertices is expected to need .*'chebyshev'"):
        cg.CayleyFilter(L, cg.CayleyPolynomial([0, 1], 1.0), method="exact")
    # the automatic choice goes round it
    assert cg.CayleyFilter(L, cg.CayleyPolynomial([0, 1], 1.0)).method == "chebyshev"


def test_a_hopeless_exact_filter_is_refused_on_this_machine():
    L = cg.laplacian(cg.gallery.communities(15, n_vertices=200_000, p_in=5e-4, p_out=5e-5, rng=0))
    with pytest.raises(MemoryError, match=r"200000 vertices .*use\s+method='chebyshev'"):
        cg.CayleyFilter(L, cg.CayleyPolynomial([0, 1], 1.0), method="exact")
