"""Parts of a graph from an edge list that is too large for one memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cayleygsp._files import temporary_folder
from cayleygsp._text import quoted
from cayleygsp._typing import Array, FloatArray, IntArray
from cayleygsp._validation import check_integer
from cayleygsp.distributed.folder import check_new_folder, write_parts
from cayleygsp.distributed.parts import Part, complete_rows, numbering
from cayleygsp.engine.compiling import compiled
from cayleygsp.io.files import InputError, check_memory

# How many more vertices than the average a part may get.
_ROOM = 1.05


def stream_labels(batches: Iterable[IntArray], n_vertices: int, n_parts: int) -> IntArray:
    """Return the part of each vertex from edges that are looked at once, each batch of shape (n_edges, 2).

    Vertices join the part of their first neighbour that has room; a pair of new ones begins the emptiest part, and
    those without edges fill up the parts. The cut is small where neighbours come one after the other, as in lists that
    were written vertex by vertex.
    """
    labels, sizes = np.full(n_vertices, -1, np.int64), np.zeros(n_parts, np.int64)
    room = max(int(_ROOM * n_vertices / n_parts), -(-n_vertices // n_parts))
    for ends in batches:
        _assign(np.ascontiguousarray(ends), labels, sizes, room)
    for v in np.flatnonzero(labels < 0).tolist():
        p = int(np.argmin(sizes))
        labels[v] = p
        sizes[p] += 1
    return labels


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


#: Ways to cut a graph that are known by name.
PARTITIONS = ("auto", "metis", "order")

# METIS takes about a microsecond and some 60 bytes per entry of the matrix; beyond this many the order is taken.
METIS_ENTRIES = 20_000_000


def partition_labels(W: sparse.csr_array, n_parts: int, partition: Any) -> IntArray:
    """Return the part of each vertex of a graph, for the argument `partition` of ``DistributedLaplacian.from_graph``.

    Graphs with fewer than four vertices for each part are cut in their order.
    """
    n = W.shape[0]
    if not isinstance(partition, str):
        return check_labels(partition, n, n_parts)
    if partition not in PARTITIONS:
        names = ", ".join(map(repr, PARTITIONS))
        raise ValueError(f"`partition` must be one of {names}, or the part of each vertex, got {partition!r}")
    if n_parts == 1:
        return np.zeros(n, np.int64)
    by_order = partition == "auto" and (W.nnz > METIS_ENTRIES or find_spec("pymetis") is None)
    if by_order or partition == "order" or n < 4 * n_parts:
        return order_labels(W.indptr, n_parts)
    try:
        import pymetis
    except ImportError:
        raise ImportError("`partition` = 'metis' needs pymetis: install the extra 'distributed'") from None

    rows = np.repeat(np.arange(n), np.diff(W.indptr))
    beside = W.indices != rows
    xadj = np.append(0, np.cumsum(np.bincount(rows[beside], minlength=n)))
    _, labels = pymetis.part_graph(n_parts, pymetis.CSRAdjacency(xadj, W.indices[beside]))
    return np.asarray(labels, np.int64)


def check_labels(labels: Any, n_vertices: int, n_parts: int) -> IntArray:
    """Return given parts of the vertices as whole numbers, if each vertex has one."""
    given: Array = np.asarray(labels)
    if given.dtype.kind not in "iu":
        raise TypeError(f"`partition` must hold whole numbers, the part of each vertex, got dtype {given.dtype}")
    if given.shape != (n_vertices,):
        raise ValueError(
            f"`partition` must give one part for each of the {n_vertices} vertices, got shape {given.shape}"
        )
    if given.size and not (given.min() >= 0 and given.max() < n_parts):
        wrong = int(np.flatnonzero((given < 0) | (given >= n_parts))[0])
        raise ValueError(
            f"`partition` must have parts from 0 to {n_parts - 1}, got {int(given[wrong])} for vertex {wrong}"
        )
    return given.astype(np.int64)


def order_labels(indptr: Array, n_parts: int) -> IntArray:
    """Return ranges of vertices with about equal numbers of entries and rows (counted four times) together."""
    n = indptr.size - 1
    work = indptr[1:].astype(np.int64) + 4 * np.arange(1, n + 1)
    return np.minimum((work - 1) * n_parts // max(int(work[-1]), 1), n_parts - 1) if n else np.zeros(0, np.int64)


# Bytes of text, and rows of parquet, that are read together.
_TEXT_BYTES = 2**24
_ROWS = 2**20

# Names that the columns of a parquet file may have; the weight is optional.
_TAILS, _HEADS, _WEIGHTS = ("source", "src", "u"), ("target", "dst", "v"), ("weight", "w")

_LARGEST_VERTEX = 2**53


class EdgeBatch(NamedTuple):
    """Some edges of a piece: the vertices at their ends, shape (n_edges, 2), and weights."""

    ends: IntArray
    weights: FloatArray


def read_batches(file: Path) -> Iterator[EdgeBatch]:
    """Yield the edges of a piece, some at a time; InputError if one is no edge with a finite weight of at least 0."""
    batches = _parquet_batches(file) if file.suffix == ".parquet" else _text_batches(file)
    n_before = 0
    for edges in batches:
        wrong = (edges.ends < 0).any(axis=1) | (edges.ends > _LARGEST_VERTEX).any(axis=1)
        wrong |= ~(np.isfinite(edges.weights) & (edges.weights >= 0))
        if wrong.any():
            i = int(np.argmax(wrong))
            u, v = edges.ends[i].tolist()
            raise InputError(
                f"{quoted(file)}, edge {n_before + i + 1}: expected vertices from 0 on and a finite weight of at least "
                f"0, got {u} {v} {edges.weights[i]:g}"
            )
        n_before += len(edges.weights)
        yield edges


def _text_batches(file: Path) -> Iterator[EdgeBatch]:
    rest = b""
    with open(file, "rb") as content:
        while block := content.read(_TEXT_BYTES):
            lines, newline, after = (rest + block).rpartition(b"\n")
            rest = after if newline else rest + block
            if newline:
                yield _parse_text(lines, file)
    if rest.strip():
        yield _parse_text(rest, file)


def _parse_text(lines: bytes, file: Path) -> EdgeBatch:
    if b"#" in lines or b"%" in lines:
        lines = b"\n".join(line.partition(b"#")[0].partition(b"%")[0] for line in lines.split(b"\n"))
    rows = lines.replace(b",", b" ").replace(b";", b" ").split(b"\n")
    full = [row for row in rows if row.strip()]
    if not full:
        return EdgeBatch(np.zeros((0, 2), np.int64), np.zeros(0))
    n_columns = len(full[0].split())
    try:
        numbers = np.array(b" ".join(full).split(), dtype=np.float64)
        table = numbers.reshape(len(full), n_columns)
        if n_columns not in (2, 3) or not (table[:, :2] == np.floor(table[:, :2])).all():
            raise ValueError
    except ValueError:
        raise InputError(
            f"{quoted(file)} must have two vertices as whole numbers and an optional weight in every line, such as "
            f"'3 17 0.5', and as many columns in all, got a line {full[0].decode('utf-8', 'replace')[:60]!r} and others"
        ) from None
    weights = table[:, 2].copy() if n_columns == 3 else np.ones(len(table))
    return EdgeBatch(table[:, :2].astype(np.int64), weights)


def _parquet_batches(file: Path) -> Iterator[EdgeBatch]:
    try:
        from pyarrow import ArrowInvalid, parquet
    except ImportError:
        raise ImportError("edges in parquet files need pyarrow: install it, or give text") from None
    try:
        table = parquet.ParquetFile(file)
    except ArrowInvalid as error:
        raise InputError(f"{quoted(file)} is not a parquet file: {error}") from None
    names = table.schema_arrow.names
    tail, head, weight = (next((name for name in some if name in names), None) for some in (_TAILS, _HEADS, _WEIGHTS))
    if tail is None or head is None:
        raise InputError(
            f"{quoted(file)} must have columns 'source' and 'target', and 'weight' if there are weights, got "
            + ", ".join(map(repr, names))
        )
    columns = [tail, head] + ([weight] if weight else [])
    for batch in table.iter_batches(_ROWS, columns=columns):
        ends = [batch.column(k).to_numpy(zero_copy_only=False) for k in range(2)]
        for values in ends:
            if values.dtype.kind not in "iu":
                raise InputError(f"{quoted(file)} must have vertices as whole numbers, got {values.dtype}")
        weights = batch.column(2).to_numpy(zero_copy_only=False).astype(np.float64) if weight else np.ones(len(batch))
        yield EdgeBatch(np.stack(ends, axis=1).astype(np.int64), weights)


#: Ways to cut an edge list that are known by name.
EDGE_PARTITIONS = ("auto", "metis", "order", "streaming")

# An entry of the matrix on its way into its part.
_ENTRY = np.dtype([("row", np.int64), ("column", np.int64), ("weight", np.float64)])


def cut_edges(
    pieces: Sequence[str | Path],
    folder: str | Path,
    n_parts: int,
    *,
    partition: Any = "auto",
    n_vertices: int | None = None,
) -> None:
    r"""Cut a graph whose edges are in files into parts in a folder, without having all of it in memory.

    The memory that it takes is that of one part, and three numbers for each vertex. The files are read twice, or three
    times for the partition "streaming".

    Parameters
    ----------
    pieces : sequence of str or pathlib.Path
        Files: text with two vertices and an optional weight in every line, or parquet with columns ``source``,
        ``target`` and optionally ``weight``. Vertices are whole numbers from 0 on. An edge may stand in one direction
        or in both, and in several pieces, always with the same weight.
    folder : str or pathlib.Path
        A new folder for the parts, see :mod:`cayleygsp.distributed.folder`; written in full or not at all.
    n_parts : int
        Number of parts.
    partition : {"auto", "metis", "order", "streaming"} or array_like of int, shape (n,)
        METIS, which must have all edges in memory; ranges in the order of the vertices; a rule that looks at each edge
        once; METIS for up to 10⁷ edges and otherwise the order; or the part of each vertex.
    n_vertices : int, optional
        Number of vertices; by default one more than the largest that has an edge.

    Raises
    ------
    InputError
        If a file holds something else, or an edge has two weights.
    FileExistsError, FileNotFoundError, ValueError, TypeError
        If the folder holds something, a piece is no file, or other arguments are invalid.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from cayleygsp.distributed import DistributedLaplacian, cut_edges
    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = Path(place, "a.txt").write_text("0 1\n1 2\n")
    ...     _ = Path(place, "b.txt").write_text("2 3 \n3 0\n")
    ...     cut_edges([Path(place, "a.txt"), Path(place, "b.txt")], Path(place, "parts"), 2)
    ...     DistributedLaplacian.from_folder(Path(place, "parts"), client="synchronous")
    DistributedLaplacian(n_vertices=4, n_edges=4, kind='combinatorial', n_parts=2, lmax=4)
    """
    if isinstance(pieces, str | Path):
        raise TypeError(f"`pieces` must be a list of files, got {pieces!r}")
    files = [Path(piece) for piece in pieces]
    if not files:
        raise ValueError("`pieces` must hold at least one file, got none")
    for file in files:
        if not file.is_file():
            raise FileNotFoundError(f"`pieces` must be files, got {quoted(file)}, which is not a file")
    n_parts = check_integer(n_parts, "n_parts", at_least=1)
    check_new_folder(Path(folder).absolute())
    if isinstance(partition, str) and partition not in EDGE_PARTITIONS:
        names = ", ".join(map(repr, EDGE_PARTITIONS))
        raise ValueError(f"`partition` must be one of {names}, or the part of each vertex, got {partition!r}")
    if n_vertices is not None:
        n_vertices = check_integer(n_vertices, "n_vertices", at_least=1)
    counts = _count_entries(files, n_vertices)
    labels = _labels(files, counts, n_parts, partition)
    write_parts(folder, _sorted_parts(files, labels, n_parts, Path(folder).absolute().parent))


def _all_edges(files: Sequence[Path]) -> Iterator[EdgeBatch]:
    for file in files:
        yield from read_batches(file)


def _count_entries(files: Sequence[Path], n_vertices: int | None) -> IntArray:
    """Return how many entries the row of each vertex has at most."""
    counts = np.zeros(n_vertices or 0, np.int64)
    for file in files:
        for edges in read_batches(file):
            largest = int(edges.ends.max(initial=-1))
            if n_vertices is not None and largest >= n_vertices:
                raise InputError(f"{quoted(file)} must have vertices below `n_vertices` = {n_vertices}, got {largest}")
            if largest >= counts.size:
                check_memory(file, f"an edge list up to vertex {largest:,}, vertices from 0 on,", 24 * (largest + 1))
                counts = np.append(counts, np.zeros(max(largest + 1, 2 * counts.size) - counts.size, np.int64))
            counts += np.bincount(edges.ends.ravel(), minlength=counts.size)
    if n_vertices is None:
        used = np.flatnonzero(counts)
        if used.size == 0:
            raise InputError("`pieces` must hold at least one edge, or `n_vertices` must be given")
        counts = counts[: used[-1] + 1]
    return counts


def _labels(files: Sequence[Path], counts: IntArray, n_parts: int, partition: Any) -> IntArray:
    n = counts.size
    if not isinstance(partition, str):
        return check_labels(partition, n, n_parts)
    if partition == "metis" or (partition == "auto" and counts.sum() <= METIS_ENTRIES):
        batches = [edges.ends for edges in _all_edges(files)]
        tails, heads = np.concatenate([np.zeros((0, 2), np.int64), *batches]).T
        both = (np.concatenate([tails, heads]), np.concatenate([heads, tails]))
        W = sparse.csr_array((np.ones(both[0].size), both), shape=(n, n))
        return partition_labels(W, n_parts, "metis")
    if partition == "streaming":
        return stream_labels((edges.ends for edges in _all_edges(files)), n, n_parts)
    return order_labels(np.append(0, np.cumsum(counts)), n_parts)


def _sorted_parts(files: Sequence[Path], labels: IntArray, n_parts: int, folder: Path) -> Iterator[Part]:
    """Bring every entry to its part, in files in a folder, then sort part by part."""
    vertices_of_parts, number = numbering(labels, n_parts)
    with temporary_folder(folder) as temporary:
        buckets = [Path(temporary) / f"{p}.bin" for p in range(n_parts)]
        _sort_into(files, labels, buckets)
        for vertices, bucket in zip(vertices_of_parts, buckets, strict=True):
            yield _part_of(bucket, vertices, number)
            bucket.unlink()


def _sort_into(files: Sequence[Path], labels: IntArray, buckets: Sequence[Path]) -> None:
    """Append each edge to the files of the parts of both of its ends."""
    for bucket in buckets:
        bucket.touch()
    for ends, weights in _all_edges(files):
        inner = ends[:, 0] != ends[:, 1]
        entries = np.empty(len(ends) + int(inner.sum()), _ENTRY)
        entries["row"] = np.concatenate([ends[:, 0], ends[inner, 1]])
        entries["column"] = np.concatenate([ends[:, 1], ends[inner, 0]])
        entries["weight"] = np.concatenate([weights, weights[inner]])
        entries = entries[entries["weight"] > 0]
        parts = labels[entries["row"]]
        sorting = np.argsort(parts, kind="stable")
        edges = np.searchsorted(parts[sorting], np.arange(len(buckets) + 1))
        for p in np.flatnonzero(np.diff(edges)).tolist():
            with open(buckets[p], "ab") as content:
                entries[sorting[edges[p] : edges[p + 1]]].tofile(content)


def _part_of(bucket: Path, vertices: IntArray, number: IntArray) -> Part:
    """Return a part from all entries of its rows."""
    entries = np.fromfile(bucket, _ENTRY)
    sorting = np.lexsort((entries["column"], entries["row"]))
    entries = entries[sorting]
    same = (np.diff(entries["row"]) == 0) & (np.diff(entries["column"]) == 0)
    differ = np.flatnonzero(same & (np.diff(entries["weight"]) != 0))
    if differ.size:
        (u, v, first), (_, _, second) = entries[differ[0] : differ[0] + 2].tolist()
        raise InputError(
            f"`pieces` must give every edge one weight, got {first:g} and {second:g} for the edge between {u} and {v}"
        )
    entries = entries[np.append(True, ~same)] if entries.size else entries
    rows = np.searchsorted(vertices, entries["row"])
    indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=vertices.size)))
    arrays = (entries["weight"].copy(), entries["column"].copy(), indptr)
    W = sparse.csr_array(arrays, shape=(vertices.size, number.size))
    return Part(complete_rows(W, vertices, number), vertices)
