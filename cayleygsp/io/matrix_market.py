"""Adjacency matrices in Matrix Market files.

The reader is our own: that of scipy reads past the line that it should reject, and can crash on a damaged file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import NoReturn

import numpy as np
from scipy import sparse

from cayleygsp._text import quoted
from cayleygsp._typing import Array, FloatArray
from cayleygsp.io.content import Content, Request
from cayleygsp.io.files import decode, read_content
from cayleygsp.io.limits import BYTES_PER_ENTRY, InputError, check_memory, check_room, check_vertices

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
