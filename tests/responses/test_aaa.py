"""Rational approximations of functions: how near they are, where their poles lie, and what filters say of them."""

import pickle

import numpy as np
import pytest
from scipy import fft

import cayleygsp as cg
from cayleygsp.responses import Heat, LowPass, MexicanHat, Rational, Tikhonov

LMAX = 8.0
FUNCTIONS = {
    "heat": Heat(1000.0),
    "step": LowPass(2.0, 0.05),
    "matern": Tikhonov(1e6, 0.5),
    "wavelet": MexicanHat(3.0),
    "function": lambda lam: np.abs(np.sin(lam)) / (1 + lam),
    "noise": lambda lam: np.exp(-lam) + 1e-11 * np.sin(1e9 * lam),
    "constant": lambda lam: 0 * lam + 3.0,
    "zero": lambda lam: 0 * lam,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("tol", [1e-3, 1e-8])
def test_nothing_is_farther_than_the_distance_and_no_pole_is_on_the_interval(name, tol):
    tol = 1e-4 if name == "function" and tol < 1e-4 else tol
    function = FUNCTIONS[name]
    g = Rational.approximate(function, (0, LMAX), tol=tol)
    lam = np.concatenate([np.linspace(0, LMAX, 40_001), np.geomspace(1e-9, LMAX, 10_001)])
    values = sum((r / (lam - p) ** m).real for p, r, m in zip(g.poles, g.residues, g.powers, strict=True)) + g.constant
    assert np.abs(values - function(lam)).max() <= g.distance + 1e-14
    assert g.distance <= tol * np.abs(function(lam)).max() + 1e-13
    assert not ((g.poles.imag == 0) & (g.poles.real >= 0) & (g.poles.real <= LMAX)).any()
    assert g.certificate == "sampled"
    np.testing.assert_array_equal(g(lam), function(lam))  # it stands for the function


@pytest.fixture(scope="module")
def grid():
    return cg.laplacian(cg.gallery.grid(50)), np.random.default_rng(0).standard_normal((2500, 2))


def error_of(y, g, f):
    """Return the distance from the exact answer on the grid, whose eigenvectors are products of cosines."""
    lam = 2 - 2 * np.cos(np.pi * np.arange(50) / 50)
    spectrum = fft.dctn(f.reshape(50, 50, -1), axes=(0, 1), norm="ortho")
    exact = fft.idctn(g(np.add.outer(lam, lam))[..., None] * spectrum, axes=(0, 1), norm="ortho").reshape(f.shape)
    return np.linalg.norm(y - exact, axis=0) / np.linalg.norm(f, axis=0)


@pytest.mark.parametrize("method", ["auto", "exact", "multigrid", "chebyshev"])
def test_filters_count_the_distance(grid, method):
    L, f = grid
    matern = Tikhonov(100.0, 0.5)
    g = Rational.approximate(matern, (0, L.lmax_bound), tol=1e-7)
    y, info = cg.KernelFilter(L, g, method=method, tol=1e-6).filter(f, return_info=True)
    assert info.converged
    assert info.certificate == "sampled"
    assert (np.asarray(info.error_bound) >= g.distance).all()
    assert (error_of(y, matern, f) <= info.error_bound).all()
    coarse = Rational.approximate(matern, (0, L.lmax_bound), tol=1e-3)
    with pytest.warns(cg.ConvergenceWarning):
        _, info = cg.KernelFilter(L, coarse, method=method, tol=1e-5).filter(f, return_info=True)
    assert not info.converged


def test_poles_over_the_spectrum_are_factored_and_refused_by_multigrid(grid):
    L, f = grid
    g = Rational.approximate(LowPass(2.0, 0.1), (0, L.lmax_bound), tol=1e-8)
    y, info = cg.KernelFilter(L, g, method="exact", tol=1e-6).filter(f, return_info=True)
    assert info.converged
    assert (error_of(y, g, f) <= info.error_bound).all()
    with pytest.raises(ValueError, match="real part"):
        cg.KernelFilter(L, g, method="multigrid")


def test_beyond_its_interval_an_approximation_is_refused():
    g = Rational.approximate(np.cos, (0, 3.0), tol=1e-6)
    with pytest.raises(ValueError, match="made for frequencies up to 3"):
        cg.KernelFilter(cg.gallery.ring(12), g)
    with pytest.raises(ValueError, match="made for frequencies up to 3"):
        cg.FilterBank(cg.gallery.ring(12), [g + Heat(1.0)])


def test_a_pole_may_lie_beyond_the_interval():
    g = Rational.approximate(lambda lam: 1 / (5.0 - lam), (0, 4.0), tol=1e-9)
    assert g.poles.real.max() == pytest.approx(5.0, abs=1e-6)
    f = np.random.default_rng(0).standard_normal((12, 1))
    L = cg.laplacian(cg.gallery.ring(12))
    for method in ("exact", "chebyshev"):
        y, info = cg.KernelFilter(L, g, method=method, tol=1e-7).filter(f, return_info=True)
        exact = np.linalg.solve(5 * np.eye(12) - L.matrix.toarray(), f)
        assert np.linalg.norm(y - exact) <= np.max(info.error_bound) * np.linalg.norm(f)


def test_what_cannot_be_approximated_is_refused_with_what_was_reached():
    with pytest.raises(ValueError, match=r"nearest is off by 0\."):
        Rational.approximate(lambda lam: (lam < np.pi) * 1.0, (0, LMAX), tol=1e-3)
    for wrong in ((1.0,), (2.0, 1.0), (-1.0, 1.0), (0.0, np.inf)):
        with pytest.raises(ValueError, match="interval"):
            Rational.approximate(np.cos, wrong)


def test_an_approximation_can_be_pickled():
    g = Rational.approximate(Tikhonov(10.0, 0.5), (0, 4.0), tol=1e-6)
    again = pickle.loads(pickle.dumps(g))
    assert again.distance == g.distance
    np.testing.assert_array_equal(again.poles, g.poles)
