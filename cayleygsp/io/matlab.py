"""Graphs in MATLAB files: an adjacency matrix or a list of edges, and coordinates."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from cayleygsp._text import printable, quoted
from cayleygsp._typing import Array, FloatArray, IntArray
from cayleygsp.io.edge_lists import distinct_edges, matrix_of_edges
from cayleygsp.io.files import (
    BYTES_PER_ENTRY,
    DEFLATE_RATIO,
    FREE_TEXT,
    Content,
    InputError,
    Request,
    check_memory,
    check_room,
    check_vertices,
    parsing,
)

_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def is_hdf5(file: Path) -> bool:
    """Tell whether the file is of version 7.3, that is HDF5, mostly behind 512 bytes of MATLAB's own."""
    with file.open("rb") as stream:
        head = stream.read(512 + len(_SIGNATURE))
    return head.startswith(_SIGNATURE) or head[512:] == _SIGNATURE


@contextmanager
def variables_73(file: Path) -> Iterator[dict[str, MatVariable]]:
    """Give the variables of a file while it is open, fields of a struct as ``struct.field``."""
    try:
        import h5py
    except ImportError:
        raise ImportError(
            f"{quoted(file)} is a MATLAB file of version 7.3; install h5py to read it: pip install h5py"
        ) from None
    with parsing(file, "a MATLAB file of version 7.3"), h5py.File(file, "r") as root:
        yield dict(_variables_73(root, "", MOST_LEVELS, file, set()))


def _variables_73(
    group: Any, prefix: str, levels: int, file: Path, seen: set[Any]
) -> Iterator[tuple[str, MatVariable]]:
    """Yield the variables in a group; links to other files and to groups that were seen are not followed."""
    import h5py

    for name in group:
        if name.startswith("#") or not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        item = group[name]
        if isinstance(item, h5py.Dataset) or "MATLAB_sparse" in item.attrs:
            yield prefix + name, _variable_73(item, file)
            continue
        place = h5py.h5o.get_info(item.id).addr
        if levels > 1 and place not in seen:
            seen.add(place)
            yield from _variables_73(item, f"{prefix}{name}.", levels - 1, file, seen)


def _variable_73(item: Any, file: Path) -> MatVariable:
    if "MATLAB_sparse" in item.attrs:
        shape = (int(item.attrs["MATLAB_sparse"]), item["jc"].shape[0] - 1)
        return MatVariable(shape, partial(_sparse_73, item, shape, file))
    text = item.attrs.get("MATLAB_class", b"") in (b"char", "char")
    if text or "MATLAB_empty" in item.attrs or item.shape is None or item.dtype.kind not in "biuf":
        return MatVariable()
    return MatVariable(item.shape[::-1], lambda: _numbers_73(item, file).T)


def _numbers_73(item: Any, file: Path) -> Any:
    """Return the numbers in a data set of the file itself, if the file can hold them."""
    if item.external or item.is_virtual:
        raise ValueError("numbers in other files")
    # What was never written takes no room and reads as zeros.
    room = max(FREE_TEXT, DEFLATE_RATIO * item.id.get_storage_size())
    check_room(file, "bytes of numbers", item.size * item.dtype.itemsize, room)
    check_memory(file, f"an array of shape {item.shape}", item.size * (item.dtype.itemsize + 3 * 8))
    return item[()]


def _sparse_73(item: Any, shape: tuple[int, int], file: Path) -> Any:
    ends = _numbers_73(item["jc"], file).astype(np.int64)
    check_vertices(file, max(shape), 8 * len(ends))
    if "data" not in item:
        return sparse.csc_array(shape)
    n_entries = item["data"].size
    check_memory(file, f"a matrix of {n_entries:,} entries", BYTES_PER_ENTRY * n_entries)
    rows = _numbers_73(item["ir"], file).astype(np.int64)
    return sparse.csc_array((_numbers_73(item["data"], file), rows, ends), shape=shape)


_HEADER_BYTES = 128
_MATRIX, _COMPRESSED = 14, 15

# What numbers are stored as; and what they are in MATLAB, by the class of their array.
_STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
_STRUCT, _NUMBERS_SPARSE = 2, 5
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
        if kind == _NUMBERS_SPARSE:
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


_DTYPES = ("f8", "f4", "i4", "i2", "u2", "u1")
_FULL, _SPARSE_4 = 0, 2


