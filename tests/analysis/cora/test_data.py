"""Splits and Laplacians of citation graphs."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from analysis.cora.data import Split, core_laplacian, load_graph, split_of
from analysis.cora.settings import (
    EXTENDED,
    HALVED,
    INNER,
    RANDOM,
    SPLITS,
    STANDARD,
    SWAPPED,
)
from tests.analysis.helpers import real_cora


def test_splits_of_cora_are_those_of_the_paper():
    graph = real_cora()
    standard, extended = split_of(graph, STANDARD), split_of(graph, EXTENDED)
    assert [len(part) for part in dataclasses.astuple(standard)] == [140, 500, 1000]
    assert [len(part) for part in dataclasses.astuple(extended)] == [1708, 500, 500]
    assert extended.train.tolist() == list(range(1708))
    np.testing.assert_array_equal(np.concatenate([extended.validation, extended.test]), standard.test)
    assert extended.validation.max() < extended.test.min()
    swapped = split_of(graph, SWAPPED)
    np.testing.assert_array_equal(swapped.test, extended.validation)
    np.testing.assert_array_equal(swapped.validation, extended.test)
    halved, again, other = (split_of(graph, HALVED, seed) for seed in (0, 0, 1))
    assert [len(part) for part in dataclasses.astuple(halved)] == [1708, 500, 500]
    np.testing.assert_array_equal(np.union1d(halved.validation, halved.test), standard.test)
    np.testing.assert_array_equal(halved.test, again.test)
    assert 200 < np.isin(halved.test, other.test).sum() < 300  # 250 in the mean, with a deviation of 8
    assert 200 < np.isin(halved.test, extended.test).sum() < 300


@pytest.mark.parametrize("name", SPLITS)
def test_splits_have_no_vertex_twice_and_only_labelled_ones(name):
    graph = load_graph("drawn")
    labels = graph.labels.copy()
    labels[graph.train[0]] = -1  # as a test vertex of Citeseer without a row
    if name == STANDARD:
        labels = graph.labels
    graph = dataclasses.replace(graph, labels=labels)
    for seed in range(3):
        split = split_of(graph, name, seed)
        everything = np.concatenate([split.train, split.validation, split.test])
        assert len(np.unique(everything)) == len(everything)
        assert (graph.labels[everything] >= 0).all()
        if name == INNER:
            assert not np.isin(everything, graph.test).any()


def test_random_splits_have_the_same_number_of_every_class():
    graph = load_graph("drawn")
    first, again, other = (split_of(graph, RANDOM, seed) for seed in (0, 0, 1))
    assert np.bincount(graph.labels[first.train]).tolist() == [5] * 4
    np.testing.assert_array_equal(first.test, again.test)
    assert first.test.tolist() != other.test.tolist()
    assert isinstance(first, Split)
    names = "standard, extended, swapped, halved, random, inner"
    with pytest.raises(ValueError, match=f"`name` must be one of {names}, got half"):
        split_of(graph, "half")


def test_loops_are_those_of_the_graph_with_ones_on_its_diagonal(drawn):
    L = core_laplacian(drawn.graph, "normalized", 1.0).matrix.toarray()
    A = drawn.graph.adjacency.toarray() + np.eye(drawn.graph.n_vertices)
    root = 1 / np.sqrt(A.sum(axis=1))
    np.testing.assert_allclose(L, np.eye(len(A)) - root[:, None] * A * root, atol=1e-12)
    torch.testing.assert_close(drawn.with_loops(0.0).values, drawn.normalized.values)
