"""How a command ends: exit codes, errors in one line, standard streams that are closed, full, or lack letters.

An interrupt may come early, so this file loads nothing but the standard library.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOBase
from typing import IO, Any

# Exit codes beside 0.
OUTPUT_LOST = 1
CANNOT_BE_USED = 2
NOT_REACHED = 3
INTERRUPTED = 130


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


class OutputLost(Exception):
    """Standard output cannot be written; the message says why in one line."""


class ClosedOutput(TextIOBase):
    """In place of a standard output that is closed: writing fails, as it does if the disk is full."""

    encoding = "utf-8"

    def write(self, text: str, /) -> int:
        """Raise the error of a closed file."""
        raise OSError(errno.EBADF, "it is closed")

    def writable(self) -> bool:
        """Return True."""
        return True


def open_closed_streams() -> None:
    """Replace standard streams that are closed, so that no file that is opened later takes their place.

    Standard input is then empty, what goes to standard error is lost, and writing to standard output fails.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is not None:
            continue
        try:
            os.fstat(number)
        except OSError:
            _to_nothing(number)
        stream: Any = ClosedOutput() if name == "stdout" else open(os.devnull, "r" if name == "stdin" else "w")  # noqa: SIM115
        setattr(sys, name, stream)


def write_output(text: str) -> None:
    """Write text to standard output."""
    try:
        sys.stdout.write(text)
    except OSError as error:
        raise OutputLost(f"standard output cannot be written: {error.strerror or error}") from None


def flush_output() -> None:
    """Flush standard output."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise OutputLost(f"standard output cannot be written: {error.strerror or error}") from None


def give_up(stream: IO[str]) -> None:
    """Discard what is still to be written to a stream, so that it does not fail again when Python ends."""
    with suppress(OSError, ValueError, AttributeError):
        stream.flush()
    with suppress(OSError, ValueError, AttributeError):
        _to_nothing(stream.fileno())


def _to_nothing(number: int) -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    if nothing != number:
        os.dup2(nothing, number)
        os.close(nothing)
