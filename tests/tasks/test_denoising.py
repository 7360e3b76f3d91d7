"""Denoising: criteria against dense formulas, choices against the best, and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cayleygsp as cg
from cayleygsp.responses import Heat, LowPass, Tikhonov
from cayleygsp.tasks import traces
from tests.oracle import dense_filter
from tests.strategies import laplacians

STRENGTHS = np.geomspace(0.05, 50, 7)


def dense_criterion(L, y, make, select, sigma, strengths=STRENGTHS):
    """Return the formulas of the documentation, with matrices."""
    n, values = L.n_vertices, []
    for s in strengths:
        G, W, eye = dense_filter(L, make(s)), dense_filter(L, make(s / 4)), np.eye(n)
        R = ((y - G @ y) ** 2).sum(axis=0) / n
        if select == "gcv":
            values.append(R / (1 - np.trace(G) / n) ** 2)
        elif select == "sure":
            values.append(R - sigma**2 + 2 * sigma**2 * np.trace(G) / n)
        elif select == "morozov":
            values.append(R / sigma**2)
        else:
            weighted = np.einsum("ij,ij->j", y - G @ y, W @ (y - G @ y))
            values.append(weighted / (sigma**2 * np.trace(W @ ((eye - G) @ (eye - G) + G @ G))))
    return np.array(values)


def level(select, sigma):
    """Return the noise level for those that use it."""
    return None if select == "gcv" else sigma


@pytest.fixture
def noisy():
    grid = cg.gallery.grid(12)
    clean = np.sin(grid.coords[:, 0] / 3) + np.cos(grid.coords[:, 1] / 4)
    return grid, clean, clean[:, None] + 0.4 * np.random.default_rng(0).standard_normal((144, 3))


@pytest.mark.parametrize("select", ["gcv", "sure", "discrepancy", "morozov"])
@pytest.mark.parametrize(
    ("family", "make"),
    [("tikhonov", Tikhonov), ("heat", Heat), ("low", lambda s: LowPass(1 / s))],
    ids=["t", "h", "l"],
)
def test_the_curve_is_that_of_dense_matrices(noisy, family, make, select):
    grid, _, y = noisy
    result = cg.tasks.denoise(grid, y, family, select, sigma=level(select, 0.4), strengths=STRENGTHS)
    expected = dense_criterion(cg.laplacian(grid), y, make, select, 0.4)
    usable = np.isfinite(result.curve)
    assert usable[2:].all()
    assert result.curve[usable] == pytest.approx(expected[usable], rel=1e-6, abs=1e-9)
    if select in ("discrepancy", "morozov"):
        chosen = [max(np.flatnonzero(np.append(column, 2) > 1)[0] - 1, 0) for column in expected.T]
    else:
        chosen = np.argmin(np.where(usable, expected, np.inf), axis=0)
    assert result.strength == pytest.approx(STRENGTHS[chosen])
    truth = np.stack([dense_filter(cg.laplacian(grid), make(s)) @ y[:, j] for j, s in enumerate(result.strength)], 1)
    error = np.linalg.norm(result.signals - truth, axis=0) / np.linalg.norm(y, axis=0)
    assert (error <= result.error_bound).all()
    assert result.certificate == "proved"
    assert result.converged


@given(laplacians(max_vertices=10), st.sampled_from(["gcv", "sure", "discrepancy", "morozov"]), st.integers(0, 99))
@settings(max_examples=20)
def test_curves_on_random_graphs_are_dense_ones(L, select, seed):
    if L.lmax == 0:
        return
    y = np.random.default_rng(seed).standard_normal((L.n_vertices, 2))
    strengths = np.array([0.3, 3.0, 30.0]) / L.lmax
    result = cg.tasks.denoise(L, y, "heat", select, sigma=level(select, [0.5, 2.0]), strengths=strengths)
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = dense_criterion(L, y, Heat, select, np.array([0.5, 2.0]), strengths)
    usable = np.isfinite(result.curve)
    assert result.curve[usable] == pytest.approx(expected[usable], rel=1e-5, abs=1e-8)


def test_estimated_traces_choose_as_exact_ones_do(noisy, monkeypatch):
    grid, _, y = noisy
    levels = {"gcv": None, "sure": 0.4, "discrepancy": 0.4}
    exact = {select: cg.tasks.denoise(grid, y, "heat", select, sigma=sigma) for select, sigma in levels.items()}
    monkeypatch.setattr(traces, "EXACT_VERTICES", 0)
    for select, known in exact.items():
        result = cg.tasks.denoise(grid, y, "heat", select, sigma=levels[select])
        assert not result.traces.exact
        assert (result.curve_error > 0).any()
        finite = np.isfinite(result.curve) & np.isfinite(known.curve)
        assert (np.abs(result.curve - known.curve)[finite] <= 5 * result.curve_error[finite] + 1e-6).all()
        assert (np.abs(np.log(result.strength / known.strength)) < 1).all()


@pytest.mark.parametrize("select", ["gcv", "sure", "discrepancy"])
def test_every_selector_comes_near_the_best_strength(select):
    grid = cg.gallery.grid(40)
    clean = np.sin(grid.coords[:, 0] / 5) + np.cos(grid.coords[:, 1] / 6)
    y = clean[:, None] + 0.4 * np.random.default_rng(1).standard_normal((1600, 12))
    result = cg.tasks.denoise(grid, y, "heat", select)
    assert not result.traces.exact
    bank = cg.FilterBank(grid, [Heat(s) for s in result.strengths[10:40]])
    errors = np.linalg.norm(bank.filter(y) - clean[:, None, None], axis=0)
    ratio = np.linalg.norm(result.signals - clean[:, None], axis=0) / errors.min(axis=1)
    assert np.median(ratio) < 1.05
    assert ratio.max() < 1.2


def test_the_textbook_rule_smooths_more_than_the_one_that_looks_where_the_filter_acts():
    grid = cg.gallery.grid(30)
    clean = np.sin(grid.coords[:, 0] / 5) + np.cos(grid.coords[:, 1] / 6)
    y = clean[:, None] + 0.4 * np.random.default_rng(2).standard_normal((900, 20))
    textbook, weighted = (cg.tasks.denoise(grid, y, "tikhonov", rule, sigma=0.4) for rule in ("morozov", "discrepancy"))
    residual = ((y - textbook.signals) ** 2).mean(axis=0)
    assert (residual <= 0.4**2 + 1e-6).all()
    assert np.median(textbook.strength / weighted.strength) > 1.5


def test_one_strength_for_all_signals_or_one_for_each(noisy):
    grid, _, y = noisy
    y = y * [1.0, 1.0, 0.01] + [[0.0, 5.0, 0.0]]
    for select in ("sure", "discrepancy"):
        assert cg.tasks.denoise(grid, y, "heat", select, shared=True).curve.ndim == 1
    each, shared = (cg.tasks.denoise(grid, y, shared=shared) for shared in (False, True))
    alone = [cg.tasks.denoise(grid, column) for column in y.T]
    assert each.strength == pytest.approx([one.strength for one in alone])
    assert each.curve.shape == (each.strengths.size, 3)
    assert np.stack([one.signals for one in alone], axis=1) == pytest.approx(each.signals, abs=1e-6)
    assert isinstance(shared.strength, float)
    assert shared.curve == pytest.approx(each.curve.mean(axis=1))
    assert "strength" in alone[0].summary()


@pytest.mark.parametrize("select", ["gcv", "sure", "discrepancy"])
def test_the_size_of_signals_does_not_matter(noisy, select):
    grid, _, y = noisy
    plain, tiny, huge = (cg.tasks.denoise(grid, 2.0**k * y, "heat", select) for k in (0, -600, 600))
    assert np.array_equal(plain.strength, tiny.strength)
    assert np.array_equal(plain.strength, huge.strength)
    assert np.ldexp(huge.signals, -600) == pytest.approx(plain.signals, rel=1e-9)
    assert (cg.tasks.denoise(grid, np.zeros(144), "heat", "gcv").signals == 0).all()


def test_single_precision_stays(noisy):
    grid, _, y = noisy
    result = cg.tasks.denoise(grid, y.astype(np.float32))
    assert result.signals.dtype == np.float32
    assert result.signals.shape == y.shape


def test_a_family_of_your_own(noisy):
    grid, _, y = noisy
    own = cg.tasks.denoise(grid, y, lambda s: Tikhonov(s), strengths=STRENGTHS)
    named = cg.tasks.denoise(grid, y, "tikhonov", strengths=STRENGTHS)
    assert own.signals == pytest.approx(named.signals)
    plain = cg.tasks.denoise(grid, y, lambda s: lambda lam: 1 / (1 + s * lam), strengths=STRENGTHS)
    assert plain.strength == pytest.approx(named.strength)
    assert plain.certificate == "sampled"


def test_the_search_goes_on_if_the_last_strength_is_chosen():
    result = cg.tasks.denoise(cg.gallery.ring(300), np.random.default_rng(0).standard_normal(300))
    assert result.strengths[-1] > 1e5
    assert not cg.tasks.denoise(cg.gallery.ring(20), np.resize([1.0, -1.0], 20), strengths=[1.0]).at_end


def test_a_low_pass_below_all_frequencies_is_not_taken_for_a_good_one():
    y = 5 * np.sin(np.arange(60) * 2 * np.pi / 20) + np.random.default_rng(0).standard_normal(60)
    result = cg.tasks.denoise(cg.gallery.ring(60), y, "low", "discrepancy", sigma=1.0)
    assert result.curve[-1] < 1  # neither filter nor weight pass anything but the mean
    assert 1 / result.strength > 2 - 2 * np.cos(2 * np.pi / 20)


def test_the_noise_is_estimated_where_it_is_not_given():
    grid = cg.gallery.grid(40)
    y = 0.1 * grid.coords[:, 0] + 0.5 * np.random.default_rng(0).standard_normal(1600)
    result = cg.tasks.denoise(grid, y, "heat", "sure")
    assert result.sigma_estimated
    assert result.sigma == pytest.approx(0.5, rel=0.1)
    assert "estimated from the high frequencies" in result.summary()
    assert cg.tasks.denoise(grid, y, "heat", "gcv").sigma is None


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y": [1.0, np.nan, 2.0]}, ValueError, r"`y` must be finite, got nan at \[1\]"),
        ({"y": [1.0, 2.0]}, ValueError, r"`y` must have shape \(3,\)"),
        ({"y": [1j, 0, 0]}, TypeError, "`y` must be real"),
        ({"y": np.zeros((3, 0))}, ValueError, "at least one signal"),
        (
            {"family": "wavelet"},
            ValueError,
            "`family` must be one of 'tikhonov', 'heat', 'low', or a function.*'wavelet'",
        ),
        ({"family": 3}, ValueError, "got int"),
        ({"family": lambda s: s}, TypeError, r"`family\(strength\)` must be a response or .*, got float"),
        ({"select": "aic"}, ValueError, "`select` must be one of 'gcv', 'sure', 'discrepancy', 'morozov', got 'aic'"),
        ({"strengths": [1.0, 0.0]}, ValueError, "`strengths` must be positive, got 0"),
        ({"strengths": [np.inf]}, ValueError, "`strengths` must be finite"),
        ({"strengths": []}, ValueError, "at least one strength"),
        ({"sigma": 0.0}, ValueError, "`sigma` must be positive and finite, got 0"),
        ({"sigma": [1.0, 2.0]}, ValueError, r"`sigma` must be one number or have shape \(1,\)"),
        ({"sigma": "a"}, TypeError, "`sigma` must be real numbers"),
        (
            {"sigma": 1.0},
            ValueError,
            "`sigma` must not be given with select='gcv'.*'sure'.* and 'morozov' do",
        ),
        ({"tol": 0.0}, ValueError, "`tol` must be positive"),
        ({"n_probes": 1}, ValueError, "`n_probes` must be at least 2"),
        ({"shared": 1}, TypeError, "`shared` must be True or False"),
        ({"graph": np.zeros((3, 3))}, ValueError, "`graph` must have edges"),
    ],
)
def test_bad_arguments_are_rejected_before_work(change, error, message, monkeypatch):
    monkeypatch.setattr("cayleygsp.tasks.denoising.quadratic_forms", None)
    with pytest.raises(error, match=message):
        cg.tasks.denoise(**({"graph": cg.gallery.path(3), "y": [1.0, 2.0, 3.0]} | change))


@pytest.mark.parametrize("select", ["gcv", "sure", "discrepancy"])
def test_the_curve_of_a_family_without_good_series_is_within_its_error(monkeypatch, select):
    """Steps that no series comes near: the residuals are off by far more than the tolerance."""
    y, sigma = np.random.default_rng(0).standard_normal(64), level(select, 1e-6)
    strengths, grid = [0.3], cg.gallery.grid(8)
    exact = cg.tasks.denoise(grid, y, step_at, select, sigma=sigma, strengths=strengths)
    monkeypatch.setattr(traces, "EXACT_VERTICES", 0)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = cg.tasks.denoise(grid, y, step_at, select, sigma=sigma, strengths=strengths, n_probes=4)
    assert not [w for w in seen if "0.01" in str(w.message)]  # the tolerance of the sketch
    assert (np.abs(result.curve - exact.curve) <= result.curve_error).all()


def step_at(strength):
    return lambda eigenvalues: (eigenvalues < 1 / strength) * 1.0


def test_strengths_of_which_cross_validation_says_nothing_are_rejected():
    with pytest.raises(ValueError, match="`strengths` must hold one at which the filter removes more"):
        cg.tasks.denoise(cg.gallery.path(3), [1.0, 2.0, 3.0], strengths=[1e-14])
