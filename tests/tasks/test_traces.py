"""Traces and forms of filters, against the eigendecomposition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cayleygsp as cg
from cayleygsp.responses import Heat, LowPass, Tikhonov
from cayleygsp.tasks import traces
from cayleygsp.tasks.traces import Polynomial, estimate_traces, plain, quadratic_forms, squared_complement
from tests.oracle import eigenpairs
from tests.strategies import laplacians

RESPONSES = [Heat(0.1), Tikhonov(2.0), LowPass(0.7), Tikhonov(40.0)]


@pytest.fixture
def no_eigenbasis(monkeypatch):
    """Let small graphs be treated as large ones."""
    monkeypatch.setattr(traces, "EXACT_VERTICES", 0)


@given(laplacians(), st.integers(0, 99))
@settings(max_examples=25)
def test_forms_equal_the_dense_ones(L, seed):
    if L.lmax == 0:
        return
    f = np.random.default_rng(seed).standard_normal((L.n_vertices, 3))
    lam, Phi = eigenpairs(L)
    lam, energies = np.maximum(lam, 0), (Phi.T @ f) ** 2
    g, w = (cg.responses.Tikhonov(s / L.lmax) for s in (5.0, 1.0))
    polynomials = [plain(g), squared_complement(g), Polynomial(lambda w, g: w * (1 - g) ** 2, (w, g), (1, 2))]
    expected = np.array([g(lam), (1 - g(lam)) ** 2, w(lam) * (1 - g(lam)) ** 2]) @ energies
    exact = quadratic_forms(L, polynomials, f, tol=1e-10).values
    del L.__dict__["eigenbasis"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(traces, "EXACT_VERTICES", 0)
        by_moments = quadratic_forms(L, polynomials, f, tol=1e-10).values
        assert not L.has_eigenbasis
    scale = (f**2).sum(axis=0)
    assert (np.abs(exact - expected) <= 1e-9 * scale).all()
    assert (np.abs(by_moments - expected) <= 1e-8 * scale).all()


def test_standard_errors_cover_the_dense_traces(no_eigenbasis):
    L = cg.laplacian(cg.gallery.communities(rng=0))
    lam, _ = eigenpairs(L)
    truth = np.array([g(np.maximum(lam, 0)).sum() for g in RESPONSES])
    rng = np.random.default_rng(0)
    estimates = [estimate_traces(L, [plain(g) for g in RESPONSES], RESPONSES[-1], 16, rng, tol=1e-8) for _ in range(60)]
    assert not any(one.exact for one in estimates)
    values, errors = np.array([one.values for one in estimates]), np.array([one.standard_errors for one in estimates])
    off = np.abs(values - truth) / errors
    # Student's t with 15 degrees of freedom: 95 % within 2.13 standard errors, two thirds within one
    assert ((off <= 2.13).mean(axis=0) >= 0.85).all()
    assert ((off <= 1).mean(axis=0) <= 0.85).all()
    assert (np.abs(values.mean(axis=0) - truth) <= 4 * errors.mean(axis=0) / np.sqrt(60)).all()


def test_the_sketch_makes_traces_of_strong_filters_sharper(no_eigenbasis):
    L = cg.laplacian(cg.gallery.communities(rng=0))
    g = Tikhonov(1e3)  # 15 communities and not much else
    estimates = estimate_traces(L, [plain(g)], g, 32, np.random.default_rng(0), tol=1e-8)
    z = np.random.default_rng(0).choice([-1.0, 1.0], size=(L.n_vertices, 64))
    hutchinson = quadratic_forms(L, [plain(g)], z, tol=1e-8).values[0]
    assert estimates.standard_errors[0] < 0.1 * hutchinson.std(ddof=1) / np.sqrt(64)


def test_traces_are_exact_where_the_eigenvalues_are_known():
    L = cg.laplacian(cg.gallery.grid(6, 5))
    lam, _ = eigenpairs(L)
    estimates = estimate_traces(L, [plain(g) for g in RESPONSES], RESPONSES[-1], 4, np.random.default_rng(0), tol=1e-6)
    assert estimates.exact
    assert estimates.n_probes == 0
    assert (estimates.standard_errors == 0).all()
    assert estimates.values == pytest.approx([g(np.maximum(lam, 0)).sum() for g in RESPONSES], rel=1e-12)


def test_forms_of_a_polynomial_with_an_interval_of_its_own(no_eigenbasis):
    L, p = cg.laplacian(cg.gallery.grid(6)), cg.ChebyshevPolynomial([0.5, -0.4, 0.1], 12.0)
    f = np.random.default_rng(0).standard_normal((36, 2))
    lam, Phi = eigenpairs(L)
    expected = np.array([p(lam), (1 - p(lam)) ** 2]) @ (Phi.T @ f) ** 2
    forms = quadratic_forms(L, [plain(p), squared_complement(p)], f, tol=1e-6)
    np.testing.assert_allclose(forms.values, expected, rtol=1e-10)
