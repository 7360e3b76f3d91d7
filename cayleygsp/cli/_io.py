"""What the commands share: graphs, signals and coefficients in, tables, JSON and files out, errors in one line."""

from __future__ import annotations

import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable

from cayleygsp import gallery
from cayleygsp._files import write_files
from cayleygsp._typing import Array
from cayleygsp._validation import check_coefficients, check_signals
from cayleygsp.graph import Graph
from cayleygsp.io import read_graph

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cayleygsp._html import Table


class BadInput(Exception):
    """What a user gave cannot be used; the message says why in one line."""


@contextmanager
def input_errors() -> Iterator[None]:
    """Turn what the library raises on bad input into one line; for where input is read and checked, not for work."""
    try:
        yield
    except (ValueError, TypeError, OSError, ImportError, MemoryError, RecursionError) as error:
        raise BadInput(one_line(error)) from None


def one_line(error: BaseException) -> str:
    """Return the message of an exception without line ends."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: '{error.filename}'" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__


# --------------------------------------------------------------------------------------------------- graphs


def _minnesota() -> Graph:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PyGSP on current scipy
        from pygsp import graphs

        found = graphs.Minnesota()
    return Graph(found.W, coords=found.coords, name="minnesota")


# How a built-in graph is made from the numbers behind its name and a seed, and how many numbers there may be.
_BUILT_IN: dict[str, tuple[Callable[..., Graph], int, int]] = {
    "communities": (lambda rng, n=15: gallery.communities(n, rng=rng), 0, 1),
    "grid": (lambda rng, *n: gallery.grid(*n), 1, 2),
    "minnesota": (lambda rng: _minnesota(), 0, 0),
    "mnist": (lambda rng, *n: gallery.mnist_grid(*n), 0, 1),
    "path": (lambda rng, n: gallery.path(n), 1, 1),
    "regular": (lambda rng, n, d: gallery.random_regular(n, d, rng=rng), 2, 2),
    "ring": (lambda rng, n: gallery.ring(n), 1, 1),
    "sensor": (lambda rng, n: gallery.sensor(n, rng=rng), 1, 1),
    "star": (lambda rng, n: gallery.star(n), 1, 1),
}


def load_graph(name: str, variable: str | None = None, seed: int = 0) -> Graph:
    """Return the graph in a file, or the built-in one behind "@name:number".

    Parameters
    ----------
    name : str
        A path, or for example "@minnesota", "@communities", "@grid:30:40", "@ring:64".
    variable : str, optional
        Which variable of a MATLAB file.
    seed : int
        For random built-in graphs.

    Examples
    --------
    >>> from cayleygsp.cli._io import load_graph
    >>> load_graph("@grid:3:4").n_vertices
    12
    """
    with input_errors():
        if not name.startswith("@"):
            return read_graph(name, variable=variable)
        word, *numbers = name[1:].split(":")
        if word not in _BUILT_IN:
            raise ValueError(f"built-in graphs are {', '.join('@' + known for known in _BUILT_IN)}, got {name!r}")
        make, least, most = _BUILT_IN[word]
        if not least <= len(numbers) <= most:
            wanted = counted(most, "number") if least == most else f"{least} to {counted(most, 'number')}"
            raise ValueError(f"@{word} takes {wanted}, each behind a colon, got {name!r}")
        if not all(re.fullmatch(r"\d+", number) for number in numbers):
            raise ValueError(f"@{word} takes whole numbers, got {name!r}")
        made = make(seed, *map(int, numbers))
        return Graph(made.W, made.coords, made.labels, name=made.name or word)


# -------------------------------------------------------------------------------------------------- signals

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
        return check_signals(_read_numbers(path), n_vertices, name=str(path))


def _read_numbers(path: Path) -> Array:
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
            row = [_number(word) for word in _SEPARATOR.split(content)]
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


def _number(word: str) -> complex:
    """Read a real or complex number, as Python or with "i"."""
    return complex(re.sub("i$", "j", word))


# --------------------------------------------------------------------------------------------- coefficients


def load_coefficients(text: str, zoom: float | None) -> tuple[Array, float]:
    """Return coefficients of a Cayley polynomial and its zoom.

    Parameters
    ----------
    text : str
        Numbers between commas, "0.5,-0.25,0.1+0.2j"; or a file: .json as the design command writes it, with its zoom,
        .npy, or .csv and .txt with real and imaginary parts in columns.
    zoom : float, optional
        If given, it goes before that of a file.
    """
    with input_errors():
        path = Path(text)
        found = None
        if path.suffix.lower() == ".json":
            c, found = _read_json_coefficients(path)
        elif path.suffix.lower() in SIGNAL_ENDINGS:
            c = _read_numbers(path)
            c = c[:, 0] + 1j * c[:, 1] if c.ndim == 2 and c.shape[1] == 2 else c
        else:
            c = _inline_coefficients(text)
        h = found if zoom is None else zoom
        if h is None:
            raise ValueError("--zoom must be given with --coeffs, unless these are in a .json file that has it")
        return check_coefficients(c, "--coeffs"), float(h)


def _inline_coefficients(text: str) -> Array:
    try:
        return np.array([_number(word) for word in re.split(r"\s*,\s*|\s+", text.strip())])
    except ValueError:
        endings = ", ".join((".json", *SIGNAL_ENDINGS))
        raise ValueError(f"--coeffs must be numbers between commas or a file ({endings}), got {text[:60]!r}") from None


def _read_json_coefficients(path: Path) -> tuple[Array, float]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))["cayley"]
        return np.array(found["coeffs_real"]) + 1j * np.array(found["coeffs_imag"]), float(found["zoom"])
    except FileNotFoundError:
        raise ValueError(f"there is no file '{path}'") from None
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"'{path}' is not what the design command writes") from None


# --------------------------------------------------------------------------------------------------- output


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


def counted(n: int, one: str, many: str | None = None) -> str:
    """Write a number of things.

    Parameters
    ----------
    n : int
        How many.
    one, many : str
        What they are called; with an s by default.

    Examples
    --------
    >>> from cayleygsp.cli._io import counted
    >>> counted(1, "vertex", "vertices"), counted(2000, "edge")
    ('1 vertex', '2,000 edges')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def print_json(numbers: Any) -> None:
    """Print numbers, and nothing else, to stdout."""
    from cayleygsp.graph_report import finite_numbers

    print(json.dumps(finite_numbers(numbers), indent=2, allow_nan=False, ensure_ascii=False))


def print_facts(facts: Mapping[str, str]) -> None:
    """Print names and values, one a line."""
    width = max(map(len, facts))
    for name, value in facts.items():
        print(f"{name:<{width}}  {value}")


def print_table(table: Table) -> None:
    """Print a table to stdout, in full width where it does not go to a terminal."""
    console = Console(emoji=False)
    if not console.is_terminal:
        console = Console(width=200, emoji=False)
    shown = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for column, name in enumerate(table.header):
        shown.add_column(name, justify="left" if column < table.n_text else "right", overflow="fold")
    for row in table.rows:
        shown.add_row(*map(escape, row))
    console.print(shown)


def warn(text: str) -> None:
    """Print one line of warning to stderr."""
    print(f"cayleygsp: warning: {text}", file=sys.stderr)


@contextmanager
def progress(n_steps: int) -> Iterator[Callable[[str], None]]:
    """Show on stderr, if it is a terminal, how far the work is; what is yielded is told the name of each step."""
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bar:
        task = bar.add_task("start", total=n_steps, completed=-1)
        yield lambda name: bar.update(task, description=name, advance=1)
