"""Coarsening: greedy matching as described, a binary tree of vertices, and nothing lost or added."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import cayleygsp as cg
from cayleygsp.coarsening import coarsen, coarsen_all
from tests.strategies import weighted_graphs

levels_and_seeds = {"levels": st.integers(0, 4), "seed": st.integers(0, 1000)}


def greedy_groups(W, levels, rng):
    """Return the groups of vertices of each level by plain loops over a dense matrix of whole numbers."""
    groups = [[{i} for i in range(len(W))]]
    visits = rng.permutation(len(W))
    for _ in range(levels):
        d, free, pairs = W.sum(axis=1), set(range(len(W))), []
        for i in visits:
            if i not in free:
                continue
            free.remove(i)
            gains = {j: W[i, j] / d[i] + W[i, j] / d[j] for j in sorted(free) if W[i, j]}
            partner = max(gains, key=gains.get, default=None)
            free.discard(partner)
            pairs.append([i] if partner is None else [i, partner])
        P = np.zeros((len(W), len(pairs)))
        for k, pair in enumerate(pairs):
            P[pair, k] = 1
        W = P.T @ W @ P
        visits = np.argsort(W.sum(axis=1), kind="stable")
        groups.append([set().union(*(groups[-1][i] for i in pair)) for pair in pairs])
    return groups


def groups_of(tree, level):
    """Return the given graph's vertices below each vertex of a level."""
    blocks = tree.permutation.reshape(tree.sizes[level], -1)
    return [{int(v) for v in block if v < tree.n_vertices} for block in blocks]


def without_loops(A):
    return A - np.diag(np.diag(A))


# The matching.


@given(n=st.integers(1, 25), density=st.floats(0, 1), **levels_and_seeds)
def test_matching_is_the_greedy_one(n, density, levels, seed):
    rng = np.random.default_rng(seed)
    # Whole numbers, self-loops among them: sums are exact in any order.
    W = np.triu(rng.integers(1, 50, (n, n)) * (rng.random((n, n)) < density)).astype(float)
    W += np.triu(W, 1).T
    tree = coarsen(W, levels, rng=seed)
    for level, expected in enumerate(greedy_groups(W, levels, np.random.default_rng(seed))):
        assert sorted(map(sorted, expected)) == sorted(sorted(g) for g in groups_of(tree, level) if g)


@given(W=weighted_graphs(), **levels_and_seeds)
def test_pairs_are_neighbours_and_no_two_neighbours_stay_alone(W, levels, seed):
    tree = coarsen(W, levels, rng=seed)
    for level in range(levels):
        A = tree.graphs[level].W.toarray()
        real = ~tree.is_fake[level].reshape(-1, 2)
        both = np.flatnonzero(real.all(axis=1))
        assert np.all(A[2 * both, 2 * both + 1] > 0)
        alone = np.flatnonzero((real & (real.sum(axis=1) == 1)[:, None]).ravel())
        assert not A[np.ix_(alone, alone)].any()


@given(W=weighted_graphs(), **levels_and_seeds)
def test_sum_of_weights_is_the_same_on_all_levels_while_matching(W, levels, seed):
    matrices, _ = coarsen_all(cg.Graph(W).W, levels, np.random.default_rng(seed))
    for A in matrices:
        assert_allclose(A.sum(), W.sum(), rtol=1e-13)
        assert (A != A.T).nnz == 0


# The tree.


@given(W=weighted_graphs(), **levels_and_seeds)
def test_vertex_i_stands_for_2i_and_2i_plus_1(W, levels, seed):
    tree = coarsen(W, levels, rng=seed)
    assert tree.levels == levels
    assert len(tree.graphs) == len(tree.is_fake) == levels + 1
    assert_array_equal(np.sort(tree.permutation), np.arange(tree.sizes[0]))
    assert tree.n_fake[-1] == 0
    for level in range(levels):
        assert tree.sizes[level] == 2 * tree.sizes[level + 1]
        assert_array_equal(tree.is_fake[level + 1], tree.is_fake[level].reshape(-1, 2).all(axis=1))
        fine, coarse = (tree.graphs[q].W.toarray() for q in (level, level + 1))
        blocks = fine.reshape(len(coarse), 2, len(coarse), 2).sum(axis=(1, 3))
        assert_allclose(coarse, without_loops(blocks), rtol=1e-14)


