"""Sizes of the benchmark of graphs in parts."""

from __future__ import annotations

import os

# Degree of the series, that of a filter with h·λmax of about 30 to 1e-6.
DEGREE, QUICK_DEGREE = 120, 6

# Vertices of the graphs whose work is shared, and those for each worker where the work grows with them.
STRONG, QUICK_STRONG = 1_000_000, 2_500
WEAK, QUICK_WEAK = 250_000, 900

# Worker processes of one thread: no more than the machine has processors for, and two at least.
WORKERS = tuple(n for n in (1, 2, 4, 8, 16) if n <= max(os.cpu_count() or 1, 2))
QUICK_WORKERS = (1, 2)

# The graph of the target: two workers against one process with two threads.
TARGET, QUICK_TARGET = 10_000_000, 10_000
TARGET_RATIO = 1.5

# Parts whose halos are counted, and vertices of the graph that is cut.
HALO_PARTS, QUICK_HALO_PARTS = (2, 4, 8, 16, 32, 64), (2, 4)
HALO_VERTICES, QUICK_HALO_VERTICES = 100_000, 2_500

# Memory limit of a worker in the run with a graph that is three times as large, and its workers and parts.
LIMIT_BYTES = 480 * 2**20
LIMIT_WORKERS, LIMIT_PARTS = 4, 192
LIMIT_RATIO = 3.0
LIMIT_NEIGHBOURS = 20
LIMIT_DEGREE = 24

# What is predicted: edges, and workers of one thread.
PREDICTED_EDGES = (10**9, 10**10, 10**11)
PREDICTED_WORKERS = (16, 64, 256, 1024)
# The most degrees for one exchange that are looked at, and parts with almost no work that show what tasks cost.
RINGS = 32
TASK_PARTS, QUICK_TASK_PARTS = (2, 16), (2, 6)
