"""Checks, before any work, that the parts in a folder are those of one undirected graph."""

from __future__ import annotations

import numpy as np

from cayleygsp._text import quoted
from cayleygsp._typing import Array, FloatArray, IntArray
from cayleygsp.distributed.executor import Executor
from cayleygsp.distributed.folder import FolderStore, checksum
from cayleygsp.io.limits import InputError

# Entries that are looked at together.
_ENTRIES = 2**18

# Odd numbers by which bits are spread.
_SPREAD = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9))


def check_folder(store: FolderStore, executor: Executor) -> None:
    """Look at all numbers of a folder, part by part.

    Raises
    ------
    InputError
        If files are not those of the manifest, parts overlap or miss vertices, an entry is no edge, or the two halves
        of an edge differ.
    """
    _check_vertices(store)
    checks = [executor.call(p, check_part, store, p) for p in range(store.n_parts)]
    sums = np.array(executor.values(executor.commit(checks)))
    p, q = np.nonzero(sums != sums.transpose(1, 0))
    if p.size:
        raise InputError(
            f"{quoted(store.folder)}: the edges between part {int(p[0])} and part {int(q[0])} must be the same in "
            "both, with the same weights, and they are not"
        )


def _check_vertices(store: FolderStore) -> None:
    """Reject parts that overlap or miss vertices."""
    seen = np.zeros(store.n_vertices, np.bool_)
    for p in range(store.n_parts):
        vertices = store.part(p).vertices
        if vertices.size == 0:
            continue
        if vertices.min() < 0 or vertices.max() >= seen.size or (np.diff(vertices) <= 0).any():
            raise InputError(f"{_name(store, p)}: vertices must increase and be from 0 to {seen.size - 1}")
        if seen[vertices].any():
            again = int(vertices[np.argmax(seen[vertices])])
            raise InputError(f"{_name(store, p)}: parts must not overlap, got vertex {again} in another part too")
        seen[vertices] = True
    if not seen.all():
        raise InputError(
            f"{quoted(store.folder)}: parts must hold every vertex, and vertex {int(np.argmin(seen))} is missing"
        )


def check_part(store: FolderStore, p: int) -> list[int]:
    """Look at the files and the numbers of a part.

    Returns
    -------
    list of int
        For each part, a sum over all edges to it that does not depend on their order or direction. Of the part itself
        that of one direction less that of the other: zero.
    """
    for name, wanted in store.checksums[p].items():
        if checksum(store.folder / store.folders[p] / name) != wanted:
            raise InputError(f"{_name(store, p)}/{name} is not the file that the manifest names: its checksum differs")
    indptr = store.part(p).rows.indptr
    if indptr[0] != 0 or indptr[-1] != store.entries[p] or (np.diff(indptr) < 0).any():
        raise InputError(f"{_name(store, p)}: `indptr` must rise from 0 to the number of entries")
    sums = np.zeros(store.n_parts, np.uint64)
    first = 0
    while first < indptr.size - 1:
        last = max(int(np.searchsorted(indptr, indptr[first] + _ENTRIES, side="right")) - 1, first + 1)
        sums += _check_rows(store, p, first, last)
        first = last
    if sums[p] != 0:
        raise InputError(f"{_name(store, p)}: the two directions of every edge must have the same weight")
    return [int(one) for one in sums]


def _check_rows(store: FolderStore, p: int, first: int, last: int) -> Array:
    """Look at some rows of a part; return the sums over their edges."""
    part = store.part(p).rows
    indptr = part.indptr[first : last + 1]
    columns = np.asarray(part.columns[indptr[0] : indptr[-1]], np.int64)
    weights = np.asarray(part.weights[indptr[0] : indptr[-1]])
    if columns.size and not (columns.min() >= 0 and columns.max() < store.n_vertices):
        raise InputError(f"{_name(store, p)}: `columns` must be from 0 to {store.n_vertices - 1}")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise InputError(f"{_name(store, p)}: `weights` must be finite and at least 0")
    start, n = int(store.starts[p]) + first, last - first
    rows = np.repeat(np.arange(n), np.diff(indptr))
    if (np.bincount(rows[rows + start == columns], minlength=n) != 1).any():
        raise InputError(f"{_name(store, p)}: every row must have one entry for the vertex itself")
    order = np.lexsort((columns, rows))
    if ((np.diff(rows[order]) == 0) & (np.diff(columns[order]) == 0)).any():
        raise InputError(f"{_name(store, p)}: a row must have one entry for each neighbour")
    sums = np.bincount(rows, weights=weights, minlength=n)
    allowed = 1e-12 * (np.diff(indptr) + 8) * np.abs(sums)
    if (np.abs(sums - part.degrees[first:last]) > allowed).any() or (sums > store.max_degree * (1 + 1e-12)).any():
        raise InputError(f"{_name(store, p)}: `degrees` must be the sums of the weights of the rows")
    return _edge_sums(store, p, rows + start, columns, weights)


def _edge_sums(store: FolderStore, p: int, rows: IntArray, columns: IntArray, weights: FloatArray) -> Array:
    beside = rows != columns
    rows, columns, weights = rows[beside], columns[beside], weights[beside]
    low, high = np.minimum(rows, columns).astype(np.uint64), np.maximum(rows, columns).astype(np.uint64)
    bits = _mixed(_mixed(_mixed(low) ^ high) ^ np.ascontiguousarray(weights).view(np.uint64))
    owners = np.searchsorted(store.starts, columns, side="right") - 1
    back = (owners == p) & (rows > columns)
    bits[back] = ~bits[back] + np.uint64(1)  # less, in whole numbers without a sign
    sums = np.zeros(store.n_parts, np.uint64)
    np.add.at(sums, owners, bits)
    return sums


def _mixed(numbers: Array) -> Array:
    """Return whole numbers with all bits spread."""
    for factor, shift in zip(_SPREAD, (29, 32, 31), strict=True):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * factor
    return numbers ^ (numbers >> np.uint64(30))


def _name(store: FolderStore, p: int) -> str:
    return quoted(store.folder / store.folders[p])
