"""Rational responses by solves, against the dense eigendecomposition."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import spsolve

import cayleygsp as cg
from cayleygsp.methods.poles import PolesMethod, pole_groups
from cayleygsp.methods.solvers import ConjugateGradients, Factors
from cayleygsp.responses import Rational, Tikhonov
from tests.strategies import laplacians

LEFT = [
    Rational([-1e-3], [1e-3]),
    Rational([-10.0, -10.0], [0.0, 100.0]),
    Rational([-0.1 + 0.5j, -0.1 - 0.5j, -2.0], [1 + 0.3j, 1 - 0.3j, 2.0], constant=0.5),
]
RIGHT = [Rational([1 + 0.5j, 1 - 0.5j], [0.3j, -0.3j])]


def exact_answer(L, g, f):
    lam, Phi = np.linalg.eigh(L.matrix.toarray())
    return Phi @ (g(np.maximum(lam, 0.0))[:, None] * (Phi.T @ f))


@settings(max_examples=40)
@given(L=laplacians(), g=st.sampled_from(LEFT), log_tol=st.floats(-10, -2))
def test_solves_keep_their_bounds(L, g, log_tol):
    f = np.random.default_rng(0).standard_normal((L.n_vertices, 3))
    exact = exact_answer(L, g, f)
    for solver in (Factors, ConjugateGradients):
        method = PolesMethod(L, g, solver, 10**log_tol)
        applied = method.apply(f, certify=True)
        error = np.linalg.norm(applied.signals[0] - exact, axis=0) / np.linalg.norm(f, axis=0)
        assert (error <= applied.error_bound + 1e-12 * (1 + L.lmax)).all()  # rounding of the eigenbasis at a pole
        assert (applied.error_bound <= 10**log_tol * method.gains[0] + 10 * method.floor()).all()


@pytest.mark.parametrize("g", RIGHT)
def test_poles_above_the_spectrum_are_factored_and_refused_by_multigrid(g):
    L = cg.laplacian(cg.gallery.grid(12))
    f = np.random.default_rng(0).standard_normal((144, 2))
    applied = PolesMethod(L, g, Factors, 1e-10).apply(f, certify=True)
    error = np.linalg.norm(applied.signals[0] - exact_answer(L, g, f), axis=0) / np.linalg.norm(f, axis=0)
    assert (error <= applied.error_bound).all()
    with pytest.raises(ValueError, match="real part"):
        cg.KernelFilter(L, g, method="multigrid")


@pytest.mark.parametrize("strength", [1e-3, 1.0, 1e3, 1e6, 1e9])
def test_tikhonov_of_any_strength_is_proved(strength):
    L = cg.laplacian(cg.gallery.grid(50))
    f = np.random.default_rng(0).standard_normal(2500)
    y, info = cg.KernelFilter(L, Tikhonov(strength), tol=1e-6).filter(f, return_info=True)
    assert info.certificate == "proved"
    assert info.converged
    exact = spsolve((sparse.eye_array(L.n_vertices) + strength * L.matrix).tocsc(), f)
    assert np.linalg.norm(y - exact) <= (info.error_bound + 1e-16 * (10 + strength)) * np.linalg.norm(f)


def test_iterations_do_not_grow_with_the_strength():
    L = cg.laplacian(cg.gallery.grid(60))
    f = np.random.default_rng(0).standard_normal((3600, 4))
    methods = [PolesMethod(L, Rational([-p], [p]), ConjugateGradients, 1e-8) for p in (1e-1, 1e-4, 1e-7)]
    counts = [method.apply(f, certify=True).n_matvecs for method in methods]
    assert max(counts) < 30


def test_conjugate_poles_share_a_solve():
    assert [pole for pole, _ in pole_groups(LEFT[2])] == [-0.1 + 0.5j, -2.0]


@pytest.mark.parametrize("solver", [Factors, ConjugateGradients])
@pytest.mark.parametrize("unit", [1e-110, 1e-70, 1.0, 1e70, 1e110])
@pytest.mark.parametrize("power", [2, 3, 4])
def test_weights_of_any_size_keep_the_bound(solver, unit, power):
    W, f = cg.gallery.grid(5).W, np.eye(25)[:, :3]
    g = Tikhonov(3.0 / unit, power)
    if g.rational_form is None:
        return
    exact = exact_answer(cg.laplacian(W), Tikhonov(3.0, power), f)
    applied = PolesMethod(cg.laplacian(unit * W), g.rational_form, solver, 1e-8).apply(f, certify=True)
    error = np.linalg.norm(applied.signals[0] - exact, axis=0)
    assert (error <= applied.error_bound + 1e-14).all()
    assert (applied.error_bound <= 1e-8).all()
