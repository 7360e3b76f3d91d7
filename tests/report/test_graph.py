"""Plain numbers about a graph."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

import cayleygsp as cg
from cayleygsp.report.graph import degrees_text, facts_table, graph_facts
from tests.oracle import eigenpairs
from tests.strategies import laplacians


@pytest.fixture(scope="module")
def looped():
    W = sparse.block_diag([cg.gallery.star(6).W, [[1.0]], [[0.0]]], format="csr")
    return cg.Graph(W, name="star, loop and point")


def test_degrees_are_zero_where_there_are_no_edges(looped):
    for kind in ("combinatorial", "normalized"):
        facts = graph_facts(looped, cg.laplacian(looped, kind))
        assert (facts.n_isolated, facts.n_loops, facts.n_components, facts.largest_component) == (2, 1, 3, 6)
        assert (facts.degree_min, facts.degree_min_connected, facts.degree_max) == (0.0, 1.0, 5.0)
        text = degrees_text(facts)
        assert text.startswith("1 to 5, and 0 at 2 vertices without edges (self-loops not counted); ")


def test_degrees_of_other_graphs_in_words():
    ring = cg.gallery.ring(5)
    assert degrees_text(graph_facts(ring, cg.laplacian(ring))) == "2 to 2; median 2, mean 2"
    points = cg.Graph(np.zeros((3, 3)))
    assert degrees_text(graph_facts(points, cg.laplacian(points))) == "0 at every vertex"


def test_table_has_both_least_degrees_where_they_differ(looped):
    cells = dict(facts_table(graph_facts(looped, cg.laplacian(looped))).rows)
    assert cells["least degree, without self-loops"] == "0"
    assert cells["least degree of a vertex with edges, without self-loops"] == "1"
    ring = cg.gallery.ring(5)
    assert [name for name, _ in facts_table(graph_facts(ring, cg.laplacian(ring))).rows if "least degree" in name] == [
        "least degree"
    ]


@given(L=laplacians())
@settings(max_examples=30)
def test_largest_frequency_is_between_the_printed_numbers(L):
    W = -L.matrix.toarray()
    np.fill_diagonal(W, 0)
    graph = cg.Graph(W)
    L = cg.laplacian(graph, L.kind)
    cells = dict(facts_table(graph_facts(graph, L)).rows)
    largest = eigenpairs(L)[0][-1]
    slack = 1e-12 * max(largest, 1.0)
    assert float(cells["largest frequency, at least"]) <= largest + slack
    assert float(cells["largest frequency, at most"]) >= largest - slack
