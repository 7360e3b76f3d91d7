"""Adjacency matrices in numpy, scipy and Matrix Market files."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io
from scipy import sparse

from cayleygsp._typing import Array
from cayleygsp.io.files import parsing, read_content


def read_npz(file: Path) -> tuple[Any, None]:
    """Return the matrix in a file by scipy.sparse.save_npz."""
    with parsing(file, "a sparse matrix written by scipy.sparse.save_npz"), file.open("rb") as stream:
        return sparse.load_npz(stream), None


def read_npy(file: Path) -> tuple[Array, None]:
    """Return the array in a file by numpy.save."""
    with parsing(file, "an array written by numpy.save"), file.open("rb") as stream:
        return np.lib.format.read_array(stream, allow_pickle=False), None


def read_mtx(file: Path) -> tuple[Any, None]:
    """Return the matrix in a Matrix Market file."""
    content = read_content(file).rstrip()
    if content.endswith((b"e", b"E", b"-", b"+")):
        raise ValueError(f"'{file}' cannot be read as a Matrix Market file: it ends within a number")
    try:
        # With a last line that ends: the reader may read beyond one that does not, and crash.
        return scipy.io.mmread(BytesIO(content + b"\n")), None
    except (ValueError, OverflowError) as error:
        # The reader's messages are made for users: they name the line and what is wrong there.
        raise ValueError(f"'{file}' cannot be read as a Matrix Market file: {error}") from None
