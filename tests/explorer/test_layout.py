"""Layouts of graphs without coordinates."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

import cayleygsp as cg
from cayleygsp.explorer.layout import force_layout
from cayleygsp.graph import as_adjacency
from tests.strategies import weighted_graphs


@settings(max_examples=6)
@given(graph=weighted_graphs())
def test_every_graph_gets_places_that_differ(graph):
    W = as_adjacency(graph)
    x = force_layout(W, rng=0)
    assert x.shape == (W.shape[0], 2)
    assert np.isfinite(x).all()
    assert len(np.unique(x.round(9), axis=0)) == W.shape[0]


@pytest.mark.parametrize("graph", [cg.gallery.grid(15), nx.balanced_tree(3, 4), cg.gallery.ring(40)])
def test_neighbours_are_drawn_near_each_other(graph):
    W = as_adjacency(graph)
    x = force_layout(W, rng=0)
    edges = W.tocoo()
    near = np.linalg.norm(x[edges.row] - x[edges.col], axis=1).mean()
    far = np.linalg.norm(x[:, None] - x[None], axis=2).mean()
    assert near < 0.3 * far


def test_components_lie_apart():
    two = np.kron(np.eye(2), cg.gallery.ring(30).W.toarray())
    x = force_layout(as_adjacency(two), rng=0)
    first, second = x[:30], x[30:]
    gap = np.linalg.norm(first[:, None] - second[None], axis=2).min()
    assert gap > 0.5


def test_same_seed_gives_the_same_layout():
    W = cg.gallery.random_regular(40, 3, rng=0).W
    np.testing.assert_array_equal(force_layout(W, rng=1), force_layout(W, rng=1))
