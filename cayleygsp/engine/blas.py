"""One thread for the dense products inside sparse factorisations.

SuperLU multiplies thousands of small dense blocks. OpenBLAS splits each among its threads, which wait for each other
actively: with two threads a factorisation can take many times as long as with one.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import scipy

# Names of the functions that read and set the number of threads, by how scipy was built.
_PREFIXES = ("scipy_openblas_", "openblas_")


class Threads(NamedTuple):
    """The functions of a library that read and set its number of threads."""

    get: Callable[[], int]
    set: Callable[[int], None]


@cache
def blas_threads() -> Threads | None:
    """Return how the number of threads of scipy's own OpenBLAS is set; None if scipy has another library."""
    root = Path(scipy.__file__).parent
    for folder in (root.parent / "scipy.libs", root / ".dylibs"):
        for path in sorted(folder.glob("*openblas*")):
            try:
                library = ctypes.CDLL(str(path))  # scipy has loaded it: this is the same one
            except OSError:
                continue
            for prefix in _PREFIXES:
                if hasattr(library, f"{prefix}set_num_threads"):
                    return Threads(library[f"{prefix}get_num_threads"], library[f"{prefix}set_num_threads"])
    return None


class _Users:
    """Who wants one thread now, and how many threads there were before the first of them."""

    def __init__(self) -> None:
        self.before = 1
        self.forget()

    def forget(self) -> None:
        """Start anew: a forked child has none of its parent's threads, one of which may hold the lock."""
        self.lock = Lock()
        self.count = 0


_USERS = _Users()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_USERS.forget)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let scipy's BLAS have one thread, in the whole process, until the last block of this kind is left."""
    threads = blas_threads()
    if threads is None:
        yield
        return
    with _USERS.lock:
        if _USERS.count == 0:
            _USERS.before = threads.get()
            threads.set(1)
        _USERS.count += 1
    try:
        yield
    finally:
        with _USERS.lock:
            _USERS.count = max(_USERS.count - 1, 0)
            if _USERS.count == 0:
                threads.set(_USERS.before)
