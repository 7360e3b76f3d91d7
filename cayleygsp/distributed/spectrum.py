"""Bounds of the spectrum of a graph in parts: the same numbers as those of the whole matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from cayleygsp._rounding import rounded_up
from cayleygsp._typing import FloatArray, IntArray, LaplacianKind
from cayleygsp.distributed.executor import Executor, Handle
from cayleygsp.distributed.parts import CACHE, Part, Store, cache_bytes, imports, laplacian_rows, region
from cayleygsp.distributed.recurrence import Exchange
from cayleygsp.spectrum import POWER_STEPS, LanczosBound, bound_by_ritz


@dataclass(frozen=True)
class PartFacts:
    """What a part says of its rows.

    Attributes
    ----------
    largest : float
        The largest entry of its diagonal.
    smallest : float
        The smallest entry of its diagonal, 1 at most.
    vertex : int
        The user's number of the first vertex that has the largest entry.
    longest_row : int
        The most entries of a row.
    n_entries : int
        Entries beside the diagonal.
    is_finite : bool
        Whether all degrees are finite.
    """

    largest: float
    smallest: float
    vertex: int
    longest_row: int
    n_entries: int
    is_finite: bool


@dataclass(frozen=True, eq=False)
class _LaplacianRows:
    """The rows of a part, in double precision."""

    matrix: sparse.csr_array
    diagonal: FloatArray
    slots: dict[int, IntArray]

    @property
    def n_bytes(self) -> int:
        """Bytes of its arrays."""
        matrix = self.matrix
        arrays = (matrix.data, matrix.indices, matrix.indptr, self.diagonal, *self.slots.values())
        return sum(array.nbytes for array in arrays)

    @property
    def lengths(self) -> FloatArray:
        """The entries of each row that are not zero."""
        return np.diff(self.matrix.indptr) - (self.diagonal == 0)

    def product(self, x: FloatArray, sources: Sequence[int], pieces: Sequence[FloatArray]) -> FloatArray:
        """Return the rows times a vector of which pieces come from other parts."""
        return self.matrix @ self.joined(x, sources, pieces)

    def joined(self, x: FloatArray, sources: Sequence[int], pieces: Sequence[FloatArray]) -> FloatArray:
        """Return a vector on the part and around it."""
        local = np.empty(self.matrix.shape[1])
        local[: x.size] = x
        for source, piece in zip(sources, pieces, strict=True):
            local[self.slots[source]] = piece
        return local

    def absolute_product(self, x: FloatArray, sources: Sequence[int], pieces: Sequence[FloatArray]) -> FloatArray:
        """Return the same with the absolute values of the rows."""
        return 2 * self.diagonal * x - self.product(x, sources, pieces)


def _rows(store: Store, p: int, kind: LaplacianKind) -> _LaplacianRows:
    around = region(store, p, 1)
    matrix, diagonal = laplacian_rows(store, around, kind)
    return _LaplacianRows(matrix, diagonal, {one.source: one.slots for one in imports(store, around)})


def _facts_of(store: Store, p: int, kind: LaplacianKind) -> PartFacts | None:
    return _on_rows(store, p, kind, _facts, store.part(p))


def _on_rows(store: Store, p: int, kind: LaplacianKind, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function of the rows of a part, which are made once in each process."""
    key = (store.token, p, "rows", kind)
    return function(CACHE.get(key, lambda: _rows(store, p, kind), cache_bytes()), *arguments)


def _facts(rows: _LaplacianRows, part: Part) -> PartFacts | None:
    """Return what is known of the rows; None for a part without vertices."""
    d = rows.diagonal
    if d.size == 0:
        return None
    lengths, u = rows.lengths, int(np.argmax(d))
    n_entries = int(lengths.sum()) - int(np.count_nonzero(d))
    finite = bool(np.isfinite(part.rows.degrees).all())
    smallest = float(d.min(initial=1.0))
    return PartFacts(float(d[u]), smallest, int(part.vertices[u]), int(lengths.max()), n_entries, finite)


def _counts(rows: _LaplacianRows) -> FloatArray:
    return rows.lengths + 3.0


def _diagonal(rows: _LaplacianRows) -> FloatArray:
    return rows.diagonal


def _take(x: FloatArray, rows: IntArray) -> FloatArray:
    return x[rows]


