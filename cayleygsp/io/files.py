"""Files as bytes and text, and errors that name them."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol
from xml.etree.ElementTree import ParseError

from cayleygsp._memory import format_bytes
from cayleygsp._text import quoted
from cayleygsp.io.limits import InputError, check_memory, memory_limit, text_limit

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
        elif isinstance(error, ParseError):
            reason = ": line {}, column {} is not well-formed".format(*error.position)
        raise ValueError(f"{quoted(file)} cannot be read as {content}{reason}") from None


def read_content(file: Path, cost: int) -> bytes:
    """Return the bytes of a file, unpacked if its name ends in .gz.

    Parameters
    ----------
    file : pathlib.Path
        The file.
    cost : int
        How many bytes of memory each byte of the content will need, as the reader estimates it.
    """
    with file.open("rb") as stream:
        n_packed = file.stat().st_size
        if file.name.lower().endswith(".gz"):
            try:
                content = read_at_most(gzip.GzipFile(fileobj=stream), text_limit(n_packed, cost), file)
            except (OSError, EOFError, zlib.error):
                raise ValueError(f"{quoted(file)} is not a complete gzip file") from None
        else:
            check_memory(file, "its content", cost * n_packed)
            content = stream.read()
    check_memory(file, "its content", cost * len(content))
    if not content.strip():
        raise ValueError(f"{quoted(file)} is empty")
    return content


def read_stream(stream: Readable, file: Path, cost: int) -> bytes:
    """Return what a stream has, such as standard input; ``file`` is what messages call it."""
    content = read_at_most(stream, memory_limit(cost), file)
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
