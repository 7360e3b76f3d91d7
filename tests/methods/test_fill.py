import networkx as nx
from scipy import sparse

import cayleygsp as cg
from cayleygsp.methods.fill import factorisation_cost, separator_size


def test_cost_of_a_random_graph_is_predicted_far_above_that_of_a_grid():
    grid = factorisation_cost(cg.laplacian(cg.gallery.grid(63)))
    random = factorisation_cost(cg.laplacian(cg.gallery.random_regular(3969, 4, rng=0)))
    assert random.n_bytes > 5 * grid.n_bytes
    assert random.seconds > 5 * grid.seconds


def test_separator_of_a_grid_is_a_line_and_a_random_graph_has_none():
    assert separator_size(cg.laplacian(cg.gallery.grid(40)).matrix, 0) <= 40
    assert separator_size(cg.laplacian(cg.gallery.ring(100)).matrix, 0) == 2
    assert separator_size(cg.laplacian(cg.gallery.random_regular(1000, 6, rng=0)).matrix, 0) > 200


def test_every_component_counts_and_trees_do_not():
    random = cg.gallery.random_regular(1000, 6, rng=0).W
    both = sparse.block_diag([100 * cg.gallery.ring(50).W, random], format="csr")
    alone, beside = factorisation_cost(cg.laplacian(random)), factorisation_cost(cg.laplacian(both))
    assert alone.n_bytes <= beside.n_bytes < 1.1 * alone.n_bytes
    for tree in (cg.gallery.star(5000), cg.Graph(nx.to_scipy_sparse_array(nx.balanced_tree(2, 11)))):
        assert factorisation_cost(cg.laplacian(tree)).n_bytes < 1e8
        assert cg.CayleyFilter(tree, cg.CayleyPolynomial([0, 1], 1e4), method="exact").method == "exact"
