"""Tiles of columns: how wide blocks are cut, what is done with each tile, and how threads share them."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayleygsp._typing import Array

# Width of a tile of columns: two cache lines per row.
TILE_BYTES = 128

# Columns of a tile are filled up to a multiple of this, so that no column is done alone.
_LANE_BYTES = 32

# The terms of a tile may take this much, and must be at least that many.
_BUFFER_BYTES = 2**23
MIN_TERMS = 16

# Below this many numbers in a block, threads that share a tile wait for each other longer than they work.
_ROWS_SIZE = 200_000

# A tile with more numbers to compute than this is always shared: Ctrl-C is heard between chunks of rows.
_LONG_TILE = 2**27


class TilePlan:
    """How the columns of a block are cut into tiles, how threads share them, and the memory for the terms of a tile.

    Parameters
    ----------
    shape : tuple
        ``(batch, n, features)`` of the signals.
    dtype : dtype
        Their precision.
    n_terms : int
        Chebyshev terms, K + 1.
    limit : int, optional
        Threads at most.

    Attributes
    ----------
    edges : ndarray
        First columns of the tiles, and their end.
    by_rows : bool
        Whether the threads share one tile. Otherwise each has tiles of its own.
    buffers : ndarray, shape (n_buffers, room + 2, n, width)
        Room for some terms and the two before them.
    """

    def __init__(self, shape: tuple[int, int, int], dtype: Any, n_terms: int, limit: int | None = None) -> None:
        from cayleygsp.engine.threads import useful_threads

        batch, n, features = shape
        item = np.dtype(dtype).itemsize
        self.n_terms = n_terms
        self.numbers = batch * n * features
        self.edges = tile_edges(batch, features, TILE_BYTES // item)
        n_tiles = self.edges.size - 1
        self.n_threads = useful_threads(self.numbers * n_terms, 1, limit)
        lanes = _LANE_BYTES // item
        width = -(-int(np.diff(self.edges).max()) // lanes) * lanes
        self.by_rows = _share_tiles(n_tiles, self.n_threads, self.numbers) or n * width * n_terms > _LONG_TILE
        self.room = min(n_terms, max(_BUFFER_BYTES // (n * width * item), MIN_TERMS))
        n_buffers = 1 if self.by_rows else min(self.n_threads, n_tiles)
        self.buffers = np.empty((n_buffers, self.room + 2, n, width), dtype)

    def terms(self, graph: tuple[Any, ...], a: Array, x: Array, y: Array) -> None:
        """Set y[:, :, s] to the sum over k of a[s, k] T_k x; without rows in ``a``, y[:, :, k] to T_k x.

        Parameters
        ----------
        graph : tuple
            The scaled Laplacian, see :mod:`cayleygsp.engine.rows`.
        a : ndarray, shape (n_blocks, n_terms) or (0, 0)
            Series.
        x, y : ndarray, shapes (batch, n, features) and (batch, n, n_blocks, features)
            Signals and where the answers go.
        """
        from cayleygsp.engine.tile_loops import BLOCKS, CARRY, STEP, terms_of_tiles

        program = []
        for k0 in range(0, self.n_terms, self.room):
            size = min(self.room, self.n_terms - k0)
            program += [(CARRY, 0, 0, 0)] if k0 else []
            program += [(STEP, k0 + q, q, 0) for q in range(size)] + [(BLOCKS, k0, size, 0)]
        self._run(terms_of_tiles, graph, a, program, x, y)

    def combine(self, graph: tuple[Any, ...], a: Array, z: Array, y: Array) -> None:
        """Set y to the sum over s and k of a[s, k] T_k z[:, :, s]: the adjoint of :meth:`terms`, by Clenshaw's rule.

        Parameters
        ----------
        graph, a
            As in :meth:`terms`.
        z, y : ndarray, shapes (batch, n, n_blocks, features) and (batch, n, features)
            Blocks of signals and where the answer goes.
        """
        from cayleygsp.engine.tile_loops import BLOCKS, CARRY, STEP, combine_tiles

        program = []
        for stop in range(self.n_terms, 0, -self.room):
            size = min(self.room, stop)
            program += [(CARRY, stop - size, size, int(stop == self.n_terms))]
            program += [(STEP, stop - size + q, q, 0) for q in range(size - 1, -1, -1)]
        self._run(combine_tiles, graph, a, [*program, (BLOCKS, 0, 0, 0)], z, y)

    def _run(self, loop: Any, graph: tuple[Any, ...], a: Array, program: Any, source: Array, target: Array) -> None:
        """Run a program on every tile."""
        from cayleygsp.engine.packed import cut_rows
        from cayleygsp.engine.threads import run

        n_tiles = self.edges.size - 1
        operations = np.array(program, np.int64)
        if self.by_rows:
            chunks = cut_rows(graph[0]).astype(np.int64)
            n_chunks, n_steps, numbers = chunks.size - 1, n_tiles * len(program), self.numbers // n_tiles
        else:
            chunks = np.zeros(1, np.int64)
            n_chunks, n_steps, numbers = n_tiles, 1, self.numbers * self.n_terms
        arguments = (graph, a, operations, self.edges, chunks, self.by_rows, source, target, self.buffers)
        run(loop, *arguments, n_chunks=n_chunks, n_steps=n_steps, numbers=4 * numbers, n_threads=self.n_threads)


def product(graph: tuple[Any, ...], x: Array, y: Array, limit: int | None = None) -> None:
    """Set y to the Laplacian, not scaled, times x; both have shape (n, m)."""
    from cayleygsp.engine.packed import cut_rows
    from cayleygsp.engine.threads import run, useful_threads
    from cayleygsp.engine.tile_loops import product as loop

    n_threads = useful_threads(x.size, 1, limit)
    chunks = cut_rows(graph[0], None if n_threads > 1 else 1).astype(np.int64)
    n_chunks = chunks.size - 1
    run(loop, graph, chunks, x, y, n_chunks=n_chunks, n_steps=1, numbers=4 * x.size, n_threads=n_threads)


def tile_edges(batch: int, features: int, width: int) -> Array:
    """Cut batch * features columns into tiles; wide features are cut at the ends of a batch element too."""
    if features >= width:
        inner = np.linspace(0, features, -(-features // width) + 1).astype(np.int64)[:-1]
        return np.append((features * np.arange(batch)[:, None] + inner).ravel(), batch * features)
    per_tile = max(width // features, 1) * features
    return np.append(np.arange(0, batch * features, per_tile), batch * features).astype(np.int64)


def _share_tiles(n_tiles: int, n_threads: int, n_numbers: int) -> bool:
    """Say whether all threads should work on one tile: too few tiles for them, and rows enough."""
    return n_threads > 1 and n_tiles < 2 * n_threads and n_numbers > _ROWS_SIZE
