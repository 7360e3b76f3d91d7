"""Graphs that were prepared for layers, for as long as the tensors that they were made of are there."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from threading import RLock
from typing import Any, NamedTuple

from cayleygsp.nn.graph_key import GraphKey

# Graphs that are kept at the same time, by all layers together.
_MOST = 8


class _Entry(NamedTuple):
    """A graph, what it was made of, and the handles that see to it that it goes with that."""

    key: GraphKey
    prepared: Any
    handles: tuple[Any, ...]

    def release(self) -> None:
        """Leave the tensors alone, which may be there for much longer."""
        for handle in self.handles:
            handle.detach()


class PreparedGraphs:
    """The graphs that were prepared last: all layers of a model, and of others, share what is made of the same tensors.

    A graph goes when one of the tensors that it was made of does, or when there are newer ones.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._kept: OrderedDict[Any, _Entry] = OrderedDict()
        self._lock = RLock()  # a tensor may be collected, and `_drop` be called, while an entry is stored

    def get(self, key: GraphKey | None) -> Any:
        """Return what was made of the same tensors in the same state; None if there is nothing."""
        if key is None:
            return None
        with self._lock:
            entry = self._kept.get(key.facts)
            if entry is None or not entry.key.matches(key):
                return None
            self._kept.move_to_end(key.facts)
            return entry.prepared

    def put(self, key: GraphKey | None, prepared: Any) -> None:
        """Keep what was made until one of the tensors is gone."""
        if key is None:
            return
        handles = tuple(weakref.finalize(reference(), self._drop, key) for reference in key.references)
        for handle in handles:
            handle.atexit = False
        with self._lock:
            replaced = self._kept.pop(key.facts, None)
            if replaced is not None:
                replaced.release()
            self._kept[key.facts] = _Entry(key, prepared, handles)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)[1].release()

    def _drop(self, key: GraphKey) -> None:
        """Forget what was made of tensors that are gone."""
        with self._lock:
            entry = self._kept.get(key.facts)
            if entry is not None and entry.key is key:
                del self._kept[key.facts]
                entry.release()

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            for entry in self._kept.values():
                entry.release()
            self._kept.clear()


PREPARED = PreparedGraphs()
