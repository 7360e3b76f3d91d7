"""Reading graphs from files: matrices of numpy, scipy and MATLAB, Matrix Market, edge lists, GraphML."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO, StringIO
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn
from xml.etree.ElementTree import ParseError

import numpy as np
import numpy.typing as npt
import scipy.io
from scipy import sparse

from cayleygsp._typing import Array, FloatArray
from cayleygsp.graph import Graph, as_adjacency, networkx_edges

__all__ = ["read_graph"]

_COMMENT = re.compile(r"(?<!\S)[#%].*")
_SEPARATOR = re.compile(r"\s*[,;]\s*|\s+")
_EMPTY_FIELD = re.compile(r"[,;][ \t]*(?:[,;]|$)|^[ \t]*[,;]", re.MULTILINE)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
# Whole numbers are exact in double precision below this.
_EXACT = 2.0**53
_HEADER_HINT = "; if it is a header, put # in front of it"

_MAT_NAMES = ("W", "A", "adjacency", "Problem.A")
_HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def read_graph(path: str | os.PathLike[str], *, variable: str | None = None) -> Graph:
    r"""Return the graph in a file; the ending of its name tells the format.

    ============================================  ======================================================
    ending                                        content
    ============================================  ======================================================
    ``.npz``                                      sparse adjacency matrix by ``scipy.sparse.save_npz``
    ``.npy``                                      dense adjacency matrix by ``numpy.save``
    ``.mtx``, ``.mtx.gz``                         adjacency matrix in Matrix Market format
    ``.mat``                                      adjacency matrix by MATLAB; version 7.3 needs ``h5py``
    ``.txt .edges .edgelist .csv .tsv``           edge list, also with ``.gz``
    ``.graphml``                                  GraphML, edge attribute ``weight``
    ============================================  ======================================================

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    variable : str, optional
        For ``.mat`` only: the variable that holds the adjacency matrix, ``"S.A"`` for field A of a struct S.
        If not given: the only square matrix, else the one called W, A, adjacency or Problem.A (the
        SuiteSparse collection).

    Returns
    -------
    Graph
        Named as the file without its ending. Where vertices have names in the file, they are its ``labels``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the ending is unknown or the content is not what it promises, with the line for text formats.
    ImportError
        If reading a MATLAB file of version 7.3 needs ``h5py``.

    Notes
    -----
    A line of an edge list has two vertex names and perhaps a weight (on all lines or on none), separated by
    blanks, tabs, a comma or a semicolon. Empty lines are skipped and so is what follows ``#`` or ``%`` at the
    start of a line or after a blank. An edge may come once or several times, in either direction, always with
    the same weight, and counts once. Names that are the numbers 0, …, n − 1 or 1, …, n, at least half of
    them in use, are the vertices, those not in use without edges; other names are numbered in sorted order.

    Nothing is ever unpickled.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cayleygsp.io import read_graph
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "friends.csv")
    ...     _ = file.write_text("ann,bob,2\nbob,cy,0.5\n")
    ...     graph = read_graph(file)
    >>> graph
    Graph('friends', n_vertices=3, n_edges=2)
    >>> graph.labels
    array(['ann', 'bob', 'cy'], dtype='<U3')
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"`path` must be a string or a path, got {type(path).__name__}")
    file = Path(path)
    ending = _ending(file)
    _check_file(file)
    if variable is None:
        matrix, labels = _READERS[ending](file)
    elif ending == ".mat":
        matrix, labels = _read_mat(file, variable)
    else:
        raise ValueError(f"`variable` must be left out unless the file is a .mat, got {variable!r} for '{file}'")
    return Graph(as_adjacency(matrix, name=str(file)), labels=labels, name=file.name[: -len(ending)])


def _ending(file: Path) -> str:
    found = [ending for ending in _READERS if file.name.lower().endswith(ending)]
    if not found:
        raise ValueError(f"'{file}' must have one of the endings {', '.join(_READERS)}")
    return max(found, key=len)


def _check_file(file: Path) -> None:
    if not file.exists():
        raise FileNotFoundError(f"there is no file '{file}'")
    if not file.is_file():
        raise ValueError(f"'{file}' is not a file")
    if file.stat().st_size == 0:
        raise ValueError(f"'{file}' is empty")


@contextmanager
def _parsing(file: Path, content: str) -> Iterator[None]:
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


# Matrices.


# Files are opened here, as numpy leaves those open that it cannot read.


def _read_npz(file: Path) -> tuple[Any, None]:
    with _parsing(file, "a sparse matrix written by scipy.sparse.save_npz"), file.open("rb") as stream:
        return sparse.load_npz(stream), None


