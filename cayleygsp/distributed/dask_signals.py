"""Signals as Dask arrays: rows that are where the parts are, or columns that go to the workers with the whole graph.

What :class:`cayleygsp.filters.signals.SignalBlock` does with an array in memory is done here chunk by chunk, with the
same code: largest values and norms are put together over all chunks first, so that scales and errors are those of whole
signals.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from cayleygsp._typing import Array, FloatArray
from cayleygsp._validation import check_numbers
from cayleygsp.distributed.executor import ClusterExecutor, Handle
from cayleygsp.distributed.parts import Store, whole_graph
from cayleygsp.engine.recurrence import sum_series
from cayleygsp.filters.signals import Restored, SignalBlock, SignalsApart, Whole, find_peaks
from cayleygsp.methods.base import FilterMethod, column_norms


class DaskSignals(SignalsApart):
    """A Dask array of signals on a graph in parts, chunked in rows, or in columns alone."""

    def __init__(self, signals: Any, laplacian: Any) -> None:
        n = laplacian.n_vertices
        if not hasattr(signals, "chunks"):
            raise TypeError(f"`signals` must be a NumPy or a Dask array, got {type(signals).__name__}")
        if signals.ndim not in (1, 2) or signals.shape[0] != n or np.isnan(signals.shape).any():
            raise ValueError(f"`signals` must have shape ({n},) or ({n}, n_signals), got {signals.shape}")
        self.dtype = check_numbers(np.zeros(0, signals.dtype), "signals").dtype
        self.shape = signals.shape
        self.array = signals
        self.laplacian = laplacian

    def as_block(self, method: FilterMethod, gain: float, *, by_filter: bool = False) -> SignalBlock:
        """Return them as a block that a method filters."""
        if not isinstance(self.laplacian.executor, ClusterExecutor):
            return _HereBlock(self, method, gain)
        by_columns = self.array.ndim == 2 and self.array.numblocks[0] == 1 and self.array.numblocks[1] > 1
        made = _ColumnBlock if by_columns else _RowBlock
        return made(self, method, gain)  # type: ignore[return-value]


@dataclass(frozen=True)
class _Precision:
    """The precision that a method works in, for blocks that are made elsewhere."""

    working: str
    promotes: bool

    def working_dtype(self, dtype: Any) -> Any:
        return np.dtype(self.working)


class _HereBlock(SignalBlock):
    """A Dask array that is computed in this process, because the parts are here."""

    def __init__(self, signals: DaskSignals, method: FilterMethod, gain: float) -> None:
        self.chunks = signals.array.chunks
        super().__init__(check_numbers(signals.array.compute(scheduler="synchronous"), "signals"), method, gain)

    def restore(self, y: Array) -> Restored:
        """Return the answer as a Dask array with the chunks of the signals."""
        import dask.array as da

        restored = super().restore(y)
        array = da.from_array(restored.signals, chunks=self.chunks)
        return Restored(array, restored.rounding, restored.overflows, restored.lost)


#: The answer of one filter: those of all filters in pieces, and its place among them.
_Answer = tuple[list[Handle], int]


class _ClusterBlock(ABC):
    """What rows and columns have in common: pieces on workers, and the way back to a Dask array."""

    pieces: list[Handle]
    form: tuple[Any, ...]  # what :func:`_block` takes beside a piece

    def __init__(self, signals: DaskSignals, method: FilterMethod, gain: float) -> None:
        self.signals, self.gain = signals, gain
        self.laplacian = signals.laplacian
        self.executor: Any = signals.laplacian.executor
        self.dtype = signals.dtype
        self.real_dtype = np.dtype(signals.dtype.type(0).real.dtype)
        self.precision = _Precision(np.dtype(method.working_dtype(self.real_dtype)).str, method.promotes)
        self.real = _RealPieces(self)

    def bound(self, bounds: FloatArray) -> float | FloatArray:
        """Turn a bound for each real column into one number or one per signal."""
        if self.dtype.kind == "c":
            bounds = bounds.reshape(-1, 2).max(axis=1)
        return float(bounds[0]) if len(self.signals.shape) == 1 else bounds

    @abstractmethod
    def sum_series(self, lmax: float, coeffs: FloatArray, dtype: Any) -> tuple[list[Handle], str]:
        """Sum the series of all pieces; return the answers, and a note on how."""

    def restore(self, answer: _Answer) -> Restored:
        """Return one filter's answer as a Dask array with the chunks of the signals."""
        call, (answers, i) = self.executor.call, answer
        pairs = zip(self.pieces, answers, strict=True)
        restored = [call(p, _restored, x, y, i, self.form) for p, (x, y) in enumerate(pairs)]
        n_pieces = len(restored)
        facts = [call(p, _facts, one) for p, one in enumerate(restored)]
        done = self.executor.commit(facts + [call(p, _signals, one) for p, one in enumerate(restored)])
        alike, lost, overflows = zip(*self.executor.values(done[:n_pieces]), strict=True)
        array, rounding, all_lost = self._put_together(done[n_pieces:], list(alike), list(lost))
        return Restored(array, rounding, any(overflows), all_lost)

    @abstractmethod
    def _put_together(
        self, parts: list[Handle], alike: list[FloatArray], lost: list[FloatArray]
    ) -> tuple[Any, FloatArray, FloatArray]:
        """Return the Dask array, its rounding and what was lost, from what the pieces say."""


