"""Graphs in MATLAB files: an adjacency matrix or a list of edges, and coordinates."""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy import sparse
from scipy.io import loadmat, whosmat

from cayleygsp._text import printable, quoted
from cayleygsp._typing import FloatArray
from cayleygsp.io.edge_lists import matrix_of_edges
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

_MATRICES = ("W", "A", "adjacency", "Problem.A")
_EDGES = ("i_inds", "j_inds")
_WEIGHTS = "weights"
_COORDS = ("xy", "coords", "coordinates", "Problem.aux.coord")
_AXES = (("x", "y", "z"), ("x", "y"))

# How deep structs may be nested; SuiteSparse has Problem.aux.coord.
_MOST_LEVELS = 4

_HDF5 = b"\x89HDF\r\n\x1a\n"

# Version 4: bytes of a number, by its code.
_SIZES = (8, 4, 4, 2, 2, 1)

# Versions 5 to 7: bytes of the header, of which the last two give the byte order; kinds of elements, and those that are
# numbers; classes of arrays.
_HEADER_BYTES = 128
_ORDERS = {b"IM": "<", b"MI": ">"}
_COUNTS, _MATRIX, _COMPRESSED = 6, 14, 15
_NUMBERS = (1, 2, 3, 4, 5, 6, 7, 9, 12, 13)
_STRUCT, _SPARSE, _DENSE, _OPAQUE = 2, 5, range(6, 16), 17

_Element = tuple[int, memoryview]


@dataclass(frozen=True, eq=False)
class MatVariable:
    """Shape of a matrix of numbers, None for anything else, and a function that reads it."""

    shape: tuple[int, ...] | None = None
    read: Callable[[], Any] = lambda: None


Variables = dict[str, MatVariable]


def read_mat(file: Path, request: Request) -> Content:
    """Return adjacency matrix and coordinates in a MATLAB file."""
    with open_variables(file) as variables:
        name = _matrix_name(variables, request.variable, file)
        matrix = _matrix_of_lists(variables, file, request) if name is None else variables[name].read()
        n_vertices = matrix.shape[0] if matrix.ndim else 0
        return Content(matrix, coords=_coordinates(variables, n_vertices, name))


@contextmanager
def open_variables(file: Path) -> Iterator[Variables]:
    """Give the variables of a file of any version, fields of a struct as ``struct.field``."""
    if is_hdf5(file):
        with variables_73(file) as variables:
            yield variables
        return
    check_memory(file, "its content", 2 * file.stat().st_size)
    content = file.read_bytes()
    with parsing(file, "a MATLAB file"):
        # The first four bytes of version 4 are a small number, those of the others are text.
        yield _variables_4(content, file) if 0 in content[:4] else _Version5(content, file).variables()


def _matrix_name(variables: Variables, wanted: str | None, file: Path) -> str | None:
    """Return the name of the adjacency matrix; None if there are lists of edges in its place."""
    if wanted is not None:
        if wanted not in variables:
            names = _listed(variables) or "none"
            raise InputError(f"`variable` must be one of {names} in {quoted(file)}, got {quoted(wanted)}")
        if variables[wanted].shape is None:
            raise InputError(f"`variable` {quoted(wanted)} of {quoted(file)} must be a matrix of numbers")
        return wanted
    shapes = {name: variable.shape for name, variable in variables.items() if name not in _COORDS}
    square = [name for name, shape in shapes.items() if shape and len(shape) == 2 and shape[0] == shape[1] > 1]
    if len(square) == 1:
        return square[0]
    for name in _MATRICES:
        if name in square:
            return name
    if square:
        raise InputError(f"{quoted(file)} has several square matrices, choose a `variable`: {_listed(square)}")
    if not all(edge in variables for edge in _EDGES):
        raise InputError(f"{quoted(file)} has no square matrix of numbers, only: {_listed(variables) or 'nothing'}")
    return None


def _listed(names: Iterable[str]) -> str:
    shown = [printable(name) for name in names]
    return ", ".join(shown[:20]) + (f" and {len(shown) - 20} more" if len(shown) > 20 else "")


def _matrix_of_lists(variables: Variables, file: Path, request: Request) -> sparse.csr_array:
    """Return the adjacency matrix of edges in two vectors of vertices, and perhaps one of weights."""
    lists = []
    for name in _EDGES:
        numbers = _vector(variables[name], name, file)
        vertices = numbers.astype(np.int64) if numbers.dtype.kind in "biuf" else None
        if vertices is None or (vertices != numbers).any() or (vertices < 0).any():
            raise InputError(f"{name} of {quoted(file)} must have whole numbers from 0 or 1 on")
        lists.append(vertices)
    weights = np.ones(len(lists[0]))
    if _WEIGHTS in variables:
        weights = _vector(variables[_WEIGHTS], _WEIGHTS, file).astype(np.float64)
    if not 0 < len(lists[0]) == len(lists[1]) == len(weights):
        lengths = f"{len(lists[0])}, {len(lists[1])} and {len(weights)}"
        raise InputError(f"i_inds, j_inds and weights of {quoted(file)} must be of the same length, got {lengths}")
    ends = np.column_stack(lists)
    ends -= min(1, int(ends.min()))
    n_vertices = int(ends.max()) + 1
    check_vertices(file, n_vertices, ends.nbytes)

    def refuse(before: int, row: int) -> NoReturn:
        hint = "" if (ends[before] == ends[row]).all() else "; symmetrize 'max' or 'mean' takes directed edges"
        raise InputError(
            f"the same edge must have the same weight in {quoted(file)}, got {weights[before]} at {before} and "
            f"{weights[row]} at {row}{hint}"
        )

    return matrix_of_edges(ends, weights, n_vertices, request, refuse)