def _read_npy(file: Path) -> tuple[Array, None]:
    with _parsing(file, "an array written by numpy.save"), file.open("rb") as stream:
        return np.lib.format.read_array(stream, allow_pickle=False), None


def _read_mtx(file: Path) -> tuple[Any, None]:
    content = _content(file).rstrip()
    if content.endswith((b"e", b"E", b"-", b"+")):
        raise ValueError(f"'{file}' cannot be read as a Matrix Market file: it ends within a number")
    try:
        # With a last line that ends: the reader may read beyond one that does not, and crash.
        return scipy.io.mmread(BytesIO(content + b"\n")), None
    except (ValueError, OverflowError) as error:
        # The reader's messages are made for users: they name the line and what is wrong there.
        raise ValueError(f"'{file}' cannot be read as a Matrix Market file: {error}") from None


def _content(file: Path) -> bytes:
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


# MATLAB.


def _read_mat(file: Path, variable: str | None = None) -> tuple[Any, None]:
    contents = _hdf5_variables(file) if _is_hdf5(file) else _mat_variables(file)
    if variable is None:
        return contents[_adjacency_name(contents, file)], None
    if variable not in contents:
        raise ValueError(f"`variable` must be one of {', '.join(contents) or 'none'} in '{file}', got {variable!r}")
    if not _is_numeric(contents[variable]):
        raise ValueError(f"`variable` {variable!r} of '{file}' must be a matrix of numbers")
    return contents[variable], None


def _is_hdf5(file: Path) -> bool:
    """Tell whether the file is of version 7.3, that is HDF5, mostly behind 512 bytes of MATLAB's own."""
    with file.open("rb") as stream:
        head = stream.read(512 + len(_HDF5_SIGNATURE))
    return head.startswith(_HDF5_SIGNATURE) or head[512:] == _HDF5_SIGNATURE


def _mat_variables(file: Path) -> dict[str, Any]:
    """Return the variables of a file up to version 7, fields of a struct as ``struct.field``."""
    with _parsing(file, "a MATLAB file"), file.open("rb") as stream:
        contents = scipy.io.loadmat(stream)
    variables: dict[str, Any] = {}
    for name, value in contents.items():
        if name.startswith("__"):
            continue
        if isinstance(value, np.ndarray) and value.dtype.names and value.size == 1:
            record = value.reshape(-1)[0]
            variables |= {f"{name}.{field}": record[field] for field in value.dtype.names}
        else:
            variables[name] = value
    return variables


def _hdf5_variables(file: Path) -> dict[str, Any]:
    """Return the numeric variables of a file of version 7.3, fields of a struct as ``struct.field``."""
    try:
        import h5py
    except ImportError:
        raise ImportError(
            f"'{file}' is a MATLAB file of version 7.3; install h5py to read it: pip install h5py"
        ) from None
    variables: dict[str, Any] = {}
    with _parsing(file, "a MATLAB file of version 7.3"), h5py.File(file, "r") as root:
        for name, item in root.items():
            if name.startswith("#"):
                continue
            if isinstance(item, h5py.Group) and "MATLAB_sparse" not in item.attrs:
                variables |= {f"{name}.{field}": _hdf5_matrix(value) for field, value in item.items()}
            else:
                variables[name] = _hdf5_matrix(item)
    return variables


def _hdf5_matrix(item: Any) -> Any:
    """Return a sparse or dense matrix as MATLAB stored it, None for what is no matrix of numbers."""
    if "MATLAB_sparse" in item.attrs:
        column_ends = item["jc"][()].astype(np.int64)
        shape = (int(item.attrs["MATLAB_sparse"]), len(column_ends) - 1)
        if "data" not in item:
            return sparse.csc_array(shape)
        return sparse.csc_array((item["data"][()], item["ir"][()].astype(np.int64), column_ends), shape=shape)
    text = item.attrs.get("MATLAB_class", b"") in (b"char", "char")
    if text or "MATLAB_empty" in item.attrs or getattr(item, "dtype", np.dtype("O")).kind not in "biuf":
        return None
    return item[()].T


def _is_numeric(value: Any) -> bool:
    is_array = sparse.issparse(value) or isinstance(value, np.ndarray)
    return is_array and value.dtype.kind in "biufc"


def _adjacency_name(contents: dict[str, Any], file: Path) -> str:
    square = [
        name
        for name, value in contents.items()
        if _is_numeric(value) and value.ndim == 2 and value.shape[0] == value.shape[1] > 1
    ]
    if len(square) == 1:
        return square[0]
    for name in _MAT_NAMES:
        if name in square:
            return name
    if square:
        raise ValueError(f"'{file}' has several square matrices, choose a `variable`: {', '.join(square)}")
    raise ValueError(f"'{file}' has no square matrix of numbers, only: {', '.join(contents) or 'nothing'}")


