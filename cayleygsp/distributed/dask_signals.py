"""Signals as Dask arrays: rows that are where the parts are, or columns that go to the workers with the whole graph.

What :class:`cayleygsp.filters.signals.SignalBlock` does with an array in memory is done here chunk by chunk, with the
same code: largest values and norms are put together over all chunks first, so that scales and errors are those of whole
signals.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
    """A Dask array of signals on a graph in parts.

    Parameters
    ----------
    signals : dask.array.Array, shape (n,) or (n, m)
        Chunked in rows, or in columns alone.
    laplacian : DistributedLaplacian
        The graph.

    Raises
    ------
    ValueError, TypeError
        If shape or type are not those of signals.
    """

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


class _ClusterBlock:
    """What rows and columns have in common: pieces on workers, and the way back to a Dask array."""

    def __init__(self, signals: DaskSignals, method: FilterMethod, gain: float) -> None:
        self.signals, self.gain = signals, gain
        self.laplacian = signals.laplacian
        self.executor: Any = signals.laplacian.executor
        self.dtype = signals.dtype
        self.real_dtype = np.dtype(signals.dtype.type(0).real.dtype)
        self.precision = _Precision(np.dtype(method.working_dtype(self.real_dtype)).str, method.promotes)
        columns = signals.shape[1] if len(signals.shape) == 2 else 1
        self.n_columns = columns * (2 if signals.dtype.kind == "c" else 1)
        self.real = _Pieces(self)

    def bound(self, bounds: FloatArray) -> float | FloatArray:
        """Turn a bound for each real column into one number or one per signal."""
        if self.dtype.kind == "c":
            bounds = bounds.reshape(-1, 2).max(axis=1)
        return float(bounds[0]) if len(self.signals.shape) == 1 else bounds


class _RowBlock(_ClusterBlock):
    """Rows where the parts are."""

    def __init__(self, signals: DaskSignals, method: FilterMethod, gain: float) -> None:
        super().__init__(signals, method, gain)
        executor, store = self.executor, self.laplacian.store
        array = signals.array if len(signals.shape) == 1 else signals.array.rechunk({1: -1})
        self.edges = np.cumsum((0, *array.chunks[0])).tolist()
        self.direct = store.in_order and self.edges == store.starts.tolist()
        chunks = _futures(executor.client, array)
        self.pieces = chunks if self.direct else self._regroup(chunks)
        peaks = executor.values([executor.call(p, _peaks, x) for p, x in enumerate(self.pieces)])
        whole = Whole(store.n_vertices, np.max(peaks, axis=0, initial=0.0))
        norms = executor.values([executor.call(p, _norms, x, self._form(whole)) for p, x in enumerate(self.pieces)])
        total = np.sqrt(np.sum(np.square(norms), axis=0))
        self.form = self._form(Whole(whole.n_vertices, whole.peaks, total))

    def _form(self, whole: Whole) -> tuple[Any, ...]:
        return self.precision, self.gain, whole

    def _regroup(self, chunks: Sequence[Handle]) -> list[Handle]:
        """Bring rows in the order of the vertices to their parts."""
        executor, store = self.executor, self.laplacian.store
        pieces = []
        for p in range(store.n_parts):
            cuts = [
                executor.call(p, _rows_for_part, chunk, store, p, low, high)
                for chunk, (low, high) in zip(chunks, pairwise(self.edges), strict=True)
            ]
            pieces.append(executor.call(p, _joined, *cuts))
        return executor.commit(pieces)

    def sum_series(self, lmax: float, coeffs: FloatArray, dtype: Any) -> tuple[_Answers, str]:
        """Sum the series of all parts."""
        executor = self.executor
        with self.laplacian.lock:
            real = [executor.call(p, _real, x, self.form) for p, x in enumerate(self.pieces)]
            answers, note = self.laplacian.sum_pieces(lmax, coeffs, real, self.n_columns, dtype)
        if not self.direct:
            note += ", rows brought to their parts and back"
        return _Answers(answers, coeffs.shape[0]), note

    def restore(self, answer: _Answer) -> Restored:
        """Return one filter's answer as a Dask array with the rows of the signals."""
        executor, store = self.executor, self.laplacian.store
        pairs = zip(self.pieces, answer.handles, strict=True)
        restored = [executor.call(p, _restored, x, y, answer.i, self.form) for p, (x, y) in enumerate(pairs)]
        pending = [executor.call(p, _facts, one) for p, one in enumerate(restored)]
        parts = [executor.call(p, _signals, one) for p, one in enumerate(restored)]
        done = executor.commit([*pending, *parts])
        facts, parts = executor.values(done[: len(pending)]), done[len(pending) :]
        lost = np.sqrt(np.sum(np.square([one[1] for one in facts]), axis=0))
        rounding = facts[0][0] + lost
        if not self.direct:
            parts = executor.commit(
                [executor.call(0, _rows_for_chunk, store, low, high, *parts) for low, high in pairwise(self.edges)]
            )
        array = _dask_array(parts, self.edges, self.signals.shape, self.dtype, axis=0)
        return Restored(array, rounding, any(one[2] for one in facts), lost)


