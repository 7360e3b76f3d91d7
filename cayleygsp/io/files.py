"""Files as bytes and text, and errors that name them."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, NoReturn, Protocol
from xml.parsers.expat import ExpatError

import numpy as np

from cayleygsp._memory import available_memory, format_bytes
from cayleygsp._text import printable, quoted
from cayleygsp._typing import Array, FloatArray, Symmetrize

FREE_VERTICES = 1_000_000
VERTICES_PER_BYTE = 64
FREE_TEXT = 64 * 2**20
TEXT_RATIO = 100

# What deflate, the packing of gzip, .npz, .mat and HDF5, can achieve at most.
DEFLATE_RATIO = 1032

# A vertex without edges: rows of the matrix and of its transpose, its degree, and copies of them.
_BYTES_PER_VERTEX = 64

# An edge in both directions: indices and weights, and copies of them while they are sorted.
BYTES_PER_ENTRY = 64


class InputError(ValueError):
    """A file cannot be read; the message is made for users and is not changed on its way to them."""


def memory_limit(cost: int = 1) -> int | None:
    """Return how many bytes may be read that take ``cost`` bytes of memory each; None where there is no known limit."""
    available = available_memory()
    return None if available is None else available // 2 // cost


def text_limit(n_packed: int, cost: int = 1) -> int:
    """Return the bytes that text packed into the given number of bytes may unpack to."""
    limit, text = memory_limit(cost), max(FREE_TEXT, TEXT_RATIO * n_packed)
    return text if limit is None else min(limit, text)


def check_memory(file: Path, what: str, n_bytes: int) -> None:
    """Reject what needs more memory than reading may take."""
    limit = memory_limit()
    if limit is not None and n_bytes > limit:
        raise InputError(
            f"{quoted(file)} is too large: {what} would need about {format_bytes(n_bytes)} of memory, and the limit "
            f"is {format_bytes(limit)}, half of what is available"
        )


def check_room(file: Path, what: str, n_declared: int, n_room: int) -> None:
    """Reject a file that declares more of something than it has room for."""
    if n_declared > n_room:
        raise InputError(
            f"{quoted(file)} is damaged or cut short: it declares {n_declared:,} {what} and has room for {n_room:,}"
        )


def check_vertices(file: Path, n_vertices: int, n_content: int) -> None:
    """Reject a file that declares many more vertices than its content can give edges to."""
    limit = max(FREE_VERTICES, VERTICES_PER_BYTE * n_content)
    if n_vertices > limit:
        raise InputError(
            f"{quoted(file)} declares {n_vertices:,} vertices, and the limit for {format_bytes(n_content)} of content "
            f"is {limit:,}: a million, or {VERTICES_PER_BYTE} per byte if that is more"
        )
    check_memory(file, f"a graph of {n_vertices:,} vertices", _BYTES_PER_VERTEX * n_vertices)


_CHUNK = 2**20


class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int, /) -> bytes:
        """Return up to so many bytes, none at the end."""


def check_file(file: Path) -> None:
    """Reject what is no file, or an empty one."""
    if not file.exists():
        raise FileNotFoundError(f"there is no file {quoted(file)}")
    if not file.is_file():
        raise ValueError(f"{quoted(file)} is not a file")
    if file.stat().st_size == 0:
        raise ValueError(f"{quoted(file)} is empty")


@contextmanager
def parsing(file: Path, content: str) -> Iterator[None]:
    """Turn whatever a parser of another library raises on a bad file into one readable ValueError."""
    try:
        yield
    except (MemoryError, PermissionError, InputError):
        raise
    except Exception as error:
        reason = ""
        if "Object arrays" in str(error):
            reason = ": it holds Python objects, which are never unpickled"
        elif isinstance(error, ExpatError):
            reason = f": line {error.lineno}, column {error.offset} is not well-formed"
        elif isinstance(error, KeyError):
            reason = f": {printable(error.args[0])}"
        raise InputError(f"{quoted(file)} cannot be read as {content}{reason}") from None


def read_content(file: Path, cost: int, stream: Readable | None = None) -> bytes:
    """Return the bytes of a file, unpacked if its name ends in .gz, or of a stream that messages call by that name.

    The reader will need ``cost`` times the memory.
    """
    if stream is not None:
        content = read_at_most(stream, memory_limit(cost), file)
    elif file.name.lower().endswith(".gz"):
        try:
            with gzip.open(file) as unpacked:
                content = read_at_most(unpacked, text_limit(file.stat().st_size, cost), file)
        except (OSError, EOFError, zlib.error):
            raise ValueError(f"{quoted(file)} is not a complete gzip file") from None
    else:
        check_memory(file, "its content", cost * file.stat().st_size)
        content = file.read_bytes()
    check_memory(file, "its content", cost * len(content))
    if not content.strip():
        raise ValueError(f"{quoted(file)} is empty")
    return content


def read_at_most(stream: Readable, limit: int | None, file: Path) -> bytes:
    """Return all that a stream has; stop and reject it when that is more than the limit, if there is one."""
    content = bytearray()
    while chunk := stream.read(_CHUNK):
        content += chunk
        if limit is not None and len(content) > limit:
            raise InputError(
                f"{quoted(file)} is too large: its content is more than {format_bytes(limit)}, the limit for a source "
                "of its size and this machine"
            )
    return bytes(content)


def decode(content: bytes, file: Path, what: str) -> str:
    """Return content as text, with line ends made equal."""
    try:
        if b"\0" in content:
            raise ValueError("a zero byte")
        text = content.decode("utf-8-sig")
    except ValueError:
        raise ValueError(f"{quoted(file)} cannot be read as {what}: it is not a text file in UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def load_numbers(text: str, delimiter: str | None = None) -> FloatArray | None:
    """Return a table of real numbers; None if the text is anything else, or has an error."""
    if not text.strip():
        return None
    try:
        return np.loadtxt(StringIO(text), dtype=np.float64, comments=None, delimiter=delimiter, ndmin=2)
    except ValueError:
        return None


def reject_line(file: Path, number: int, problem: str) -> NoReturn:
    """Raise an error that names file and line."""
    raise InputError(f"{quoted(file)}, line {number}: {problem}") from None


@dataclass(frozen=True)
class Request:
    """What is wanted of a file: a variable by name, and a directed graph without its directions."""

    variable: str | None = None
    symmetrize: Symmetrize | None = None


@dataclass(frozen=True, eq=False)
class Content:
    """An adjacency matrix, sparse or dense and not yet checked; names and positions of the vertices."""

    matrix: Any
    labels: Array | None = None
    coords: FloatArray | None = None


def label_array(names: Sequence[str], file: Path, n_content: int) -> Array:
    """Return names as an array, in which each takes as much room as the longest; the file has so many bytes."""
    longest = max(names, key=len, default="")
    n_bytes, limit = 4 * len(longest) * len(names), text_limit(n_content)
    if n_bytes > limit:
        raise InputError(
            f"{quoted(file)} has {len(names):,} names of up to {len(longest):,} characters, which need "
            f"{format_bytes(n_bytes)}, and the limit is {format_bytes(limit)}; the longest is {quoted(longest, 40)}"
        )
    return np.array(names, dtype=np.str_)
