import networkx as nx
import numpy as np
import pytest
from scipy import sparse

import cayleygsp as cg
from cayleygsp.methods import fill
from cayleygsp.methods.solvers import Factors


def test_cost_of_a_random_graph_is_predicted_far_above_that_of_a_grid():
    grid = fill.factorisation_cost(cg.laplacian(cg.gallery.grid(63)))
    random = fill.factorisation_cost(cg.laplacian(cg.gallery.random_regular(3969, 4, rng=0)))
    assert random.n_bytes > 5 * grid.n_bytes
    assert random.seconds > 5 * grid.seconds


@pytest.mark.parametrize(
    "make",
    [
        lambda: cg.gallery.grid(40),
        lambda: cg.gallery.ring(500),
        lambda: cg.gallery.scale_free(800, rng=0),
        lambda: cg.gallery.collaboration(800, rng=0),
    ],
)
def test_entries_that_are_counted_are_those_of_the_factors(make):
    L = cg.laplacian(make())
    counted = 2 * (fill.elimination(L).n_entries + L.n_vertices)  # of both factors, with their diagonals
    # SuperLU stores some zeros to have dense blocks
    assert counted <= Factors(L, 1.0, 1j).n_entries <= 1.3 * counted


def test_vertices_with_very_many_neighbours_come_last_and_are_counted():
    star = cg.laplacian(cg.gallery.star(5000))
    order = fill.elimination(star)
    assert order.order[-1] == 0
    assert order.n_entries == 4999
    W = sparse.lil_array(cg.gallery.ring(4000).W)
    W[7, :] = W[:, 7] = 1.0
    W[7, 7] = 0.0
    wheel = cg.laplacian(sparse.csr_array(W))
    assert fill.elimination(wheel).order[-1] == 7
    y = np.random.default_rng(0).standard_normal((4000, 2)) + 0j
    x, _ = Factors(wheel, 2.0, 1j).solve(y, np.zeros(2))
    assert np.linalg.norm(2 * (wheel.matrix @ x) + 1j * x - y) < 1e-12 * np.linalg.norm(y)


def test_every_component_counts_and_trees_cost_little():
    random = cg.gallery.random_regular(1000, 6, rng=0).W
    both = sparse.block_diag([100 * cg.gallery.ring(50).W, random], format="csr")
    alone, beside = fill.factorisation_cost(cg.laplacian(random)), fill.factorisation_cost(cg.laplacian(both))
    assert alone.n_bytes <= beside.n_bytes < 1.1 * alone.n_bytes
    tree = cg.laplacian(nx.to_scipy_sparse_array(nx.balanced_tree(2, 11)))
    assert fill.elimination(tree).n_entries == tree.n_vertices - 1  # no new entries


def test_what_is_not_worth_it_is_not_counted_to_the_end_and_known_orders_are_not_looked_for_again(monkeypatch):
    L = cg.laplacian(cg.gallery.random_regular(2500, 8, rng=0))
    assert fill.elimination(L, max_work=1e6) is None
    assert fill.factorisation_cost(L, worth=1e-3).seconds == np.inf
    known = fill.elimination(L)
    monkeypatch.setattr(fill, "_find_elimination", None)
    assert fill.elimination(L) is known
    assert fill.elimination(L, max_work=1e7) is None  # still too dear for that