@given(W=weighted_graphs(), **levels_and_seeds)
def test_level_0_is_the_given_graph_with_fake_vertices_that_have_no_edges(W, levels, seed):
    tree = coarsen(W, levels, rng=seed)
    A = tree.graphs[0].W.toarray()
    assert tree.n_vertices == len(W)
    assert_array_equal(A[np.ix_(tree.position, tree.position)], without_loops(W))
    for graph, fake in zip(tree.graphs, tree.is_fake, strict=True):
        assert not graph.W[fake].nnz
        assert not graph.W.diagonal().any()
    assert_array_equal(np.flatnonzero(~tree.is_fake[0]), np.sort(tree.position))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.int8])
@pytest.mark.parametrize("shape", [(), (3,), (2, 0, 4)])
def test_permuted_signals_come_back_and_fake_vertices_hold_zero(shape, dtype):
    tree = coarsen(cg.gallery.star(7), levels=2, rng=0)
    f = (1 + np.arange(7 * int(np.prod(shape)))).reshape(7, *shape).astype(dtype)
    placed = tree.permute(f)
    assert placed.shape == (tree.sizes[0], *shape)
    assert placed.dtype == dtype
    assert not placed[tree.is_fake[0]].any()
    for p, vertex in enumerate(tree.permutation):
        if vertex < 7:
            assert_array_equal(placed[p], f[vertex])
    assert_array_equal(tree.unpermute(placed), f)


def test_filtering_on_level_0_is_filtering_on_the_given_graph():
    graph = cg.gallery.sensor(40, rng=0)
    tree = coarsen(graph, 3, rng=0)
    f = np.random.default_rng(1).standard_normal((40, 2))
    p = cg.CayleyPolynomial([0.3, 1 + 1j, -0.5], 2.0)
    for kind in ("combinatorial", "normalized"):
        y = cg.CayleyFilter(cg.laplacian(tree.graphs[0], kind), p, tol=1e-12) @ tree.permute(f)
        expected = cg.CayleyFilter(cg.laplacian(graph, kind), p, tol=1e-12) @ f
        assert_allclose(tree.unpermute(y), expected, atol=1e-10)


# Known sizes.


def test_mnist_graph_has_the_sizes_of_the_papers():
    graph = cg.gallery.mnist_grid()
    trees = [coarsen(graph, 4, rng=seed) for seed in range(30)]
    sizes = np.array([tree.sizes[0] for tree in trees])
    # Published runs of the original have 928 to 1024 vertices; they depend on the order of visits.
    assert 960 <= np.median(sizes) <= 1024
    assert np.mean((sizes >= 928) & (sizes <= 1024)) > 0.8
    assert np.all(sizes % 16 == 0)
    edges = np.array([[g.n_edges for g in tree.graphs] for tree in trees])
    assert np.all(edges[:, 0] == 3198)
    assert_allclose(np.median(edges, axis=0), [3198, 1426, 661, 331, 168], rtol=0.1)
    fake = np.array([tree.n_fake for tree in trees])
    assert_allclose(np.median(fake[sizes == 960], axis=0), [176, 76, 29, 7, 0], atol=12)


def test_heavy_edges_are_merged_first():
    # Pairs joined by 10, in a ring joined by 1: every order of visits finds the pairs.
    W = cg.gallery.ring(12).W.toarray()
    W[np.arange(0, 12, 2), np.arange(1, 12, 2)] = W[np.arange(1, 12, 2), np.arange(0, 12, 2)] = 10
    for seed in range(5):
        tree = coarsen(W, 1, rng=seed)
        assert sorted(map(sorted, groups_of(tree, 1))) == [[2 * i, 2 * i + 1] for i in range(6)]
        assert_array_equal(np.unique(tree.graphs[1].W.data), [1])


def test_large_graph_is_coarsened():
    graph = cg.gallery.sensor(100_000, rng=0)
    tree = coarsen(graph, 4, rng=0)
    assert tree.sizes[0] < 1.4 * 100_000
    assert tree.graphs[0].n_edges == graph.n_edges
    assert [g.n_vertices for g in tree.graphs] == list(tree.sizes)


# Odd graphs.


def test_vertices_without_edges_stay_alone_wherever_they_are():
    W = np.zeros((6, 6))
    W[1, 3] = W[3, 1] = 2.0
    tree = coarsen(W, 2, rng=0)
    assert tree.sizes == (20, 10, 5)
    assert tree.n_fake == (14, 5, 0)
    assert {1, 3} in groups_of(tree, 2)


