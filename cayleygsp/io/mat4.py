"""MATLAB files of version 4: a header of five numbers, a name and the numbers, again and again."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from cayleygsp._typing import Array
from cayleygsp.io.limits import BYTES_PER_ENTRY, check_memory, check_room, check_vertices
from cayleygsp.io.mat_variable import MatVariable

_DTYPES = ("f8", "f4", "i4", "i2", "u2", "u1")
_FULL, _SPARSE = 0, 2


def variables_4(content: bytes, file: Path) -> dict[str, MatVariable]:
    """Return the variables in the content of a file."""
    variables: dict[str, MatVariable] = {}
    place = 0
    while place < len(content):
        order = "<" if 0 <= struct.unpack_from("<i", content, place)[0] <= 5000 else ">"
        options, n_rows, n_cols, is_complex, n_name = struct.unpack_from(f"{order}5i", content, place)
        kind, dtype = options % 10, np.dtype(order + _DTYPES[options // 10 % 10])
        if options // 100 % 10 or min(n_rows, n_cols, n_name) < 0 or kind > _SPARSE:
            raise ValueError("no header")
        start = place + 20 + n_name
        n_numbers = n_rows * n_cols * (2 if is_complex else 1)
        check_room(file, "numbers", n_numbers, (len(content) - start) // dtype.itemsize)
        values = np.frombuffer(content, dtype, n_numbers, start)
        name = content[place + 20 : start].rstrip(b"\0").decode("latin-1")
        variables[name] = _variable(kind, values, (n_rows, n_cols), bool(is_complex), file)
        place = start + values.nbytes
    return variables


def _variable(kind: int, values: Array, shape: tuple[int, int], is_complex: bool, file: Path) -> MatVariable:
    if kind == _SPARSE:
        triples = values.reshape(shape[::-1]).T
        n_rows, n_cols = (int(length) for length in triples[-1, :2])
        return MatVariable((n_rows, n_cols), lambda: _sparse(triples, (n_rows, n_cols), file))
    if kind != _FULL:
        return MatVariable()

    def read() -> Any:
        check_memory(file, f"a matrix of shape {shape}", 3 * 8 * values.size)
        real = values[: shape[0] * shape[1]].reshape(shape[::-1]).T
        return real + 1j * values[real.size :].reshape(shape[::-1]).T if is_complex else real.astype(np.float64)

    return MatVariable(shape, read)


def _sparse(triples: Array, shape: tuple[int, int], file: Path) -> Any:
    check_vertices(file, max(shape), triples.nbytes)
    check_memory(file, f"a matrix of {len(triples):,} entries", BYTES_PER_ENTRY * len(triples))
    rows, cols, values = triples[:-1, :3].astype(np.float64).T
    if triples.shape[1] == 4:
        values = values + 1j * triples[:-1, 3]
    return sparse.coo_array((values, (rows.astype(np.int64) - 1, cols.astype(np.int64) - 1)), shape=shape)
