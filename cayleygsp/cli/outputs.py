"""Files that commands write, all or none."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cayleygsp._files import check_writable, replace_files
from cayleygsp._text import printable
from cayleygsp._typing import Array
from cayleygsp.cli.errors import BadInput, input_errors
from cayleygsp.cli.streams import write_output

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The name of standard output, and what can be written there.
STANDARD = Path("-")
TEXT_ENDINGS = (".csv", ".txt", ".json", ".html")


def check_ending(path: Path, endings: Sequence[str]) -> None:
    """Reject a file name with another ending."""
    if path.suffix.lower() not in endings:
        raise ValueError(f"'{printable(path)}' must end in {' or '.join(endings)}")


def check_outputs(paths: Sequence[Path], endings: Sequence[str], force: bool) -> None:
    """Reject, before any work, files that cannot be written or should not be overwritten.

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
            if path == STANDARD:
                if text_ending(endings) is None:
                    raise ValueError(f"-o - is for text, and this command writes {' or '.join(endings)}")
                continue
            check_ending(path, endings)
            try:
                _check_place(path, force)
            except OSError as error:
                raise ValueError(f"'{printable(path)}' cannot be written: {error.strerror or error}") from None
        if len({os.path.realpath(path) for path in paths}) < len(paths):
            raise ValueError("--output must name different files")


def text_ending(endings: Sequence[str]) -> str | None:
    """Return the first of the endings that is one of text, which is what goes to standard output."""
    return next((ending for ending in endings if ending in TEXT_ENDINGS), None)


def _check_place(path: Path, force: bool) -> None:
    """Raise a ValueError or an OSError if a file cannot be written here or should not be."""
    place, shown = Path(os.path.realpath(path)), printable(path)
    if path.is_dir():
        raise ValueError(f"'{shown}' is a folder")
    if not path.parent.is_dir():
        folder = printable(path.parent)
        if path.parent.exists():
            raise ValueError(f"'{shown}' cannot be written: '{folder}' is no folder")
        raise ValueError(f"'{shown}' cannot be written: there is no folder '{folder}', make it first")
    if place.is_symlink() or (place.exists() and not place.is_file()):  # what is a link still leads nowhere
        raise ValueError(f"'{shown}' cannot be written: it is not a regular file")
    if place.exists() and not force:
        raise ValueError(f"'{shown}' exists; give --force to overwrite it")
    check_writable(place)


def write_outputs(contents: Mapping[Path, bytes]) -> None:
    """Write files, all or none; a full disk or a lost folder is one line, not a traceback.

    Parameters
    ----------
    contents : mapping of pathlib.Path to bytes
        Everything that a command writes, so that what cannot be made leaves nothing behind; "-" is standard output.
    """
    try:
        replace_files({Path(os.path.realpath(path)): it for path, it in contents.items() if path != STANDARD})
    except OSError as error:
        names = ", ".join(f"'{printable(path)}'" for path in contents if path != STANDARD)
        raise BadInput(f"{names} cannot be written: {error.strerror or error}") from None
    if STANDARD in contents:
        write_output(contents[STANDARD].decode())


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
