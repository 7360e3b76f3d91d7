"""Bounds of spectra against dense eigenvalues."""

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

import cayleygsp as cg
from cayleygsp.spectrum import collatz_wielandt, spectral_radius_bound
from tests.strategies import weighted_graphs


@given(W=weighted_graphs(self_loops=False))
def test_spectral_radius_of_a_small_matrix_is_bounded(W):
    largest = np.linalg.eigvalsh(W)[-1] if W.any() else 0.0
    bound = spectral_radius_bound(sparse.csr_array(W))
    assert largest * (1 - 1e-13) <= bound <= largest * (1 + 1e-11) + 1e-13 * W.sum(axis=1).max()


@pytest.mark.parametrize("graph", [cg.gallery.grid(50), cg.gallery.star(2500)])
def test_spectral_radius_of_a_large_normalized_adjacency_is_bounded_near_one(graph):
    A = sparse.eye_array(graph.n_vertices) - cg.laplacian(graph, "normalized").matrix
    assert 1 - 1e-13 <= spectral_radius_bound(A.tocsr()) <= 1 + 1e-8


def test_vertices_without_edges_count_nothing():
    W = sparse.block_diag([cg.gallery.grid(50).W, np.zeros((3, 3))], format="csr")
    A = (sparse.eye_array(2503) - cg.laplacian(W, "normalized").matrix).tolil()
    A[[2500, 2501, 2502], [2500, 2501, 2502]] = 0
    assert spectral_radius_bound(A.tocsr()) <= 1 + 1e-8
    assert spectral_radius_bound(sparse.csr_array((4, 4))) == 0
    assert collatz_wielandt(sparse.csr_array((4, 4)), np.zeros(4)) == 0