def _lower(rows: _LaplacianRows, d: FloatArray, sources: Sequence[int], *pieces: FloatArray) -> float:
    """Return the largest Rayleigh quotient of an edge at the vertex with the largest entry of the diagonal."""
    if d.size == 0:
        return 0.0
    local = rows.joined(d, sources, pieces)
    u = int(np.argmax(d))
    row = slice(rows.matrix.indptr[u], rows.matrix.indptr[u + 1])
    v, values = rows.matrix.indices[row], rows.matrix.data[row]
    quotients = (d[u] + local[v]) / 2 - values
    return float(max(d[u], quotients[v != u].max(initial=0.0)))


def _row_sums(rows: _LaplacianRows, m: FloatArray, sources: Sequence[int], *pieces: FloatArray) -> tuple[float, float]:
    """Return the largest row and column sums behind the rounding norm."""
    ones = rows.absolute_product(np.ones(m.size), sources, [np.ones(piece.size) for piece in pieces])
    return float((m * ones).max(initial=0.0)), float(rows.absolute_product(m, sources, pieces).max(initial=0.0))


def _start(rows: _LaplacianRows, largest: float) -> FloatArray:
    """Return the positive vector of the first power step."""
    return np.where(rows.diagonal > 0, rows.diagonal, 1.0) / largest


def _power_product(rows: _LaplacianRows, x: FloatArray, sources: Sequence[int], *pieces: FloatArray) -> FloatArray:
    return rows.absolute_product(x, sources, pieces)


def _ratio(rows: _LaplacianRows, x: FloatArray, Qx: FloatArray) -> tuple[float, float, float]:
    """Return the largest ratio of the step, and the largest and the smallest entry of its result."""
    inner = rows.diagonal > 0
    ratio = float((Qx[inner] / x[inner]).max(initial=0.0))
    return ratio, float(Qx.max(initial=0.0)), float(Qx[inner].min(initial=np.inf))


def _rescale(rows: _LaplacianRows, Qx: FloatArray, largest: float) -> FloatArray:
    return np.where(rows.diagonal > 0, Qx / largest, 1.0)


def _random(p: int, n: int, seed: int) -> FloatArray:
    return np.random.default_rng([seed, p]).standard_normal(n)


def _dot(x: FloatArray, y: FloatArray) -> float:
    return float(x @ y)


def _combine(a: float, x: FloatArray, b: float, y: FloatArray, c: float, z: FloatArray) -> FloatArray:
    return a * x + b * y + c * z


def _product(rows: _LaplacianRows, x: FloatArray, sources: Sequence[int], *pieces: FloatArray) -> FloatArray:
    return rows.product(x, sources, pieces)


