"""A cache, limited in size, of what a process has prepared for its parts."""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import cache
from threading import Lock, RLock
from typing import Any, Protocol

# Share of a worker's memory limit, less what it takes anyway, for prepared matrices, and bytes where there is no limit.
_SHARE = 0.45
_NO_LIMIT = 2**40

# Graphs whose matrices are kept: those that were used last.
_GRAPHS = 3


class Sized(Protocol):
    """Something that knows how many bytes it takes."""

    @property
    def n_bytes(self) -> int:
        """Bytes of its arrays."""


class WorkerCache:
    """Values by their keys, the oldest of which are dropped when they take more than a number of bytes.

    Keys that are tuples begin with the name of a graph; those of the few graphs that were used last are kept.

    Examples
    --------
    >>> from cayleygsp.distributed.worker_cache import WorkerCache
    >>> class Thing:
    ...     n_bytes = 10
    >>> cache = WorkerCache()
    >>> first = cache.get("a", Thing, limit=15)
    >>> cache.get("a", Thing, limit=15) is first
    True
    >>> other = cache.get("b", Thing, limit=15)
    >>> cache.get("a", Thing, limit=15) is first
    False
    """

    def __init__(self) -> None:
        self._values: OrderedDict[Hashable, Sized] = OrderedDict()
        self._making: dict[Hashable, RLock] = {}
        self._lock = Lock()

    def get(self, key: Hashable, make: Callable[[], Any], limit: int) -> Any:
        """Return a value, made now if it is not there; threads that ask for the same wait for one to make it."""
        with self._lock:
            making = self._making.setdefault(key, RLock())
        with making:
            with self._lock:
                if key in self._values:
                    self._values.move_to_end(key)
                    return self._values[key]
            value = make()
            with self._lock:
                self._values[key] = value
                while len(self._values) > 1 and (self._n_bytes > limit or self._n_graphs > _GRAPHS):
                    dropped, _ = self._values.popitem(last=False)
                    self._making.pop(dropped, None)
            return value

    @property
    def _n_bytes(self) -> int:
        return sum(one.n_bytes for one in self._values.values())

    @property
    def _n_graphs(self) -> int:
        return len({key[0] for key in self._values if isinstance(key, tuple)})

    def forget(self, token: str) -> None:
        """Drop everything whose key begins with a token."""
        with self._lock:
            for key in [one for one in self._values if isinstance(one, tuple) and one[0] == token]:
                del self._values[key]
                self._making.pop(key, None)


CACHE = WorkerCache()


def cache_bytes() -> int:
    """Return the bytes that prepared matrices may take in this process: a share of what a worker's limit leaves."""
    if "distributed" not in sys.modules:
        return _NO_LIMIT
    from distributed import get_worker

    try:
        worker: Any = get_worker()
    except ValueError:
        return _NO_LIMIT
    limit = worker.memory_manager.memory_limit
    return int(_SHARE * max(limit - _first_bytes(worker.monitor.proc), 0)) if limit else _NO_LIMIT


@cache
def _first_bytes(process: Any) -> int:
    """Return the bytes of a worker's process when it is first asked for, before it had any matrix."""
    return int(process.memory_info().rss)
