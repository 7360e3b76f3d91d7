"""A partition made in one pass over the edges."""

from __future__ import annotations

import numpy as np

from cayleygsp._typing import IntArray
from cayleygsp.engine.compiling import compiled

# How many more vertices than the average a part may get.
_ROOM = 1.05


class StreamingPartition:
    """Vertices join the part of their first neighbour that has room; a pair of new ones begins the emptiest part.

    One pass over the edges, and one number for each vertex in memory. The cut is small where neighbours come one after
    the other, as in lists that were written vertex by vertex.

    Parameters
    ----------
    n_vertices, n_parts : int
        Numbers of vertices and parts.

    Examples
    --------
    >>> import numpy as np
    >>> from cayleygsp.distributed.streaming import StreamingPartition
    >>> stream = StreamingPartition(6, 2)
    >>> stream.add(np.array([[0, 1], [1, 2], [3, 4], [4, 5]]))
    >>> stream.labels()
    array([0, 0, 0, 1, 1, 1])
    """

    def __init__(self, n_vertices: int, n_parts: int) -> None:
        self._labels = np.full(n_vertices, -1, np.int64)
        self._sizes = np.zeros(n_parts, np.int64)
        self._room = max(int(_ROOM * n_vertices / n_parts), -(-n_vertices // n_parts))

    def add(self, ends: IntArray) -> None:
        """Look at some edges, shape (n_edges, 2)."""
        _assign(np.ascontiguousarray(ends), self._labels, self._sizes, self._room)

    def labels(self) -> IntArray:
        """Return the part of each vertex; those without edges fill up the parts."""
        for v in np.flatnonzero(self._labels < 0).tolist():
            p = int(np.argmin(self._sizes))
            self._labels[v] = p
            self._sizes[p] += 1
        return self._labels


@compiled()
def _assign(ends, labels, sizes, room):  # type: ignore[no-untyped-def]
    for i in range(ends.shape[0]):
        u, v = ends[i, 0], ends[i, 1]
        if labels[u] < 0 and labels[v] < 0:
            p = np.argmin(sizes)
            labels[u] = p
            sizes[p] += 1
        for one, other in ((u, v), (v, u)):
            if labels[one] < 0:
                p = labels[other]
                if sizes[p] >= room:
                    p = np.argmin(sizes)
                labels[one] = p
                sizes[p] += 1
