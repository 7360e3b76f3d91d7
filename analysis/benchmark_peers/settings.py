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
    triad_cache_multiple: int = 4


QUICK = Sizes(grid=96, cayley=5000, exact=200, factored=2000, krylov=16, roofline=250, triad_cache_multiple=1)
