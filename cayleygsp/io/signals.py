"""Signals in files, with or without the names of the vertices."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO, StringIO
from pathlib import Path

import numpy as np

from cayleygsp._text import first_few, printable, quoted
from cayleygsp._typing import Array, ArrayLike
from cayleygsp._validation import check_signals
from cayleygsp.graph import Graph
from cayleygsp.io.files import (
    InputError,
    Readable,
    check_file,
    check_memory,
    decode,
    load_numbers,
    read_content,
    reject_line,
)
from cayleygsp.io.matrices import read_array

# The memory that a byte of plain numbers needs, as measured.
COST = 12

# The memory that a line and a field of anything else need, as lists of words and numbers.
_LINE_COST, _FIELD_COST = 300, 130

# Headers of a column of names, beside the empty one of pandas.
NAME_HEADERS = ("", "vertex", "node", "name", "label", "id", "index")

_QUOTED_OR_COMMENT = re.compile(r'("(?:[^"]|"")*")|(?<!\S)#.*')
_DELIMITERS = (",", ";", "\t")
_NOT_PLAIN = re.compile(r"[^0-9eE+\-.,;\s]")

_Row = tuple[int, list[str]]


@dataclass(frozen=True, eq=False)
class SignalTable:
    """Numbers, shape (n_rows,) or (n_rows, n_columns), and the names of the rows if they have any."""

    values: Array
    names: list[str] | None = None


def parse_table(text: str, file: Path) -> SignalTable:
    """Return the table in a text, real unless a number has an imaginary part."""
    if "#" in text:
        text = _QUOTED_OR_COMMENT.sub(lambda match: match[1] or "", text)
    delimiter = next((mark for mark in _DELIMITERS if mark in text), None)
    plain = None if _NOT_PLAIN.search(text) else load_numbers(text, delimiter)
    if plain is not None:
        return SignalTable(_as_signals(plain))
    n_lines = text.count("\n") + 1
    n_fields = n_lines + text.count(delimiter or " ")
    check_memory(file, "its content", 3 * len(text) + _LINE_COST * n_lines + _FIELD_COST * n_fields)
    rows = list(_text_rows(text, delimiter, file))
    if not rows:
        raise InputError(f"{quoted(file)} holds no numbers")
    header, body = rows[0][1], rows[1:]
    heads_names = len(header) > 1 and header[0].lower() in NAME_HEADERS
    if not body or not (heads_names or not any(map(_is_number, header))):
        heads_names, body = False, rows  # the first row is no header
    has_words = all(len(fields) > 1 for _, fields in body) and not all(_is_number(fields[0]) for _, fields in body)
    if not (heads_names or has_words):
        return SignalTable(_as_signals(_numbers(body, 0, file)))
    return SignalTable(_as_signals(_numbers(body, 1, file)), [fields[0] for _, fields in body])


def parse_number(word: str) -> complex:
    """Read a real or complex number, as Python or with "i"."""
    return complex(re.sub("i$", "j", word))


def _text_rows(text: str, delimiter: str | None, file: Path) -> Iterator[_Row]:
    """Yield number of the line and fields of those lines that have any."""
    if delimiter is None and '"' not in text:
        for number, line in enumerate(text.split("\n"), start=1):
            if fields := line.split():
                yield number, fields
        return
    reader = csv.reader(StringIO(text), delimiter=delimiter or " ", skipinitialspace=True, strict=True)
    try:
        for fields in reader:
            stripped = [field.strip() for field in fields if field or delimiter]
            if stripped and stripped != [""]:
                yield reader.line_num, stripped
    except csv.Error as error:
        reject_line(file, reader.line_num, str(error))


def _is_number(word: str) -> bool:
    try:
        parse_number(word)
    except ValueError:
        return False
    return True


def _numbers(body: list[_Row], first_column: int, file: Path) -> Array:
    """Return the numbers of all rows from a column on."""
    width = len(body[0][1])
    rows: list[list[complex]] = []
    for number, fields in body:
        if len(fields) != width:
            n_wanted, n_fields = width - first_column, len(fields) - first_column
            wanted = "1 number" if n_wanted == 1 else f"{n_wanted} numbers"
            reject_line(file, number, f"expected {wanted} as before, got {n_fields}")
        try:
            rows.append([parse_number(word) for word in fields[first_column:]])
        except ValueError:
            reject_line(file, number, f"expected numbers, got {quoted(' '.join(fields), 60)}")
    return np.array(rows)


def _as_signals(values: Array) -> Array:
    """Return one column as a vector, and numbers without imaginary parts as real ones."""
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.dtype.kind != "c":
        return values
    return values if (values.imag != 0).any() else values.real.copy()


SIGNAL_ENDINGS = (".npy", ".csv", ".txt")

_NPY_MAGIC = b"\x93NUMPY"
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}(?:\.0*)?")


def read_signal(path: str | os.PathLike[str], graph: Graph) -> Array:
    r"""Return the signal in a file, or several as columns, one row per vertex of a graph.

    Parameters
    ----------
    path : str or os.PathLike
        An array by ``numpy.save`` (``.npy``), or text (``.csv``, ``.txt``) with one line per vertex: numbers between
        commas, semicolons, tabs or blanks, real or complex as ``1.5+2j``; what follows ``#`` at the start of a line
        or after a blank is skipped, and fields may be quoted.
    graph : Graph
        Its vertices are the rows.

    Returns
    -------
    numpy.ndarray, shape (n_vertices,) or (n_vertices, n_signals)
        Whole numbers as doubles, others in the precision that they have.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is no signal on the graph, with the line for text.

    Notes
    -----
    A text may start with a header, a line without numbers. Its first column has the names of the vertices if the first
    cell of the header is empty, as in what pandas writes, or is one of vertex, node, name, label, id, index (there may
    be numbers in the other cells then); or if there are words in that column. Rows then may come in any order, one for
    each vertex. Names are the graph's labels if these are all different, else the numbers of the vertices from 0 on.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cayleygsp import Graph
    >>> from cayleygsp.io import read_signal
    >>> graph = Graph([[0, 1], [1, 0]], labels=["ann", "bob"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "ages.csv")
    ...     _ = file.write_text(",age\nbob,41\nann,29\n")
    ...     read_signal(file, graph)
    array([29., 41.])
    """
    file = Path(path)
    return ordered_signal(read_table(file), file, graph.n_vertices, graph.labels)


def read_table(file: Path, stream: Readable | None = None) -> SignalTable:
    """Return numbers in a file, or in a stream that messages call by that name, and the names of their rows if any."""
    if stream is None:
        if file.suffix.lower() not in SIGNAL_ENDINGS:
            raise ValueError(f"{quoted(file)} must end in {' or '.join(SIGNAL_ENDINGS)}")
        check_file(file)
        if file.suffix.lower() == ".npy":
            with file.open("rb") as array:
                return SignalTable(read_array(array, file, file.stat().st_size, copies=1))
    content = read_content(file, COST, stream)
    if stream is not None and content.startswith(_NPY_MAGIC):
        return SignalTable(read_array(BytesIO(content), file, len(content), copies=1))
    return parse_table(decode(content, file, "numbers"), file)


def ordered_signal(
    table: SignalTable, file: Path, n_vertices: int, labels: ArrayLike | None, *, missing: bool = False
) -> Array:
    """Return the numbers of a table as a checked signal, in the order of the vertices, whose names are the labels.

    With ``missing``, NaN stands for values that are missing; else it is rejected.
    """
    values = table.values
    if values.ndim == 2 and values.shape[1] == 0:
        raise InputError(f"{quoted(file)} must have at least one signal, got shape {values.shape}: no columns")
    if table.names is not None:
        values = values[_rows(table.names, file, n_vertices, labels)]
    gaps = np.isnan(values) if missing and values.dtype.kind == "f" else None
    if gaps is None or not gaps.any():
        return check_signals(values, n_vertices, name=printable(file))
    known = check_signals(np.where(gaps, 0, values), n_vertices, name=printable(file))
    return np.where(gaps, np.nan, known).astype(known.dtype)


def _rows(names: list[str], file: Path, n_vertices: int, labels: ArrayLike | None) -> list[int]:
    """Return the row of each vertex."""
    wanted = _vertex_names(n_vertices, labels)
    numbers = isinstance(wanted[0], int)
    row_of: dict[str | int, int] = {}
    for row, name in enumerate(names):
        key = int(float(name)) if numbers and _INTEGER.fullmatch(name) else name
        if key in row_of:
            raise InputError(f"{quoted(file)} must have one row for each vertex, got two for {quoted(name, 40)}")
        row_of[key] = row
    missing = [name for name in wanted if name not in row_of]
    known = set(wanted)
    unknown = [name for name in row_of if name not in known]
    problems = [f"{len(missing):,} without a row: {first_few(missing)}"] if missing else []
    problems += [f"{len(unknown):,} that the graph does not have: {first_few(unknown)}"] if unknown else []
    if problems:
        raise InputError(
            f"{quoted(file)} must name the {n_vertices:,} vertices of the graph, got {'; '.join(problems)}"
        )
    return [row_of[name] for name in wanted]


def _vertex_names(n_vertices: int, labels: ArrayLike | None) -> list[str] | list[int]:
    """Return the names of the vertices: their labels if these are all different, else their numbers."""
    array = np.arange(n_vertices) if labels is None else np.asarray(labels)
    if array.dtype.kind in "biufc" and (array.dtype.kind in "fc" or len(np.unique(array)) < n_vertices):
        array = np.arange(n_vertices)
    if array.dtype.kind in "biu":
        return [int(number) for number in array.tolist()]
    words = [str(word) for word in array.tolist()]
    return words if len(set(words)) == n_vertices else list(range(n_vertices))
