r"""The two recurrences of the layers, each the adjoint of the other, on tensors.

:func:`terms` makes many Chebyshev series of one block of signals, :func:`combine` sums one series of each of many
blocks. On the CPU they run compiled loops on the memory of the tensors, elsewhere torch's sparse products. Both need
memory for a fixed number of terms, however many there are. Neither knows of gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from threading import Barrier, Thread
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from cayleygsp._typing import Array

# Width of a tile of columns: two cache lines a row.
_TILE_BYTES = 128

# Columns of a tile are filled up to a multiple of this, so that no column is done alone.
_LANE_BYTES = 32

# The terms of a tile may take this much, and must be at least that many.
_BUFFER_BYTES = 2**23
_MIN_TERMS = 16

# Below this many numbers to compute, starting threads takes longer than the work.
_THREAD_SIZE = 500_000

# Below this many numbers in a block, threads that share a tile wait for each other longer than they work.
_ROWS_SIZE = 200_000


class GraphTensors(NamedTuple):
    """A graph as the recurrences want it.

    Row i of the scaled Laplacian is ``scale[i] * (diagonal[i] * t[i] - sum(values * t[indices])) - t[i]``, the sum
    going from ``indptr[i]`` to ``indptr[i + 1]``.
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor
    diagonal: Tensor
    scale: Tensor

    def numpy(self) -> tuple[Array, ...]:
        """Return the same memory as arrays, whole numbers without a sign."""
        whole = tuple(t.numpy() for t in self[:2])
        return (*(w.view(f"u{w.itemsize}") for w in whole), *(t.numpy() for t in self[2:]))


def terms(graph: GraphTensors, x: Tensor, coeffs: Tensor | None, n_terms: int) -> Tensor:
    r"""Return :math:`\sum_k a_{sk} T_k(\tilde\Delta) x` for every row s of coefficients.

    Parameters
    ----------
    graph : GraphTensors
        The scaled Laplacian, in the precision of x.
    x : Tensor, shape (batch, n, features)
        Signals.
    coeffs : Tensor, shape (n_blocks, n_terms), or None
        None stands for the unit matrix: the terms themselves.
    n_terms : int
        How many terms, K + 1.

    Returns
    -------
    Tensor, shape (batch, n, n_blocks, features)
    """
    n_blocks = n_terms if coeffs is None else coeffs.shape[0]
    y = x.new_empty((x.shape[0], x.shape[1], n_blocks, x.shape[2]))
    if y.numel() == 0:
        return y
    if x.device.type != "cpu":
        return _terms_by_torch(graph, x, coeffs, n_terms, y)
    a = x.new_empty((0, 0)) if coeffs is None else coeffs.contiguous()
    _Plan(x, n_terms).terms(graph, a.numpy(), n_terms, x.contiguous().numpy(), y.numpy())
    return y


def combine(graph: GraphTensors, z: Tensor, coeffs: Tensor | None, n_terms: int) -> Tensor:
    r"""Return :math:`\sum_s \sum_k a_{sk} T_k(\tilde\Delta) z_s` by Clenshaw's rule.

    Parameters
    ----------
    graph : GraphTensors
        The scaled Laplacian, in the precision of z.
    z : Tensor, shape (batch, n, n_blocks, features)
        Blocks of signals.
    coeffs, n_terms
        As in :func:`terms`.

    Returns
    -------
    Tensor, shape (batch, n, features)
    """
    y = z.new_empty((z.shape[0], z.shape[1], z.shape[3]))
    if y.numel() == 0:
        return y
    if z.device.type != "cpu":
        return _combine_by_torch(graph, z, coeffs, n_terms)
    a = z.new_empty((0, 0)) if coeffs is None else coeffs.contiguous()
    _Plan(y, n_terms).combine(graph, a.numpy(), n_terms, z.contiguous().numpy(), y.numpy())
    return y


def product(graph: GraphTensors, x: Tensor) -> Tensor:
    """Return the Laplacian, not scaled, times x of shape (n, m)."""
    if x.device.type != "cpu":
        return graph.diagonal[:, None] * x - _adjacency(graph) @ x
    from cayleygsp.nn import _kernels

    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    arguments = (graph.numpy(), x.contiguous().numpy(), y.numpy())
    n_threads = torch.get_num_threads() if x.numel() > _THREAD_SIZE else 1
    cuts = _row_cuts(graph, n_threads)
    _run([partial(_kernels.product, first, last, *arguments) for first, last in pairwise(cuts)])
    return y


