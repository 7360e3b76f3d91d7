"""Graphs that were prepared for layers, for as long as the tensors that they were made of are there."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from threading import RLock
from typing import Any

from cayleygsp.nn.graph_key import GraphKey

# Graphs that are kept at the same time, by all layers together.
_MOST = 8


class PreparedGraphs:
    """The graphs that were prepared last: all layers of a model, and of others, share what is made of the same tensors.

    A graph goes when one of the tensors that it was made of does, or when there are newer ones.
    """

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._kept: OrderedDict[Any, tuple[GraphKey, Any]] = OrderedDict()
        self._lock = RLock()  # a tensor may go, and be seen to, while something is put

    def get(self, key: GraphKey | None) -> Any:
        """Return what was made of the same tensors in the same state; None if there is nothing."""
        if key is None:
            return None
        with self._lock:
            kept = self._kept.get(key.facts)
            if kept is None or not kept[0].matches(key):
                return None
            self._kept.move_to_end(key.facts)
            return kept[1]

    def put(self, key: GraphKey | None, prepared: Any) -> None:
        """Keep what was made until one of the tensors is gone."""
        if key is None:
            return
        for reference in key.references:
            weakref.finalize(reference(), self._drop, key).atexit = False
        with self._lock:
            self._kept[key.facts] = key, prepared
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)

    def _drop(self, key: GraphKey) -> None:
        """Forget what was made of tensors that are gone."""
        with self._lock:
            kept = self._kept.get(key.facts)
            if kept is not None and kept[0] is key:
                del self._kept[key.facts]

    def clear(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._kept.clear()


PREPARED = PreparedGraphs()
