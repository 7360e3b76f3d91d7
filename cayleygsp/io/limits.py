"""How much a file may ask for: one rule for all readers, applied before anything is allocated.

- What a file declares must be in it: entries, numbers and bytes cannot be more than its content has room for.
- Vertices without edges need no room in a file. There may be a million, or 64 per byte of the unpacked content if
  that is more.
- Text in gzip may unpack to 64 MiB, or to 100 times its size if that is more; arrays inside a file, whose zeros pack
  well, to what the packing can achieve at most.
- The memory that reading needs, by a generous estimate, may be half of what is available, so that there is
  something left to work with.
"""

from __future__ import annotations

from pathlib import Path

from cayleygsp._memory import available_memory, format_bytes
from cayleygsp._text import quoted

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
    """A message about a file that is made for users, and goes past those who catch what other libraries raise."""


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
