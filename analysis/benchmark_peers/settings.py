"""How large the problems are, and what is computed on them."""

from __future__ import annotations

from dataclasses import dataclass

ORDER = 30
CAYLEY_ORDER = 8
ZOOM_LMAX = 30.0
TOL = 1e-6
N_SIGNALS = 16


@dataclass(frozen=True)
class Sizes:
    """How large the problems are."""

    grid: int = 512
    cayley: int = 100_000
    exact: int = 1000
    factored: int = 20_000
    krylov: int = 128
    overhead: int = 100
    roofline: int = 2000
    triad_cache_multiple: float = 4


QUICK = Sizes(grid=48, cayley=500, exact=100, factored=500, krylov=16, roofline=100, triad_cache_multiple=0.1)
