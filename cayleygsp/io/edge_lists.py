"""Graphs as lists of edges in text files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NoReturn

import numpy as np
from scipy import sparse

from cayleygsp._text import natural_key, printable, quoted
from cayleygsp._typing import Array, FloatArray, IntArray
from cayleygsp.io.files import (
    Content,
    Readable,
    Request,
    check_memory,
    decode,
    label_array,
    load_numbers,
    read_content,
    reject_line,
)

_COMMENT = re.compile(r"(?<!\S)[#%].*")
_SEPARATOR = re.compile(r"\s*[,;]\s*|\s+")
_EMPTY_FIELD = re.compile(r"[,;][ \t]*(?:[,;]|$)|^[ \t]*[,;]", re.MULTILINE)
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)

# Whole numbers are exact in double precision below this.
_EXACT = 2.0**53

# The memory that a byte of the text needs: 10 to 25 bytes were measured with numbers, 27 to 41 with words.
_COST, _WORD_COST = 25, 45

_HEADER_HINT = "; if it is a header, put # in front of it"


#: Numbers of both ends of the edges in the order of the file, shape (n_edges, 2), or words in turn.
_Names = IntArray | list[str]


def read_edge_list(file: Path, request: Request, stream: Readable | None = None) -> Content:
    """Return adjacency matrix and labels of an edge list, in a file or in a stream that messages call by that name."""
    content = read_content(file, _COST, stream)
    text = decode(content, file, "an edge list")
    names, weights = _parse_numbers(text) or _parse_lines(text, file)
    ends, n_vertices, labels = _number_vertices(names, file, len(content))

    def refuse(before: int, row: int) -> NoReturn:
        problem = f"expected weight {weights[before]}, that of the same edge in line {_line_number(text, before)}"
        if (ends[before] != ends[row]).any():
            problem += " in the other direction (symmetrize 'max' or 'mean' takes directed edges)"
        _refuse(file, text, _line_number(text, row), problem)

    return Content(matrix_of_edges(ends, weights, n_vertices, request, refuse), labels)


def matrix_of_edges(
    ends: IntArray, weights: FloatArray, n_vertices: int, request: Request, refuse: Callable[[int, int], NoReturn]
) -> sparse.csr_array:
    """Return the adjacency matrix of edges, in both directions unless directed ones are asked for.

    An edge may come several times. Where it has two weights, ``refuse`` is called with the rows of both, those that
    come first in the file.
    """
    directed = request.symmetrize is not None
    first, second = (ends[:, 0], ends[:, 1]) if directed else (ends.min(axis=1), ends.max(axis=1))
    pair = first * n_vertices + second
    order = np.argsort(pair, kind="stable")
    repeated = np.diff(pair[order]) == 0
    conflict = np.flatnonzero(repeated & (np.diff(weights[order]) != 0))
    if conflict.size:
        place = conflict[np.argmin(order[conflict + 1])]
        refuse(int(order[place]), int(order[place + 1]))
    kept = order[np.concatenate([[True], ~repeated])]
    (tails, heads), weights = ends[kept].T, weights[kept]
    if not directed:
        inner = tails != heads
        tails, heads = np.concatenate([tails, heads[inner]]), np.concatenate([heads, tails[inner]])
        weights = np.concatenate([weights, weights[inner]])
    return sparse.csr_array((weights, (tails, heads)), shape=(n_vertices, n_vertices))


def _parse_numbers(text: str) -> tuple[_Names, FloatArray] | None:
    """Parse a list of whole numbers and weights at once; None if it is anything else, or has an error."""
    if "#" in text or "%" in text:
        text = _COMMENT.sub("", text)
    if "," in text or ";" in text:
        if _EMPTY_FIELD.search(text):
            return None
        text = text.replace(",", " ").replace(";", " ")
    table = load_numbers(text)
    if table is None:
        return None
    names, weights = table[:, :2], table[:, 2] if table.shape[1] == 3 else np.ones(len(table))
    whole = (np.abs(names) < _EXACT).all() and (names == np.floor(names)).all()
    if table.shape[1] not in (2, 3) or not whole or not (np.isfinite(weights) & (weights >= 0)).all():
        return None
    return names.astype(np.int64), weights


def _data_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield number and content beside comments of those lines that have any."""
    for number, line in enumerate(_COMMENT.sub("", text).split("\n"), start=1):
        content = line.strip()
        if content:
            yield number, content


def _parse_lines(text: str, file: Path) -> tuple[_Names, FloatArray]:
    """Parse a list line by line, with any names, and say which line is wrong."""
    check_memory(file, "its content", _WORD_COST * len(text))
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
        raise ValueError(f"{quoted(file)} has no edges, only comments")
    return _whole_numbers(names, text, file), np.array(weights)


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
        return f"expected a finite number as weight, got {quoted(weight, 40)}"
    if not 0 <= float(weight) < np.inf:
        return f"expected a finite non-negative weight, got {printable(weight)}"
    return ""


def _line_number(text: str, row: int) -> int:
    """Return the number of the line that holds the given row of the edge list."""
    return next(islice(_data_lines(text), row, None))[0]


def _refuse(file: Path, text: str, number: int, problem: str) -> NoReturn:
    line = text.split("\n")[number - 1]
    reject_line(file, number, f"{problem}; the line is {quoted(line, 80)}")


def _whole_numbers(names: list[str], text: str, file: Path) -> _Names:
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


def _number_vertices(names: _Names, file: Path, n_content: int) -> tuple[IntArray, int, Array | None]:
    """Return the edges between vertices 0, …, n − 1, that n, and the names where they are not these."""
    if isinstance(names, list):
        words = sorted(set(names), key=natural_key)
        vertex = {word: number for number, word in enumerate(words)}
        ends = np.fromiter(map(vertex.__getitem__, names), dtype=np.int64, count=len(names))
        return ends.reshape(-1, 2), len(words), label_array(words, file, n_content)
    first, last = int(names.min()), int(names.max())
    n_vertices = last - first + 1
    if first in (0, 1) and n_vertices <= 2 * names.size:
        used = np.zeros(n_vertices, dtype=np.bool_)
        used[names - first] = True
        if n_vertices <= 2 * np.count_nonzero(used):
            return names - first, n_vertices, np.arange(first, last + 1) if first else None
    numbers, position = np.unique(names, return_inverse=True)
    return position.reshape(names.shape), len(numbers), numbers
