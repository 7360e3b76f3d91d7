"""Text of unknown origin: made safe to print."""

from __future__ import annotations

import os


def printable(text: object) -> str:
    r"""Return text in which everything that a terminal could obey, such as escape sequences, is written out.

    Parameters
    ----------
    text : object
        A name or a line from a file, a path, or anything else that ``str`` takes.

    Returns
    -------
    str
        The text with control characters, line ends, marks that change the direction of writing, and bytes that
        are no text as in Python's string literals.

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
