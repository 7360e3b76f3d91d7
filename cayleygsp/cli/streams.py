"""Standard streams that are closed, full, or cannot show every letter."""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from io import TextIOBase, TextIOWrapper
from typing import IO, Any


class OutputLost(Exception):
    """Standard output cannot be written; the message says why in one line."""


class ClosedOutput(TextIOBase):
    """In place of a standard output that is closed: writing fails, as it does if the disk is full."""

    encoding = "utf-8"

    def write(self, text: str, /) -> int:
        """Fail."""
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
    """Make sure that what was written to standard output has left."""
    try:
        sys.stdout.flush()
    except OSError as error:
        raise OutputLost(f"standard output cannot be written: {error.strerror or error}") from None


def show_every_letter() -> None:
    """Replace letters that a terminal cannot show, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")


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
