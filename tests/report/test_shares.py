"""Frequencies at shares of the spectrum: counted where they are known, estimated elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import cayleygsp as cg
from cayleygsp.report.facts import DENSE_VERTICES
from cayleygsp.report.frequencies import find_frequencies
from tests.oracle import eigenpairs
from tests.strategies import laplacians


@pytest.fixture(scope="module")
def large():
    L = cg.laplacian(cg.gallery.grid(45))
    assert L.n_vertices > DENSE_VERTICES
    return L, find_frequencies(L, rng=0)


@given(L=laplacians(), share=st.floats(0.01, 1.0))
@settings(max_examples=60)
def test_frequencies_at_a_share_of_small_graphs_are_counted(L, share):
    lam = np.clip(eigenpairs(L)[0], 0, L.lmax)
    found = float(find_frequencies(L).at_shares(share))
    slack = 1e-9 * max(L.lmax, 1e-300)
    assert np.count_nonzero(lam <= found + slack) >= share * lam.size - 1e-6
    assert np.count_nonzero(lam < found - slack) < share * lam.size + 1e-6


def test_frequencies_of_large_graphs_are_estimated_without_eigenvalues(large):
    L, found = large
    assert found.eigenvalues is None
    assert not L.has_eigenbasis
    k = np.arange(45)
    line = 2 - 2 * np.cos(np.pi * k / 45)  # a grid is a product of two paths
    lam = np.sort((line[:, None] + line).reshape(-1))
    for share in (0.05, 0.25, 0.5, 0.9):
        estimate = float(found.at_shares(share))
        true_share = np.count_nonzero(lam <= estimate) / lam.size
        # smoothing and 16 probes leave about a hundredth
        assert abs(true_share - share) < 0.02


def test_zeros_do_not_count_as_low_frequencies():
    W = sparse.block_diag([cg.gallery.ring(8).W, sparse.csr_array((56, 56))], format="csr")
    found = find_frequencies(cg.laplacian(W))
    assert found.n_zero == 57
    assert float(found.at_shares(0.5)) == pytest.approx(0, abs=1e-12)
    assert found.at_positive_share(0.1) == pytest.approx(2 - np.sqrt(2))  # the lowest of the ring
