"""Tables of results, in Markdown and on the terminal, and how numbers are written in them."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from cayleygsp.cli.outputs import line_width, table_text


class Table(NamedTuple):
    """A table with its title; cells are texts, and the first ``n_text`` columns are aligned left."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    n_text: int = 1


def print_table(table: Table) -> None:
    """Print a table with its title to stdout."""
    print(table.title)
    # a table of the reports, with a title
    print(table_text(cast(Any, table), line_width(sys.stdout)))


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table; the first column is text, the others are aligned right."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return [line(header), line(["---", *("---:" for _ in header[1:])]), *(line(row) for row in rows)]


def format_seconds(seconds: float) -> str:
    """Write a time with three digits and a unit that suits."""
    unit, factor = ("s", 1.0) if seconds >= 1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    return f"{_three_digits(seconds * factor)} {unit}"


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def format_error(error: float | None) -> str:
    """Write an error with two digits."""
    return "none" if error is None else f"{error:.1e}"


def finite(value: float) -> float | None:
    """Return None for what JSON has no number for."""
    return float(value) if math.isfinite(value) else None
