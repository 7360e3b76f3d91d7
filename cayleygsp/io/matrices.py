"""Adjacency matrices in numpy and scipy files."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from cayleygsp._text import quoted
from cayleygsp._typing import Array
from cayleygsp.io.array_headers import native, read_array, read_header
from cayleygsp.io.content import Content, Request
from cayleygsp.io.files import parsing
from cayleygsp.io.limits import BYTES_PER_ENTRY, DEFLATE_RATIO, InputError, check_memory, check_room, check_vertices

_SPARSE = "a sparse matrix written by scipy.sparse.save_npz"

# The arrays that hold a matrix, by its format.
_COMPRESSED = ("data", "indices", "indptr")
_PARTS = {"csr": _COMPRESSED, "csc": _COMPRESSED, "bsr": _COMPRESSED, "dia": ("data", "offsets")}


def read_npy(file: Path, request: Request) -> Content:
    """Return the dense matrix in a file by numpy.save."""
    # One copy in double precision, and the sparse matrix with as many entries in the worst case.
    return Content(read_array(file, copies=3))


def read_npz(file: Path, request: Request) -> Content:
    """Return the sparse matrix in a file by scipy.sparse.save_npz."""
    with parsing(file, _SPARSE):
        archive = zipfile.ZipFile(file)
    with archive:
        members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
        kind = str(_small_array(archive, members, "format", file).item())
        kind = kind.removeprefix("b'").removesuffix("'")  # of bytes, as scipy wrote them once
        with parsing(file, _SPARSE):
            n_rows, n_cols = map(int, _small_array(archive, members, "shape", file))
        parts = _PARTS.get(kind)
        if kind == "coo":
            parts = ("data", "coords") if "coords" in members else ("data", "row", "col")
        if parts is None:
            raise InputError(
                f"{quoted(file)} cannot be read as {_SPARSE}: {quoted(kind, 20)} is no format that it writes"
            )
        n_content, n_entries = 0, 0
        for part in parts:
            header = _checked_header(archive, members, part, file)
            n_content += header.size * header.dtype.itemsize
            n_entries = max(n_entries, header.size)
        check_vertices(file, max(n_rows, n_cols), n_content)
        check_memory(file, f"a matrix of {n_entries:,} entries", n_content + BYTES_PER_ENTRY * n_entries)
        with parsing(file, _SPARSE):
            arrays = [_load(archive, members[part]) for part in parts]
            return Content(_assembled(kind, arrays, (n_rows, n_cols)))


def _small_array(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], name: str, file: Path) -> Array:
    """Return an array of a few numbers or letters."""
    header = _checked_header(archive, members, name, file)
    if header.size > 4 or header.dtype.itemsize > 64:
        raise InputError(f"{quoted(file)} cannot be read as {_SPARSE}: its {name} has shape {header.shape}")
    with parsing(file, _SPARSE):
        return _load(archive, members[name])


def _checked_header(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], name: str, file: Path) -> Any:
    """Return the header of an array in the archive, if the archive can hold the array."""
    if name not in members:
        raise InputError(f"{quoted(file)} cannot be read as {_SPARSE}: it has no {name}")
    member = members[name]
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise InputError(f"{quoted(file)} cannot be read as {_SPARSE}: it is packed in another way than deflate")
    ratio = DEFLATE_RATIO if member.compress_type == zipfile.ZIP_DEFLATED else 1
    room = ratio * min(member.compress_size, file.stat().st_size)
    check_room(file, f"bytes of {name}", member.file_size, room)
    with parsing(file, _SPARSE):
        stream = archive.open(member)
    with stream:
        return read_header(stream, file, member.file_size)


def _load(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Array:
    with archive.open(member) as stream:
        return native(np.lib.format.read_array(stream, allow_pickle=False))


def _assembled(kind: str, arrays: list[Array], shape: tuple[int, int]) -> Any:
    """Return the matrix of a format from its arrays."""
    data, *places = arrays
    data = data.astype(np.float32) if data.dtype.char == "e" else data  # scipy has no half precision
    if kind == "coo":
        return sparse.coo_array((data, tuple(places[0]) if len(places) == 1 else tuple(places)), shape=shape)
    return getattr(sparse, f"{kind}_array")((data, *places), shape=shape)
