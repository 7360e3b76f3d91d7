import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import cayleygsp as cg
from cayleygsp.methods.multigrid import MultigridMethod
from tests.oracle import dense_filter, random_polynomial, relative_error


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


def test_a_pickled_hierarchy_is_built_again_on_arrival():
    L = cg.laplacian(cg.gallery.grid(20))
    method = MultigridMethod(L, cg.CayleyPolynomial([0.5, -0.25, 0.1j], 300.0), 1e-8)
    f = np.random.default_rng(0).standard_normal((400, 1))
    for again in (pickle.loads(pickle.dumps(method)), copy.deepcopy(method)):
        assert_array_equal(again.apply(f, certify=True).signals, method.apply(f, certify=True).signals)
