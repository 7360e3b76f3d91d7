"""Parts of a graph in a folder: plain arrays, one folder per part, and a manifest with checksums.

Version 1 of the format: ``manifest.json`` says ``format`` ("cayleygsp-parts"), ``version`` (1), ``n_vertices``,
``max_degree``, ``in_order`` and for each of the ``parts`` its ``folder``, ``n_vertices``, ``n_entries`` and the SHA-256
of each of its ``files``. The folder of a part holds arrays as ``numpy.save`` writes them, without pickled objects:

- ``vertices.npy``, int64: the user's numbers of its vertices, increasing;
- ``indptr.npy``, int64, and ``columns.npy``, uint32 or int64: rows of the adjacency matrix, in which each row has an
  entry for the vertex itself; vertices are numbered part after part, so that ``columns`` of part p begin with what the
  parts before it have together;
- ``weights.npy``, float64: of the edges, and of self-loops, 0 where there is none;
- ``degrees.npy``, float64: sums of the weights of each row.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cayleygsp._files import temporary_folder
from cayleygsp._text import quoted
from cayleygsp._typing import Array, FloatArray, IntArray
from cayleygsp.distributed.executor import Executor
from cayleygsp.distributed.parts import Part, Rows, Store, is_range
from cayleygsp.io.files import InputError

FORMAT, VERSION = "cayleygsp-parts", 1
MANIFEST = "manifest.json"

# The arrays of a part and the types that they may have.
ARRAYS = {
    "vertices": ("int64",),
    "indptr": ("int64",),
    "columns": ("uint32", "int64"),
    "weights": ("float64",),
    "degrees": ("float64",),
}

# Bytes of a file that are looked at together.
_BLOCK = 2**22


class FolderStore(Store):
    """Parts in a folder, as :func:`write_parts` leaves it.

    Raises FileNotFoundError or InputError if there is no such folder, or its manifest is not valid or does not fit its
    files.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        self.manifest = self.folder / MANIFEST
        manifest = _read_manifest(self.manifest)
        sizes = [part["n_vertices"] for part in manifest["parts"]]
        self.entries = [part["n_entries"] for part in manifest["parts"]]
        self.starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
        self.max_degree = float(manifest["max_degree"])
        self.in_order = bool(manifest["in_order"])
        self.folders = [part["folder"] for part in manifest["parts"]]
        self.checksums = [part["files"] for part in manifest["parts"]]
        self.token = f"{self.folder}-{hashlib.sha256(json.dumps(manifest).encode()).hexdigest()[:16]}"
        for p, n in enumerate(sizes):
            n_entries = self.entries[p]
            lengths = {"vertices": n, "indptr": n + 1, "columns": n_entries, "weights": n_entries, "degrees": n}
            for name, kinds in ARRAYS.items():  # their numbers are not looked at
                array = self._open(p, name)
                if array.dtype.name not in kinds or array.shape != (lengths[name],):
                    raise InputError(
                        f"{self.name(p)}/{name}.npy must be {' or '.join(kinds)} of length {lengths[name]} as the "
                        f"manifest says, got {array.dtype} of shape {array.shape}"
                    )

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return opened, (str(self.folder), self.token)  # the manifest is not sent with every task

    def part(self, p: int) -> Part:
        """Return a part, whose arrays are read from their files when they are used."""
        a = {name: self._open(p, name) for name in ARRAYS}
        return Part(Rows(a["indptr"], a["columns"], a["weights"], a["degrees"]), a["vertices"])

    def name(self, p: int) -> str:
        """Return the folder of a part, for messages."""
        return quoted(self.folder / self.folders[p])

    def _open(self, p: int, name: str) -> Array:
        file = self.folder / self.folders[p] / f"{name}.npy"
        try:
            if os.path.getsize(file) > 4096:
                return np.load(file, mmap_mode="r", allow_pickle=False)
            return np.load(file, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise InputError(f"{quoted(file)} is not an array that the manifest names: {error}") from None


@lru_cache(maxsize=16)
def opened(folder: str, token: str) -> FolderStore:
    """Return the parts in a folder, opened once in each process, if they are those that were meant."""
    store = FolderStore(folder)
    if store.token != token:
        raise InputError(f"{quoted(Path(folder))} has changed since it was opened")
    return store


def write_parts(folder: str | Path, parts: Iterable[Part]) -> None:
    """Write parts, taken one after the other, into a folder that is new or empty, all or none."""
    target = Path(folder).absolute()
    check_new_folder(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(target.parent) as temporary:
        place = Path(temporary) / "parts"
        place.mkdir()
        entries, start, in_order, largest = [], 0, True, 0.0
        for p, part in enumerate(parts):
            entries.append(_write_part(place, p, part))
            in_order = in_order and is_range(part.vertices, start)
            start += part.vertices.size
            largest = max(largest, float(part.rows.degrees.max(initial=0.0)))
        manifest = {
            "format": FORMAT,
            "version": VERSION,
            "n_vertices": start,
            "max_degree": largest,
            "in_order": in_order,
            "parts": entries,
        }
        (place / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        os.replace(place, target)


def check_new_folder(folder: Path) -> None:
    """Reject a folder that has something in it."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"`folder` must be new or empty, got {quoted(folder)}, which holds something")


def _write_part(folder: Path, p: int, part: Part) -> dict[str, Any]:
    """Write the arrays of a part; return what the manifest says of it."""
    name = f"part-{p:05d}"
    (folder / name).mkdir()
    rows = part.rows
    arrays = {
        "vertices": part.vertices,
        "indptr": rows.indptr,
        "columns": rows.columns,
        "weights": rows.weights,
        "degrees": rows.degrees,
    }
    if rows.columns.max(initial=0) < 2**32:
        arrays["columns"] = rows.columns.astype(np.uint32)
    files = {}
    for array_name, array in arrays.items():
        file = folder / name / f"{array_name}.npy"
        np.save(file, np.ascontiguousarray(array), allow_pickle=False)
        files[f"{array_name}.npy"] = checksum(file)
    n_entries = int(rows.columns.size)
    return {"folder": name, "n_vertices": int(part.vertices.size), "n_entries": n_entries, "files": files}


def _read_manifest(file: Path) -> dict[str, Any]:
    """Return a manifest, if it is one of this format and in itself consistent."""
    if not file.is_file():
        raise FileNotFoundError(f"{quoted(file.parent)} holds no parts of a graph: there is no {MANIFEST}")
    try:
        manifest = json.loads(file.read_text(encoding="utf-8"))
        header = (manifest["format"], manifest["version"])
        counts = [(part["folder"], part["n_vertices"], part["n_entries"]) for part in manifest["parts"]]
        names = [set(part["files"]) for part in manifest["parts"]]
        n_vertices, _, _ = manifest["n_vertices"], float(manifest["max_degree"]), manifest["in_order"]
    except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        raise InputError(f"{quoted(file)} is not a manifest of parts: {type(error).__name__} {error}") from None
    if header != (FORMAT, VERSION):
        raise InputError(
            f"{quoted(file)} must be of format {FORMAT!r}, version {VERSION}, got {header[0]!r}, {header[1]!r}"
        )
    whole = all(isinstance(n, int) and n >= 0 for _, *sizes in counts for n in sizes)
    if not counts or not whole or sum(n for _, n, _ in counts) != n_vertices:
        raise InputError(f"{quoted(file)} must have parts whose vertices add up to `n_vertices`, {n_vertices!r}")
    for name, *_ in counts:
        if not isinstance(name, str) or Path(name).name != name or name in ("", ".", ".."):
            raise InputError(f"{quoted(file)} must name folders beside it, got {name!r}")
    if any(one != {f"{name}.npy" for name in ARRAYS} for one in names):
        raise InputError(
            f"{quoted(file)} must name the files {', '.join(f'{name}.npy' for name in ARRAYS)} of each part"
        )
    return manifest


def checksum(file: Path) -> str:
    """Return the SHA-256 of a file."""
    total = hashlib.sha256()
    with open(file, "rb") as content:
        while block := content.read(_BLOCK):
            total.update(block)
    return total.hexdigest()


# Entries that are looked at together.
_ENTRIES = 2**18

# Odd numbers by which bits are spread.
_SPREAD = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(0x165667B19E3779F9))


def check_folder(store: FolderStore, executor: Executor) -> None:
    """Look at all numbers of a folder, part by part: files, vertices, and both halves of every edge."""
    _check_vertices(store)
    checks = [executor.call(p, check_part, store, p) for p in range(store.n_parts)]
    sums = np.array(executor.values(checks))
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
            raise InputError(f"{store.name(p)}: vertices must increase and be from 0 to {seen.size - 1}")
        if seen[vertices].any():
            again = int(vertices[np.argmax(seen[vertices])])
            raise InputError(f"{store.name(p)}: parts must not overlap, got vertex {again} in another part too")
        seen[vertices] = True
    if not seen.all():
        raise InputError(
            f"{quoted(store.folder)}: parts must hold every vertex, and vertex {int(np.argmin(seen))} is missing"
        )


def check_part(store: FolderStore, p: int) -> list[int]:
    """Look at the files and the numbers of a part; return a sum over its edges to each part.

    The sums do not depend on order or direction. Of the part itself, one direction less the other: zero.
    """
    for name, wanted in store.checksums[p].items():
        if checksum(store.folder / store.folders[p] / name) != wanted:
            raise InputError(f"{store.name(p)}/{name} is not the file that the manifest names: its checksum differs")
    indptr = store.part(p).rows.indptr
    if indptr[0] != 0 or indptr[-1] != store.entries[p] or (np.diff(indptr) < 0).any():
        raise InputError(f"{store.name(p)}: `indptr` must rise from 0 to the number of entries")
    sums = np.zeros(store.n_parts, np.uint64)
    first = 0
    while first < indptr.size - 1:
        last = max(int(np.searchsorted(indptr, indptr[first] + _ENTRIES, side="right")) - 1, first + 1)
        sums += _check_rows(store, p, first, last)
        first = last
    if sums[p] != 0:
        raise InputError(f"{store.name(p)}: the two directions of every edge must have the same weight")
    return [int(one) for one in sums]


def _check_rows(store: FolderStore, p: int, first: int, last: int) -> Array:
    """Look at some rows of a part; return the sums over their edges."""
    part = store.part(p).rows
    indptr = part.indptr[first : last + 1]
    columns = np.asarray(part.columns[indptr[0] : indptr[-1]], np.int64)
    weights = np.asarray(part.weights[indptr[0] : indptr[-1]])
    if columns.size and not (columns.min() >= 0 and columns.max() < store.n_vertices):
        raise InputError(f"{store.name(p)}: `columns` must be from 0 to {store.n_vertices - 1}")
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise InputError(f"{store.name(p)}: `weights` must be finite and at least 0")
    start, n = int(store.starts[p]) + first, last - first
    rows = np.repeat(np.arange(n), np.diff(indptr))
    if (np.bincount(rows[rows + start == columns], minlength=n) != 1).any():
        raise InputError(f"{store.name(p)}: every row must have one entry for the vertex itself")
    order = np.lexsort((columns, rows))
    if ((np.diff(rows[order]) == 0) & (np.diff(columns[order]) == 0)).any():
        raise InputError(f"{store.name(p)}: a row must have one entry for each neighbour")
    sums = np.bincount(rows, weights=weights, minlength=n)
    allowed = 1e-12 * (np.diff(indptr) + 8) * np.abs(sums)
    if (np.abs(sums - part.degrees[first:last]) > allowed).any() or (sums > store.max_degree * (1 + 1e-12)).any():
        raise InputError(f"{store.name(p)}: `degrees` must be the sums of the weights of the rows")
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
