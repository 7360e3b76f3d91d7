"""Bounds of the spectrum of a graph in parts: the same numbers as those of the whole matrix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cayleygsp._rounding import rounded_up
from cayleygsp._typing import FloatArray, IntArray, LaplacianKind
from cayleygsp.distributed.executor import Executor, Handle
from cayleygsp.distributed.parts import CACHE, Store, imports, laplacian_rows, region
from cayleygsp.distributed.recurrence import Exchange
from cayleygsp.spectrum import POWER_STEPS, LanczosBound, bound_by_ritz, largest_quotient


class PartFacts(NamedTuple):
    """What a part says of its rows."""

    largest: float  # entry of its diagonal
    smallest: float  # entry of its diagonal, 1 at most
    vertex: int  # the first that has the largest entry, by the user's number
    longest_row: int  # entries that are not zero
    n_entries: int  # beside the diagonal
    is_finite: bool  # all degrees are


@dataclass(frozen=True, eq=False)
class _PartRows:
    """The rows of a part, in double precision, and what is computed with them and with vectors on the part.

    ``pieces`` of vectors come from the parts ``sources`` around it.
    """

    matrix: sparse.csr_array
    diagonal: FloatArray
    slots: dict[int, IntArray]

    @property
    def n_bytes(self) -> int:
        """Bytes of its arrays."""
        matrix = self.matrix
        arrays = [matrix.data, matrix.indices, matrix.indptr, self.diagonal, *self.slots.values()]
        return sum([array.nbytes for array in arrays])

    def facts(self, store: Store, p: int) -> PartFacts | None:
        """Return what is known of the rows; None for a part without vertices."""
        d = self.diagonal
        if d.size == 0:
            return None
        part, lengths, u = store.part(p), self.lengths(), int(np.argmax(d))
        n_entries = int(lengths.sum()) - int(np.count_nonzero(d))
        finite = bool(np.isfinite(part.rows.degrees).all())
        return PartFacts(
            float(d[u]), float(d.min(initial=1.0)), int(part.vertices[u]), int(lengths.max()), n_entries, finite
        )

    def lengths(self) -> FloatArray:
        """Return the entries of each row that are not zero."""
        return np.diff(self.matrix.indptr) - (self.diagonal == 0.0)

    def counts(self) -> FloatArray:
        """Return the entries of each row plus 3."""
        return self.lengths() + 3.0

    def own_diagonal(self) -> FloatArray:
        """Return the diagonal."""
        return self.diagonal

    def joined(self, x: FloatArray, sources: Sequence[int], pieces: Sequence[FloatArray]) -> FloatArray:
        """Return a vector on the part and around it."""
        local = np.empty(self.matrix.shape[1])
        local[: x.size] = x
        for source, piece in zip(sources, pieces, strict=True):
            local[self.slots[source]] = piece
        return local

    def product(self, x: FloatArray, sources: Sequence[int], *pieces: FloatArray) -> FloatArray:
        """Return the rows times a vector."""
        return self.matrix @ self.joined(x, sources, pieces)

    def absolute_product(self, x: FloatArray, sources: Sequence[int], *pieces: FloatArray) -> FloatArray:
        """Return the absolute values of the rows times a vector."""
        return 2 * self.diagonal * x - self.product(x, sources, *pieces)

    def lower(self, d: FloatArray, sources: Sequence[int], *pieces: FloatArray) -> float:
        """Return the largest Rayleigh quotient of an edge at the vertex with the largest entry of the diagonal."""
        if d.size == 0:
            return 0.0
        local = self.joined(d, sources, pieces)
        u = int(np.argmax(d))
        row = slice(self.matrix.indptr[u], self.matrix.indptr[u + 1])
        v, values = self.matrix.indices[row], self.matrix.data[row]
        return largest_quotient(d[u], local[v[v != u]], values[v != u])

    def row_sums(self, m: FloatArray, sources: Sequence[int], *pieces: FloatArray) -> tuple[float, float]:
        """Return the largest row and column sums behind the rounding norm."""
        ones = self.absolute_product(np.ones(m.size), sources, *[np.ones(piece.size) for piece in pieces])
        columns = self.absolute_product(m, sources, *pieces)
        return float((m * ones).max(initial=0.0)), float(columns.max(initial=0.0))

    def scaled(self, x: FloatArray, largest: float) -> FloatArray:
        """Return a vector over its largest entry; 1 for vertices without edges."""
        return np.where(self.diagonal > 0, x / largest, 1.0)

    def ratio(self, x: FloatArray, Qx: FloatArray) -> tuple[float, float, float]:
        """Return the largest ratio of a power step, and the largest and the smallest entry of its result."""
        inner = self.diagonal > 0
        ratio = float((Qx[inner] / x[inner]).max(initial=0.0))
        return ratio, float(Qx.max(initial=0.0)), float(Qx[inner].min(initial=np.inf))


def _on_rows(store: Store, p: int, kind: LaplacianKind, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a method of the rows of a part, which are made once in each process."""

    def make() -> _PartRows:
        around = region(store, p, 1)
        matrix, diagonal = laplacian_rows(store, around, store.part(p).rows, kind)
        return _PartRows(matrix, diagonal, {q: one.slots for q, one in imports(store, around).items()})

    return function(CACHE.get((store.token, p, "rows", kind), make), *arguments)


def _random(p: int, n: int, seed: int) -> FloatArray:
    return np.random.default_rng([seed, p]).standard_normal(n)


def _combine(a: float, x: FloatArray, b: float, y: FloatArray, c: float, z: FloatArray) -> FloatArray:
    return a * x + b * y + c * z


