"""Community graphs have the sizes, edges and weights that were asked for."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from scipy.sparse.linalg import lsqr
from scipy.spatial import cKDTree

from cayleygsp import gallery
from cayleygsp.gallery import planted


def n_edges_inside(graph):
    """Count the edges inside each community."""
    edges = graph.W.tocoo()
    same = graph.labels[edges.row] == graph.labels[edges.col]
    return np.bincount(graph.labels[edges.row[same]], minlength=graph.labels.max() + 1) // 2


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
    points = planted.sunflower(20_000)
    distance, _ = cKDTree(points).query(points, k=2)
    assert distance[:, 1].min() >= planted.SUNFLOWER_GAP


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
