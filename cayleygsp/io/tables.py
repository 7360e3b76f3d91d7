"""Tables of numbers in text, with a header and names of the rows where there are such."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import NoReturn

import numpy as np

from cayleygsp._text import quoted
from cayleygsp._typing import Array
from cayleygsp.io.limits import InputError, check_memory

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
class Table:
    """Numbers, shape (n_rows,) or (n_rows, n_columns), and the names of the rows if they have any."""

    values: Array
    names: list[str] | None = None


def parse_table(text: str, file: Path) -> Table:
    """Return the table in a text, real unless a number has an imaginary part."""
    if "#" in text:
        text = _QUOTED_OR_COMMENT.sub(lambda match: match[1] or "", text)
    delimiter = next((mark for mark in _DELIMITERS if mark in text), None)
    plain = _parse_plain(text, delimiter)
    if plain is not None:
        return Table(_as_signals(plain))
    n_lines = text.count("\n") + 1
    n_fields = n_lines + text.count(delimiter or " ")
    check_memory(file, "its content", 3 * len(text) + _LINE_COST * n_lines + _FIELD_COST * n_fields)
    rows = list(_rows(text, delimiter, file))
    if not rows:
        raise InputError(f"{quoted(file)} holds no numbers")
    header, body = _split_header(rows)
    if not body:
        raise InputError(f"{quoted(file)} holds no numbers, only {'a header' if header else 'text'}")
    if not _has_names(header, body):
        return Table(_as_signals(_numbers(body, 0, file)))
    return Table(_as_signals(_numbers(body, 1, file)), [fields[0] for _, fields in body])


def parse_number(word: str) -> complex:
    """Read a real or complex number, as Python or with "i"."""
    return complex(re.sub("i$", "j", word))


def _parse_plain(text: str, delimiter: str | None) -> Array | None:
    """Return a table of real numbers at once; None if it is anything else, or has an error."""
    if _NOT_PLAIN.search(text) or not text.strip():
        return None
    try:
        return np.loadtxt(StringIO(text), dtype=np.float64, comments=None, delimiter=delimiter, ndmin=2)
    except ValueError:
        return None


def _rows(text: str, delimiter: str | None, file: Path) -> Iterator[_Row]:
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
        raise InputError(f"{quoted(file)}, line {reader.line_num}: {error}") from None


def _is_number(word: str) -> bool:
    try:
        parse_number(word)
    except ValueError:
        return False
    return True


def _split_header(rows: list[_Row]) -> tuple[list[str] | None, list[_Row]]:
    """Return the header, if the first row is one, and the other rows."""
    first = rows[0][1]
    if len(rows) > 1 and (_heads_names(first) or not any(map(_is_number, first))):
        return first, rows[1:]
    return None, rows


def _heads_names(header: list[str]) -> bool:
    """Tell whether a header says that the first column has the names of the rows."""
    return len(header) > 1 and header[0].lower() in NAME_HEADERS


def _has_names(header: list[str] | None, body: list[_Row]) -> bool:
    """Tell whether the first column has the names of the rows."""
    if header is not None and _heads_names(header):
        return True
    return all(len(fields) > 1 for _, fields in body) and not all(_is_number(fields[0]) for _, fields in body)


def _numbers(body: list[_Row], first_column: int, file: Path) -> Array:
    """Return the numbers of all rows from a column on."""
    width = len(body[0][1])
    rows: list[list[complex]] = []
    for number, fields in body:
        if len(fields) != width:
            n_wanted, n_fields = width - first_column, len(fields) - first_column
            _reject(file, number, f"expected {n_wanted} number{'' if n_wanted == 1 else 's'} as before, got {n_fields}")
        try:
            rows.append([parse_number(word) for word in fields[first_column:]])
        except ValueError:
            _reject(file, number, f"expected numbers, got {quoted(' '.join(fields), 60)}")
    return np.array(rows)


def _reject(file: Path, number: int, problem: str) -> NoReturn:
    raise InputError(f"{quoted(file)}, line {number}: {problem}")


def _as_signals(values: Array) -> Array:
    """Return one column as a vector, and numbers without imaginary parts as real ones."""
    values = values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values
    if values.dtype.kind != "c":
        return values
    return values if (values.imag != 0).any() else values.real.copy()
