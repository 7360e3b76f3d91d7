"""Shape and kind of an array in numpy's format, before the array itself is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from cayleygsp._typing import Array
from cayleygsp.io.files import parsing
from cayleygsp.io.limits import check_memory, check_room


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
