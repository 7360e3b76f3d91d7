"""Graphs that are kept for the layers."""

import gc
import weakref

import torch

from cayleygsp.nn.graph_key import GraphKey
from cayleygsp.nn.prepared_graphs import PreparedGraphs


def key_of(edges):
    return GraphKey.of((edges, None), torch.zeros(4, 1), torch.float32)


def test_graphs_are_kept_for_as_long_as_their_tensors():
    graphs, edges = PreparedGraphs(), torch.zeros(2, 3, dtype=torch.int64)
    assert graphs.get(key_of(edges)) is None
    graphs.put(key_of(edges), "prepared")
    assert graphs.get(key_of(edges)) == "prepared"
    assert graphs.get(key_of(edges.clone())) is None
    edges.add_(1)
    assert graphs.get(key_of(edges)) is None
    graphs.put(key_of(edges), "again")
    del edges
    gc.collect()
    assert not graphs._kept
    assert graphs.get(None) is None
    graphs.put(None, "nothing")


def test_the_oldest_go_first():
    graphs = PreparedGraphs(most=2)
    edges = [torch.zeros(2, k, dtype=torch.int64) for k in range(3)]
    for k in (0, 1):
        graphs.put(key_of(edges[k]), k)
    assert graphs.get(key_of(edges[0])) == 0  # used last
    graphs.put(key_of(edges[2]), 2)
    assert [graphs.get(key_of(one)) for one in edges] == [0, None, 2]
    graphs.clear()
    assert graphs.get(key_of(edges[0])) is None


def test_a_tensor_that_stays_is_not_laden_with_graphs_that_are_gone():
    graphs, edges = PreparedGraphs(most=2), torch.zeros(2, 3, dtype=torch.int64)
    before = len(weakref.finalize._registry)
    for _ in range(5):
        weight = torch.ones(3)
        key = GraphKey.of((edges, weight), torch.zeros(4, 1), torch.float32)
        for prepared in ("first", "again"):
            graphs.put(key, prepared)
        edges.add_(1)
    assert len(weakref.finalize._registry) - before == 2  # each entry but the last went with its weights
    for k in range(5):
        graphs.put(GraphKey.of((edges,), torch.zeros(4, 1), torch.float32, k), k)
    assert len(weakref.finalize._registry) - before == 2
    graphs.clear()
    assert len(weakref.finalize._registry) == before
