"""Files as bytes and text, and errors that name them."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree.ElementTree import ParseError


def check_file(file: Path) -> None:
    """Reject what is no file, or an empty one."""
    if not file.exists():
        raise FileNotFoundError(f"there is no file '{file}'")
    if not file.is_file():
        raise ValueError(f"'{file}' is not a file")
    if file.stat().st_size == 0:
        raise ValueError(f"'{file}' is empty")


@contextmanager
def parsing(file: Path, content: str) -> Iterator[None]:
    """Turn whatever a parser of another library raises on a bad file into one readable ValueError."""
    try:
        yield
    except (MemoryError, PermissionError):
        raise
    except Exception as error:
        reason = ""
        if "Object arrays" in str(error):
            reason = ": it holds Python objects, which are never unpickled"
        elif isinstance(error, ParseError):
            reason = ": line {}, column {} is not well-formed".format(*error.position)
        raise ValueError(f"'{file}' cannot be read as {content}{reason}") from None


def read_content(file: Path) -> bytes:
    """Return the bytes of a file, unpacked if its name ends in .gz."""
    content = file.read_bytes()
    if file.name.lower().endswith(".gz"):
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error):
            raise ValueError(f"'{file}' is not a complete gzip file") from None
    if not content.strip():
        raise ValueError(f"'{file}' is empty")
    return content


def text_of(file: Path) -> str:
    """Return the text of a file, with line ends made equal."""
    content = read_content(file)
    try:
        if b"\0" in content:
            raise ValueError("a zero byte")
        text = content.decode("utf-8-sig")
    except ValueError:
        raise ValueError(f"'{file}' cannot be read as an edge list: it is not a text file in UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")
