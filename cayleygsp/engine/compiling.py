"""How the inner loops are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

# Fused multiply-add only: reordered short sums over a row are slower, and the error bounds hold for any order.
FAST = {"contract", "nsz"}


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile on first use, without holding the interpreter, and keep the result on disk.

    Where no folder can be written, it is kept in memory.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return njit(cache=True, nogil=True, fastmath=FAST, **options)(function)
        except RuntimeError:
            return njit(nogil=True, fastmath=FAST, **options)(function)

    return decorate
