"""Sums, products and multiples of filters are filters, with a certificate; of other operators they are scipy's."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_allclose
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import cayleygsp as cg
from cayleygsp import responses
from tests.strategies import laplacians


def pair(L, tol=1e-8):
    F = cg.KernelFilter(L, responses.Heat(1.0), tol=tol)
    return F, cg.CayleyFilter(L, cg.CayleyPolynomial([0.5, -0.25, 0.1j], 2.0), tol=10 * tol)


OPERATIONS = {
    "F + G": (lambda F, G: F + G, lambda f, g: f + g),
    "F - G": (lambda F, G: F - G, lambda f, g: f - g),
    "F @ G": (lambda F, G: F @ G, lambda f, g: f @ g),
    "F * G": (lambda F, G: F * G, lambda f, g: f @ g),
    "2 F": (lambda F, G: 2 * F, lambda f, g: 2 * f),
    "F 2": (lambda F, G: F * 2.0, lambda f, g: 2 * f),
    "numpy 2 F": (lambda F, G: np.float64(2) * F, lambda f, g: 2 * f),
    "-F": (lambda F, G: -F, lambda f, g: -f),
    "F²": (lambda F, G: F**2, lambda f, g: f @ f),
    "together": (lambda F, G: 3 * (F @ G) - F**3 + G, lambda f, g: 3 * f @ g - f @ f @ f + g),
}


@pytest.mark.parametrize("name", OPERATIONS)
@settings(max_examples=10)
@given(L=laplacians())
def test_what_filters_make_together_is_a_filter_with_a_proof(name, L):
    make, dense = OPERATIONS[name]
    F, G = pair(L)
    made = make(F, G)
    assert isinstance(made, cg.GraphFilter)
    assert made.tol in (F.tol, G.tol)
    matrices = [Phi @ np.diag(g.evaluate(np.maximum(lam, 0))) @ Phi.T for g in (F, G) for lam, Phi in [eigh(L)]]
    f = np.random.default_rng(0).standard_normal(L.n_vertices)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cg.ConvergenceWarning)  # a difference may vanish, and its gain with it
        y, info = made.filter(f, return_info=True)
    assert info.certificate == "proved"
    error = np.linalg.norm(y - dense(*matrices) @ f)
    assert error <= (info.error_bound + 1e-12 * (1 + info.gain)) * np.linalg.norm(f)


def eigh(L):
    return np.linalg.eigh(L.matrix.toarray())


def test_filters_of_equal_graphs_that_were_made_apart_are_combined():
    F = cg.KernelFilter(cg.gallery.ring(20), responses.Heat(1.0))
    G = cg.KernelFilter(cg.gallery.ring(20), responses.Heat(2.0))
    assert isinstance(F + G, cg.GraphFilter)


def test_filters_of_different_graphs_and_other_operators_stay_scipy_s():
    F = cg.KernelFilter(cg.gallery.ring(20), responses.Heat(1.0))
    others = [
        cg.KernelFilter(cg.laplacian(cg.gallery.ring(20), "normalized"), responses.Heat(1.0)),
        cg.KernelFilter(cg.gallery.path(20), responses.Heat(1.0)),
        cg.CayleyFilter(cg.gallery.ring(20), cg.CayleyPolynomial([0, 1], 1.0), method="jacobi", n_iter=3),
        aslinearoperator(np.diag(np.arange(20.0))),
    ]
    f = np.random.default_rng(0).standard_normal(20)
    for other in others:
        for made in (F + other, F - other, F @ other):
            assert isinstance(made, LinearOperator)
            assert not isinstance(made, cg.GraphFilter)
        assert_allclose((F + other) @ f, F @ f + other @ f, atol=1e-12)
    jacobi = others[2]
    assert not isinstance(2 * jacobi, cg.GraphFilter)
    assert_allclose((2 * jacobi) @ f, 2 * (jacobi @ f))


def test_a_complex_multiple_is_scipy_s():
    F = cg.KernelFilter(cg.gallery.ring(20), responses.Heat(1.0))
    made = 2j * F
    assert not isinstance(made, cg.GraphFilter)
    assert_allclose(made @ np.ones(20), 2j * np.ones(20), atol=1e-6)


@pytest.mark.parametrize("method", ["chebyshev", "exact", "auto"])
def test_what_cancels_is_zero_and_converged(method):
    L = cg.laplacian(cg.gallery.ring(20))
    F, G = pair(L)
    h = cg.KernelFilter(L, lambda lam: 1 / (1 + lam))
    zeros = [F - F, 0 * F, F - cg.KernelFilter(L, responses.Heat(1.0)), (F @ G) - (G @ F), (F + G) - G - F]
    zeros += [(F - F) @ G, (G - G) ** 2, h - h, 2 * F - F - F, -(F - F)]
    for made in zeros:
        assert made.response.is_zero
        f = np.random.default_rng(0).standard_normal(20)
        again = cg.GraphFilter(L, made.response, method=method, tol=1e-6)
        for y, info in (made.filter(f, return_info=True), again.filter(f, return_info=True)):
            assert info.converged
            assert info.error_bound == 0
            assert info.certificate == "proved"
            assert not y.any()
        assert made.response.lipschitz_bound(0.0, 4.0) == 0
    bank = cg.FilterBank(L, [F.response, (F - F).response], method="chebyshev")
    assert bank.filter(np.ones(20), return_info=True)[1].converged
