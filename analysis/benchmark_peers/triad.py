"""The STREAM triad: how fast the memory of this machine is."""

from __future__ import annotations

import numba
import numpy as np

from analysis import _timing
from analysis._document import last_level_cache

TRIAD_BYTES, TRIAD_BYTES_ALLOCATED = 24, 32


@numba.njit(parallel=True)
def _triad(a, b, c, s):  # type: ignore[no-untyped-def]
    """Do the step of the STREAM benchmark."""
    for i in numba.prange(a.size):
        a[i] = b[i] + s * c[i]


def triad_rates(cache_multiple: float, repeats: int = 8) -> list[float]:
    """Return the bytes per second that a = b + s c moves on arrays far beyond the caches, several times."""
    n = int(cache_multiple * last_level_cache()) // 8
    a, b, c = np.zeros(n), np.ones(n), np.full(n, 2.0)
    _triad(a, b, c, 3.0)
    return [TRIAD_BYTES * n / _timing.seconds_of(lambda: _triad(a, b, c, 3.0)) for _ in range(repeats)]
