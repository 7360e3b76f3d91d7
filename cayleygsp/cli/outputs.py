"""Files that commands write, all or none."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cayleygsp._files import write_files
from cayleygsp._typing import Array
from cayleygsp.cli.errors import BadInput, input_errors

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def check_ending(path: Path, endings: Sequence[str]) -> None:
    """Refuse a file name with another ending."""
    if path.suffix.lower() not in endings:
        raise ValueError(f"'{path}' must end in {' or '.join(endings)}")


def check_outputs(paths: Sequence[Path], endings: Sequence[str], force: bool) -> None:
    """Refuse, before any work, files that cannot be written or should not be overwritten.

    Parameters
    ----------
    paths : sequence of pathlib.Path
        What ``--output`` was given.
    endings : sequence of str
        What the command can write.
    force : bool
        Whether existing files may be overwritten.
    """
    with input_errors():
        for path in paths:
            check_ending(path, endings)
            place = _place(path)
            if place.is_dir():
                raise ValueError(f"'{path}' is a folder")
            if place.exists() and not force:
                raise ValueError(f"'{path}' exists; give --force to overwrite it")
            folder = next(parent for parent in place.parents if parent.exists())
            if not (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK)):
                raise ValueError(f"'{path}' cannot be written: '{folder}' is no folder that can be written to")
        if len({os.path.realpath(path) for path in paths}) < len(paths):
            raise ValueError("--output must name different files")


def _place(path: Path) -> Path:
    """Return where a file is written: without "..", which would need folders that need not exist."""
    return Path(os.path.realpath(path.parent)) / path.name


def write_outputs(contents: Mapping[Path, bytes]) -> None:
    """Write files, those of one folder all or none; a full disk or a lost folder is one line, not a traceback.

    Parameters
    ----------
    contents : mapping of pathlib.Path to bytes
        Everything that a command writes, so that what cannot be made leaves nothing behind.
    """
    folders: dict[Path, dict[str, bytes]] = {}
    for path, content in contents.items():
        folders.setdefault(_place(path).parent, {})[path.name] = content
    for folder, files in folders.items():
        try:
            write_files(folder, files)
        except OSError as error:
            names = ", ".join(f"'{path}'" for path in contents if _place(path).parent == folder)
            raise BadInput(f"{names} cannot be written: {error.strerror or error}") from None


def png_bytes(figure: Figure) -> bytes:
    """Return a figure as a PNG file."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=160)
    return buffer.getvalue()


def array_bytes(values: Array, ending: str) -> bytes:
    """Return an array as the content of a .npy, .csv or .txt file; texts have all digits."""
    if ending == ".npy":
        buffer = BytesIO()
        np.save(buffer, values)
        return buffer.getvalue()
    separator = "," if ending == ".csv" else " "
    rows = values.reshape(values.shape[0], -1)
    digits = 9 if rows.dtype.itemsize <= (8 if rows.dtype.kind == "c" else 4) else 17
    write: Callable[[Any], str] = (
        (lambda x: f"{x.real:.{digits}g}{x.imag:+.{digits}g}j")
        if rows.dtype.kind == "c"
        else lambda x: f"{x:.{digits}g}"
    )
    return "".join(separator.join(map(write, row)) + "\n" for row in rows.tolist()).encode()


def csv_bytes(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> bytes:
    """Return a table of numbers as the content of a .csv file; what is None is left empty."""
    lines = [",".join(header), *(",".join("" if cell is None else str(cell) for cell in row) for row in rows)]
    return ("\n".join(lines) + "\n").encode()
