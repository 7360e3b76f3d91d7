"""Signals in files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from cayleygsp._typing import Array
from cayleygsp._validation import check_signals
from cayleygsp.cli.errors import input_errors
from cayleygsp.cli.outputs import check_ending
from cayleygsp.cli.printing import counted

SIGNAL_ENDINGS = (".npy", ".csv", ".txt")


_SEPARATOR = re.compile(r"\s*[,;]\s*|\s+")


def load_signal(path: Path, n_vertices: int) -> Array:
    """Return a signal, or several as columns, one row a vertex.

    Parameters
    ----------
    path : pathlib.Path
        An array by ``numpy.save``, or text with one line a vertex: numbers between blanks, commas or semicolons.
    n_vertices : int
        How many rows there must be.
    """
    with input_errors():
        return check_signals(read_numbers(path), n_vertices, name=str(path))


def read_numbers(path: Path) -> Array:
    """Return the array in a file."""
    check_ending(path, SIGNAL_ENDINGS)
    if path.is_dir():
        raise ValueError(f"'{path}' is not a file")
    if not path.exists():
        raise ValueError(f"there is no file '{path}'")
    if path.stat().st_size == 0:
        raise ValueError(f"'{path}' is empty")
    if path.suffix.lower() != ".npy":
        return _read_text(path)
    try:
        with path.open("rb") as stream:
            return np.lib.format.read_array(stream, allow_pickle=False)
    except (ValueError, EOFError):
        raise ValueError(f"'{path}' cannot be read as an array of numbers written by numpy.save") from None


def _read_text(path: Path) -> Array:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"'{path}' is not a text file") from None
    rows: list[list[complex]] = []
    for number, line in enumerate(lines, start=1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        try:
            row = [parse_number(word) for word in _SEPARATOR.split(content)]
        except ValueError:
            raise ValueError(f"'{path}', line {number}: expected numbers, got {content[:60]!r}") from None
        if rows and len(row) != len(rows[0]):
            wanted = counted(len(rows[0]), "number")
            raise ValueError(f"'{path}', line {number}: expected {wanted} as before, got {len(row)}")
        rows.append(row)
    if not rows:
        raise ValueError(f"'{path}' holds no numbers")
    values = np.array(rows)
    values = values[:, 0] if values.shape[1] == 1 else values
    return values if np.iscomplex(values).any() else values.real


def parse_number(word: str) -> complex:
    """Read a real or complex number, as Python or with "i"."""
    return complex(re.sub("i$", "j", word))
