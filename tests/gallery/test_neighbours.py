"""Nearest-neighbour graphs join the nearest, with the weights of their distances."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from cayleygsp import gallery


def test_sensor_weights_are_the_gaussian_of_the_distance():
    graph = gallery.sensor(80, n_neighbors=5, rng=0)
    points = graph.coords
    distance = np.linalg.norm(points[:, None] - points, axis=2)
    order = np.argsort(distance, axis=1)[:, 1:6]
    near = np.zeros((80, 80), dtype=bool)
    np.put_along_axis(near, order, True, axis=1)
    sigma = np.sort(distance, axis=1)[:, 5].mean()
    expected = np.where(near | near.T, np.exp(-(distance**2) / sigma**2), 0)
    assert_allclose(graph.W.toarray(), expected, rtol=1e-12)


def test_mnist_grid_is_that_of_the_papers():
    graph = gallery.mnist_grid()
    degree = np.diff(graph.W.indptr)
    assert graph.n_vertices == 784
    assert graph.n_edges == 3198
    assert (degree.min(), degree.max()) == (8, 11)
    weights = np.unique(graph.W.data.round(12))
    assert_allclose(weights, [0.0288, 0.1089, 0.1696, 0.4119, 0.6418], atol=5e-5)
    # exp(-1/σ²) is the weight of pixels side by side.
    assert_allclose(-1 / np.log(weights[-1]), 2.2546, atol=5e-5)


def test_mnist_grid_looks_the_same_from_all_sides():
    W = gallery.mnist_grid().W.toarray()
    pixel = np.arange(784).reshape(28, 28)
    for turned in (pixel.T, pixel[::-1], pixel[:, ::-1]):
        order = turned.ravel()
        assert_array_equal(W[np.ix_(order, order)], W)


def test_mnist_grid_vertices_are_in_the_order_of_the_raveled_image():
    graph = gallery.mnist_grid(5)
    assert_array_equal(graph.coords[5 * 2 + 3], [3, 2])


@settings(max_examples=20)
@given(st.integers(2, 6), st.data())
def test_mnist_grid_takes_the_nearest_pixels(side, data):
    k = data.draw(st.integers(1, side**2 - 1))
    graph = gallery.mnist_grid(side, n_neighbors=k)
    distance = np.linalg.norm(graph.coords[:, None] - graph.coords, axis=2)
    np.fill_diagonal(distance, np.inf)
    kth = np.sort(distance, axis=1)[:, k - 1]
    joined = graph.W.toarray() > 0
    assert np.all(joined.sum(axis=1) >= k)
    # Whatever is nearer than the k-th neighbour is joined, whatever is farther from both ends is not.
    assert np.all(joined[distance < kth[:, None] - 1e-9])
    assert not np.any(joined[distance > np.maximum(kth[:, None], kth) + 1e-9])
    assert_allclose(graph.W.toarray()[joined], np.exp(-((distance[joined] / kth.mean()) ** 2)))
