"""How the inner loops are compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

# Fused multiply-add only: reordered short sums over a row are slower, and the error bounds hold for any order.
FAST = {"contract", "nsz"}


def compiled(fastmath: set[str] = FAST, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile on first use, without holding the interpreter, and keep the result on disk.

    Where no folder can be written, it is kept in memory. ``fastmath`` names what may be done to sums and products.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            return njit(cache=True, nogil=True, fastmath=fastmath, **options)(function)
        except RuntimeError:
            return njit(nogil=True, fastmath=fastmath, **options)(function)

    return decorate
