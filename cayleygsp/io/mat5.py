"""MATLAB files of versions 5 to 7: elements with a tag, packed or not; every tag is checked against the file."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from cayleygsp._typing import Array
from cayleygsp.io.limits import BYTES_PER_ENTRY, DEFLATE_RATIO, check_memory, check_room, check_vertices
from cayleygsp.io.mat_variable import MOST_LEVELS, MatVariable

_HEADER_BYTES = 128
_MATRIX, _COMPRESSED = 14, 15

# What numbers are stored as; and what they are in MATLAB, by the class of their array.
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_STRUCT, _SPARSE = 2, 5
_BYTE, _DOUBLE = 2, 9
_COMPLEX, _LOGICAL = 0x0800, 0x0200

_Element = tuple[int, memoryview]


def variables_5(content: bytes, file: Path) -> dict[str, MatVariable]:
    """Return the variables in the content of a file, fields of a struct as ``struct.field``."""
    order = {b"IM": "<", b"MI": ">"}[content[126:128]]
    reader = _Reader(order, file)
    variables: dict[str, MatVariable] = {}
    n_unpacked = len(content)
    for kind, data in reader.elements(memoryview(content)[_HEADER_BYTES:], padded=False):
        if kind == _COMPRESSED:
            kind, data = reader.unpacked(data, n_unpacked)
            n_unpacked += len(data)
        if kind == _MATRIX:
            variables |= reader.variables(data, "", MOST_LEVELS)
    return variables


class _Reader:
    """Byte order and name of a file; methods for the parts of it."""

    def __init__(self, order: str, file: Path) -> None:
        self._order, self._file = order, file

    def elements(self, data: memoryview, padded: bool = True) -> Iterator[_Element]:
        """Yield kind and content of the elements; the last may lack its padding."""
        place = 0
        while place + 8 <= len(data):
            kind, n_bytes = struct.unpack_from(f"{self._order}2I", data, place)
            if kind >> 16:
                # A small one: its size stands beside its kind, up to four bytes where others have their size.
                check_room(self._file, "bytes in a small element", kind >> 16, 4)
                yield kind & 0xFFFF, data[place + 4 : place + 4 + (kind >> 16)]
                place += 8
                continue
            check_room(self._file, "bytes in an element", n_bytes, len(data) - place - 8)
            yield kind, data[place + 8 : place + 8 + n_bytes]
            place += 8 + n_bytes + (-n_bytes % 8 if padded else 0)

    def unpacked(self, packed: memoryview, n_before: int) -> _Element:
        """Return the element in a packed one."""
        stream = zlib.decompressobj()
        kind, n_bytes = struct.unpack(f"{self._order}2I", stream.decompress(packed, 8))
        check_room(self._file, "bytes in a packed element", n_bytes, DEFLATE_RATIO * len(packed))
        check_memory(self._file, "its content", n_before + 2 * n_bytes)
        data = stream.decompress(stream.unconsumed_tail, n_bytes) if n_bytes else b""
        check_room(self._file, "bytes in a packed element", n_bytes, len(data))
        if stream.decompress(stream.unconsumed_tail, 1) or not stream.eof:
            raise ValueError("a packed element without its end and checksum")
        return kind, memoryview(data)

    def variables(self, data: memoryview, prefix: str, levels: int) -> dict[str, MatVariable]:
        """Return the variable in the content of a matrix element, or the fields of a struct of one element."""
        parts = self.elements(data)
        flags = struct.unpack_from(f"{self._order}I", next(parts)[1])[0]
        shape = tuple(map(int, self.numbers(next(parts))))
        own_name = bytes(next(parts)[1]).rstrip(b"\0").decode("latin-1")
        name = prefix or own_name
        if not name or min(shape) < 0:
            return {}
        kind = flags & 0xFF
        if kind == _STRUCT and math.prod(shape) == 1 and levels > 1:
            return self.fields(parts, name, levels - 1)
        if kind == _SPARSE:
            return {name: MatVariable(shape, partial(self.sparse, list(parts), shape, flags))}
        if kind in _CLASSES:
            return {name: MatVariable(shape, partial(self.dense, list(parts), shape, flags))}
        return {name: MatVariable()}

    def fields(self, parts: Iterator[_Element], name: str, levels: int) -> dict[str, MatVariable]:
        """Return the fields of a struct of one element."""
        width = int(self.numbers(next(parts))[0])
        joined = bytes(next(parts)[1])
        check_room(self._file, "bytes in the name of a field", width, len(joined) or 1)
        names = [joined[k : k + width].split(b"\0")[0].decode("latin-1") for k in range(0, len(joined), width)]
        variables: dict[str, MatVariable] = {}
        for field, (_, data) in zip(names, parts, strict=True):
            if len(data):
                variables |= self.variables(data, f"{name}.{field}", levels)
        return variables

    def numbers(self, element: _Element) -> Array:
        """Return the numbers in an element as they are stored."""
        kind, data = element
        dtype = np.dtype(self._order + _STORED[kind])
        return np.frombuffer(data, dtype, len(data) // dtype.itemsize)

    def values(self, parts: list[_Element], n_values: int, flags: int) -> Array:
        """Return the real numbers that come first, with the imaginary ones behind them if there are any."""
        dtype = np.dtype(_CLASSES.get(flags & 0xFF, "f8"))
        real = self.numbers(parts[0])
        check_room(self._file, "numbers", n_values, len(real))
        if flags & _COMPLEX:
            imaginary = self.numbers(parts[1])
            check_room(self._file, "imaginary numbers", n_values, len(imaginary))
            return real[:n_values] + 1j * imaginary[:n_values]
        return real[:n_values].astype(np.bool_ if flags & _LOGICAL else dtype)

    def dense(self, parts: list[_Element], shape: tuple[int, ...], flags: int) -> Array:
        """Return a dense array."""
        n_values = math.prod(shape)
        check_memory(self._file, f"a matrix of shape {shape}", 3 * 8 * n_values)
        return self.values(parts, n_values, flags).reshape(shape, order="F")

    def sparse(self, parts: list[_Element], shape: tuple[int, ...], flags: int) -> Any:
        """Return a sparse matrix."""
        n_rows, n_cols = shape
        rows, ends = self.numbers(parts[0]).astype(np.int64), self.numbers(parts[1]).astype(np.int64)
        check_vertices(self._file, max(shape), rows.nbytes + ends.nbytes)
        check_room(self._file, "ends of columns", n_cols + 1, len(ends))
        n_entries = int(ends[n_cols])
        check_room(self._file, "entries", n_entries, len(rows))
        check_memory(self._file, f"a matrix of {n_entries:,} entries", BYTES_PER_ENTRY * n_entries)
        kind, data = parts[2] if n_entries else (_DOUBLE, memoryview(b""))
        if flags & _LOGICAL and kind == _DOUBLE and len(data) == n_entries:
            kind = _BYTE  # MATLAB calls them doubles, and writes bytes
        values = self.values([(kind, data), *parts[3:]], n_entries, flags)
        return sparse.csc_array((values, rows[:n_entries], ends[: n_cols + 1]), shape=(n_rows, n_cols))
