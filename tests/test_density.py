"""The spectral density against eigenvalues."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import cayleygsp as cg
from cayleygsp.density import block_widths, jackson_kernel, spectral_density
from tests.oracle import eigenpairs
from tests.strategies import laplacians


def true_moments(L, n_moments):
    x = np.clip(2 * eigenpairs(L)[0] / L.lmax - 1, -1, 1) if L.lmax else np.full(L.n_vertices, -1.0)
    return np.array([np.cos(m * np.arccos(x)).mean() for m in range(n_moments + 1)])


@pytest.fixture(scope="module")
def grid():
    return cg.laplacian(cg.gallery.grid(30))


@pytest.fixture(scope="module")
def estimated(grid):
    return spectral_density(grid, n_moments=64, n_probes=32, method="kpm", rng=0)


@given(L=laplacians(), n_moments=st.integers(1, 20))
def test_exact_moments_are_those_of_the_eigenvalues(L, n_moments):
    result = spectral_density(L, n_moments, method="exact")
    # T_m is as steep as m² at the ends, and eigenvalues are known to rounding
    assert_allclose(result.probe_moments.mean(axis=0), true_moments(L, n_moments), atol=1e-12 * n_moments**2)


@given(L=laplacians(), n_moments=st.integers(1, 20), seed=st.integers(0, 100))
def test_probes_are_right_within_their_statistical_error(L, n_moments, seed):
    n_probes = 40
    result = spectral_density(L, n_moments, n_probes, method="kpm", rng=seed)
    # six times the proved standard error; random signs have tails like those of Gaussians
    limit = 6 * np.sqrt(2 / (n_probes * L.n_vertices)) + 1e-10
    assert np.abs(result.probe_moments.mean(axis=0) - true_moments(L, n_moments)).max() <= limit


@given(L=laplacians(), seed=st.integers(0, 100))
def test_every_probe_is_a_moment_of_a_quadratic_form(L, seed):
    """The doubling identities against f·T_m f by the eigenbasis, probe by probe."""
    n_moments, n_probes = 9, 3
    result = spectral_density(L, n_moments, n_probes, method="kpm", rng=seed)
    if L.lmax == 0:
        return
    f = np.random.default_rng(seed).choice([-1.0, 1.0], size=(L.n_vertices, n_probes))
    lam, Phi = eigenpairs(L)
    power = (Phi.T @ f) ** 2 / L.n_vertices
    angle = np.arccos(np.clip(2 * lam / L.lmax - 1, -1, 1))
    expected = np.array([np.cos(m * angle) @ power for m in range(n_moments + 1)]).T
    assert_allclose(result.probe_moments, expected, atol=1e-9)


@given(L=laplacians(), seed=st.integers(0, 100))
def test_quadrature_is_a_distribution_and_keeps_damped_moments(L, seed):
    n_moments = 12
    result = spectral_density(L, n_moments, 4, method="kpm", rng=seed)
    assert result.weights.min() >= 0
    assert_allclose(result.weights.sum(), 1)
    assert (np.diff(result.nodes) > 0).all()
    if L.lmax:
        x = np.arccos(np.clip(2 * result.nodes / L.lmax - 1, -1, 1))
        damped = [result.weights @ np.cos(m * x) for m in range(n_moments + 1)]
        # zeros are an atom, which is not smoothed; the rest is scaled to what is left of the whole
        zeros = (-1.0) ** np.arange(n_moments + 1)
        rest = result.probe_moments.mean(axis=0) - result.probe_zeros.mean() * zeros
        if rest[0] > 1e-12:
            rest *= (1 - result.zero_share) / rest[0]
            expected = jackson_kernel(n_moments) * rest + result.zero_share * zeros
            assert_allclose(damped, expected, atol=1e-12)


def test_jacksons_kernel_has_its_published_factors():
    assert_allclose(jackson_kernel(3), [1.0, 0.809, 0.447, 0.138], atol=5e-4)


@given(L=laplacians(), seed=st.integers(0, 100))
def test_zeros_are_counted_and_not_estimated(L, seed):
    lam = eigenpairs(L)[0]
    n_zero = int((lam <= 1e-9 * max(L.lmax, 1e-300)).sum()) if L.lmax else L.n_vertices
    for method in ("kpm", "exact"):
        result = spectral_density(L, 20, 4, method=method, rng=seed)
        if L.n_components != n_zero:  # weights so small that rounding decides
            return
        assert result.n_zero == n_zero
        assert_allclose(result.cdf(0.0), n_zero / L.n_vertices)
        assert_allclose(result.weights[result.nodes == 0].sum(), n_zero / L.n_vertices)


def test_probes_know_what_they_have_at_zero():
    """The share of random signs in the null space, against the null vectors of the dense Laplacian."""
    W = np.zeros((7, 7))
    W[0, 1] = W[1, 2] = 2.0
    W[3, 4] = 0.5
    for kind in ("combinatorial", "normalized"):
        L = cg.laplacian(W + W.T, kind)
        result = spectral_density(L, 8, 5, method="kpm", rng=3)
        f = np.random.default_rng(3).choice([-1.0, 1.0], size=(7, 5))
        lam, Phi = eigenpairs(L)
        assert_allclose(result.probe_zeros, ((Phi[:, lam < 1e-12].T @ f) ** 2).sum(axis=0) / 7)


def test_nothing_is_claimed_of_zeros_that_are_not_known():
    """A normalized Laplacian given as a matrix does not tell its degrees, and may have no eigenvalue 0 at all."""
    L = cg.Laplacian.from_matrix(np.array([[1.0, -0.5], [-0.5, 1.0]]), "normalized")
    assert cg.density.count_zeros(L) == 0
    assert spectral_density(L).n_zero == 0


@given(L=laplacians(), seed=st.integers(0, 100))
def test_cdf_rises_from_zero_to_one(L, seed):
    result = spectral_density(L, 20, 4, method="kpm", rng=seed)
    lam = np.linspace(-0.1, 1.1, 200) * max(L.lmax, 1.0)
    cdf = result.cdf(lam)
    assert (np.diff(cdf) >= -1e-12).all()
    assert cdf[0] == 0
    assert cdf[-1] == 1
    assert result.pdf(lam).min() >= 0


def test_cdf_is_the_integral_of_the_density(estimated):
    a, b = 1.3, 5.1
    x, w = np.polynomial.legendre.leggauss(400)
    lam = a + (b - a) * (x + 1) / 2
    integral = w @ estimated.pdf(lam) * (b - a) / 2
    assert_allclose(integral, np.diff(estimated.cdf([a, b]))[0], atol=1e-10)


def test_cdf_is_near_the_count_of_eigenvalues(grid, estimated):
    lam = eigenpairs(grid)[0]
    at = np.linspace(0.3, 7.7, 60)
    counted = np.searchsorted(lam, at) / lam.size
    # Jackson's kernel is about π/M wide in angle, over which the share of eigenvalues of a grid changes by 0.05 at
    # most, 30 equal eigenvalues 4 apart from that
    away = np.abs(at - 4) > 0.3
    error = np.abs(estimated.cdf(at) - counted)[away]
    assert error.max() <= 6 * estimated.standard_error(at).max() + 0.02


def test_standard_error_falls_with_the_root_of_the_number_of_probes(grid):
    at = np.linspace(1, 7, 13)
    few = spectral_density(grid, 32, 20, method="kpm", rng=1).standard_error(at).mean()
    many = spectral_density(grid, 32, 320, method="kpm", rng=2).standard_error(at).mean()
    assert 3 < few / many < 5.3  # 4 but for the randomness of 20 probes


def test_standard_error_is_the_spread_of_repetitions(grid):
    at = np.array([1.0, 2.5, 6.0])
    repeated = [spectral_density(grid, 32, 8, method="kpm", rng=k) for k in range(60)]
    spread = np.std([d.cdf(at) for d in repeated], axis=0, ddof=1)
    claimed = np.sqrt(np.mean([d.standard_error(at) ** 2 for d in repeated], axis=0))
    assert_allclose(claimed, spread, rtol=0.4)  # 60 repetitions know their spread to a tenth, at three points


def test_exact_density_counts_eigenvalues():
    L = cg.laplacian(cg.gallery.ring(4))  # eigenvalues 0, 2, 2, 4
    result = spectral_density(L)
    assert result.exact
    assert_allclose(result.cdf([-1.0, 0.0, 1.9, 2.0, 4.0]), [0, 0.25, 0.25, 0.75, 1])
    assert_allclose(result.standard_error([1.0, 2.0]), 0)
    assert_allclose(result.weights @ result.nodes**2, (4 + 4 + 16) / 4)


def test_eigenvalues_are_used_where_they_are_there(grid):
    L = cg.laplacian(cg.gallery.grid(30))
    assert not spectral_density(L, 8, 2, rng=0).exact
    _ = L.eigenbasis
    assert spectral_density(L, 8, 2, rng=0).exact
    assert not spectral_density(L, 8, 2, method="kpm", rng=0).exact


def test_same_seed_same_density(grid):
    first, second = (spectral_density(grid, 16, 4, method="kpm", rng=5) for _ in range(2))
    assert_array_equal(first.probe_moments, second.probe_moments)


def test_large_graphs_get_narrow_blocks_of_probes():
    assert list(block_widths(100, 40)) == [16, 16, 8]
    assert list(block_widths(2**23, 5)) == [2, 2, 1]
    assert list(block_widths(2**26, 2)) == [1, 1]


def test_graph_without_edges_has_all_frequencies_at_zero():
    result = spectral_density(np.zeros((3, 3)), 4, 2, method="kpm", rng=0)
    assert_allclose(result.cdf([-0.1, 0.0, 1.0]), [0, 1, 1])
    assert_allclose(result.weights @ result.nodes, 0)
    assert_allclose(result.standard_error(0.0), 0)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n_moments": 0}, ValueError, "`n_moments` must be at least 1, got 0"),
        ({"n_probes": 1}, ValueError, "`n_probes` must be at least 2, got 1"),
        ({"n_probes": 2.5}, TypeError, "`n_probes` must be an integer, got 2.5"),
        ({"method": "lanczos"}, ValueError, "`method` must be one of 'auto', 'kpm', 'exact', got 'lanczos'"),
    ],
)
def test_what_cannot_be_is_refused(options, error, message):
    with pytest.raises(error, match=message):
        spectral_density(cg.gallery.ring(5), **options)


@pytest.mark.parametrize("method", ["exact", "kpm"])
def test_share_up_to_no_number_is_none(method):
    result = spectral_density(cg.gallery.ring(30), method=method, rng=0)
    share = result.cdf([np.nan, 0.0, result.lmax])
    assert np.isnan(share[0])
    assert_allclose(share[1:], [1 / 30, 1.0], atol=1e-12)
    assert np.isnan(result.cdf(np.nan))
