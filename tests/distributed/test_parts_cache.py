"""What a process keeps of the parts that it has worked on."""

import numpy as np

from cayleygsp import gallery
from cayleygsp.distributed.parts import MemoryStore, WorkerCache, cut_graph, region


class Thing:
    def __init__(self, n_bytes=10):
        self.n_bytes = n_bytes


def test_the_graphs_that_were_used_last_are_kept():
    cache = WorkerCache(lambda: 1000)
    first = cache.get(("a", 0), Thing)
    for name in "bc":
        for p in range(3):
            cache.get((name, p), Thing)
    assert cache.get(("a", 0), Thing) is first
    kept = cache.get(("c", 2), Thing)
    cache.get(("d", 0), Thing)
    assert cache.get(("a", 0), Thing) is first
    assert cache.get(("c", 2), Thing) is kept


def test_the_oldest_go_when_there_is_too_much():
    cache = WorkerCache(lambda: 25)
    first, second = (cache.get(("a", p), Thing) for p in range(2))
    cache.get(("a", 2), Thing)
    assert cache.get(("a", 1), Thing) is second
    assert cache.get(("a", 0), Thing) is not first
    huge = cache.get(("a", 9), lambda: Thing(99))
    assert cache.get(("a", 9), Thing) is huge


def test_a_graph_is_forgotten():
    cache = WorkerCache(lambda: 100)
    first = cache.get(("a", 0), Thing)
    other = cache.get(("b", 0), Thing)
    cache.forget("a")
    assert cache.get(("a", 0), Thing) is not first
    assert cache.get(("b", 0), Thing) is other


def test_rings_are_looked_for_once_and_go_on_from_where_they_ended(monkeypatch):
    graph = gallery.grid(9)
    labels = np.arange(81) // 27
    stores = [MemoryStore(tuple(cut_graph(graph.W, labels, 3))) for _ in range(2)]
    regions = [region(stores[0], 1, hops) for hops in (1, 4, 2)]
    asked = []
    monkeypatch.setattr(MemoryStore, "rows", lambda self, numbers: asked.append(numbers))
    assert region(stores[0], 1, 3, most=20).ends.tolist() == [27, 45, 63]  # stops when there are more
    assert region(stores[0], 1, 4).halo.size == 54
    assert asked == []
    monkeypatch.undo()
    for hops, found in zip((1, 4, 2), regions, strict=True):
        fresh = region(stores[1], 1, hops)
        for ours, wanted in zip(found, fresh, strict=True):
            np.testing.assert_array_equal(ours, wanted)
        assert found.rows(stores[0]).n_rows == found.ends[-2]
