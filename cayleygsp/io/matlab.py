"""Graphs in MATLAB files: an adjacency matrix or a list of edges, and coordinates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from cayleygsp._text import printable, quoted
from cayleygsp._typing import FloatArray, IntArray
from cayleygsp.io.content import Content, Request
from cayleygsp.io.edge_lists import distinct_edges, matrix_of_edges
from cayleygsp.io.files import parsing
from cayleygsp.io.limits import InputError, check_memory, check_vertices
from cayleygsp.io.mat4 import variables_4
from cayleygsp.io.mat5 import variables_5
from cayleygsp.io.mat73 import is_hdf5, variables_73
from cayleygsp.io.mat_variable import MatVariable

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
