"""What commands print: facts, tables, JSON, progress and warnings."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as RichTable

if TYPE_CHECKING:
    from cayleygsp._html import Table


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
    >>> from cayleygsp.cli.printing import counted
    >>> counted(1, "vertex", "vertices"), counted(2000, "edge")
    ('1 vertex', '2,000 edges')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def print_json(numbers: Any) -> None:
    """Print numbers, and nothing else, to stdout."""
    from cayleygsp.report.numbers import finite_numbers

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