class _RowBlock(_ClusterBlock):
    """Rows where the parts are."""

    def __init__(self, signals: DaskSignals, method: FilterMethod, gain: float) -> None:
        super().__init__(signals, method, gain)
        executor, store = self.executor, self.laplacian.store
        array = signals.array if len(signals.shape) == 1 else signals.array.rechunk({1: -1})
        self.edges = np.cumsum((0, *array.chunks[0])).tolist()
        self.direct = store.in_order and self.edges == store.starts.tolist()
        self.pieces = _futures(executor.client, array)
        if not self.direct:  # bring rows in the order of the vertices to their parts
            chunks = list(zip(self.pieces, pairwise(self.edges), strict=True))
            cuts = [
                [executor.call(p, _rows_for_part, chunk, store, p, *ends) for chunk, ends in chunks]
                for p in range(store.n_parts)
            ]
            self.pieces = executor.commit([executor.call(p, _joined, *rows) for p, rows in enumerate(cuts)])
        peaks = executor.values([executor.call(p, _peaks, x) for p, x in enumerate(self.pieces)])
        whole = Whole(store.n_vertices, np.max(peaks, axis=0, initial=0.0))
        form = (self.precision, gain, whole)
        norms = executor.values([executor.call(p, _norms, x, form) for p, x in enumerate(self.pieces)])
        self.form = (self.precision, gain, whole._replace(norms=np.sqrt(np.sum(np.square(norms), axis=0))))

    def sum_series(self, lmax: float, coeffs: FloatArray, dtype: Any) -> tuple[list[Handle], str]:
        """Sum the series of all parts."""
        with self.laplacian.lock:
            real = [self.executor.call(p, _real, x, self.form) for p, x in enumerate(self.pieces)]
            n_columns = self.form[-1].peaks.size
            answers, note = self.laplacian.sum_pieces(lmax, coeffs, real, n_columns, dtype)
        return answers, note if self.direct else note + ", rows brought to their parts and back"

    def _put_together(
        self, parts: list[Handle], alike: list[FloatArray], lost: list[FloatArray]
    ) -> tuple[Any, FloatArray, FloatArray]:
        executor, store = self.executor, self.laplacian.store
        if not self.direct:
            parts = executor.commit(
                [executor.call(0, _rows_for_chunk, store, low, high, *parts) for low, high in pairwise(self.edges)]
            )
        all_lost = np.sqrt(np.sum(np.square(lost), axis=0))
        array = _dask_array(parts, self.edges, self.signals.shape, self.dtype, axis=0)
        return array, alike[0] + all_lost, all_lost


class _ColumnBlock(_ClusterBlock):
    """Columns that go to workers with the whole graph: nothing is exchanged."""

    def __init__(self, signals: DaskSignals, method: FilterMethod, gain: float) -> None:
        super().__init__(signals, method, gain)
        self.pieces = _futures(self.executor.client, signals.array)
        self.form = (self.precision, gain, None)

    def sum_series(self, lmax: float, coeffs: FloatArray, dtype: Any) -> tuple[list[Handle], str]:
        """Sum the series of all columns."""
        executor, L = self.executor, self.laplacian
        series = (L.store, L.kind, lmax, coeffs, np.dtype(dtype).str)
        with L.lock:
            calls = [executor.call(q, _column_series, x, self.form, series) for q, x in enumerate(self.pieces)]
            answers = executor.commit(calls)
            executor.wait(answers)
        n_blocks = len(self.pieces)
        return answers, f"{n_blocks} blocks of columns {executor.words}, each with the whole graph, nothing exchanged"

    def _put_together(
        self, parts: list[Handle], alike: list[FloatArray], lost: list[FloatArray]
    ) -> tuple[Any, FloatArray, FloatArray]:
        edges = np.cumsum((0, *self.signals.array.chunks[1])).tolist()
        array, all_lost = _dask_array(parts, edges, self.signals.shape, self.dtype, axis=1), np.concatenate(lost)
        return array, np.concatenate(alike) + all_lost, all_lost