class SpectrumInParts:
    """The Laplacian of a graph in parts, as far as bounds of its spectrum need it; ``exchange`` is for one degree.

    ``facts`` is what the parts that have vertices say of their rows, by their numbers.
    """

    def __init__(self, executor: Executor, store: Store, exchange: Exchange, kind: LaplacianKind) -> None:
        self.executor = executor
        self.exchange = exchange
        self.sizes = np.diff(store.starts).tolist()
        self._parts = [(store, p, kind) for p in range(store.n_parts)]
        facts = [executor.call(p, _on_rows, *part, _PartRows.facts, store, p) for p, part in enumerate(self._parts)]
        self.facts: dict[int, PartFacts] = {p: one for p, one in enumerate(executor.values(facts)) if one is not None}
        self.largest = max([one.largest for one in self.facts.values()])

    def collatz_wielandt(self) -> float:
        """Return what :func:`cayleygsp.spectrum.collatz_wielandt` returns for the whole matrix."""
        if self.largest <= 0:
            return 0.0
        isolated = min([one.smallest for one in self.facts.values()]) <= 0  # there the first vector is one
        best, largest = np.inf, max(self.largest, 1.0) if isolated else self.largest
        x = self._each(_PartRows.scaled, self._each(_PartRows.own_diagonal), extra=(largest,))
        for _ in range(POWER_STEPS):
            Qx = self._with_neighbours(_PartRows.absolute_product, x)
            extremes, Qx = self._values_beside(self._each(_PartRows.ratio, x, Qx), Qx)
            ratios, tops, lows = zip(*extremes, strict=True)
            best = min(best, max(ratios))
            x = self._each(_PartRows.scaled, Qx, extra=(max(tops),))
            if not min(1.0, min(lows) / max(tops)) > 1e-200:
                break
        return rounded_up(best, max([one.longest_row for one in self.facts.values()]))

    def lower(self) -> float:
        """Return the largest Rayleigh quotient at the vertex with the largest entry of the diagonal."""
        diagonals = self._each(_PartRows.own_diagonal)
        quotients = self.executor.values(self._with_neighbours(_PartRows.lower, diagonals))
        at_top = [p for p, one in self.facts.items() if one.largest == self.largest]
        return float(quotients[min(at_top, key=lambda p: self.facts[p].vertex)])

    def rounding_norm(self) -> float:
        """Return the rounding norm of the whole matrix, see :attr:`cayleygsp.Laplacian.rounding_norm`."""
        sums = self.executor.values(self._with_neighbours(_PartRows.row_sums, self._each(_PartRows.counts)))
        rows, columns = zip(*sums, strict=True)
        return float(np.sqrt(max(rows) * max(columns)))

    def lanczos(self, n_steps: int, seed: int, *, floor: float, at_least: float, at_most: float) -> LanczosBound:
        """Look for the largest eigenvalue; the start vector is another one than that for the whole matrix."""
        steps = self._lanczos_steps(seed)
        return bound_by_ritz(steps, min(n_steps, sum(self.sizes)), floor=floor, at_least=at_least, at_most=at_most)

    def _lanczos_steps(self, seed: int) -> Iterator[tuple[float, float]]:
        norm, v = self._norm([self.executor.call(p, _random, p, n, seed) for p, n in enumerate(self.sizes)])
        v = self.executor.commit(self._combined(1 / norm, v, 0.0, v, 0.0, v))
        v_prev, beta = v, 0.0
        while True:
            w = self._with_neighbours(_PartRows.product, v)
            dots, w = self._values_beside(self._dots(v, w), w)
            alpha = float(sum(dots))
            beta, w = self._norm(self._combined(1.0, w, -alpha, v, -beta, v_prev))
            yield alpha, beta
            v_prev, v = v, self.executor.commit(self._combined(1 / beta, w, 0.0, w, 0.0, w))

    def _norm(self, v: Sequence[Handle]) -> tuple[float, list[Handle]]:
        """Return the norm of a vector, and the vector, which is then kept."""
        squares, v = self._values_beside(self._dots(v, v), v)
        return float(np.sqrt(sum(squares))), v

    def _dots(self, x: Sequence[Handle], y: Sequence[Handle]) -> list[Handle]:
        return [self.executor.call(p, np.dot, *pair) for p, pair in enumerate(zip(x, y, strict=True))]

    def _combined(
        self, a: float, x: Sequence[Handle], b: float, y: Sequence[Handle], c: float, z: Sequence[Handle]
    ) -> list[Handle]:
        call = self.executor.call
        return [call(p, _combine, a, x[p], b, y[p], c, z[p]) for p in range(len(x))]

    def _each(self, method: object, *vectors: Sequence[Handle], extra: tuple[float, ...] = ()) -> list[Handle]:
        """Call a method of the rows with vectors on every part."""
        call = self.executor.call
        arguments = zip(self._parts, *vectors, strict=True)
        return [call(p, _on_rows, *part, method, *one, *extra) for p, (part, *one) in enumerate(arguments)]

    def _with_neighbours(self, method: object, x: Sequence[Handle]) -> list[Handle]:
        """Call a method of the rows with a vector and its values around each part."""
        call, rows = self.executor.call, self.exchange.rows
        handles = []
        for p, takes in enumerate(self.exchange.counts):
            pieces = [call(q, np.take, x[q], rows[p, q]) for q in takes]
            handles.append(call(p, _on_rows, *self._parts[p], method, x[p], list(takes), *pieces))
        return handles

    def _values_beside(self, handles: Sequence[Handle], vectors: Sequence[Handle]) -> tuple[list[Any], list[Handle]]:
        """Return values, and vectors that come with them and are kept: all of it is sent at once."""
        done = self.executor.commit([*handles, *vectors])
        return self.executor.values(done[: len(handles)]), done[len(handles) :]
