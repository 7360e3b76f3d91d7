"""What is timed: models, orders, sizes, and how often."""

from __future__ import annotations

from analysis._networks import CHEBNET, SWEEPS

BATCH = 100
REPEATS, QUICK_REPEATS = 30, 2
QUICK_ORDERS = (1, 3)
SIZES, QUICK_SIZES = (300, 1000, 3000, 10_000, 30_000, 100_000), (90, 150)
ORDER_VERTICES, QUICK_ORDER_VERTICES = 360, 90
SIZE_ORDER = 3
SIZE_BATCH, QUICK_BATCH = 4, 2
AVERAGE_DEGREE = 14.0
INNER_SHARE = 0.93
ZOOM = 1.0

TOL = 1e-4

# Exponents up to this count as linear: the larger sizes leave the caches.
LINEAR = 1.1

INVERSION, EIGENBASIS, SERIES = "inversion", "eigenbasis", "series"
MODELS = (INVERSION, *(f"jacobi {K}" for K in SWEEPS), EIGENBASIS, SERIES, CHEBNET)
NAMES = {
    INVERSION: "exact by inversion, as the paper",
    EIGENBASIS: "exact by a cached eigenbasis",
    SERIES: f"our series, tol {TOL:g}",
    CHEBNET: "ChebNet",
    **{f"jacobi {K}": f"Jacobi, K = {K}" for K in SWEEPS},
}

# Dense matrices beyond these sizes take too long for 30 repetitions, or too much memory.
LARGEST = {INVERSION: 1000, EIGENBASIS: 3000}

# Seconds after which a slow call is not repeated again; the table says how often it was.
BUDGET, QUICK_BUDGET = 60.0, 0.5
KINDS = ("test", "training")
