"""Frequencies at shares of the spectrum, zeros and the lowest ones: counted, proved, or said to be estimates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

import cayleygsp as cg
from cayleygsp.report import frequencies as module
from cayleygsp.report.frequencies import DENSE_VERTICES, certified_text, find_frequencies
from cayleygsp.report.zoom import zoom_rows
from tests.oracle import eigenpairs
from tests.strategies import laplacians


def scattered(n_single=700, rings=100):
    """Return rings of four beside vertices without edges: a third of the spectrum is positive, the rest is zero."""
    return sparse.block_diag([cg.gallery.ring(4).W] * rings + [sparse.csr_array((n_single, n_single))], format="csr")


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_zeros_of_large_graphs_are_counted(kind):
    L = cg.laplacian(scattered(), kind)
    result = find_frequencies(L, rng=0)
    assert result.eigenvalues is None
    assert result.n_zero == 800
    assert_allclose(result.density.cdf(0.0), 800 / 1100)
    assert not result.at_shares([0.01, 0.5, 0.72]).any()
    # above, a ring of four has 2, 2, 4 (or 1, 1, 2 of them)
    two_thirds = result.at_positive_share(0.66)
    assert two_thirds == pytest.approx(L.lmax / 2, rel=0.1)
    lowest = result.lowest(15)
    assert (lowest.last, lowest.certificate) == (0.0, "exact")
    assert not L.has_eigenbasis


def test_the_fifteenth_frequency_of_a_large_graph_is_proved_from_above():
    grid = cg.laplacian(cg.gallery.grid(40))
    line = 2 - 2 * np.cos(np.pi * np.arange(40) / 40)
    lam = np.sort((line[:, None] + line).reshape(-1))
    lowest = find_frequencies(grid, rng=0).lowest(15)
    assert lowest.certificate == "at most"
    assert lam[14] <= lowest.last <= lam[14] * (1 + 1e-6)
    assert certified_text(lowest.last, lowest.certificate).startswith("at most 0.0")


def test_where_the_lowest_are_not_computed_they_are_called_estimates(monkeypatch):
    monkeypatch.setattr(module, "LOWEST_VERTICES", 100)
    result = find_frequencies(cg.laplacian(cg.gallery.grid(40)), rng=0)
    row = zoom_rows(result, [1.0], 15)[0]
    assert (row.certificate, row.smallest_gap) == ("about", None)
    assert certified_text(row.frequency, row.certificate).startswith("about ")


def test_a_large_share_may_hold_frequencies_that_are_squeezed_together():
    """The zoom 10 gives 95 % of the half circle to the 15 lowest of the communities, and 14 of them are in 5 %."""
    result = find_frequencies(cg.laplacian(cg.gallery.communities(rng=0)))
    near, far = zoom_rows(result, [1.0, 10.0], 15)
    theta = cg.cayley_angle(10.0 * result.eigenvalues[:15])
    assert far.circle_share > 0.9
    assert_allclose(far.smallest_gap, np.diff(theta).min() / np.pi)
    assert far.smallest_gap < near.smallest_gap


@pytest.fixture(scope="module")
def large():
    L = cg.laplacian(cg.gallery.grid(45))
    assert L.n_vertices > DENSE_VERTICES
    return L, find_frequencies(L, rng=0)


@given(L=laplacians(), share=st.floats(0.01, 1.0))
def test_frequencies_at_a_share_of_small_graphs_are_counted(L, share):
    lam = np.clip(eigenpairs(L)[0], 0, L.lmax)
    result = float(find_frequencies(L).at_shares(share))
    slack = 1e-9 * max(L.lmax, 1e-300)
    assert np.count_nonzero(lam <= result + slack) >= share * lam.size - 1e-6
    assert np.count_nonzero(lam < result - slack) < share * lam.size + 1e-6


def test_frequencies_of_large_graphs_are_estimated_without_eigenvalues(large):
    L, result = large
    assert result.eigenvalues is None
    assert not L.has_eigenbasis
    k = np.arange(45)
    line = 2 - 2 * np.cos(np.pi * k / 45)  # a grid is a product of two paths
    lam = np.sort((line[:, None] + line).reshape(-1))
    for share in (0.05, 0.25, 0.5, 0.9):
        estimate = float(result.at_shares(share))
        true_share = np.count_nonzero(lam <= estimate) / lam.size
        # smoothing and 16 probes leave about a hundredth
        assert abs(true_share - share) < 0.02


def test_zeros_do_not_count_as_low_frequencies():
    W = sparse.block_diag([cg.gallery.ring(8).W, sparse.csr_array((56, 56))], format="csr")
    result = find_frequencies(cg.laplacian(W))
    assert result.n_zero == 57
    assert float(result.at_shares(0.5)) == pytest.approx(0, abs=1e-12)
    assert result.at_positive_share(0.1) == pytest.approx(2 - np.sqrt(2))  # the lowest of the ring
