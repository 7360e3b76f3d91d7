"""Signals in files and on standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from cayleygsp._typing import Array, ArrayLike
from cayleygsp.cli.errors import input_errors
from cayleygsp.io.signals import SIGNAL_ENDINGS, ordered_signal, read_table, read_table_stream

__all__ = ["SIGNAL_ENDINGS", "STANDARD_INPUT", "load_signal"]

STANDARD_INPUT = Path("-")


def load_signal(path: Path, n_vertices: int, labels: ArrayLike | None = None, *, missing: bool = False) -> Array:
    """Return a signal, or several as columns, one row per vertex.

    Parameters
    ----------
    path : pathlib.Path
        A file as for :func:`cayleygsp.io.read_signal`, or "-" for standard input: an array by ``numpy.save`` or text.
    n_vertices : int
        How many rows there must be.
    labels : array_like, shape (n_vertices,), optional
        The names of the vertices, for files that have names.
    missing : bool
        Whether values may be missing, written as nan.
    """
    with input_errors():
        if path == STANDARD_INPUT:
            name = Path("standard input")
            table = read_table_stream(sys.stdin.buffer, name)
            return ordered_signal(table, name, n_vertices, labels, missing=missing)
        return ordered_signal(read_table(path), path, n_vertices, labels, missing=missing)
