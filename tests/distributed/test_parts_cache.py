"""What a process keeps of the parts that it has worked on."""

from cayleygsp.distributed.parts import WorkerCache


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
