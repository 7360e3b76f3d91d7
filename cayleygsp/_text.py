"""Text of unknown origin: made safe to print, quoted, and sorted as people do."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

_DIGITS = re.compile(r"([0-9]+)")


def printable(text: object) -> str:
    r"""Return text in which everything that a terminal could obey, such as escape sequences, is written out.

    Control characters, line ends, marks that change the direction of writing, and bytes that are no text become what
    they are in Python's string literals.

    Examples
    --------
    >>> from cayleygsp._text import printable
    >>> print(printable("red\x1b[31m\n"))
    red\x1b[31m\n
    >>> print(printable("zoë λ"))
    zoë λ
    """
    shown = os.fsdecode(text) if isinstance(text, (bytes, os.PathLike)) else str(text)
    if shown.isprintable():
        return shown
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in shown)


def quoted(text: object, n_most: int | None = None) -> str:
    r"""Return printable text between quotes, shortened to a number of characters if one is given.

    Examples
    --------
    >>> from cayleygsp._text import quoted
    >>> print(quoted("a\tb"), quoted("x" * 50, 10))
    'a\tb' 'xxxxxxx...'
    """
    shown = printable(text)
    if n_most is not None and len(shown) > n_most:
        shown = shown[: n_most - 3] + "..."
    return f"'{shown}'"


def first_few(names: Sequence[Any], n_most: int = 5) -> str:
    """Return the first few names, quoted, and how many more there are.

    Examples
    --------
    >>> from cayleygsp._text import first_few
    >>> print(first_few(["ann", "bob", "cy"], 2))
    'ann', 'bob' and 1 more
    """
    shown = ", ".join(quoted(name, 40) for name in names[:n_most])
    return shown if len(names) <= n_most else f"{shown} and {len(names) - n_most:,} more"


def natural_key(text: str) -> tuple[list[Any], str]:
    """Return a key that sorts numbers within text by their value: "v2" before "v10".

    Examples
    --------
    >>> from cayleygsp._text import natural_key
    >>> sorted(["v10", "v2", "a"], key=natural_key)
    ['a', 'v2', 'v10']
    """
    parts: list[Any] = _DIGITS.split(text)
    for place in range(1, len(parts), 2):
        digits = parts[place].lstrip("0")
        # By length and then by digits is by value, for numbers of any length.
        parts[place] = (len(digits), digits)
    return parts, text
