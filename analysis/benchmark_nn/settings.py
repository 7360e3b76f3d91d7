"""How large the problems are, and how wrong results may be."""

from __future__ import annotations

from dataclasses import dataclass

ORDER = 12
TERMS = 2 * ORDER + 1
SWEEPS = 11
TOL = 1e-4

# Single precision leaves about this much of the norm, and each basis function may be wrong by `TOL`.
CHEBYSHEV_LIMIT = 1e-5
CAYLEY_LIMIT = 1e-3

# Gradients in edge weights are sums over all terms and channels, in single precision too.
EDGE_LIMIT = 1e-4

# Eleven sweeps are as right as they are; more than this would mean that something else is computed.
JACOBI_LIMIT = 1.0


@dataclass(frozen=True)
class Sizes:
    """How large the problems are."""

    side: int = 28
    batch: int = 100
    features: tuple[int, int] = (32, 64)
    hidden: int = 512
    growth_vertices: int = 1000
    growth_batch: int = 20
    growth_channels: int = 8
    factors: tuple[int, ...] = (1, 2, 4, 8)
    edge_vertices: int = 5000
    edge_channels: int = 32
    fresh: tuple[int, ...] = (60, 500, 5000)
    sparse: tuple[int, int] = (2708, 1433)


QUICK = Sizes(
    side=8,
    batch=4,
    features=(4, 6),
    hidden=16,
    growth_vertices=60,
    growth_batch=2,
    factors=(1, 2),
    edge_vertices=60,
    edge_channels=3,
    fresh=(30,),
    sparse=(40, 100),
)