class SpectrumInParts:
    """The Laplacian of a graph in parts, as far as bounds of its spectrum need it.

    Parameters
    ----------
    executor : Executor
        Who computes.
    store : Store
        The parts.
    exchange : Exchange
        For one degree.
    kind : {"combinatorial", "normalized"}
        Which Laplacian.

    Attributes
    ----------
    facts : dict of PartFacts
        What the parts that have vertices say of their rows, by their numbers.
    """

    def __init__(self, executor: Executor, store: Store, exchange: Exchange, kind: LaplacianKind) -> None:
        self.executor = executor
        self.exchange = exchange
        self.sizes = np.diff(store.starts).tolist()
        self._parts = [(store, p, kind) for p in range(store.n_parts)]
        facts = executor.commit([executor.call(p, _facts_of, *part) for p, part in enumerate(self._parts)])
        self.facts: dict[int, PartFacts] = {p: one for p, one in enumerate(executor.values(facts)) if one is not None}

    @property
    def largest(self) -> float:
        """The largest entry of the diagonal."""
        return max(one.largest for one in self.facts.values())

    @property
    def longest_row(self) -> int:
        """The most entries of a row."""
        return max(one.longest_row for one in self.facts.values())

    def collatz_wielandt(self) -> float:
        """Return what :func:`cayleygsp.spectrum.collatz_wielandt` returns for the whole matrix."""
        if self.largest <= 0:
            return 0.0
        isolated = min(one.smallest for one in self.facts.values()) <= 0  # there the first vector is one
        best = np.inf
        x = self._each(_start, extra=(max(self.largest, 1.0) if isolated else self.largest,))
        for _ in range(POWER_STEPS):
            Qx = self._with_neighbours(_power_product, x)
            extremes, Qx = self._values_beside(self._each(_ratio, x, Qx), Qx)
            ratios, tops, lows = zip(*extremes, strict=True)
            best = min(best, max(ratios))
            x = self._each(_rescale, Qx, extra=(max(tops),))
            if not min(1.0, min(lows) / max(tops)) > 1e-200:
                break
        return rounded_up(best, self.longest_row)

    def lower(self) -> float:
        """Return the largest Rayleigh quotient at the vertex with the largest entry of the diagonal."""
        quotients = self._values(self._with_neighbours(_lower, self._each(_diagonal)))
        at_top = [p for p, one in self.facts.items() if one.largest == self.largest]
        return float(quotients[min(at_top, key=lambda p: self.facts[p].vertex)])

    def rounding_norm(self) -> float:
        """Return the rounding norm of the whole matrix, see :attr:`cayleygsp.Laplacian.rounding_norm`."""
        sums = self._values(self._with_neighbours(_row_sums, self._each(_counts)))
        return float(np.sqrt(max(row for row, _ in sums) * max(column for _, column in sums)))

    def lanczos(self, n_steps: int, seed: int, *, floor: float, at_least: float, at_most: float) -> LanczosBound:
        """Look for the largest eigenvalue; the start vector is another one than that for the whole matrix."""
        steps = self._lanczos_steps(seed)
        return bound_by_ritz(steps, min(n_steps, sum(self.sizes)), floor=floor, at_least=at_least, at_most=at_most)

    def _lanczos_steps(self, seed: int) -> Iterator[tuple[float, float]]:
        v = [self.executor.call(p, _random, p, n, seed) for p, n in enumerate(self.sizes)]
        norm, v = self._norm(v)
        v = self.executor.commit(self._combined(1 / norm, v, 0.0, v, 0.0, v))
        v_prev, beta = v, 0.0
        while True:
            w = self._with_neighbours(_product, v)
            dots, w = self._values_beside(self._plain(_dot, v, w), w)
            alpha = sum(dots)
            beta, w = self._norm(self._combined(1.0, w, -alpha, v, -beta, v_prev))
            yield alpha, beta
            v_prev, v = v, self.executor.commit(self._combined(1 / beta, w, 0.0, w, 0.0, w))

    def _norm(self, v: Sequence[Handle]) -> tuple[float, list[Handle]]:
        """Return the norm of a vector, and the vector, which is then kept."""
        squares, v = self._values_beside(self._plain(_dot, v, v), v)
        return float(np.sqrt(sum(squares))), v

    def _combined(
        self, a: float, x: Sequence[Handle], b: float, y: Sequence[Handle], c: float, z: Sequence[Handle]
    ) -> list[Handle]:
        call = self.executor.call
        return [call(p, _combine, a, x[p], b, y[p], c, z[p]) for p in range(len(x))]

    def _each(self, function: object, *vectors: Sequence[Handle], extra: tuple[float, ...] = ()) -> list[Handle]:
        """Call a function of the rows and vectors on every part."""
        call = self.executor.call
        arguments = zip(self._parts, *vectors, strict=True)
        return [call(p, _on_rows, *part, function, *one, *extra) for p, (part, *one) in enumerate(arguments)]

    def _plain(self, function: Callable[..., Any], *vectors: Sequence[Handle]) -> list[Handle]:
        """Call a function of vectors on every part."""
        return [self.executor.call(p, function, *one) for p, one in enumerate(zip(*vectors, strict=True))]

    def _with_neighbours(self, function: object, x: Sequence[Handle]) -> list[Handle]:
        """Call a function of the rows, a vector and its values around each part."""
        call, rows = self.executor.call, self.exchange.rows
        handles = []
        for p, takes in enumerate(self.exchange.counts):
            sources = list(takes)
            pieces = [call(q, _take, x[q], rows[p, q]) for q in sources]
            handles.append(call(p, _on_rows, *self._parts[p], function, x[p], sources, *pieces))
        return handles

    def _values(self, handles: Sequence[Handle]) -> list:
        return self.executor.values(self.executor.commit(handles))

    def _values_beside(self, handles: Sequence[Handle], vectors: Sequence[Handle]) -> tuple[list, list[Handle]]:
        """Return values, and vectors that come with them and are kept: all of it is sent at once."""
        done = self.executor.commit([*handles, *vectors])
        return self.executor.values(done[: len(handles)]), done[len(handles) :]
