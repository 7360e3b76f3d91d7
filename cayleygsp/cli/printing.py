"""What commands print: facts, tables, JSON, progress and warnings."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from cayleygsp._text import printable
from cayleygsp.report.numbers import finite_numbers

if TYPE_CHECKING:
    from cayleygsp._html import Table

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
    """Return names and values, one per line, broken between words if they are too long.

    Parameters
    ----------
    facts : mapping of str to str
        Names and values.
    width : int, optional
        The longest line.

    Examples
    --------
    >>> from cayleygsp.cli.printing import facts_text
    >>> print(facts_text({"graph": "a ring of 8 vertices", "edges": "8"}, width=20), end="")
    graph  a ring of 8
           vertices
    edges  8
    """
    indent = max(map(len, facts), default=0) + 2
    lines = []
    for name, value in facts.items():
        line = f"{name:<{indent}}{printable(value)}"
        if width is None or width < 2 * indent:
            lines.append(line)
        else:
            lines += textwrap.wrap(
                line, width, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
            )
    return "".join(f"{line}\n" for line in lines)


def table_text(table: Table, width: int | None = None) -> str:
    """Return a table as text that has no broken words: headers take several lines, or rows become blocks of lines.

    Parameters
    ----------
    table : Table
        Header and cells.
    width : int, optional
        The longest line.

    Examples
    --------
    >>> from cayleygsp._html import Table
    >>> from cayleygsp.cli.printing import table_text
    >>> print(table_text(Table(["zoom h", "resolution"], [["1", "0.5"]], n_text=0), width=12).strip())
    zoom h      1
    resolution  0.5
    """
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
        lines = textwrap.wrap(name, width, break_long_words=False, break_on_hyphens=False)
        if len(lines) <= n_lines:
            return lines
    return [name]


def paragraph_text(text: str, width: int | None = None) -> str:
    """Return text, broken between words if it is too long."""
    lines = [text] if width is None else textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)
    return "".join(f"{printable(line)}\n" for line in lines)


def warn(text: str) -> None:
    """Print one line of warning to stderr."""
    with suppress(OSError):
        print(f"cayleygsp: warning: {printable(' '.join(text.split()))}", file=sys.stderr)


@contextmanager
def progress(n_steps: int, quiet: bool = False) -> Iterator[Callable[..., None]]:
    """Show on stderr, if it is a terminal, how far the work is; what is yielded is told the name of each step.

    With 0 behind it, a name is that of the same step.

    Parameters
    ----------
    n_steps : int
        How many names it will be told.
    quiet : bool
        Whether to show nothing.
    """
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    if quiet or not console.is_terminal:  # a bar that is disabled prints an empty line, before rich 14.1
        yield lambda name, steps=1: None
        return
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("start", total=n_steps, completed=-1)
        yield lambda name, steps=1: bar.update(task, description=name, advance=steps)