class _RealPieces:
    """The real block of signals in pieces: what a method hands to the Laplacian."""

    def __init__(self, block: _ClusterBlock) -> None:
        self.block = block
        self.dtype = block.real_dtype

    def sum_series(self, lmax: float, coeffs: FloatArray, dtype: Any) -> tuple[list[_Answer], str]:
        """Sum series of all pieces, and return an answer for each filter."""
        answers, note = self.block.sum_series(lmax, coeffs, dtype)
        return [(answers, i) for i in range(coeffs.shape[0])], note

    def __getitem__(self, index: int | None) -> _RealPieces:
        return self  # an axis for one filter, or the one filter of it


def _futures(client: Any, array: Any) -> list[Handle]:
    """Return the chunks of a Dask array, one-dimensional in chunks, as they are computed on the cluster."""
    from dask.core import flatten
    from distributed import futures_of

    persisted = client.persist(array)
    by_key = {future.key: future for future in futures_of(persisted)}
    return [by_key[key] for key in flatten(persisted.__dask_keys__())]


def _dask_array(parts: Sequence[Handle], edges: list[int], shape: tuple[int, ...], dtype: Any, axis: int) -> Any:
    import dask.array as da
    from dask import delayed

    blocks = []
    for part, (low, high) in zip(parts, pairwise(edges), strict=True):
        size = (*shape[:axis], high - low, *shape[axis + 1 :])
        blocks.append(da.from_delayed(delayed(part, pure=True), size, dtype))
    return da.concatenate(blocks, axis=axis)


def _peaks(x: Array) -> FloatArray:
    x = check_numbers(x, "signals")
    columns = x.reshape(x.shape[0], -1)
    return find_peaks(np.ascontiguousarray(columns).view(x.real.dtype) if x.dtype.kind == "c" else columns)


def _block(x: Array, form: tuple[Any, ...]) -> SignalBlock:
    precision, gain, whole = form
    return SignalBlock(check_numbers(x, "signals"), precision, gain, whole=whole)


def _real(x: Array, form: tuple[Any, ...]) -> Array:
    return _block(x, form).real


def _norms(x: Array, form: tuple[Any, ...]) -> FloatArray:
    return column_norms(_real(x, form))


def _restored(x: Array, y: Array, i: int, form: tuple[Any, ...]) -> Restored:
    return _block(x, form).restore(y[i])


def _facts(restored: Restored) -> tuple[FloatArray, FloatArray, bool]:
    """Return the rounding that is the same for all pieces of a column, what else was lost, and whether it overflows."""
    alike = restored.rounding - np.where(np.isfinite(restored.lost), restored.lost, 0.0)
    return alike, restored.lost, restored.overflows


def _signals(restored: Restored) -> Array:
    return restored.signals


def _rows_for_part(chunk: Array, store: Store, p: int, low: int, high: int) -> Array:
    """Return the rows of a chunk, vertices low … high - 1, that belong to a part."""
    vertices = store.part(p).vertices
    first, last = np.searchsorted(vertices, (low, high))
    return chunk[vertices[first:last] - low]


def _joined(*pieces: Array) -> Array:
    return np.concatenate(pieces)


def _rows_for_chunk(store: Store, low: int, high: int, *parts: Array) -> Array:
    """Return rows low … high - 1 in the order of the vertices."""
    out = np.empty((high - low, *parts[0].shape[1:]), parts[0].dtype)
    for p, values in enumerate(parts):
        vertices = store.part(p).vertices
        first, last = np.searchsorted(vertices, (low, high))
        out[vertices[first:last] - low] = values[first:last]
    return out


def _column_series(x: Array, form: tuple[Any, ...], series: tuple[Any, ...]) -> Array:
    """Sum series of some columns on the whole graph."""
    store, kind, lmax, coeffs, dtype = series
    graph = whole_graph(store, kind, dtype)
    f = _real(x, form)
    if store.in_order:
        return sum_series(graph, lmax, coeffs, f, np.dtype(dtype))
    vertices = np.concatenate([store.part(p).vertices for p in range(store.n_parts)])
    y = sum_series(graph, lmax, coeffs, f[vertices], np.dtype(dtype))
    out = np.empty_like(y)
    out[:, vertices] = y
    return out
