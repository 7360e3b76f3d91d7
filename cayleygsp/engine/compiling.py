"""How the inner loops are compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

from numba import njit
from numba.core.options import DefaultOptions

# Fused multiply-add only: reordered short sums over a row are slower, and the error bounds hold for any order.
FAST = {"contract", "nsz"}

# Compile without numba's counting of references to arrays: each count is an atomic operation, for which a core waits
# until the others can see all that it has written. Only for functions that neither make nor return arrays; what they
# call may be compiled in the same way, so that must not return arrays either.
UNCOUNTED: dict[str, Any] = {"_nrt": False} if hasattr(DefaultOptions, "_nrt") else {}


def compiled(fastmath: set[str] = FAST, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile on first use, without holding the interpreter, and keep the result on disk.

    What is kept holds for the sources of the engine as they are. Where no folder can be written, it is kept in memory.
    ``fastmath`` names what may be done to sums and products.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        try:
            loop = njit(cache=True, nogil=True, fastmath=fastmath, **options)(function)
        except RuntimeError:
            return njit(nogil=True, fastmath=fastmath, **options)(function)
        # numba asks for the file of the function alone, and would keep what it calls from files that have changed
        index: Any = getattr(getattr(loop, "_cache", None), "_cache_file", None)
        if hasattr(index, "_source_stamp"):
            index._source_stamp = (index._source_stamp, sources_stamp(Path(__file__).parent))
        return loop

    return decorate


def compiled_helper(fastmath: set[str] = FAST) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile what loops call for some rows, without counting references."""
    return cast(Callable[[Callable[..., Any]], Callable[..., Any]], njit(fastmath=fastmath, **UNCOUNTED))


@cache
def sources_stamp(folder: Path) -> str:
    """Return what changes whenever a file of Python in a folder does."""
    digest = sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode() + sha256(path.read_bytes()).digest())
    return digest.hexdigest()