class _Plan:
    """How the columns of a block are cut into tiles, how threads share them, and the memory for the terms of a tile.

    Attributes
    ----------
    edges : ndarray
        First columns of the tiles, and their end.
    by_rows : bool
        Whether the threads share one tile. Otherwise each has tiles of its own.
    buffers : ndarray, shape (n_threads, n_terms + 2, n, width)
        Room for some terms and the two before them.
    """

    def __init__(self, x: Tensor, n_terms: int) -> None:
        batch, n, features = x.shape
        item = x.element_size()
        self.edges = _tile_edges(batch, features, _TILE_BYTES // item)
        n_tiles = self.edges.size - 1
        self.n_threads = torch.get_num_threads() if n_terms * x.numel() > _THREAD_SIZE else 1
        self.by_rows = _share_tiles(n_tiles, self.n_threads, x.numel())
        lanes = _LANE_BYTES // item
        width = -(-int(np.diff(self.edges).max()) // lanes) * lanes
        self.room = min(n_terms, max(_BUFFER_BYTES // (n * width * item), _MIN_TERMS))
        n_groups = 1 if self.by_rows else min(self.n_threads, n_tiles)
        self.buffers = x.new_empty((n_groups, self.room + 2, n, width)).numpy()

    def terms(self, graph: GraphTensors, a: Array, n_terms: int, x: Array, y: Array) -> None:
        from cayleygsp.nn import _kernels

        if not self.by_rows:
            self._each_tile(_kernels.terms_tiles, graph.numpy(), a, n_terms, self.edges, x, y)
            return
        arrays, buffer = graph.numpy(), self.buffers[0]

        def work(first: int, last: int, wait: Callable[[], Any]) -> None:
            for column, n_columns in self._tiles():
                for k0 in range(0, n_terms, self.room):
                    size = min(self.room, n_terms - k0)
                    if k0:
                        _kernels.carry_up(first, last, buffer, self.room)
                        wait()
                    for q in range(size):
                        _kernels.terms_step(first, last, arrays, k0 + q, q, column, n_columns, x, buffer)
                        wait()
                    _kernels.emit_terms(first, last, a, k0, size, column, n_columns, buffer, y)
                    wait()

        _run_together(_row_cuts(graph, self.n_threads), work)

    def combine(self, graph: GraphTensors, a: Array, n_terms: int, z: Array, y: Array) -> None:
        from cayleygsp.nn import _kernels

        if not self.by_rows:
            self._each_tile(_kernels.combine_tiles, graph.numpy(), a, n_terms, self.edges, z, y)
            return
        arrays, buffer = graph.numpy(), self.buffers[0]

        def work(first: int, last: int, wait: Callable[[], Any]) -> None:
            for column, n_columns in self._tiles():
                for stop in range(n_terms, 0, -self.room):
                    size = min(self.room, stop)
                    _kernels.carry_down(first, last, buffer, size, stop == n_terms)
                    _kernels.load_terms(first, last, a, stop - size, size, column, n_columns, buffer, z)
                    for q in range(size - 1, -1, -1):
                        wait()
                        _kernels.combine_step(first, last, arrays, stop - size + q, q, buffer)
                    wait()
                _kernels.scatter(first, last, buffer[0], column, n_columns, y)

        _run_together(_row_cuts(graph, self.n_threads), work)

    def _tiles(self) -> Iterator[tuple[int, int]]:
        edges = self.edges.tolist()
        for first, last in pairwise(edges):
            yield first, last - first

    def _each_tile(self, kernel: Callable[..., None], *arguments: Any) -> None:
        """Share the tiles among the threads."""
        n_groups, n_tiles = self.buffers.shape[0], self.edges.size - 1
        cuts = [g * n_tiles // n_groups for g in range(n_groups + 1)]
        pieces = zip(pairwise(cuts), self.buffers, strict=True)
        _run([partial(kernel, first, last, *arguments, buffer) for (first, last), buffer in pieces])


def _run(jobs: Sequence[Callable[[], None]]) -> None:
    """Run all jobs at once, the first one here; what they raise is raised.

    Threads live as long as their job: none is left that would spin, or be missing after a fork.
    """
    errors: list[BaseException] = []

    def guarded(job: Callable[[], None]) -> None:
        try:
            job()
        except BaseException as error:
            errors.append(error)

    threads = [Thread(target=guarded, args=(job,), daemon=True) for job in jobs[1:]]
    for thread in threads:
        thread.start()
    guarded(jobs[0])
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def _run_together(cuts: Sequence[int], work: Callable[[int, int, Callable[[], Any]], None]) -> None:
    """Run ``work`` on every piece of the rows at once; it gets a function that waits for all others."""
    barrier = Barrier(len(cuts) - 1)

    def job(first: int, last: int) -> None:
        try:
            work(first, last, barrier.wait)
        except BaseException:
            barrier.abort()
            raise

    _run([partial(job, first, last) for first, last in pairwise(cuts)])


def _row_cuts(graph: GraphTensors, n_pieces: int) -> list[int]:
    """Cut the rows into pieces with about equal numbers of rows and entries together."""
    n = graph.diagonal.shape[0]
    if n_pieces == 1:
        return [0, n]
    work = graph.indptr.numpy().astype(np.int64) + 4 * np.arange(n + 1)
    cuts = np.searchsorted(work, np.linspace(0, work[-1], n_pieces + 1))
    cuts[0], cuts[-1] = 0, n
    return np.unique(cuts).tolist()


def _share_tiles(n_tiles: int, n_threads: int, n_numbers: int) -> bool:
    """Say whether all threads should work on one tile: too few tiles for them, and rows enough."""
    return n_threads > 1 and n_tiles < 2 * n_threads and n_numbers > _ROWS_SIZE


def _tile_edges(batch: int, features: int, width: int) -> Array:
    """Cut batch * features columns into tiles; wide features are cut at the ends of a batch element too."""
    if features >= width:
        inner = np.linspace(0, features, -(-features // width) + 1).astype(np.int64)[:-1]
        return np.append((features * np.arange(batch)[:, None] + inner).ravel(), batch * features)
    per_tile = max(width // features, 1) * features
    return np.append(np.arange(0, batch * features, per_tile), batch * features).astype(np.int64)


def _adjacency(graph: GraphTensors) -> Tensor:
    n = graph.diagonal.shape[0]
    return torch.sparse_csr_tensor(graph.indptr, graph.indices, graph.values, (n, n), check_invariants=False)


class _Scaled:
    """Products of the scaled Laplacian with (n, m) tensors by torch alone."""

    def __init__(self, graph: GraphTensors) -> None:
        self.W = _adjacency(graph)
        self.off = -graph.scale[:, None]
        self.diagonal = graph.scale[:, None] * graph.diagonal[:, None] - 1

    def __matmul__(self, t: Tensor) -> Tensor:
        return self.off * (self.W @ t) + self.diagonal * t


def _terms_by_torch(graph: GraphTensors, x: Tensor, coeffs: Tensor | None, n_terms: int, y: Tensor) -> Tensor:
    """Do what the compiled loops do, a few degrees at a time."""
    batch, n, features = x.shape
    L = _Scaled(graph)
    recent = [x.transpose(0, 1).reshape(n, -1)]
    for k in range(n_terms):
        if k == 1:
            recent.append(L @ recent[-1])
        elif k > 1:
            recent.append(2 * (L @ recent[-1]) - recent[-2])
        if coeffs is None:
            y[:, :, k] = recent[-1].view(n, batch, features).transpose(0, 1)
            recent = recent[-2:]
        elif (k + 1) % _MIN_TERMS == 0 or k + 1 == n_terms:
            size = k % _MIN_TERMS + 1
            block = torch.stack(recent[-size:]).view(size, -1)
            part = (coeffs[:, k + 1 - size : k + 1] @ block).view(-1, n, batch, features).permute(2, 1, 0, 3)
            if k < _MIN_TERMS:
                y.copy_(part)
            else:
                y += part
            recent = recent[-2:]
    return y


def _combine_by_torch(graph: GraphTensors, z: Tensor, coeffs: Tensor | None, n_terms: int) -> Tensor:
    """Do what the compiled loops do, a few degrees at a time."""
    batch, n, n_blocks, features = z.shape
    L = _Scaled(graph)
    blocks = z.permute(2, 1, 0, 3).reshape(n_blocks, -1)
    above = above2 = z.new_zeros((n, batch * features))
    for k in range(n_terms - 1, -1, -1):
        first = k - k % _MIN_TERMS
        if coeffs is None:
            D = blocks[k]
        else:
            if k + 1 == n_terms or k % _MIN_TERMS == _MIN_TERMS - 1:
                part = coeffs[:, first : k + 1].T @ blocks
            D = part[k - first]
        above, above2 = (2 if k else 1) * (L @ above) - above2 + D.view(n, -1), above
    return above.view(n, batch, features).transpose(0, 1).contiguous()