def test_graph_without_edges_and_single_vertex():
    assert coarsen(np.zeros((3, 3)), 3).sizes == (24, 12, 6, 3)
    assert coarsen(cg.gallery.path(1), 2).n_fake == (3, 1, 0)


def test_no_level_changes_nothing_but_the_loops():
    W = np.array([[3.0, 1.0], [1.0, 0.0]])
    tree = coarsen(W, 0)
    assert_array_equal(tree.permutation, [0, 1])
    assert_array_equal(tree.graphs[0].W.toarray(), [[0, 1], [1, 0]])


@pytest.mark.parametrize("scale", [1e-310, 1e-150, 1e150, 1e300])
def test_extreme_weights_are_matched_like_others(scale):
    W = cg.gallery.sensor(30, rng=1).W.toarray().round(3)
    W /= 2.0 ** np.ceil(np.log2(W.sum()))
    usual, extreme = coarsen(W, 3, rng=0), coarsen(W * 2.0 ** round(np.log2(scale)), 3, rng=0)
    if scale > 1e-300:  # below, weights lose digits and may be matched differently
        assert_array_equal(usual.permutation, extreme.permutation)
    assert extreme.sizes[-1] <= usual.sizes[-1] + 2


def test_same_seed_gives_the_same_coarsening():
    graph = cg.gallery.communities(rng=0)
    one, two = coarsen(graph, 3, rng=5), coarsen(graph, 3, rng=np.random.default_rng(5))
    assert_array_equal(one.permutation, two.permutation)
    assert not np.array_equal(one.permutation[:100], coarsen(graph, 3, rng=6).permutation[:100])


def test_graphs_are_named_after_their_level():
    assert [g.name for g in coarsen(cg.gallery.ring(4), 1).graphs] == ["ring, level 0", "ring, level 1"]
    assert coarsen(np.zeros((2, 2)), 0).graphs[0].name == "level 0"


def test_result_cannot_be_changed():
    tree = coarsen(cg.gallery.path(5), 2, rng=0)
    with pytest.raises(AttributeError):
        tree.graphs = ()
    for array in (tree.permutation, *tree.is_fake):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


# Refusals.


def test_bad_arguments_are_refused():
    graph = cg.gallery.path(4)
    with pytest.raises(ValueError, match="`levels` must be at least 0, got -1"):
        coarsen(graph, -1)
    with pytest.raises(TypeError, match=r"`levels` must be an integer, got 1\.5"):
        coarsen(graph, 1.5)
    with pytest.raises(ValueError, match="`graph` must be symmetric"):
        coarsen([[0, 1], [2, 0]])
    with pytest.raises(TypeError, match="`graph` must be a graph, got a Laplacian"):
        coarsen(cg.laplacian(graph))
    with pytest.raises(ValueError, match="`graph` must have a finite sum of weights"):
        coarsen(np.full((3, 3), 1e308))


def test_signals_of_the_wrong_length_are_refused():
    tree = coarsen(cg.gallery.path(5), 2, rng=0)
    with pytest.raises(ValueError, match=r"`signals` must have shape \(5, \.\.\.\), got \(8, 2\)"):
        tree.permute(np.ones((8, 2)))
    with pytest.raises(ValueError, match=r"`signals` must have shape \(8, \.\.\.\), got \(5,\)"):
        tree.unpermute(np.ones(5))
    with pytest.raises(ValueError, match=r"got \(\)"):
        tree.permute(1.0)


def test_levels_beyond_memory_are_refused_before_they_are_padded():
    with pytest.raises(MemoryError, match=r"60 levels end at 1 vertices.*take fewer `levels`"):
        coarsen(cg.gallery.path(3), 60)


def test_import_loads_neither_numba_nor_torch():
    program = "import sys, cayleygsp.coarsening; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "numba" not in loaded
    assert "torch" not in loaded


@given(W=weighted_graphs(), seed=st.integers(0, 50))
def test_graphs_of_real_vertices_keep_all_edges(W, seed):
    tree = coarsen(W, 2, rng=seed)
    for level, (graph, fake) in enumerate(zip(tree.graphs, tree.is_fake, strict=True)):
        real = tree.real_graph(level)
        assert real.n_vertices == np.count_nonzero(~fake)
        assert_array_equal(real.W.toarray(), graph.W.toarray()[~fake][:, ~fake])
        assert real.W.sum() == pytest.approx(graph.W.sum(), rel=1e-14)


def test_level_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="`level` must be at most 2, got 3"):
        coarsen(cg.gallery.path(5), 2, rng=0).real_graph(3)
