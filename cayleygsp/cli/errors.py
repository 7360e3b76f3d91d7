"""Errors that a user can mend, in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class BadInput(Exception):
    """Invalid input of a user; the message gives the reason in one line."""


@contextmanager
def input_errors() -> Iterator[None]:
    """Turn the library's errors on bad input into one line; for reading and checking input, not for work."""
    try:
        yield
    except (ValueError, TypeError, OSError, ImportError, MemoryError, RecursionError) as error:
        raise BadInput(one_line(error)) from None


def one_line(error: BaseException) -> str:
    """Return the message of an exception without line ends."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}: '{error.filename}'" if error.filename else error.strerror
    return " ".join(str(error).split()) or type(error).__name__
