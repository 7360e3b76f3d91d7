"""The command line ``cayleygsp``: what the package does, on graphs and signals in files.

Exit codes: 0 if all went well; 1 if standard output was closed or is full; 2 for input that cannot be used, with one
line on stderr and nothing written; 3 if a result was written whose error is not within the tolerance; 130 after Ctrl-C.
Tracebacks are for bugs alone.

This file loads nothing but the standard library and the exit codes, so that an interrupt finds it ready before anything
else is loaded.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from cayleygsp.cli.errors import INTERRUPTED

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return the exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments; those of the process by default, which then also is prepared for interrupts while modules are loaded
        and for closed streams.

    Examples
    --------
    >>> from cayleygsp.cli import main
    >>> main(["info", "@ring:8", "--json"])  # doctest: +ELLIPSIS
    {
      "name": "ring",
    ...
    0
    """
    if argv is None:
        return _run_process(sys.argv[1:])
    from cayleygsp.cli.app import run_command

    return run_command(argv)


def _run_process(arguments: Sequence[str]) -> int:
    # nothing is to be cleaned up before and after the work
    _on_interrupt(_leave, instead_of=signal.default_int_handler)
    from cayleygsp.cli.app import run_command
    from cayleygsp.cli.errors import open_closed_streams

    open_closed_streams()
    try:
        _on_interrupt(signal.default_int_handler, instead_of=_leave)
        code = run_command(arguments)
    except KeyboardInterrupt:
        code = INTERRUPTED
    finally:
        _on_interrupt(_leave, instead_of=signal.default_int_handler)
    return code


def _leave(*_: Any) -> None:
    os._exit(INTERRUPTED)


def _on_interrupt(handler: Callable[..., Any], instead_of: Callable[..., Any]) -> None:
    """Set what an interrupt does, unless someone else has decided that it does something else."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) is instead_of:
        signal.signal(signal.SIGINT, handler)
