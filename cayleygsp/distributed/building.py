"""Parts of a graph from an edge list that is too large for one memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from cayleygsp._files import temporary_folder
from cayleygsp._text import quoted
from cayleygsp._typing import Array, IntArray
from cayleygsp._validation import check_integer
from cayleygsp.distributed.edge_pieces import check_pieces, read_batches
from cayleygsp.distributed.folder import check_new_folder, write_folder, write_manifest, write_part
from cayleygsp.distributed.partition import METIS_ENTRIES, check_labels, order_labels, partition_labels
from cayleygsp.distributed.parts import Part, complete_rows, is_range
from cayleygsp.distributed.streaming import StreamingPartition
from cayleygsp.io.limits import InputError, check_memory

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
    files = check_pieces(pieces)
    n_parts = check_integer(n_parts, "n_parts", at_least=1)
    check_new_folder(Path(folder).absolute())
    if isinstance(partition, str) and partition not in EDGE_PARTITIONS:
        names = ", ".join(map(repr, EDGE_PARTITIONS))
        raise ValueError(f"`partition` must be one of {names}, or the part of each vertex, got {partition!r}")
    if n_vertices is not None:
        n_vertices = check_integer(n_vertices, "n_vertices", at_least=1)
    counts = _count_entries(files, n_vertices)
    labels = _labels(files, counts, n_parts, partition)
    write_folder(folder, lambda place: _fill(place, files, labels, n_parts))


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
        batches = [edges.ends for file in files for edges in read_batches(file)]
        tails, heads = np.concatenate([np.zeros((0, 2), np.int64), *batches]).T
        both = (np.concatenate([tails, heads]), np.concatenate([heads, tails]))
        W = sparse.csr_array((np.ones(both[0].size), both), shape=(n, n))
        return partition_labels(W, n_parts, "metis")
    if partition == "streaming":
        stream = StreamingPartition(n, n_parts)
        for file in files:
            for edges in read_batches(file):
                stream.add(edges.ends)
        return stream.labels()
    return order_labels(np.append(0, np.cumsum(counts)), n_parts)


def _fill(place: Path, files: Sequence[Path], labels: IntArray, n_parts: int) -> None:
    """Bring every entry to its part, then sort part by part."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(n_parts + 1))
    number = np.empty(order.size, np.int64)
    number[order] = np.arange(order.size)
    entries: list[dict[str, Any]] = []
    largest, in_order = 0.0, True
    with temporary_folder(place.parent) as temporary:
        buckets = [Path(temporary) / f"{p}.bin" for p in range(n_parts)]
        _sort_into(files, labels, buckets)
        for p, bucket in enumerate(buckets):
            vertices = order[starts[p] : starts[p + 1]]
            part = _part_of(bucket, vertices, number, order.size)
            bucket.unlink()
            entries.append(write_part(place, p, part))
            largest = max(largest, float(part.rows.degrees.max(initial=0.0)))
            in_order = in_order and is_range(vertices, int(starts[p]))
    write_manifest(place, entries, largest, in_order)


def _sort_into(files: Sequence[Path], labels: IntArray, buckets: Sequence[Path]) -> None:
    """Append each edge to the files of the parts of both of its ends."""
    for bucket in buckets:
        bucket.touch()
    for file in files:
        for ends, weights in read_batches(file):
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


def _part_of(bucket: Path, vertices: IntArray, number: IntArray, n: int) -> Part:
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
    return Part(complete_rows(_rows_matrix(entries, vertices, n), vertices, number), vertices)


def _rows_matrix(entries: Array, vertices: IntArray, n: int) -> sparse.csr_array:
    rows = np.searchsorted(vertices, entries["row"])
    indptr = np.append(0, np.cumsum(np.bincount(rows, minlength=vertices.size)))
    return sparse.csr_array((entries["weight"].copy(), entries["column"].copy(), indptr), shape=(vertices.size, n))
