"""Matrices in files of numpy and scipy, and in Matrix Market files."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NoReturn

import numpy as np
from scipy import sparse
from scipy.io import mminfo, mmread

from cayleygsp._text import printable, quoted
from cayleygsp._typing import Array
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

_NPY = "an array written by numpy.save"
_NPZ = "a sparse matrix written by scipy.sparse.save_npz"
_MTX = "a Matrix Market file"

# Matrix Market: the memory for a byte of text before there is a matrix; the least bytes of an entry, "1 1" or "0", and
# the end of its line.
_TEXT_COST = 8
_COORDINATE_BYTES, _ARRAY_BYTES = 4, 2
_FIELDS = ("real", "double", "integer", "unsigned-integer", "pattern")

# First line, comments, and the line of sizes; a word for a whole number, and for any.
_HEADER = re.compile(rb"[^\n]*\n(?:[ \t]*(?:%[^\n]*)?\n)*([^\n]*)\n")
_WHOLE, _NUMBER = rb"[+-]?\d+", rb"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"


def read_npy(file: Path, request: Request) -> Content:
    """Return the dense matrix in a file by numpy.save."""
    with file.open("rb") as stream:
        # One copy in double precision, and the sparse matrix with as many entries in the worst case.
        return Content(read_array(stream, file, file.stat().st_size, copies=3))


def read_array(stream: IO[bytes], file: Path, n_content: int, copies: int) -> Array:
    """Return the array by numpy.save in a stream of so many bytes, its numbers in the byte order of the machine.

    The caller will make so many copies of it in double precision.
    """
    shape, _ = _array_header(stream, file, n_content)
    check_memory(file, f"an array of shape {shape}", n_content + copies * 8 * math.prod(shape))
    stream.seek(0)
    with parsing(file, _NPY):
        array: Array = np.lib.format.read_array(stream, allow_pickle=False)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _array_header(stream: IO[bytes], file: Path, n_content: int) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and type of the array in a stream, if the stream has room for it."""
    with parsing(file, _NPY):
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        lengths, _, dtype = read(stream)
        shape = tuple(map(int, lengths))
        if dtype.hasobject:
            raise ValueError("Object arrays")
        if dtype.kind not in "biufcSU" or any(length < 0 for length in shape):
            raise ValueError("no plain array")
        n_header = stream.tell()
    check_room(file, "bytes of numbers", math.prod(shape) * dtype.itemsize, n_content - n_header)
    return shape, dtype


def read_npz(file: Path, request: Request) -> Content:
    """Return the sparse matrix in a file by scipy.sparse.save_npz, once the sizes of all its arrays are looked at."""
    n_content, n_entries = 0, 0
    with parsing(file, _NPZ), zipfile.ZipFile(file) as archive:
        for member in archive.infolist():
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InputError(f"{quoted(file)} cannot be read as {_NPZ}: it is packed in another way than deflate")
            ratio = DEFLATE_RATIO if member.compress_type == zipfile.ZIP_DEFLATED else 1
            room = ratio * min(member.compress_size, file.stat().st_size)
            check_room(file, f"bytes of {printable(member.filename)}", member.file_size, room)
            with archive.open(member) as stream:
                shape, dtype = _array_header(stream, file, member.file_size)
            n_content += math.prod(shape) * dtype.itemsize
            n_entries = max(n_entries, math.prod(shape))
        check_memory(file, f"a matrix of {n_entries:,} entries", n_content + BYTES_PER_ENTRY * n_entries)
        with np.load(file, allow_pickle=False) as arrays:
            check_vertices(file, int(max(arrays["shape"])), n_content)
        return Content(sparse.load_npz(file))


def read_mtx(file: Path, request: Request) -> Content:
    """Return the matrix in a Matrix Market file."""
    content = read_content(file, _TEXT_COST)
    # scipy knows no plus in front of a number, and needs an end of the last line.
    text = re.sub(r"(?<=\s)\+(?=[\d.])", "", decode(content, file, _MTX).rstrip()).encode() + b"\n"
    with _refusals_of_scipy(text, file):
        n_rows, n_cols, n_entries, form, field, symmetry = mminfo(BytesIO(text))
    header = _HEADER.match(text)
    is_array, is_general = form == "array", symmetry == "general"
    if header is None or field not in (_FIELDS[:-1] if is_array else _FIELDS):
        wanted = f"one of {', '.join(_FIELDS)}, of which arrays are no pattern"
        _reject(file, _MTX, f"line 1: expected {wanted}, got {form} {field}")
    if not is_general and n_rows != n_cols:  # scipy would write beside its array
        _reject(file, _MTX, f"expected as many rows as columns, as it is {symmetry}, got {n_rows} and {n_cols}")
    if is_array:
        lower = n_rows * (n_rows - 1 if symmetry == "skew-symmetric" else n_rows + 1) // 2
        n_entries = n_rows * n_cols if is_general else lower
    room = (len(text) - header.end()) // (_ARRAY_BYTES if is_array else _COORDINATE_BYTES)
    check_room(file, "entries", n_entries, room)
    check_vertices(file, max(n_rows, n_cols), len(content))
    n_bytes = _TEXT_COST * len(content) + (1 if is_general else 2) * BYTES_PER_ENTRY * n_entries
    check_memory(file, f"a matrix of {n_entries:,} entries", n_bytes)
    number = _WHOLE if "integer" in field else _NUMBER
    _check_lines(text, header.end(), [_WHOLE] * (0 if is_array else 2) + [number] * (field != "pattern"), file)
    with _refusals_of_scipy(text, file):
        return Content(mmread(BytesIO(text), spmatrix=False))


@contextmanager
def _refusals_of_scipy(text: bytes, file: Path) -> Iterator[None]:
    """Turn an error of scipy into one that names the file, and shows the line that scipy names."""
    try:
        yield
    except (ValueError, OverflowError) as error:
        named = re.match(r"Line (\d+): (.*?)\.?$", str(error))
        problem = f"line {named[1]}: {named[2]}" if named else f"{error} It begins with {quoted(text[:100])}"
        for shown in text.split(b"\n")[int(named[1]) - 1 :][:1] if named else []:
            problem += f", got {quoted(shown, 60)}"
        raise InputError(f"{quoted(file)} cannot be read as {_MTX}: {problem}") from None


def _check_lines(text: bytes, start: int, words: list[bytes], file: Path) -> None:
    """Reject a line with other words: scipy takes "1e-" and "1d5" for 1, and crashes where the last number is cut."""
    pattern = rb"^(?![ \t]*(?:" + rb"[ \t]+".join(words) + rb"[ \t]*)?$)[^\n]*"
    wrong = re.compile(pattern, re.MULTILINE).search(text, start)
    if wrong:
        wanted = "a number" if len(words) == 1 else f"{len(words)} numbers"
        number = text.count(b"\n", 0, wrong.start()) + 1
        _reject(file, _MTX, f"line {number}: expected {wanted}, got {quoted(wrong[0], 60)}")


def _reject(file: Path, what: str, problem: str) -> NoReturn:
    raise InputError(f"{quoted(file)} cannot be read as {what}: {problem}")
