"""What commands write and print: files, all or none; facts, tables, JSON, progress and warnings."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import fields
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from cayleygsp._files import check_writable, replace_files
from cayleygsp._format import finite_numbers
from cayleygsp._html import png_bytes
from cayleygsp._text import printable
from cayleygsp._typing import Array
from cayleygsp.cli.errors import BadInput, input_errors, write_output
from cayleygsp.cli.options import OutputOptions

if TYPE_CHECKING:
    from cayleygsp._html import Table

    Part = Mapping[str, str] | Table | str

# The name of standard output, and what can be written there.
STANDARD = Path("-")
TEXT_ENDINGS = (".csv", ".txt", ".json", ".html")
# Between the columns of a table.
_GAP = "  "

# What a terminal could obey and JSON does not write as an escape by itself.
_CONTROL = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def json_text(numbers: Any) -> str:
    """Return numbers as JSON: null for what is infinite or unknown, and no control characters."""
    text = json.dumps(finite_numbers(numbers), indent=2, allow_nan=False, ensure_ascii=False)
    return _CONTROL.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def line_width(stream: TextIO) -> int | None:
    """Return how many characters a line may have: what COLUMNS says, or the terminal; None if nothing limits it."""
    if os.environ.get("COLUMNS", "").isdigit() or stream.isatty():
        return max(shutil.get_terminal_size().columns, 20)
    return None


def facts_text(facts: Mapping[str, str], width: int | None = None) -> str:
    """Return names and values, one per line, broken between words if they are too long."""
    indent = max(map(len, facts), default=0) + 2
    lines = []
    for name, value in facts.items():
        broken = None if width is None or width < 2 * indent else width
        lines += _wrapped(f"{name:<{indent}}{printable(value)}", broken, indent)
    return "".join(f"{line}\n" for line in lines)


def table_text(table: Table, width: int | None = None) -> str:
    """Return a table as text that has no broken words: headers take several lines, or rows become blocks of lines."""
    cells = [[printable(cell) for cell in row] for row in table.rows]
    widest = [max(map(len, column)) for column in zip(*cells, strict=True)] or [0] * len(table.header)
    headers = _header_lines(table.header, widest, width)
    if headers is None:
        return "".join("\n" + facts_text(dict(zip(table.header, row, strict=True)), width) for row in cells) + "\n"
    widths = [max(most, *map(len, lines)) for most, lines in zip(widest, headers, strict=True)]
    depth = max(map(len, headers))
    above = [[""] * (depth - len(lines)) + lines for lines in headers]
    rows = [[lines[number] for lines in above] for number in range(depth)] + [["─" * size for size in widths]] + cells
    text = []
    for row in rows:
        aligned = [
            cell.ljust(size) if column < table.n_text else cell.rjust(size)
            for column, (cell, size) in enumerate(zip(row, widths, strict=True))
        ]
        text.append(_GAP.join(aligned).rstrip() + "\n")
    return "".join(["\n", *text, "\n"])


def _header_lines(header: Sequence[str], widest: Sequence[int], width: int | None) -> list[list[str]] | None:
    """Break headers between words into as few lines as fit; None if no number of lines is enough."""
    most_words = max(len(name.split()) for name in header)
    for n_lines in range(1, most_words + 1):
        lines = [_broken(name, n_lines) for name in header]
        total = sum(max(size, *map(len, parts)) for size, parts in zip(widest, lines, strict=True))
        if width is None or total + len(_GAP) * (len(header) - 1) <= width:
            return lines
    return None


def _broken(name: str, n_lines: int) -> list[str]:
    """Return text in at most so many lines, as narrow as can be without breaking a word."""
    least = max(map(len, name.split()), default=1)
    for width in range(least, len(name) + 1):
        lines = _wrapped(name, width)
        if len(lines) <= n_lines:
            return lines
    return [name]


def _wrapped(text: str, width: int | None, indent: int = 0) -> list[str]:
    """Return the lines of a text, broken between words if there is a width."""
    between_words: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    return [text] if width is None else textwrap.wrap(text, width, subsequent_indent=" " * indent, **between_words)


def warn(text: str) -> None:
    """Print one line of warning to stderr."""
    with suppress(OSError):
        print(f"cayleygsp: warning: {printable(' '.join(text.split()))}", file=sys.stderr)


@contextmanager
def progress(n_steps: int, quiet: bool = False) -> Iterator[Callable[..., None]]:
    """Show on stderr, if it is a terminal, how many of the steps are done.

    What is yielded is called with the name of each step that begins; a second argument 0 renames the current step.
    """
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    if quiet or not console.is_terminal:  # a bar that is disabled prints an empty line, before rich 14.1
        yield lambda name, steps=1: None
        return
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("start", total=n_steps, completed=-1)
        yield lambda name, steps=1: bar.update(task, description=name, advance=steps)


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


def _content(made: Any, ending: str) -> bytes:
    """Return the content of a file: of a text, bytes, rows of a dataclass, columns by name, an array or a figure."""
    if isinstance(made, list):
        made = {field.name: [getattr(row, field.name) for row in made] for field in fields(made[0])}
    if isinstance(made, Mapping):  # what is None is left empty
        rows = zip(*made.values(), strict=True)
        made = "".join(",".join("" if cell is None else str(cell) for cell in row) + "\n" for row in (made, *rows))
    if isinstance(made, str):
        return made.encode(errors="replace")  # the name of a file can be no text
    if isinstance(made, np.ndarray):
        return array_bytes(made, ending)
    return made if isinstance(made, bytes) else png_bytes(made)


def array_bytes(values: Array, ending: str) -> bytes:
    """Return an array as the content of a .npy, .csv or .txt file; texts have all digits."""
    if ending == ".npy":
        buffer = BytesIO()
        np.save(buffer, values)
        return buffer.getvalue()
    separator = "," if ending == ".csv" else " "
    rows = values.reshape(values.shape[0], -1)
    digits = 9 if rows.dtype.itemsize <= (8 if rows.dtype.kind == "c" else 4) else 17
    is_complex = rows.dtype.kind == "c"
    write = f"{{0.real:.{digits}g}}{{0.imag:+.{digits}g}}j".format if is_complex else f"{{:.{digits}g}}".format
    return "".join(separator.join(map(write, row)) + "\n" for row in rows.tolist()).encode()


class Results:
    """Where the results of a command go; files are checked when it is made, before any work."""

    def __init__(self, options: OutputOptions, endings: tuple[str, ...]) -> None:
        # to standard output goes the first kind of text
        text = next((ending for ending in endings if ending in TEXT_ENDINGS), "")
        with input_errors():
            for path in options.output:
                if path == STANDARD:
                    if not text:
                        raise ValueError(f"-o - is for text, and this command writes {' or '.join(endings)}")
                    continue
                if path.suffix.lower() not in endings:
                    raise ValueError(f"'{printable(path)}' must end in {' or '.join(endings)}")
                try:
                    _check_place(path, options.force)
                except OSError as error:
                    raise ValueError(f"'{printable(path)}' cannot be written: {error.strerror or error}") from None
            if len({os.path.realpath(path) for path in options.output}) < len(options.output):
                raise ValueError("--output must name different files")
        if STANDARD in options.output and options.json:
            raise BadInput("--json and -o - must not both be given: both are for standard output")
        self._options = options
        self.endings = {path: text if path == STANDARD else path.suffix.lower() for path in options.output}

    def progress(self, n_steps: int) -> AbstractContextManager[Callable[..., None]]:
        """Show how far the work is, unless the user wants quiet."""
        return progress(n_steps, self._options.quiet)

    def write(self, make: Callable[[str], Any]) -> None:
        """Write all files, or none; a full disk or a lost folder is one line, not a traceback.

        What becomes a file is made from its ending, for all files before the first is written.
        """
        contents = {path: _content(make(ending), ending) for path, ending in self.endings.items()}
        try:
            replace_files({Path(os.path.realpath(path)): it for path, it in contents.items() if path != STANDARD})
        except OSError as error:
            names = ", ".join(f"'{printable(path)}'" for path in contents if path != STANDARD)
            raise BadInput(f"{names} cannot be written: {error.strerror or error}") from None
        if STANDARD in contents:
            write_output(contents[STANDARD].decode())

    def show(self, numbers: Mapping[str, Any], *parts: Part) -> None:
        """Print numbers as JSON if the user wants that, else facts, tables and sentences with the names of the files.

        These go to stderr if standard output is taken by a result, and nowhere if quiet is wanted.
        """
        if self._options.json:
            write_output(json_text(numbers))
        if self._options.json or self._options.quiet:
            return
        if paths := [printable(path) for path in self.endings if path != STANDARD]:
            written = {"written": ", ".join(paths)}
            *before, last = parts
            parts = (*before, {**last, **written}) if isinstance(last, Mapping) else (*parts, written)
        to_stderr = STANDARD in self.endings
        width = line_width(sys.stderr if to_stderr else sys.stdout)
        text = ""
        for part in parts:
            if isinstance(part, str):
                text += "".join(f"{printable(line)}\n" for line in _wrapped(part, width))
            else:
                text += facts_text(part, width) if isinstance(part, Mapping) else table_text(part, width)
        if to_stderr:
            with suppress(OSError):
                sys.stderr.write(text)
        else:
            write_output(text)


def page_results(options: OutputOptions) -> Results:
    """Return where a page goes: one file."""
    if len(options.output) != 1:
        raise BadInput(f"give one output file that ends in .html: --output FILE.html, got {len(options.output)}")
    return Results(options, (".html",))