class _ColumnBlock(_ClusterBlock):
    """Columns that go to workers with the whole graph: nothing is exchanged."""

    def __init__(self, signals: DaskSignals, method: FilterMethod, gain: float) -> None:
        super().__init__(signals, method, gain)
        self.edges = np.cumsum((0, *signals.array.chunks[1])).tolist()
        self.pieces = _futures(self.executor.client, signals.array)
        self.form = (self.precision, gain, None)

    def sum_series(self, lmax: float, coeffs: FloatArray, dtype: Any) -> tuple[_Answers, str]:
        """Sum the series of all columns."""
        executor, L = self.executor, self.laplacian
        series = (L.store, L.kind, lmax, coeffs, np.dtype(dtype).str)
        with L.lock:
            calls = [executor.call(q, _column_series, x, self.form, series) for q, x in enumerate(self.pieces)]
            answers = executor.commit(calls)
            executor.wait(answers)
        note = f"{len(self.pieces)} blocks of columns {executor.words}, each with the whole graph, nothing exchanged"
        return _Answers(answers, coeffs.shape[0]), note

    def restore(self, answer: _Answer) -> Restored:
        """Return one filter's answer as a Dask array with the columns of the signals."""
        executor = self.executor
        pairs = zip(self.pieces, answer.handles, strict=True)
        restored = [executor.call(q, _restored, x, y, answer.i, self.form) for q, (x, y) in enumerate(pairs)]
        pending = [executor.call(q, _facts, one) for q, one in enumerate(restored)]
        blocks = [executor.call(q, _signals, one) for q, one in enumerate(restored)]
        done = executor.commit([*pending, *blocks])
        facts = executor.values(done[: len(pending)])
        rounding, lost = (np.concatenate([one[0] + one[1] for one in facts]), np.concatenate([one[1] for one in facts]))
        array = _dask_array(done[len(pending) :], self.edges, self.signals.shape, self.dtype, axis=1)
        return Restored(array, rounding, any(one[2] for one in facts), lost)


class _Pieces:
    """The real block of signals in pieces: what a method hands to the Laplacian."""

    def __init__(self, block: Any) -> None:
        self.block = block
        self.dtype = block.real_dtype

    def sum_series(self, lmax: float, coeffs: FloatArray, dtype: Any) -> tuple[_Answers, str]:
        """Sum series of all pieces."""
        return self.block.sum_series(lmax, coeffs, dtype)

    def __getitem__(self, index: int | None) -> _Pieces:
        return self  # an axis for one filter, or the one filter of it


@dataclass(frozen=True)
class _Answers:
    """Answers of all filters, in pieces."""

    handles: list[Handle]
    n_filters: int

    def __getitem__(self, i: int) -> _Answer:
        return _Answer(self.handles, i)

    def __iter__(self) -> Iterator[_Answer]:
        return (self[i] for i in range(self.n_filters))


@dataclass(frozen=True)
class _Answer:
    """The answer of one filter, in pieces."""

    handles: list[Handle]
    i: int


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


def _checked(x: Array) -> Array:
    return check_numbers(x, "signals")


def _real_columns(x: Array) -> Array:
    columns = x.reshape(x.shape[0], -1)
    return np.ascontiguousarray(columns).view(x.real.dtype) if x.dtype.kind == "c" else columns


def _peaks(x: Array) -> FloatArray:
    return find_peaks(_real_columns(_checked(x)))


def _block(x: Array, form: tuple[Any, ...]) -> SignalBlock:
    precision, gain, whole = form
    return SignalBlock(_checked(x), precision, gain, whole=whole)


def _real(x: Array, form: tuple[Any, ...]) -> Array:
    return _block(x, form).real


def _norms(x: Array, form: tuple[Any, ...]) -> FloatArray:
    return column_norms(_real(x, form))


def _restored(x: Array, y: Array, i: int, form: tuple[Any, ...]) -> Restored:
    return _block(x, form).restore(y[i])


def _facts(restored: Restored) -> tuple[FloatArray, FloatArray, bool]:
    return (
        restored.rounding - np.where(np.isfinite(restored.lost), restored.lost, 0.0),
        restored.lost,
        restored.overflows,
    )


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
