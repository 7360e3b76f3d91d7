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
from collections.abc import Callable, Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from cayleygsp._files import temporary_folder
from cayleygsp._text import quoted
from cayleygsp._typing import Array
from cayleygsp.distributed.parts import Part, Rows, Store, is_range
from cayleygsp.io.limits import InputError

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
    """Parts in a folder.

    Parameters
    ----------
    folder : str or pathlib.Path
        As :func:`write_parts` leaves it.

    Raises
    ------
    FileNotFoundError, InputError
        If there is no such folder, or its manifest is not valid or does not fit its files.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder).absolute()
        manifest = read_manifest(self.folder)
        sizes = [part["n_vertices"] for part in manifest["parts"]]
        self.entries = [part["n_entries"] for part in manifest["parts"]]
        self.starts = np.append(0, np.cumsum(sizes)).astype(np.int64)
        self.max_degree = float(manifest["max_degree"])
        self.in_order = bool(manifest["in_order"])
        self.folders = [part["folder"] for part in manifest["parts"]]
        self.checksums = [part["files"] for part in manifest["parts"]]
        self.token = f"{self.folder}-{hashlib.sha256(json.dumps(manifest).encode()).hexdigest()[:16]}"
        for p in range(self.n_parts):
            _check_shapes(self, p)

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        return opened, (str(self.folder), self.token)  # the manifest is not sent with every task

    def part(self, p: int) -> Part:
        """Return a part, whose arrays are read from their files when they are used."""
        a = {name: self._open(p, name) for name in ARRAYS}
        return Part(Rows(a["indptr"], a["columns"], a["weights"], a["degrees"]), a["vertices"])

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
    """Write parts into a new folder, all or none.

    Parameters
    ----------
    folder : str or pathlib.Path
        Must not exist, or be empty.
    parts : iterable of Part
        Taken one after the other, so that one of them has to be in memory.
    """

    def fill(temporary: Path) -> None:
        entries, start, in_order, largest = [], 0, True, 0.0
        for p, part in enumerate(parts):
            entries.append(write_part(temporary, p, part))
            in_order = in_order and is_range(part.vertices, start)
            start += part.vertices.size
            largest = max(largest, float(part.rows.degrees.max(initial=0.0)))
        write_manifest(temporary, entries, largest, in_order)

    write_folder(folder, fill)


def write_folder(folder: str | Path, fill: Callable[[Path], None]) -> None:
    """Make a new folder, complete or not at all.

    Parameters
    ----------
    folder : str or pathlib.Path
        Must not exist, or be empty.
    fill : callable
        Writes the files into a folder that is given to it.
    """
    target = Path(folder).absolute()
    check_new_folder(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    with temporary_folder(target.parent) as temporary:
        place = Path(temporary) / "parts"
        place.mkdir()
        fill(place)
        os.replace(place, target)


def check_new_folder(folder: Path) -> None:
    """Reject a folder that has something in it."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(f"`folder` must be new or empty, got {quoted(folder)}, which holds something")


def write_part(folder: Path, p: int, part: Part) -> dict[str, Any]:
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


def write_manifest(folder: Path, parts: list[dict[str, Any]], max_degree: float, in_order: bool) -> None:
    """Write what a folder holds."""
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "n_vertices": sum(part["n_vertices"] for part in parts),
        "max_degree": max_degree,
        "in_order": in_order,
        "parts": parts,
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a folder, if it is one of this format and in itself consistent."""
    file = folder / MANIFEST
    if not file.is_file():
        raise FileNotFoundError(f"{quoted(folder)} holds no parts of a graph: there is no {MANIFEST}")
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


def _check_shapes(store: FolderStore, p: int) -> None:
    """Reject arrays whose types and lengths are not those that the manifest says; their numbers are not looked at."""
    n, n_entries = int(store.starts[p + 1] - store.starts[p]), store.entries[p]
    lengths = {"vertices": n, "indptr": n + 1, "columns": n_entries, "weights": n_entries, "degrees": n}
    for name, kinds in ARRAYS.items():
        array = store._open(p, name)
        if array.dtype.name not in kinds or array.shape != (lengths[name],):
            raise InputError(
                f"{quoted(store.folder / store.folders[p] / name)}.npy must be {' or '.join(kinds)} of length "
                f"{lengths[name]} as the manifest says, got {array.dtype} of shape {array.shape}"
            )


def checksum(file: Path) -> str:
    """Return the SHA-256 of a file."""
    total = hashlib.sha256()
    with open(file, "rb") as content:
        while block := content.read(_BLOCK):
            total.update(block)
    return total.hexdigest()
