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

from cayleygsp._text import quoted
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

# The arrays that hold a matrix, by its format.
_COMPRESSED = ("data", "indices", "indptr")
_PARTS = {"csr": _COMPRESSED, "csc": _COMPRESSED, "bsr": _COMPRESSED, "dia": ("data", "offsets")}

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
    """Return the array by numpy.save in a stream, its numbers in the byte order of the machine.

    Parameters
    ----------
    stream : binary file
        At its beginning.
    file : pathlib.Path
        What messages call it.
    n_content : int
        Bytes in the stream.
    copies : int
        How many copies in double precision the caller will make of it.
    """
    shape, _ = _array_header(stream, file, n_content)
    check_memory(file, f"an array of shape {shape}", n_content + copies * 8 * math.prod(shape))
    stream.seek(0)
    with parsing(file, _NPY):
        return _load(stream)


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


def _load(stream: IO[bytes]) -> Array:
    array: Array = np.lib.format.read_array(stream, allow_pickle=False)
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def read_npz(file: Path, request: Request) -> Content:
    """Return the sparse matrix in a file by scipy.sparse.save_npz."""
    with parsing(file, _NPZ):
        archive = zipfile.ZipFile(file)
    with archive:
        members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
        kind = str(_small_array(archive, members, "format", file).item())
        kind = kind.removeprefix("b'").removesuffix("'")  # of bytes, as scipy wrote them once
        with parsing(file, _NPZ):
            n_rows, n_cols = map(int, _small_array(archive, members, "shape", file))
        parts = _PARTS.get(kind)
        if kind == "coo":
            parts = ("data", "coords") if "coords" in members else ("data", "row", "col")
        if parts is None:
            _reject(file, _NPZ, f"{quoted(kind, 20)} is no format that it writes")
        n_content, n_entries = 0, 0
        for part in parts:
            shape, dtype = _member_header(archive, members, part, file)
            n_content += math.prod(shape) * dtype.itemsize
            n_entries = max(n_entries, math.prod(shape))
        check_vertices(file, max(n_rows, n_cols), n_content)
        check_memory(file, f"a matrix of {n_entries:,} entries", n_content + BYTES_PER_ENTRY * n_entries)
        with parsing(file, _NPZ):
            return Content(_assembled(kind, [_load_member(archive, members[part]) for part in parts], (n_rows, n_cols)))


def _small_array(archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], name: str, file: Path) -> Array:
    """Return an array of a few numbers or letters."""
    shape, dtype = _member_header(archive, members, name, file)
    if math.prod(shape) > 4 or dtype.itemsize > 64:
        _reject(file, _NPZ, f"its {name} has shape {shape}")
    with parsing(file, _NPZ):
        return _load_member(archive, members[name])


def _member_header(
    archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo], name: str, file: Path
) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return shape and type of an array in the archive, if the archive can hold the array."""
    if name not in members:
        _reject(file, _NPZ, f"it has no {name}")
    member = members[name]
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        _reject(file, _NPZ, "it is packed in another way than deflate")
    ratio = DEFLATE_RATIO if member.compress_type == zipfile.ZIP_DEFLATED else 1
    check_room(file, f"bytes of {name}", member.file_size, ratio * min(member.compress_size, file.stat().st_size))
    with parsing(file, _NPZ):
        stream = archive.open(member)
    with stream:
        return _array_header(stream, file, member.file_size)


def _load_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Array:
    with archive.open(member) as stream:
        return _load(stream)


def _assembled(kind: str, arrays: list[Array], shape: tuple[int, int]) -> Any:
    """Return the matrix of a format from its arrays."""
    data, *places = arrays
    data = data.astype(np.float32) if data.dtype.char == "e" else data  # scipy has no half precision
    if kind == "coo":
        return sparse.coo_array((data, tuple(places[0]) if len(places) == 1 else tuple(places)), shape=shape)
    return getattr(sparse, f"{kind}_array")((data, *places), shape=shape)


def read_mtx(file: Path, request: Request) -> Content:
    """Return the matrix in a Matrix Market file."""
    content = read_content(file, _TEXT_COST)
    # scipy knows no plus in front of a number, and needs an end of the last line.
    text = decode(content, file, _MTX).rstrip().replace(" +", " ").replace("\n+", "\n").encode() + b"\n"
    with _refusals_of_scipy(text, file):
        n_rows, n_cols, n_entries, form, field, symmetry = mminfo(BytesIO(text))
    header = _HEADER.match(text)
    is_array, is_general = form == "array", symmetry == "general"
    if header is None or field not in (_FIELDS[:-1] if is_array else _FIELDS):
        _reject(file, _MTX, f"line 1: expected one of {', '.join(_FIELDS)}, pattern not for arrays, got {form} {field}")
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
        named = re.match(r"Line (\d+): (.*)", str(error))
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
