"""The Laplacian of a graph in parts: what filters take where one memory is not enough."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

from cayleygsp._memory import format_bytes
from cayleygsp._typing import Array, FloatArray, GraphLike, LaplacianKind
from cayleygsp._validation import check_choice, check_integer
from cayleygsp.distributed.building import partition_labels
from cayleygsp.distributed.executor import Executor, Progress, executor_of
from cayleygsp.distributed.folder import FolderStore, check_folder, write_parts
from cayleygsp.distributed.parts import CACHE, MemoryStore, Store, cut_graph
from cayleygsp.distributed.recurrence import Exchanges, Program, kept_degrees, sum_in_parts
from cayleygsp.distributed.spectrum import SpectrumInParts
from cayleygsp.graph import as_adjacency
from cayleygsp.laplacians import KINDS, Laplacian, check_degrees
from cayleygsp.spectrum import LanczosBound

# Degrees after which states are kept in two places, unless the user says otherwise.
KEEP_EVERY = 64


class DistributedLaplacian(Laplacian):
    r"""The Laplacian Δ of a graph that is cut into parts, each of which is worked on by itself.

    Every filter takes it, with the method "chebyshev": degree, coefficients and certificate are those of the graph in
    one piece, and between the degrees the parts exchange the values at their borders and nothing else. Make one with
    :meth:`from_graph`, :meth:`from_folder` or :func:`cayleygsp.distributed.cut_edges`.

    Attributes
    ----------
    kind : {"combinatorial", "normalized"}
        Which Laplacian it is.
    n_parts : int
        Number of parts.
    part_sizes : tuple of int
        Vertices of each part.
    lmax, lmax_bound, lmin : float
        As of :class:`cayleygsp.Laplacian`; computed in parts, the same numbers.
    keep_every : int
        Degrees after which the states of all parts are kept in two places.
    degrees_per_exchange : int or None
        Degrees that a part does for one exchange; None for as many as cost the fewest bytes.
    progress : callable or None
        Called as ``progress(degree, of_degrees)`` while a filter works.

    Notes
    -----
    A part that does s degrees for one exchange takes the values of all vertices up to s edges away, and steps the rows
    of those up to s - 1 edges away as well. What that costs is counted in bytes: values on their way, entries that two
    parts read, and what a task takes beside its work.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.distributed import DistributedLaplacian
    >>> graph = cg.gallery.grid(12)
    >>> dL = DistributedLaplacian.from_graph(graph, 4, client="synchronous")
    >>> dL
    DistributedLaplacian(n_vertices=144, n_edges=264, kind='combinatorial', n_parts=4, lmax=7.99705)
    >>> heat = cg.KernelFilter(dL, cg.responses.Heat(2.0), tol=1e-8)
    >>> round(float(heat.localize(0).sum()), 6)
    1.0
    """

    is_local = False

    def __init__(
        self,
        store: Store,
        kind: LaplacianKind,
        executor: Executor,
        *,
        degrees_per_exchange: int | None = None,
        keep_every: int = KEEP_EVERY,
    ) -> None:
        check_choice(kind, "kind", KINDS)
        if degrees_per_exchange is not None:
            degrees_per_exchange = check_integer(degrees_per_exchange, "degrees_per_exchange", at_least=1)
        self.keep_every = check_integer(keep_every, "keep_every", at_least=1)
        self.degrees_per_exchange = degrees_per_exchange
        self.kind = kind
        self.store = store
        self.executor = executor
        self.progress: Progress | None = None
        self.lmin = 0.0
        self.lock = RLock()
        self._exchanges = Exchanges(executor, store)
        weakref.finalize(self, CACHE.forget, store.token)
        self._spectrum = spectrum = SpectrumInParts(executor, store, self._exchanges.of(1), kind)
        if not all(one.is_finite for one in spectrum.facts.values()):
            check_degrees(np.array([np.inf]), self.kind, "graph")
        check_degrees(np.array([self.store.max_degree]), self.kind, "graph")
        self._n_edges = sum(one.n_entries for one in spectrum.facts.values()) // 2
        if self.kind == "normalized":
            self.lmax_bound = 2.0 if spectrum.largest > 0 else 0.0
        else:
            self.lmax_bound = spectrum.collatz_wielandt()
        self.lmax = self.lmax_bound
        self.rounding_norm = spectrum.rounding_norm()

    @cached_property
    def lmax_lower(self) -> float:
        """A guaranteed lower bound of λ_max, see :attr:`cayleygsp.Laplacian.lmax_lower`."""
        with self.lock:
            return self._spectrum.lower()

    @classmethod
    def from_graph(
        cls,
        graph: GraphLike,
        n_parts: int,
        kind: LaplacianKind = "combinatorial",
        *,
        partition: Any = "auto",
        client: Any = None,
        folder: str | Path | None = None,
        degrees_per_exchange: int | None = None,
        keep_every: int = KEEP_EVERY,
    ) -> DistributedLaplacian:
        """Return the Laplacian of a graph in memory, cut into parts.

        Parameters
        ----------
        graph : Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
            The graph.
        n_parts : int
            Number of parts; more than threads of all workers is no harm.
        kind : {"combinatorial", "normalized"}
            Which Laplacian.
        partition : {"auto", "metis", "order"} or array_like of int, shape (n,)
            METIS, which cuts few edges; ranges in the order of the vertices; METIS for up to 2·10⁷ entries and
            otherwise the order; or the part of each vertex.
        client : distributed.Client, str, "synchronous" or None
            The cluster: a client, the address of a scheduler, or this process, one part after the other. By default the
            client that is current, and where there is none a cluster of threads inside this process.
        folder : str or pathlib.Path, optional
            Where the parts are written for workers in other processes, which must see it: a new folder, that stays. By
            default a temporary one.
        degrees_per_exchange : int, optional
            Degrees that a part does for one exchange; by default as many as cost the fewest bytes.
        keep_every : int
            Degrees after which states are kept in two places, so that a lost worker costs no more than these.

        Raises
        ------
        ValueError, TypeError
            If the graph, the parts or the kind are invalid.
        ConnectionError
            If there is no scheduler at the address.

        Examples
        --------
        >>> import cayleygsp as cg
        >>> from cayleygsp.distributed import DistributedLaplacian
        >>> dL = DistributedLaplacian.from_graph(cg.gallery.ring(64), 3, "normalized", client="synchronous")
        >>> dL.part_sizes, dL.lmax == cg.laplacian(cg.gallery.ring(64), "normalized").lmax
        ((21, 21, 22), True)
        """
        n_parts = check_integer(n_parts, "n_parts", at_least=1)
        check_choice(kind, "kind", KINDS)
        W = as_adjacency(graph)
        with np.errstate(over="ignore"):
            check_degrees(W.sum(axis=1), kind, "graph")
        parts = cut_graph(W, partition_labels(W, n_parts, partition), n_parts)
        executor = executor_of(client, n_parts)
        place = Path(folder) if folder is not None else executor.parts_folder()
        if place is None:
            store: Store = MemoryStore(tuple(parts))
        else:
            write_parts(place, parts)
            store = FolderStore(place)
            executor.check_seen(store.manifest)
        return cls(store, kind, executor, degrees_per_exchange=degrees_per_exchange, keep_every=keep_every)

    @classmethod
    def from_folder(
        cls,
        folder: str | Path,
        kind: LaplacianKind = "combinatorial",
        *,
        client: Any = None,
        check: bool = True,
        degrees_per_exchange: int | None = None,
        keep_every: int = KEEP_EVERY,
    ) -> DistributedLaplacian:
        """Return the Laplacian of the parts in a folder, as :func:`cut_edges` or :meth:`from_graph` write them.

        Parameters
        ----------
        folder : str or pathlib.Path
            The folder, which all workers must see; see :mod:`cayleygsp.distributed.folder` for what is in it.
        kind, client, degrees_per_exchange, keep_every
            As for :meth:`from_graph`.
        check : bool
            Whether checksums and all numbers are looked at first, by the workers: files that are not those of the
            manifest, parts that overlap or miss vertices, and edges whose halves differ are then found before any work.

        Raises
        ------
        FileNotFoundError, InputError
            If there is no such folder, or it does not hold parts of one undirected graph.
        """
        check_choice(kind, "kind", KINDS)
        store = FolderStore(folder)
        executor = executor_of(client, store.n_parts)
        executor.check_seen(store.manifest)
        if check:
            check_folder(store, executor)
        return cls(store, kind, executor, degrees_per_exchange=degrees_per_exchange, keep_every=keep_every)

    def __repr__(self) -> str:
        return (
            f"DistributedLaplacian(n_vertices={self.n_vertices}, n_edges={self.n_edges}, kind={self.kind!r}, "
            f"n_parts={self.n_parts}, lmax={self.lmax:.6g})"
        )

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return self.store.n_parts

    @property
    def part_sizes(self) -> tuple[int, ...]:
        """Vertices of each part."""
        return tuple(np.diff(self.store.starts).tolist())

    @cached_property
    def n_vertices(self) -> int:
        """Number of vertices n."""
        return self.store.n_vertices

    @property
    def n_edges(self) -> int:
        """Number of edges between different vertices."""
        return self._n_edges

    @property
    def matrix(self) -> Any:
        """Raises TypeError, as the matrix is in parts."""
        raise TypeError(
            "this needs the matrix in one memory, and the Laplacian is in parts: use filters and banks with "
            "method='chebyshev', or cayleygsp.laplacian of the graph"
        )

    @cached_property
    def degrees(self) -> FloatArray:  # type: ignore[override]
        """Weighted degrees of all vertices, brought to this process."""
        degrees = np.empty(self.n_vertices)
        for p in range(self.n_parts):
            part = self.store.part(p)
            degrees[part.vertices] = part.rows.degrees
        return degrees

    @property
    def has_eigenbasis(self) -> bool:
        """False: nothing dense is computed of a graph in parts."""
        return False

    def equals(self, other: Laplacian) -> bool:
        """Return whether another Laplacian is the same one, on the same parts."""
        if not isinstance(other, DistributedLaplacian):
            return False
        return self is other or (self.store is other.store and (self.kind, self.lmax) == (other.kind, other.lmax))

    def lanczos_bound(self, n_steps: int = 80, *, rng: np.random.Generator | int | None = None) -> LanczosBound:
        """Estimate λ_max by a Lanczos run in parts, see :meth:`Laplacian.lanczos_bound`."""
        return self._spectrum.lanczos(
            check_integer(n_steps, "n_steps", at_least=1),
            int(np.random.default_rng(rng).integers(2**31)),
            floor=float(4 * np.finfo(np.float64).eps * self.rounding_norm),
            at_least=self.lmax_lower,
            at_most=self.lmax_bound,
        )

    def check_signals(self, signals: Any) -> Any:
        """Return signals of shape (n,) or (n, m) that can be filtered; Dask arrays stay where they are."""
        if type(signals).__module__.partition(".")[0] != "dask":
            return super().check_signals(signals)
        from cayleygsp.distributed.dask_signals import DaskSignals

        return DaskSignals(signals, self)

    def _choose_hops(self, degree: int, n_columns: int, dtype: Any) -> int:
        """Return the degrees for one exchange."""
        most = max(min(degree, self.keep_every), 1)
        if most == 1 or self.n_parts == 1:
            return most
        if self.degrees_per_exchange is not None:
            return min(self.degrees_per_exchange, degree)
        return self._exchanges.cheapest_hops(most, n_columns * np.dtype(dtype).itemsize)

    def sum_series(self, lmax: float, coeffs: FloatArray, f: Any, dtype: Any) -> tuple[Any, str]:
        """Return what :meth:`cayleygsp.Laplacian.sum_series` does; of an array, or of signals that are in parts."""
        if not isinstance(f, np.ndarray):
            return f.sum_series(lmax, coeffs, dtype)
        m = f.shape[1]
        return self._gathered(f, len(coeffs), dtype, lambda pieces: self.sum_pieces(lmax, coeffs, pieces, m, dtype))

    def sum_series_adjoint(self, lmax: float, coeffs: FloatArray, f: Any, dtype: Any) -> tuple[Any, str]:
        """Return what :meth:`cayleygsp.Laplacian.sum_series_adjoint` does, by one recurrence."""

        def work(pieces: list[Any]) -> tuple[list[Any], str]:
            return self.sum_pieces(lmax, coeffs, pieces, f.shape[2], dtype, adjoint=True)

        y, note = self._gathered(f, 1, dtype, work)
        return y[0], note

    def _gathered(
        self, f: Array, n_answers: int, dtype: Any, work: Callable[[list[Any]], tuple[list[Any], str]]
    ) -> tuple[Array, str]:
        """Bring signals of shape (…, n, m) to their parts, and answers of shape (n_answers, n, m) back."""
        store = self.store
        with self.lock:
            rows: list[Any] = [slice(*ends) for ends in pairwise(store.starts.tolist())]
            if not store.in_order:
                rows = [store.part(p).vertices for p in range(self.n_parts)]
            try:
                pieces = [self.executor.put(p, f[..., own, :]) for p, own in enumerate(rows)]
                answers, note = work(pieces)
                out = np.empty((n_answers, *f.shape[-2:]), dtype)
                for own, y in zip(rows, self.executor.values(answers), strict=True):
                    out[:, own] = y
            finally:
                self.executor.close()
        return out, note

    def sum_pieces(
        self, lmax: float, coeffs: FloatArray, pieces: list[Any], n_columns: int, dtype: Any, *, adjoint: bool = False
    ) -> tuple[list[Any], str]:
        """Sum series, or their adjoint, of m real signals that are where the parts are; return answers and a note.

        Pieces and answers are those of :func:`cayleygsp.distributed.recurrence.sum_in_parts`.
        """
        (n_filters, n_terms), dtype, executor = coeffs.shape, np.dtype(dtype), self.executor
        exchange = self._exchanges.of(self._choose_hops(n_terms - 1, n_columns, dtype))
        program = Program(self.kind, lmax, coeffs, dtype.str, exchange.hops, executor.n_threads, adjoint)
        answers = sum_in_parts(executor, self.store, exchange, program, pieces, self.keep_every, self.progress)
        kept_bytes = self.kept_bytes(n_terms - 1, 0 if adjoint else n_filters, n_columns, dtype)
        kept = f", {format_bytes(kept_bytes)} of states copied to be safe" if kept_bytes else ""
        if self.n_parts == 1:
            return answers, f"1 part {executor.words}{kept}"
        entries = exchange.entries(n_terms - 1, n_filters if adjoint else 0)
        between = format_bytes(entries * n_columns * dtype.itemsize)
        per = "every degree" if exchange.hops == 1 else f"every {exchange.hops} degrees"
        return answers, f"{self.n_parts} parts {executor.words}, {between} between them, exchanged {per}{kept}"

    def exchanged_bytes(self, degree: int, n_columns: int = 1, dtype: Any = np.float64) -> int:
        """Return the number of bytes that the parts exchange for a series, by the count of the values.

        Parameters
        ----------
        degree : int
            Of the series, at least 1.
        n_columns : int
            Real signals.
        dtype : dtype
            Precision that is worked in.
        """
        exchange = self._exchanges.of(self._choose_hops(degree, n_columns, dtype))
        return exchange.entries(degree) * n_columns * np.dtype(dtype).itemsize

    def halo_sizes(self) -> list[int]:
        """Return how many values each part takes from others for one degree."""
        return [sum(int(counts[1]) for counts in takes.values()) for takes in self._exchanges.of(1).counts]

    def neighbouring_parts(self) -> list[int]:
        """Return from how many others each part takes values for one degree."""
        return [len(takes) for takes in self._exchanges.of(1).counts]

    def kept_bytes(self, degree: int, n_filters: int = 1, n_columns: int = 1, dtype: Any = np.float64) -> int:
        """Return the bytes of states that are copied to a second worker for series, beside what parts exchange.

        Parameters
        ----------
        degree, n_columns, dtype
            As for :meth:`exchanged_bytes`.
        n_filters : int
            Series that are summed together.
        """
        if not self.executor.copies_states:
            return 0
        times = len(kept_degrees(degree, self._choose_hops(degree, n_columns, dtype), self.keep_every))
        return times * (2 + n_filters) * self.n_vertices * n_columns * np.dtype(dtype).itemsize

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError("a DistributedLaplacian cannot be pickled: it holds a cluster; write its parts to a folder")
