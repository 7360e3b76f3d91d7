"""Hops against networkx."""

from __future__ import annotations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import cayleygsp as cg
from cayleygsp import localization
from tests.strategies import weighted_graphs


@given(W=weighted_graphs(max_vertices=20), start=st.integers(0, 19))
def test_hops_are_those_of_networkx(W, start):
    start %= len(W)
    expected = np.full(len(W), -1)
    for vertex, length in nx.single_source_shortest_path_length(nx.from_numpy_array(W), start).items():
        expected[vertex] = length
    assert_array_equal(localization.hops(W, start), expected)


def test_hops_of_a_long_path_take_as_few_passes_as_its_logarithm():
    assert_array_equal(localization.hops(cg.gallery.path(100_000), 0), np.arange(100_000))
    middle = localization.hops(cg.gallery.path(100_001), 50_000)
    assert_array_equal(middle, np.abs(np.arange(100_001) - 50_000))


def test_vertices_that_cannot_be_reached_are_minus_one():
    W = np.zeros((4, 4))
    W[0, 1] = W[1, 0] = 1
    assert_array_equal(localization.hops(W, 1), [1, 0, -1, -1])
