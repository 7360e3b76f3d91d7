"""Graphs of the gallery have the edges, weights and spectra that their names promise."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from scipy.sparse.linalg import lsqr
from scipy.spatial import cKDTree

from cayleygsp import gallery
from cayleygsp.gallery import pairs, planted
from cayleygsp.graph import Graph


def combinatorial_spectrum(graph):
    W = graph.W.toarray()
    return np.linalg.eigvalsh(np.diag(W.sum(axis=1)) - W)


def n_edges_inside(graph):
    """Count the edges inside each community."""
    edges = graph.W.tocoo()
    same = graph.labels[edges.row] == graph.labels[edges.col]
    return np.bincount(graph.labels[edges.row[same]], minlength=graph.labels.max() + 1) // 2


# Communities.


def test_default_communities_are_fifteen_of_10_to_39_vertices():
    graph = gallery.communities(rng=1)
    sizes = np.bincount(graph.labels)
    assert len(sizes) == 15
    assert sizes.min() >= 10
    assert sizes.max() <= 39
    assert len(set(sizes)) > 1
    assert np.all(np.diff(graph.labels) >= 0)


def test_same_seed_gives_the_same_communities():
    one, two = gallery.communities(rng=5), gallery.communities(rng=np.random.default_rng(5))
    assert (one.W != two.W).nnz == 0
    assert_array_equal(one.coords, two.coords)
    assert one.W.shape != gallery.communities(rng=6).W.shape or (one.W != gallery.communities(rng=6).W).nnz


def test_vertices_are_split_evenly():
    assert_array_equal(np.bincount(gallery.communities(4, n_vertices=10).labels), [3, 3, 2, 2])


@settings(max_examples=30)
@given(
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=6),
    p_in=st.floats(0, 1),
    p_out=st.floats(0, 1),
    seed=st.integers(0, 1000),
)
def test_communities_are_simple_unweighted_graphs(sizes, p_in, p_out, seed):
    graph = gallery.communities(sizes=sizes, p_in=p_in, p_out=p_out, rng=seed)
    assert_array_equal(np.bincount(graph.labels), sizes)
    assert not graph.W.diagonal().any()
    assert np.all(graph.W.data == 1)


@pytest.mark.parametrize(("p_in", "p_out"), [(1, 0), (0, 1), (1, 1), (0, 0)])
def test_certain_probabilities_give_all_or_no_edges(p_in, p_out):
    graph = gallery.communities(sizes=[3, 1, 4], p_in=p_in, p_out=p_out)
    same = graph.labels[:, None] == graph.labels
    expected = np.where(same, p_in, p_out) * (1 - np.eye(8))
    assert_array_equal(graph.W.toarray(), expected)


def test_edge_counts_are_near_their_expectation():
    sizes, p_in, p_out = np.array([400, 100, 250]), np.array([0.1, 0.8, 0.3]), 0.05
    graph = gallery.communities(sizes=sizes, p_in=p_in, p_out=p_out, rng=0)
    n_pairs = sizes * (sizes - 1) // 2
    inside = n_edges_inside(graph)
    # Five standard deviations of the binomial distribution; wrong by chance once in a million.
    assert np.all(np.abs(inside - n_pairs * p_in) < 5 * np.sqrt(n_pairs * p_in * (1 - p_in)))
    n_outer = math.comb(750, 2) - n_pairs.sum()
    outside = graph.n_edges - inside.sum()
    assert abs(outside - n_outer * p_out) < 5 * np.sqrt(n_outer * p_out * (1 - p_out))


@pytest.mark.parametrize(("p_in", "p_out"), [(0.3, 0.2), (0.7, 0.8)])
def test_each_pair_is_an_edge_with_its_probability(p_in, p_out):
    rng = np.random.default_rng(0)
    n_runs = 600
    total = sum(gallery.communities(sizes=[3, 4], p_in=p_in, p_out=p_out, rng=rng).W.toarray() for _ in range(n_runs))
    labels = np.repeat([0, 1], [3, 4])
    expected = np.where(labels[:, None] == labels, p_in, p_out) * (1 - np.eye(7))
    assert_allclose(total / n_runs, expected, atol=5 * np.sqrt(0.25 / n_runs))


@pytest.mark.parametrize("sizes", [[30, 10, 25] * 5, [1, 400, 1], [50], [5] * 40])
def test_communities_are_drawn_apart(sizes):
    graph = gallery.communities(sizes=sizes, rng=3)
    between = graph.labels[:, None] != graph.labels
    distance = np.linalg.norm(graph.coords[:, None] - graph.coords, axis=2)
    # Centres are 2.4 of the largest radius apart, so discs are 0.4 apart.
    assert distance[between].min(initial=np.inf) > 0.4 * np.sqrt(max(sizes))


def test_sunflower_points_keep_the_gap_that_discs_rely_on():
    k = np.arange(20_000)
    points = planted._polar(np.sqrt(k + 0.5), k * planted._GOLDEN_ANGLE)
    distance, _ = cKDTree(points).query(points, k=2)
    assert distance[:, 1].min() >= planted._SUNFLOWER_GAP


def test_spread_gives_weights_that_are_products_of_strengths_with_mean_one():
    plain = gallery.communities(sizes=[300, 500], p_in=0.3, p_out=0.05, rng=4)
    spread = gallery.communities(sizes=[300, 500], p_in=0.3, p_out=0.05, spread=0.3, rng=4)
    assert_array_equal(spread.W.indices, plain.W.indices)
    assert (spread.W != spread.W.T).nnz == 0
    log_w = np.log(spread.W.data)
    # log θ is the least squares solution of log w_uv = log θ_u + log θ_v
    u, v = spread.W.nonzero()
    n = spread.n_vertices
    edges = sparse.csr_array((np.ones(2 * u.size), (np.tile(np.arange(u.size), 2), np.r_[u, v])), shape=(u.size, n))
    log_theta = lsqr(edges, log_w, atol=1e-13, btol=1e-13)[0]
    assert_allclose(edges @ log_theta, log_w, atol=1e-9)
    theta = np.exp(log_theta)
    assert theta.min() >= 0.7 - 1e-9
    assert theta.mean() == pytest.approx(1, abs=0.06)
    # log(θ / 0.7) is exponential with mean 0.3
    assert stats.kstest((log_theta - np.log(0.7)) / 0.3, "expon").pvalue > 0.01


def test_large_community_graph_is_drawn_by_its_edges_only():
    graph = gallery.communities(1000, n_vertices=100_000, p_in=0.1, p_out=1e-5, rng=0)
    expected = 1000 * math.comb(100, 2) * 0.1 + 1e-5 * (math.comb(100_000, 2) - 1000 * math.comb(100, 2))
    assert abs(graph.n_edges - expected) < 5 * np.sqrt(expected)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_communities": 0}, "`n_communities` must be at least 1, got 0"),
        ({"spread": 1.0}, "`spread` must be at least 0 and less than 1, got 1.0"),
        ({"spread": -0.1}, "`spread` must be at least 0 and less than 1, got -0.1"),
        ({"spread": np.nan}, "`spread` must be at least 0 and less than 1, got nan"),
        ({"sizes": [2, 3], "n_vertices": 5}, "`sizes` must not be given together with `n_vertices`"),
        ({"sizes": []}, "`sizes` must be a sequence of at least one size"),
        ({"sizes": [3, 0]}, r"`sizes` must be at least 1, got sizes\[1\] = 0"),
        ({"n_communities": 3, "sizes": [2, 3]}, "`n_communities` must be the number of sizes 2, got 3"),
        ({"n_communities": 5, "n_vertices": 4}, "`n_vertices` must be at least the number of communities 5"),
        ({"p_in": 1.5}, "`p_in` must be within 0 and 1"),
        ({"p_in": np.nan}, "`p_in` must be within 0 and 1"),
        ({"sizes": [2, 3], "p_in": [0.1, 0.2, 0.3]}, r"`p_in` must be a number or have shape \(2,\)"),
        ({"p_out": -0.1}, "`p_out` must be within 0 and 1"),
        ({"p_out": [0.1]}, "`p_out` must be a number"),
    ],
)
def test_communities_refuse_bad_values(arguments, message):
    with pytest.raises(ValueError, match=message):
        gallery.communities(**arguments)


@pytest.mark.parametrize(
    "arguments", [{"n_communities": 1.5}, {"sizes": [1.5]}, {"p_in": "a"}, {"p_out": None}, {"spread": "a"}]
)
def test_communities_refuse_bad_kinds(arguments):
    with pytest.raises(TypeError, match=f"`{next(iter(arguments))}` must be"):
        gallery.communities(**arguments)


# Drawing pairs.


@given(st.integers(2, 60))
def test_unranking_covers_all_pairs_exactly_once(n):
    i, j = pairs.unrank_pairs(np.arange(n * (n - 1) // 2))
    assert set(zip(i.tolist(), j.tolist(), strict=True)) == set(combinations(range(n), 2))


@given(st.integers(1, 2**30), st.integers(-2, 2))
def test_unranking_is_exact_for_large_ranks(j, shift):
    rank = j * (j - 1) // 2 + shift
    if rank < 0:
        return
    low, high = (int(part[0]) for part in pairs.unrank_pairs(np.array([rank])))
    assert 0 <= low < high
    assert high * (high - 1) // 2 + low == rank


@given(st.lists(st.tuples(st.integers(0, 30), st.floats(0, 1)), min_size=1, max_size=6), st.integers(0, 99))
def test_distinct_draws_have_the_wanted_number_in_each_range(ranges, seed):
    lengths = np.array([length for length, _ in ranges])
    counts = np.array([int(length * share) for length, share in ranges])
    drawn = pairs.draw_distinct(lengths, counts, np.random.default_rng(seed))
    assert np.all(np.diff(drawn) > 0)
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    assert_array_equal(np.diff(np.searchsorted(drawn, bounds)), counts)


@pytest.mark.parametrize("count", [2, 3])
def test_all_sets_are_drawn_equally_often(count):
    rng = np.random.default_rng(0)
    n_runs = 4000
    tally = {chosen: 0 for chosen in combinations(range(5), count)}
    for _ in range(n_runs):
        tally[tuple(pairs.draw_distinct(np.array([5]), np.array([count]), rng).tolist())] += 1
    # Chi-square with 9 degrees of freedom stays below 33.7 but once in ten thousand.
    expected = n_runs / 10
    assert sum((k - expected) ** 2 / expected for k in tally.values()) < 33.7


# Graphs known by heart.


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


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gallery.ring(2), "`n_vertices` must be at least 3, got 2"),
        (lambda: gallery.path(0), "`n_vertices` must be at least 1, got 0"),
        (lambda: gallery.star(1), "`n_vertices` must be at least 2, got 1"),
        (lambda: gallery.grid(0), "`n_rows` must be at least 1, got 0"),
        (lambda: gallery.grid(2, -1), "`n_cols` must be at least 1, got -1"),
        (lambda: gallery.random_regular(4, 4), "`degree` must be below the number of vertices 4, got 4"),
        (lambda: gallery.random_regular(5, 3), "`degree` must be even for an odd number of vertices"),
        (lambda: gallery.sensor(6, 6), "`n_neighbors` must be below the number of vertices 6, got 6"),
        (lambda: gallery.mnist_grid(1), "`side` must be at least 2, got 1"),
        (lambda: gallery.mnist_grid(2, 4), "`n_neighbors` must be below the number of vertices 4, got 4"),
    ],
)
def test_sizes_out_of_range_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_sizes_that_are_no_integers_are_refused():
    with pytest.raises(TypeError, match=r"`n_vertices` must be an integer, got 3\.5"):
        gallery.ring(3.5)


def test_everything_public_returns_a_named_graph_with_coordinates():
    made = [
        gallery.communities(rng=0),
        gallery.grid(3),
        gallery.mnist_grid(5),
        gallery.path(3),
        gallery.random_regular(4, 2, rng=0),
        gallery.ring(3),
        gallery.sensor(9, rng=0),
        gallery.star(3),
    ]
    assert len(made) == len(gallery.__all__)
    for graph in made:
        assert isinstance(graph, Graph)
        assert graph.name
        assert graph.coords.shape == (graph.n_vertices, 2)
