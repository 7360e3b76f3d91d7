"""What a process keeps of the parts that it has worked on."""

from cayleygsp.distributed.parts import WorkerCache


class Thing:
    def __init__(self, n_bytes=10):
        self.n_bytes = n_bytes


def test_the_graphs_that_were_used_last_are_kept():
    cache = WorkerCache()
    first = cache.get(("a", 0), Thing, limit=1000)
    for name in "bc":
        for p in range(3):
            cache.get((name, p), Thing, limit=1000)
    assert cache.get(("a", 0), Thing, limit=1000) is first
    kept = cache.get(("c", 2), Thing, limit=1000)
    cache.get(("d", 0), Thing, limit=1000)
    assert cache.get(("a", 0), Thing, limit=1000) is first
    assert cache.get(("c", 2), Thing, limit=1000) is kept


def test_the_oldest_go_when_there_is_too_much():
    cache = WorkerCache()
    first, second = (cache.get(("a", p), Thing, limit=25) for p in range(2))
    cache.get(("a", 2), Thing, limit=25)
    assert cache.get(("a", 1), Thing, limit=25) is second
    assert cache.get(("a", 0), Thing, limit=25) is not first
    huge = cache.get(("a", 9), lambda: Thing(99), limit=25)
    assert cache.get(("a", 9), Thing, limit=25) is huge


def test_a_graph_is_forgotten():
    cache = WorkerCache()
    first = cache.get(("a", 0), Thing, limit=100)
    other = cache.get(("b", 0), Thing, limit=100)
    cache.forget("a")
    assert cache.get(("a", 0), Thing, limit=100) is not first
    assert cache.get(("b", 0), Thing, limit=100) is other
