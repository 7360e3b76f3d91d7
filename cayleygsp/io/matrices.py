"""Adjacency matrices in numpy and scipy files."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from scipy import sparse

from cayleygsp._text import quoted
from cayleygsp._typing import Array, FloatArray
from cayleygsp.io.files import (
    BYTES_PER_ENTRY,
    DEFLATE_RATIO,
    Content,
    InputError,
    Request,
    check_memory,
    check_room,
    check_vertices,
    decode,
    parsing,
    read_content,
)


@dataclass(frozen=True)
class ArrayHeader:
    """What the first bytes of an array in numpy's format declare."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    n_bytes: int  # of the header

    @property
    def size(self) -> int:
        """Number of entries."""
        return math.prod(self.shape)


def read_header(stream: IO[bytes], file: Path, n_content: int) -> ArrayHeader:
    """Return the header at the start of a stream, if its content has room for what the header declares."""
    with parsing(file, "an array written by numpy.save"):
        version = np.lib.format.read_magic(stream)
        if version == (1, 0):
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
        else:
            shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
        header = ArrayHeader(tuple(map(int, shape)), dtype, stream.tell())
        if dtype.hasobject:
            raise ValueError("Object arrays")
        if dtype.kind not in "biufcSU" or any(length < 0 for length in header.shape):
            raise ValueError("no plain array")
    check_room(file, "bytes of numbers", header.size * dtype.itemsize, n_content - header.n_bytes)
    return header


def read_array(file: Path, copies: int) -> Array:
    """Return the array in a file by numpy.save, its numbers in the byte order of the machine.

    Parameters
    ----------
    file : pathlib.Path
        The file.
    copies : int
        How many copies in double precision the caller will make of it.
    """
    with file.open("rb") as stream:
        n_content = file.stat().st_size
        header = read_header(stream, file, n_content)
        check_memory(file, f"an array of shape {header.shape}", n_content + copies * 8 * header.size)
        stream.seek(0)
        with parsing(file, "an array written by numpy.save"):
            return native(np.lib.format.read_array(stream, allow_pickle=False))


def native(array: Array) -> Array:
    """Return an array in the byte order of the machine."""
    return array.astype(array.dtype.newbyteorder("="), copy=False)


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


# The least that an entry takes in the text: "1 1" or "0", and the end of the line.
_COORDINATE_BYTES, _ARRAY_BYTES = 4, 2

# Of each byte of the text, before the matrix: three copies, and one with four bytes per letter.
_COST = 8

_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")
_SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")


@dataclass(frozen=True)
class _Header:
    """What the first lines of a file declare, and how many they are."""

    is_array: bool
    is_pattern: bool
    symmetry: str
    sizes: tuple[int, ...]
    n_lines: int

    @property
    def shape(self) -> tuple[int, int]:
        return self.sizes[0], self.sizes[1]

    @property
    def n_entries(self) -> int:
        """Number of entries that are written: of a matrix with a symmetry those of its lower triangle."""
        if not self.is_array:
            return self.sizes[2]
        n_rows, n_cols = self.shape
        if self.symmetry == "general":
            return n_rows * n_cols
        return n_rows * (n_rows - 1 if self.symmetry == "skew-symmetric" else n_rows + 1) // 2


def read_mtx(file: Path, request: Request) -> Content:
    """Return the matrix in a Matrix Market file."""
    content = read_content(file, _COST)
    text = decode(content, file, "a Matrix Market file").rstrip()
    header, start = _read_header(text, file)
    n_entries = header.n_entries
    check_room(file, "entries", n_entries, _room(len(text) + 1 - start, header))
    check_vertices(file, max(header.shape), len(content))
    both = 1 if header.symmetry == "general" else 2
    check_memory(file, f"a matrix of {n_entries:,} entries", _COST * len(content) + both * BYTES_PER_ENTRY * n_entries)
    body = text[start:]
    table = _read_table(body, header, file)
    return Content(_array(table[:, 0], header) if header.is_array else _coordinates(table, body, header, file))


def _room(n_bytes: int, header: _Header) -> int:
    """Return how many entries fit into bytes of text."""
    return n_bytes // (_ARRAY_BYTES if header.is_array else _COORDINATE_BYTES)


