"""Adjacency matrices in Matrix Market files."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import NoReturn

import scipy.io

from cayleygsp._text import printable, quoted
from cayleygsp.io.content import Content, Request
from cayleygsp.io.files import read_content
from cayleygsp.io.limits import BYTES_PER_ENTRY, InputError, check_memory, check_room, check_vertices

# The least that an entry takes in the text: "1 1" or "0", and the end of the line.
_COORDINATE_BYTES, _ARRAY_BYTES = 4, 2

# Of each byte of the text, before the matrix: two copies.
_COST = 3


def read_mtx(file: Path, request: Request) -> Content:
    """Return the matrix in a Matrix Market file."""
    content = read_content(file, _COST).rstrip()
    if content.endswith((b"e", b"E", b"-", b"+")):
        _reject(file, "it ends within a number")
    _check_declared_size(content, file)
    try:
        # With a last line that ends: the reader may read beyond one that does not, and crash.
        return Content(scipy.io.mmread(BytesIO(content + b"\n")))
    except (ValueError, OverflowError) as error:
        # The reader's messages are made for users: they name the line and what is wrong there.
        raise ValueError(f"{quoted(file)} cannot be read as a Matrix Market file: {printable(error)}") from None


def _check_declared_size(content: bytes, file: Path) -> None:
    """Reject a file whose first lines declare more than the others can hold."""
    n_before, is_array, sizes = _size_line(content, file)
    n_rest = len(content) - n_before + 1
    if is_array:
        n_rows, n_cols = sizes
        # A symmetric matrix is written as one triangle, an antisymmetric one without its diagonal.
        check_room(file, "entries", n_rows * (n_cols - 1) // 2, n_rest // _ARRAY_BYTES)
        n_entries = n_rows * n_cols
    else:
        n_rows, n_cols, n_entries = sizes
        check_room(file, "entries", n_entries, n_rest // _COORDINATE_BYTES)
    check_vertices(file, max(n_rows, n_cols), len(content))
    check_memory(file, f"a matrix of {n_entries:,} entries", _COST * len(content) + BYTES_PER_ENTRY * n_entries)


def _size_line(content: bytes, file: Path) -> tuple[int, bool, list[int]]:
    """Return where the line with the sizes ends, whether the matrix is an array, and the sizes."""
    banner = content[:200].split(b"\n", 1)[0].lower().split()
    if len(banner) < 3 or banner[:2] != [b"%%matrixmarket", b"matrix"] or banner[2] not in (b"array", b"coordinate"):
        _reject(file, "it must start with '%%MatrixMarket matrix coordinate' or '%%MatrixMarket matrix array'")
    is_array = banner[2] == b"array"
    end = 0
    while end < len(content):
        start, end = end, content.find(b"\n", end) + 1 or len(content)
        line = content[start:end].strip()
        if not line or line.startswith(b"%"):
            continue
        words = line.split()
        if len(words) != (2 if is_array else 3) or not all(word.isdigit() and len(word) < 20 for word in words):
            wanted = "rows and columns" if is_array else "rows, columns and entries"
            _reject(file, f"expected the numbers of {wanted}, got {quoted(line[:60].decode('utf-8', 'replace'))}")
        return end, is_array, [int(word) for word in words]
    _reject(file, "it has no line with its sizes")


def _reject(file: Path, problem: str) -> NoReturn:
    raise InputError(f"{quoted(file)} cannot be read as a Matrix Market file: {problem}")
