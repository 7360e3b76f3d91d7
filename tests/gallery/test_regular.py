"""Graphs known by heart have the spectra that their names promise."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from cayleygsp import gallery


def combinatorial_spectrum(graph):
    W = graph.W.toarray()
    return np.linalg.eigvalsh(np.diag(W.sum(axis=1)) - W)


def test_grid_has_the_sums_of_path_eigenvalues():
    graph = gallery.grid(3, 4)
    sums = np.add.outer(combinatorial_spectrum(gallery.path(3)), combinatorial_spectrum(gallery.path(4))).ravel()
    assert_allclose(combinatorial_spectrum(graph), np.sort(sums), atol=1e-12)
    assert_array_equal(graph.coords[5], [1, 1])
    assert gallery.grid(4).n_vertices == 16
    assert gallery.grid(1).n_edges == 0


def test_ring_spectrum():
    k = np.arange(9)
    assert_allclose(combinatorial_spectrum(gallery.ring(9)), np.sort(2 - 2 * np.cos(2 * np.pi * k / 9)), atol=1e-12)


def test_path_spectrum():
    assert_allclose(combinatorial_spectrum(gallery.path(7)), 2 - 2 * np.cos(np.pi * np.arange(7) / 7), atol=1e-12)
    assert gallery.path(1).n_edges == 0


def test_star_spectrum_and_centre():
    assert_allclose(combinatorial_spectrum(gallery.star(6)), [0, 1, 1, 1, 1, 6], atol=1e-12)
    assert gallery.star(6).W.sum(axis=1)[0] == 5
    assert gallery.star(2).n_edges == 1


@settings(max_examples=25)
@given(st.integers(1, 24), st.data())
def test_random_regular_is_simple_and_regular(n, data):
    degree = data.draw(st.integers(0, n - 1).filter(lambda d: n * d % 2 == 0))
    graph = gallery.random_regular(n, degree, rng=0)
    assert_array_equal(graph.W.sum(axis=1), np.full(n, degree))
    assert np.all(graph.W.data == 1)
    assert not graph.W.diagonal().any()


def test_random_regular_depends_on_the_seed_only():
    one, two = (gallery.random_regular(20, 3, rng=4) for _ in range(2))
    assert (one.W != two.W).nnz == 0
    assert (one.W != gallery.random_regular(20, 3, rng=5).W).nnz > 0
