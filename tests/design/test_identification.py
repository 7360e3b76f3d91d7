"""The filter between given signals: found to rounding without noise, and what cannot be found is said."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import cayleygsp as cg
from cayleygsp import design
from cayleygsp.design import identification as measured
from tests.oracle import dense_filter, random_polynomial


def pairs(L, p, n_signals=2, rng=0, noise=0.0):
    rng = np.random.default_rng(rng)
    X = rng.standard_normal((L.n_vertices, n_signals))
    Y = dense_filter(L, p) @ X
    return X, Y + noise * np.std(Y) * rng.standard_normal(Y.shape)


@pytest.fixture(scope="module")
def sensor():
    return cg.laplacian(cg.gallery.sensor(80, rng=0), "normalized")


@pytest.mark.parametrize(("order", "zoom"), [(1, 0.5), (2, 5.0), (4, 20.0)])
def test_a_filter_is_recovered_to_rounding(sensor, order, zoom):
    p = random_polynomial(order, zoom, np.random.default_rng(order))
    facts = design.identify_cayley(sensor, *pairs(sensor, p), order, ridge=0)
    assert facts.residual < 1e-12
    assert not facts.residual_is_estimated
    assert facts.zoom_is_identified
    assert_allclose(facts.zoom, zoom, rtol=1e-6)
    assert_allclose(facts.polynomial.coeffs, p.coeffs, rtol=1e-4, atol=1e-5)
    lam = sensor.eigenvalues
    assert_allclose(facts.polynomial(lam), p(lam), atol=1e-10 * np.abs(p(lam)).max())


def test_residual_and_curve_are_those_of_the_signals(sensor):
    """Also with outputs that no filter explains, and complex signals."""
    rng = np.random.default_rng(3)
    X, Y = (rng.standard_normal((80, 2)) + 1j * rng.standard_normal((80, 2)) for _ in range(2))
    facts = design.identify_cayley(sensor, X, Y, 2)
    distance = np.linalg.norm(Y - dense_filter(sensor, facts.polynomial) @ X) / np.linalg.norm(Y)
    assert_allclose(facts.residual, distance, rtol=1e-9)
    assert facts.residual <= facts.residuals.min() * (1 + 1e-9)
    assert facts.unreachable <= facts.residual
    k = 30
    fixed = design.identify_cayley(sensor, X, Y, 2, zoom=facts.zooms[k])
    assert_allclose(fixed.residual, facts.residuals[k], rtol=1e-9)
    assert fixed.zoom == pytest.approx(facts.zooms[k])


def test_krylov_spaces_serve_where_there_is_no_eigenbasis(monkeypatch):
    L = cg.laplacian(cg.gallery.sensor(300, rng=1), "normalized")
    p = random_polynomial(2, 4.0, np.random.default_rng(1))
    X, Y = pairs(cg.laplacian(cg.gallery.sensor(300, rng=1), "normalized"), p)
    monkeypatch.setattr(measured, "EIGENBASIS_VERTICES", 10)
    monkeypatch.setattr(measured, "KRYLOV_STEPS", 120)
    estimate = design.identify_cayley(L, X, Y, 2, ridge=0)
    assert estimate.residual_is_estimated
    assert not L.has_eigenbasis
    assert_allclose(estimate.zoom, 4.0, rtol=1e-5)
    _, info = cg.CayleyFilter.learn(L, X, Y, 2, tol=1e-10, return_info=True)
    assert not info.residual_is_estimated
    assert info.residual < 1e-5


def test_a_zero_signal_among_others_changes_nothing(monkeypatch, sensor):
    p = random_polynomial(1, 3.0, np.random.default_rng(2))
    X, Y = pairs(sensor, p)
    X[:, 1] = Y[:, 1] = 0
    fresh = cg.laplacian(cg.gallery.sensor(80, rng=0), "normalized")
    monkeypatch.setattr(measured, "EIGENBASIS_VERTICES", 10)
    for L in (sensor, fresh):
        assert_allclose(design.identify_cayley(L, X, Y, 1).zoom, 3.0, rtol=1e-4)


@pytest.mark.parametrize("small_graph", [True, False])
@pytest.mark.parametrize("size", [1e200, 1e160, 1e-200, 2.0**-1040])
def test_signals_of_any_size_give_the_same_filter(monkeypatch, size, small_graph):
    L = cg.laplacian(cg.gallery.grid(8))
    X, Y = pairs(L, cg.CayleyPolynomial([0.2, 0.6 - 0.3j], 3.0))
    if not small_graph:
        L = cg.laplacian(cg.gallery.grid(8))
        monkeypatch.setattr(measured, "EIGENBASIS_VERTICES", 10)
    g, info = cg.CayleyFilter.learn(L, X * size, Y * size, 1, return_info=True)
    coarse = size < 1e-300  # subnormal signals have few digits
    assert_allclose(g.polynomial.coeffs, [0.2, 0.6 - 0.3j], rtol=1e-4)
    assert 0 <= info.residual < (1e-4 if coarse else 1e-5)


def test_outputs_of_another_size_than_the_inputs(sensor):
    X, Y = pairs(sensor, cg.CayleyPolynomial([0.2, 0.6 - 0.3j], 3.0))
    plain, large = (design.identify_cayley(sensor, X, Y * size, 1, zoom=3.0) for size in (1, 1e200))
    assert_allclose(large.polynomial.coeffs / 1e200, plain.polynomial.coeffs, rtol=1e-12)
    assert_allclose(large.coeff_norm / 1e200, plain.coeff_norm, rtol=1e-12)
    for ratio in (1e-200, 1e200):
        with pytest.raises(ValueError, match=r"`outputs` must be within a factor of 1e280 of `inputs`"):
            design.identify_cayley(sensor, X / ratio, Y * ratio, 1, zoom=3.0)


def test_what_differs_on_one_eigenvalue_is_out_of_reach():
    L = cg.laplacian(cg.gallery.grid(8))
    lam, Phi = L.eigenvalues, L.eigenvectors
    k = 1
    assert_allclose(lam[k], lam[k + 1], atol=1e-12)
    x = np.random.default_rng(0).standard_normal(64)
    p, q = Phi[:, k] @ x, Phi[:, k + 1] @ x
    facts = design.identify_cayley(L, x, Phi[:, k] * p - Phi[:, k + 1] * q, 2)
    cosine = (p**2 - q**2) / (p**2 + q**2)  # of the angle between input and output in the eigenspace
    assert_allclose(facts.unreachable, np.sqrt(1 - cosine**2), rtol=1e-10)
    assert facts.unreachable <= facts.residual
    distinct = np.unique(np.add.outer(*2 * [2 - 2 * np.cos(np.pi * np.arange(8) / 8)]).round(9))
    assert facts.n_frequencies == distinct.size


def test_the_likely_range_holds_the_zoom_under_noise(sensor):
    p = cg.CayleyPolynomial([0.2, 0.6 - 0.3j], 3.0)
    inside = 0
    for seed in range(6):
        facts = design.identify_cayley(sensor, *pairs(sensor, p, 8, seed, noise=0.1), 1)
        low, high = facts.zoom_range
        assert facts.residual == pytest.approx(0.1, abs=0.02)
        inside += low <= 3.0 <= high
    assert inside >= 5


def test_a_ridge_keeps_the_coefficients_moderate_under_noise(sensor):
    p = random_polynomial(8, 3.0, np.random.default_rng(0))
    X, Y = pairs(sensor, p, noise=0.05)
    free, kept = (design.identify_cayley(sensor, X, Y, 8, ridge=ridge) for ridge in (0, 1e-3))
    assert kept.coeff_norm < 1e-2 * free.coeff_norm
    assert kept.condition <= 1.01e3 < free.condition
    assert free.residual <= kept.residual < 1.1 * free.residual


@pytest.mark.parametrize("case", ["constant", "few", "edgeless", "flat"])
def test_a_zoom_that_signals_do_not_tell_is_said(sensor, case):
    L, X = sensor, np.random.default_rng(0).standard_normal(80)
    if case == "few":  # four frequencies, five coefficients
        X = L.eigenvectors[:, [1, 10, 40, 70]].sum(axis=1)
        Y = L.eigenvectors[:, 1] - 2 * L.eigenvectors[:, 70]
    elif case == "edgeless":
        L = cg.laplacian(np.zeros((80, 80)))
        Y = 3 * X
    elif case == "flat":
        X = np.ones(80)
        L = cg.laplacian(cg.gallery.ring(80))
        Y = 2 * X
    else:
        Y = 3 * X
    facts = design.identify_cayley(L, X, Y, 2)
    assert facts.residual < 1e-6
    assert not facts.zoom_is_identified
    assert "do not tell" in facts.summary
    assert_allclose(dense_filter(L, facts.polynomial) @ X, Y, atol=1e-5)


def test_real_coefficients_and_a_zero_output(sensor):
    X, Y = pairs(sensor, cg.CayleyPolynomial([0.3, 0.5, -0.4], 2.0))
    facts = design.identify_cayley(sensor, X, Y, 2, real_coeffs=True, ridge=0)
    assert not facts.polynomial.coeffs.imag.any()
    assert_allclose(facts.polynomial.coeffs, [0.3, 0.5, -0.4], atol=1e-6)
    nothing = design.identify_cayley(sensor, X, 0 * Y, 2)
    assert nothing.residual == 0
    assert not nothing.polynomial.coeffs.any()


def test_invalid_signals_are_refused(sensor):
    X = np.ones(80)
    with pytest.raises(TypeError, match=r"`laplacian` must be a cayleygsp\.Laplacian, got Graph; make one with"):
        design.identify_cayley(cg.gallery.ring(80), np.ones(80), np.ones(80), 1)
    with pytest.raises(ValueError, match=r"`inputs` must have shape \(80,\)"):
        cg.CayleyFilter.learn(sensor, X[1:], X, 2)
    with pytest.raises(ValueError, match=r"`outputs` must have the shape of `inputs`, \(80,\), got \(80, 1\)"):
        cg.CayleyFilter.learn(sensor, X, X[:, None], 2)
    with pytest.raises(ValueError, match="`inputs` must not be zero everywhere"):
        cg.CayleyFilter.learn(sensor, 0 * X, X, 2)
    with pytest.raises(ValueError, match="`outputs` must be finite"):
        cg.CayleyFilter.learn(sensor, X, X * np.nan, 2)
    with pytest.raises(ValueError, match="`ridge` must be at least 0"):
        cg.CayleyFilter.learn(sensor, X, X, 2, ridge=-1)