def variables_4(content: bytes, file: Path) -> dict[str, MatVariable]:
    """Return the variables in the content of a file."""
    variables: dict[str, MatVariable] = {}
    place = 0
    while place < len(content):
        order = "<" if 0 <= struct.unpack_from("<i", content, place)[0] <= 5000 else ">"
        options, n_rows, n_cols, is_complex, n_name = struct.unpack_from(f"{order}5i", content, place)
        kind, dtype = options % 10, np.dtype(order + _DTYPES[options // 10 % 10])
        if options // 100 % 10 or min(n_rows, n_cols, n_name) < 0 or kind > _SPARSE_4:
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
    if kind == _SPARSE_4:
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


# How deep structs may be nested; SuiteSparse has Problem.aux.coord.
MOST_LEVELS = 4


@dataclass(frozen=True, eq=False)
class MatVariable:
    """Shape of a matrix of numbers, none for anything else, and a function that reads it."""

    shape: tuple[int, ...] | None = None
    read: Callable[[], Any] = lambda: None

    @property
    def is_square(self) -> bool:
        """Whether it could be the adjacency matrix of at least two vertices."""
        return self.shape is not None and len(self.shape) == 2 and self.shape[0] == self.shape[1] > 1


Variables = dict[str, MatVariable]

_MATRICES = ("W", "A", "adjacency", "Problem.A")
_EDGES = ("i_inds", "j_inds")
_WEIGHTS = "weights"
_COORDS = ("xy", "coords", "coordinates", "Problem.aux.coord")
_AXES = (("x", "y", "z"), ("x", "y"))


def read_mat(file: Path, request: Request) -> Content:
    """Return adjacency matrix and coordinates in a MATLAB file."""
    with open_variables(file) as variables:
        name = request.variable
        if name is None and all(edge in variables for edge in _EDGES) and not _candidates(variables):
            matrix = _matrix_of_lists(variables, file, request)
        else:
            name = _adjacency_name(variables, file) if name is None else _checked_name(name, variables, file)
            matrix = variables[name].read()
        n_vertices = matrix.shape[0] if matrix.ndim else 0
        return Content(matrix, coords=_coordinates(variables, n_vertices, name))


@contextmanager
def open_variables(file: Path) -> Iterator[Variables]:
    """Give the variables of a file of any version."""
    if is_hdf5(file):
        with variables_73(file) as variables:
            yield variables
        return
    check_memory(file, "its content", 2 * file.stat().st_size)
    content = file.read_bytes()
    with parsing(file, "a MATLAB file"):
        # The first four bytes of version 4 are a small number, those of the others are text.
        yield (variables_4 if 0 in content[:4] else variables_5)(content, file)


def _checked_name(name: str, variables: Variables, file: Path) -> str:
    if name not in variables:
        raise InputError(
            f"`variable` must be one of {_listed(variables) or 'none'} in {quoted(file)}, got {quoted(name)}"
        )
    if variables[name].shape is None:
        raise InputError(f"`variable` {quoted(name)} of {quoted(file)} must be a matrix of numbers")
    return name


def _candidates(variables: Variables) -> list[str]:
    """Return the names of the variables that could be the adjacency matrix."""
    return [name for name, variable in variables.items() if variable.is_square and name not in _COORDS]


def _adjacency_name(variables: Variables, file: Path) -> str:
    square = _candidates(variables)
    if len(square) == 1:
        return square[0]
    for name in _MATRICES:
        if name in square:
            return name
    if square:
        raise InputError(f"{quoted(file)} has several square matrices, choose a `variable`: {_listed(square)}")
    raise InputError(f"{quoted(file)} has no square matrix of numbers, only: {_listed(variables) or 'nothing'}")


def _listed(names: Iterable[str]) -> str:
    shown = [printable(name) for name in names]
    return ", ".join(shown[:20]) + (f" and {len(shown) - 20} more" if len(shown) > 20 else "")


def _matrix_of_lists(variables: Variables, file: Path, request: Request) -> sparse.csr_array:
    """Return the adjacency matrix of edges in two vectors of vertices, and perhaps one of weights."""
    tails, heads = (_vertices(variables[name], name, file) for name in _EDGES)
    weights = np.ones(len(tails))
    if _WEIGHTS in variables:
        weights = _vector(variables[_WEIGHTS], _WEIGHTS, file).astype(np.float64)
    if not 0 < len(tails) == len(heads) == len(weights):
        lengths = f"{len(tails)}, {len(heads)} and {len(weights)}"
        raise InputError(f"i_inds, j_inds and weights of {quoted(file)} must be of the same length, got {lengths}")
    ends = np.column_stack([tails, heads])
    ends -= min(1, int(ends.min()))
    n_vertices = int(ends.max()) + 1
    check_vertices(file, n_vertices, ends.nbytes)
    directed = request.symmetrize is not None
    kept, conflict = distinct_edges(ends, n_vertices, weights, directed)
    if conflict is not None:
        before, row = conflict
        hint = "" if (ends[before] == ends[row]).all() else "; symmetrize 'max' or 'mean' takes directed edges"
        raise InputError(
            f"the same edge must have the same weight in {quoted(file)}, got {weights[before]} at {before} and "
            f"{weights[row]} at {row}{hint}"
        )
    return matrix_of_edges(ends[kept], weights[kept], n_vertices, directed)


def _vertices(variable: MatVariable, name: str, file: Path) -> IntArray:
    numbers = _vector(variable, name, file)
    vertices = numbers.astype(np.int64) if numbers.dtype.kind in "biuf" else None
    if vertices is None or (vertices != numbers).any() or (vertices < 0).any():
        raise InputError(f"{name} of {quoted(file)} must have whole numbers from 0 or 1 on")
    return vertices


def _vector(variable: MatVariable, name: str, file: Path) -> Any:
    shape = variable.shape
    if shape is None or max(shape, default=0) != np.prod(shape):
        raise InputError(f"{name} of {quoted(file)} must be a vector of numbers, got shape {shape}")
    return np.asarray(variable.read()).ravel()


def _coordinates(variables: Variables, n_vertices: int, matrix_name: str | None) -> FloatArray | None:
    """Return the coordinates if there are some for all vertices, and all are finite."""
    coords = None
    for name in _COORDS:
        if name in variables and name != matrix_name and variables[name].shape in ((n_vertices, 2), (n_vertices, 3)):
            coords = variables[name].read()
            break
    else:
        for axes in _AXES:
            if all(axis in variables and _is_vector(variables[axis], n_vertices) for axis in axes):
                coords = np.column_stack([np.asarray(variables[axis].read()).ravel() for axis in axes])
                break
    if coords is None or sparse.issparse(coords) or coords.dtype.kind not in "biuf":
        return None
    return coords.astype(np.float64) if np.isfinite(coords).all() else None


def _is_vector(variable: MatVariable, length: int) -> bool:
    return variable.shape in ((length,), (length, 1), (1, length))