def _read_header(text: str, file: Path) -> tuple[_Header, int]:
    """Return the header of a file, and where it ends."""
    banner = text[:200].split("\n", 1)[0].lower().split()
    if len(banner) != 5 or banner[:2] != ["%%matrixmarket", "matrix"] or banner[2] not in ("array", "coordinate"):
        _reject(file, "it must start with a line like '%%MatrixMarket matrix coordinate real symmetric'")
    if banner[3] not in _FIELDS or banner[4] not in _SYMMETRIES or (banner[2:4] == ["array", "pattern"]):
        wanted = f"one of {', '.join(_FIELDS)} and one of {', '.join(_SYMMETRIES)}"
        _reject(file, f"expected {wanted} in its first line, got {quoted(' '.join(banner[3:]), 60)}")
    is_array = banner[2] == "array"
    place = n_lines = 0
    while place < len(text):
        start, place = place, text.find("\n", place) + 1 or len(text)
        n_lines += 1
        line = text[start:place].strip()
        if not line or line.startswith("%"):
            continue
        words = line.split()
        if len(words) != (2 if is_array else 3) or not all(_is_size(word) for word in words):
            wanted = "rows and columns" if is_array else "rows, columns and entries"
            _reject(file, f"expected the numbers of {wanted}, got {quoted(line, 60)}", n_lines)
        sizes = tuple(int(word) for word in words)
        if banner[4] != "general" and sizes[0] != sizes[1]:
            _reject(file, f"expected as many rows as columns, as it is {banner[4]}, got {quoted(line, 60)}", n_lines)
        return _Header(is_array, banner[3] == "pattern", banner[4], sizes, n_lines), place
    _reject(file, "it has no line with its sizes")


def _is_size(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) < 20


def _read_table(body: str, header: _Header, file: Path) -> FloatArray:
    """Return the numbers of all lines."""
    n_columns = 1 if header.is_array else 2 if header.is_pattern else 3
    if not body.strip():
        table = np.empty((0, n_columns))
    else:
        try:
            table = np.loadtxt(StringIO(body), dtype=np.float64, comments=None, ndmin=2)
        except ValueError:
            table = np.empty((0, 0))
    if table.shape != (header.n_entries, n_columns):
        _reject_line(body, n_columns, header, file)
    return table


def _reject_line(body: str, n_columns: int, header: _Header, file: Path) -> NoReturn:
    """Reject the first line that is wrong, or the number of lines."""
    n_entries = 0
    for number, line in _lines(body, header):
        words = line.split()
        if len(words) != n_columns or not all(map(_is_number, words)):
            wanted = "a number" if n_columns == 1 else f"{n_columns} numbers"
            _reject(file, f"expected {wanted}, got {quoted(line, 60)}", number)
        n_entries += 1
    _reject(file, f"it declares {header.n_entries:,} entries, and has {n_entries:,}")


def _lines(body: str, header: _Header) -> Iterator[tuple[int, str]]:
    """Yield number and content of the lines behind the header that have any."""
    for number, line in enumerate(StringIO(body), start=header.n_lines + 1):
        if content := line.strip():
            yield number, content


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _coordinates(table: FloatArray, body: str, header: _Header, file: Path) -> sparse.coo_array:
    """Return the matrix from rows, columns and values of its entries."""
    places = table[:, :2]
    bad = ((places < 1) | (places > header.shape) | (places != np.floor(places))).any(axis=1)
    if bad.any():
        number, line = next(islice(_lines(body, header), int(np.argmax(bad)), None))
        wanted = " and ".join(f"{size:,}" for size in header.shape)
        _reject(file, f"expected a row and a column from 1 up to {wanted}, got {quoted(line, 60)}", number)
    rows, cols = places.astype(np.int64).T - 1
    values = np.ones(len(table)) if header.is_pattern else table[:, 2]
    if header.symmetry != "general":
        inner = rows != cols
        sign = -1 if header.symmetry == "skew-symmetric" else 1
        rows, cols = np.concatenate([rows, cols[inner]]), np.concatenate([cols, rows[inner]])
        values = np.concatenate([values, sign * values[inner]])
    return sparse.coo_array((values, (rows, cols)), shape=header.shape)


def _array(values: FloatArray, header: _Header) -> Array:
    """Return the dense matrix from its values, column by column."""
    if header.symmetry == "general":
        return values.reshape(header.shape, order="F")
    matrix = np.zeros(header.shape)
    skew = header.symmetry == "skew-symmetric"
    # The lower triangle by columns is the upper one by rows.
    matrix[np.triu_indices(header.shape[0], 1 if skew else 0)] = values
    return matrix.T - matrix if skew else matrix + np.triu(matrix, 1).T


def _reject(file: Path, problem: str, line: int | None = None) -> NoReturn:
    place = "" if line is None else f"line {line}: "
    raise InputError(f"{quoted(file)} cannot be read as a Matrix Market file: {place}{problem}")