def _vector(variable: MatVariable, name: str, file: Path) -> Any:
    shape = variable.shape
    if shape is None or max(shape, default=0) != math.prod(shape):
        raise InputError(f"{name} of {quoted(file)} must be a vector of numbers, got shape {shape}")
    return np.asarray(variable.read()).ravel()


def _coordinates(variables: Variables, n_vertices: int, matrix_name: str | None) -> FloatArray | None:
    """Return the coordinates if there are some for all vertices, and all are finite."""
    coords = None
    vectors = ((n_vertices,), (n_vertices, 1), (1, n_vertices))
    for name in _COORDS:
        if name in variables and name != matrix_name and variables[name].shape in ((n_vertices, 2), (n_vertices, 3)):
            coords = variables[name].read()
            break
    else:
        for axes in _AXES:
            if all(axis in variables and variables[axis].shape in vectors for axis in axes):
                coords = np.column_stack([np.asarray(variables[axis].read()).ravel() for axis in axes])
                break
    if coords is None or sparse.issparse(coords) or coords.dtype.kind not in "biuf":
        return None
    return coords.astype(np.float64) if np.isfinite(coords).all() else None


def _variables_4(content: bytes, file: Path) -> Variables:
    """Return the variables of version 4, once all sizes are checked: below zero, scipy would go back for ever."""
    place, order = 0, "<" if int.from_bytes(content[:4], "little") <= 5000 else ">"
    while place < len(content):
        options, n_rows, n_cols, imaginary, n_name = struct.unpack_from(f"{order}5i", content, place)
        if min(n_rows, n_cols, n_name) < 0:
            raise ValueError("a size below zero")
        n_numbers = n_rows * n_cols * (2 if imaginary == 1 and options % 10 != 2 else 1)
        size, place = _SIZES[options // 10 % 10], place + 20 + n_name
        check_room(file, "numbers", n_numbers, (len(content) - place) // size)
        place += n_numbers * size

    variables: Variables = {}
    for name, shape, kind in whosmat(BytesIO(content)):
        read = partial(_load, content, shape, kind == "sparse", len(content), file, name)
        variables[name] = MatVariable() if kind == "char" else MatVariable(shape, read)
    return variables


def _load(
    content: bytes, shape: tuple[int, ...], is_sparse: bool, n_content: int, file: Path, name: str | None = None
) -> Any:
    """Let scipy read a matrix, the last or the only one of that name, if it fits into the memory."""
    if is_sparse:
        check_vertices(file, max(shape), n_content)
    n_bytes = BYTES_PER_ENTRY * n_content // 8 if is_sparse else 3 * 8 * math.prod(shape)
    check_memory(file, f"a matrix of shape {shape}", n_bytes)
    *_, matrix = loadmat(BytesIO(content), variable_names=name).values()
    return matrix


class _Version5:
    """The variables of versions 5 to 7: elements with a tag, packed or not. Only matrices go to scipy, one by one.

    scipy takes the kind in a tag as a place in a table, calls itself for what is nested, and unpacks whatever there is:
    one changed byte can crash it. So all tags are checked here, and sizes against what the file and the memory hold.
    """

    def __init__(self, content: bytes, file: Path) -> None:
        self._content, self._file = content, file
        order = _ORDERS.get(content[_HEADER_BYTES - 2 : _HEADER_BYTES])
        if order is None:
            raise InputError(f"{quoted(file)} cannot be read as a MATLAB file: its header does not give the byte order")
        self._order = order

    def variables(self) -> Variables:
        """Return all variables."""
        variables: Variables = {}
        n_unpacked = len(self._content)
        for kind, data in self._elements(memoryview(self._content)[_HEADER_BYTES:], padded=False):
            if kind == _COMPRESSED:
                kind, data = self._unpacked(data, n_unpacked)
                n_unpacked += len(data)
            if kind == _MATRIX:
                variables |= self._of_matrix(data, "", _MOST_LEVELS)
        return variables

    def _elements(self, data: memoryview, padded: bool = True) -> Iterator[_Element]:
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

    def _unpacked(self, packed: memoryview, n_before: int) -> _Element:
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

    def _of_matrix(self, data: memoryview, prefix: str, levels: int) -> Variables:
        """Return the variable in the content of a matrix element, or the fields of a struct of one element."""
        (kind, flags), *parts = self._elements(data)
        array_class = struct.unpack_from(f"{self._order}I", flags)[0] & 0xFF
        shape = () if array_class == _OPAQUE else tuple(self._integers(parts.pop(0)))
        own_name = bytes(parts.pop(0)[1]).rstrip(b"\0").decode("latin-1")
        name, is_sparse = prefix or own_name, array_class == _SPARSE
        if (kind, len(flags)) != (_COUNTS, 8) or not name or min(shape, default=0) < 0:
            return {}
        if array_class == _STRUCT and math.prod(shape) == 1 and levels > 1:
            return self._fields(parts, name, levels - 1)
        if not (is_sparse or array_class in _DENSE) or any(kind not in _NUMBERS for kind, _ in parts):
            return {name: MatVariable()}

        def read() -> Any:
            if not is_sparse:
                check_room(self._file, "numbers", math.prod(shape), len(data))
            tag = struct.pack(f"{self._order}2I", _MATRIX, len(data))
            alone = b"".join([self._content[:_HEADER_BYTES], tag, data])
            return _load(alone, shape, is_sparse, len(data), self._file)

        return {name: MatVariable(shape, read)}

    def _fields(self, parts: list[_Element], name: str, levels: int) -> Variables:
        """Return the fields of a struct of one element."""
        width, joined = self._integers(parts[0])[0], bytes(parts[1][1])
        check_room(self._file, "bytes in the name of a field", width, len(joined) or 1)
        names = [joined[k : k + width].split(b"\0")[0].decode("latin-1") for k in range(0, len(joined), width)]
        variables: Variables = {}
        for field, (_, data) in zip(names, parts[2:], strict=True):
            if len(data):
                variables |= self._of_matrix(data, f"{name}.{field}", levels)
        return variables

    def _integers(self, element: _Element) -> list[int]:
        numbers: list[int] = np.frombuffer(element[1], f"{self._order}i4").tolist()
        return numbers


def is_hdf5(file: Path) -> bool:
    """Tell whether the file is of version 7.3, that is HDF5, mostly behind 512 bytes of MATLAB's own."""
    with file.open("rb") as stream:
        head = stream.read(512 + len(_HDF5))
    return head.startswith(_HDF5) or head[512:] == _HDF5


@contextmanager
def variables_73(file: Path) -> Iterator[Variables]:
    """Give the variables of a file of version 7.3 while it is open, fields of a struct as ``struct.field``."""
    try:
        import h5py
    except ImportError:
        raise ImportError(
            f"{quoted(file)} is a MATLAB file of version 7.3; install h5py to read it: pip install h5py"
        ) from None
    with parsing(file, "a MATLAB file of version 7.3"), h5py.File(file, "r") as root:
        yield dict(_of_group(root, "", _MOST_LEVELS, file, set()))


def _of_group(group: Any, prefix: str, levels: int, file: Path, seen: set[Any]) -> Iterator[tuple[str, MatVariable]]:
    """Yield the variables in a group; links to other files and to groups that were seen are not followed."""
    import h5py

    for name in group:
        if name.startswith("#") or not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        item = group[name]
        if "MATLAB_sparse" in item.attrs:
            shape = (int(item.attrs["MATLAB_sparse"]), item["jc"].shape[0] - 1)
            yield prefix + name, MatVariable(shape, partial(_sparse_73, item, shape, file))
        elif isinstance(item, h5py.Dataset):
            text = item.attrs.get("MATLAB_class", b"") in (b"char", "char")
            if text or "MATLAB_empty" in item.attrs or item.shape is None or item.dtype.kind not in "biuf":
                yield prefix + name, MatVariable()
            else:
                yield prefix + name, MatVariable(item.shape[::-1], partial(_numbers_73, item, file))
        elif levels > 1 and (place := h5py.h5o.get_info(item.id).addr) not in seen:
            seen.add(place)
            yield from _of_group(item, f"{prefix}{name}.", levels - 1, file, seen)


def _numbers_73(item: Any, file: Path) -> Any:
    """Return the numbers in a data set of the file itself, if the file can hold them."""
    if item.external or item.is_virtual:
        raise ValueError("numbers in other files")
    # What was never written takes no room and reads as zeros.
    room = max(FREE_TEXT, DEFLATE_RATIO * item.id.get_storage_size())
    check_room(file, "bytes of numbers", item.size * item.dtype.itemsize, room)
    check_memory(file, f"an array of shape {item.shape}", item.size * (item.dtype.itemsize + 3 * 8))
    return item[()].T  # rows of MATLAB are columns of HDF5


def _sparse_73(item: Any, shape: tuple[int, int], file: Path) -> Any:
    ends = _numbers_73(item["jc"], file).astype(np.int64)
    check_vertices(file, max(shape), 8 * len(ends))
    if "data" not in item:
        return sparse.csc_array(shape)
    check_memory(file, f"a matrix of {item['data'].size:,} entries", BYTES_PER_ENTRY * item["data"].size)
    rows = _numbers_73(item["ir"], file).astype(np.int64)
    return sparse.csc_array((_numbers_73(item["data"], file), rows, ends), shape=shape)