# GraphML.


def _read_graphml(file: Path) -> tuple[sparse.csr_array, Array]:
    import networkx

    if b"<!DOCTYPE" in file.read_bytes():
        raise ValueError(f"'{file}' must be plain GraphML, got a document type declaration, which could hide entities")
    with _parsing(file, "GraphML"):
        graph = networkx.read_graphml(file)
    labels = np.array(list(graph), dtype=np.str_)
    if not graph.is_directed():
        return as_adjacency(graph, name=str(file)), labels
    tails, heads, weights = networkx_edges(graph, name=str(file))
    matrix = sparse.csr_array((weights, (tails, heads)), shape=(len(graph), len(graph)))
    if abs(matrix - matrix.T).max() > 0:
        raise ValueError(
            f"'{file}' must hold an undirected graph; it is directed, and not all edges have "
            "one of the same weight in the opposite direction"
        )
    return matrix, labels


# Edge lists.


@dataclass(frozen=True, eq=False)
class _EdgeList:
    """Edges in the order of the file: numbers of both ends, shape (n_edges, 2), or words in turn; weights."""

    names: npt.NDArray[np.int64] | list[str]
    weights: FloatArray


def _read_edge_list(file: Path) -> tuple[sparse.csr_array, Array | None]:
    text = _text(file)
    edges = _parse_numbers(text) or _parse_lines(text, file)
    ends, n_vertices, labels = _number_vertices(edges.names)
    kept = _distinct_edges(ends, n_vertices, edges.weights, text, file)
    (tails, heads), weights = ends[kept].T, edges.weights[kept]
    inner = tails != heads
    rows, cols = np.concatenate([tails, heads[inner]]), np.concatenate([heads, tails[inner]])
    data = np.concatenate([weights, weights[inner]])
    return sparse.csr_array((data, (rows, cols)), shape=(n_vertices, n_vertices)), labels


