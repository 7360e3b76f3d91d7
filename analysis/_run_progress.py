"""How many runs of an experiment are done: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

LINE_SECONDS = 60.0


@contextmanager
def run_progress(name: str, n_runs: int, n_done: int, quiet: bool) -> Iterator[Callable[[], None]]:
    """Say how many runs are done: a bar on a terminal, elsewhere one line per minute on stderr."""
    console = Console(stderr=True)
    if quiet:
        yield lambda: None
    elif console.is_terminal:
        columns = (TextColumn(name), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(), TimeRemainingColumn())
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task(name, total=n_runs, completed=n_done)
            yield lambda: bar.advance(task)
    else:
        with _lines(name, n_runs, n_done) as advance:
            yield advance


@contextmanager
def _lines(name: str, n_runs: int, n_done: int) -> Iterator[Callable[[], None]]:
    """Write one line per minute from a thread, as the work itself has no time for it."""
    start, stop, done = time.monotonic(), threading.Event(), [n_done]

    def say() -> None:
        while not stop.wait(LINE_SECONDS):
            minutes = (time.monotonic() - start) / 60
            new = done[0] - n_done
            left = f", about {minutes * (n_runs - done[0]) / new:.0f} left" if new else ""
            print(f"{name}: {done[0]} of {n_runs} runs, {minutes:.0f} minutes{left}", file=sys.stderr, flush=True)

    def advance() -> None:
        done[0] += 1

    thread = threading.Thread(target=say, daemon=True)
    thread.start()
    try:
        yield advance
    finally:
        stop.set()
        thread.join()