def _text(file: Path) -> str:
    content = _content(file)
    try:
        if b"\0" in content:
            raise ValueError("a zero byte")
        text = content.decode("utf-8-sig")
    except ValueError:
        raise ValueError(f"'{file}' cannot be read as an edge list: it is not a text file in UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _parse_numbers(text: str) -> _EdgeList | None:
    """Parse a list of whole numbers and weights at once; None if it is anything else, or has an error."""
    if "#" in text or "%" in text:
        text = _COMMENT.sub("", text)
    if "," in text or ";" in text:
        if _EMPTY_FIELD.search(text):
            return None
        text = text.replace(",", " ").replace(";", " ")
    if not text.strip():
        return None
    try:
        table = np.loadtxt(StringIO(text), dtype=np.float64, comments=None, ndmin=2)
    except ValueError:
        return None
    names, weights = table[:, :2], table[:, 2] if table.shape[1] == 3 else np.ones(len(table))
    whole = (np.abs(names) < _EXACT).all() and (names == np.floor(names)).all()
    if table.shape[1] not in (2, 3) or not whole or not (np.isfinite(weights) & (weights >= 0)).all():
        return None
    return _EdgeList(names.astype(np.int64), weights)


def _data_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and content beside comments of those lines that have any."""
    for number, line in enumerate(_COMMENT.sub("", text).split("\n"), start=1):
        content = line.strip()
        if content:
            yield number, content


def _parse_lines(text: str, file: Path) -> _EdgeList:
    """Parse a list line by line, with any names, and say which line is wrong."""
    split = _SEPARATOR.split if "," in text or ";" in text else str.split
    names: list[str] = []
    weights: list[float] = []
    n_columns = 0
    for number, content in _data_lines(text):
        fields = split(content)
        problem = _problem(fields, n_columns)
        if problem:
            _refuse(file, text, number, problem + ("" if names else _HEADER_HINT))
        n_columns = len(fields)
        names += fields[:2]
        weights.append(float(fields[2]) if n_columns == 3 else 1.0)
    if not names:
        raise ValueError(f"'{file}' has no edges, only comments")
    return _EdgeList(_whole_numbers(names, text, file), np.array(weights))


def _problem(fields: list[str], n_columns: int) -> str:
    """Say what is wrong with the fields of a line; nothing if nothing is."""
    if "" in fields:
        return "a field is empty"
    if len(fields) not in (2, 3):
        return f"expected two vertex names and perhaps a weight, got {len(fields)} column(s)"
    if n_columns and len(fields) != n_columns:
        return f"expected {n_columns} columns as in the lines before, got {len(fields)}"
    if len(fields) == 2:
        return ""
    weight = fields[2]
    if not _NUMBER.fullmatch(weight):
        return f"expected a finite number as weight, got {weight!r}"
    if not 0 <= float(weight) < np.inf:
        return f"expected a finite non-negative weight, got {weight}"
    return ""


def _line_number(text: str, row: int) -> int:
    """Return the number of the line that holds the given row of the edge list."""
    return next(islice(_data_lines(text), row, None))[0]


def _refuse(file: Path, text: str, number: int, problem: str) -> NoReturn:
    line = text.split("\n")[number - 1]
    shown = line if len(line) <= 80 else line[:77] + "..."
    raise ValueError(f"'{file}', line {number}: {problem}; the line is {shown!r}")


def _whole_numbers(names: list[str], text: str, file: Path) -> npt.NDArray[np.int64] | list[str]:
    """Return the names as integers if they all are, else as they came; refuse fractions and headers."""
    words = [place for place, name in enumerate(names) if not _NUMBER.fullmatch(name)]
    if words == [0, 1] and len(names) > 2:
        problem = "expected whole numbers as in the other lines" + _HEADER_HINT
        _refuse(file, text, _line_number(text, 0), problem)
    if words:
        return names
    fraction = next((place for place, name in enumerate(names) if not _is_whole(name)), None)
    if fraction is not None:
        problem = "expected whole numbers or words as vertex names"
        _refuse(file, text, _line_number(text, fraction // 2), problem)
    try:
        return np.array(list(map(_whole, names)), dtype=np.int64).reshape(-1, 2)
    except (OverflowError, ValueError):
        # More digits than fit: such numbers are names like any other.
        return names


def _is_whole(number: str) -> bool:
    return bool(_INTEGER.fullmatch(number)) or (abs(float(number)) < _EXACT and float(number).is_integer())


def _whole(number: str) -> int:
    return int(number) if _INTEGER.fullmatch(number) else int(float(number))


def _number_vertices(
    names: npt.NDArray[np.int64] | list[str],
) -> tuple[npt.NDArray[np.int64], int, Array | None]:
    """Return the edges between vertices 0, …, n − 1, that n, and the names where they are not these."""
    if isinstance(names, list):
        words = sorted(set(names))
        vertex = {word: number for number, word in enumerate(words)}
        ends = np.fromiter(map(vertex.__getitem__, names), dtype=np.int64, count=len(names))
        return ends.reshape(-1, 2), len(words), np.array(words)
    first, last = int(names.min()), int(names.max())
    n_vertices = last - first + 1
    if first in (0, 1) and n_vertices <= 2 * names.size:
        used = np.zeros(n_vertices, dtype=np.bool_)
        used[names - first] = True
        if n_vertices <= 2 * np.count_nonzero(used):
            return names - first, n_vertices, np.arange(first, last + 1) if first else None
    numbers, position = np.unique(names, return_inverse=True)
    return position.reshape(names.shape), len(numbers), numbers


def _distinct_edges(
    ends: npt.NDArray[np.int64], n_vertices: int, weights: FloatArray, text: str, file: Path
) -> npt.NDArray[np.int64]:
    """Return the first row of each edge; refuse two weights for the same edge."""
    pair = ends.min(axis=1) * n_vertices + ends.max(axis=1)
    order = np.argsort(pair, kind="stable")
    repeated = np.diff(pair[order]) == 0
    conflict = repeated & (np.diff(weights[order]) != 0)
    if conflict.any():
        # The one whose line comes first in the file.
        place = min(np.flatnonzero(conflict), key=lambda k: order[k + 1])
        before, row = int(order[place]), int(order[place + 1])
        earlier = _line_number(text, before)
        problem = f"expected weight {weights[before]}, that of the same edge in line {earlier}"
        _refuse(file, text, _line_number(text, row), problem)
    return order[np.concatenate([[True], ~repeated])]


_EDGE_LISTS = (".txt", ".edges", ".edgelist", ".csv", ".tsv")
_READERS: dict[str, Callable[[Path], tuple[Any, Array | None]]] = {
    ".npz": _read_npz,
    ".npy": _read_npy,
    ".mtx": _read_mtx,
    ".mtx.gz": _read_mtx,
    ".mat": _read_mat,
    ".graphml": _read_graphml,
    **dict.fromkeys(_EDGE_LISTS, _read_edge_list),
    **dict.fromkeys((ending + ".gz" for ending in _EDGE_LISTS), _read_edge_list),
}
