"""Sizes of the problems, what is varied, and the targets."""

from __future__ import annotations

SIZES, QUICK_SIZES = (10_000, 100_000, 1_000_000, 10_000_000), (1000, 10_000)
VARIED_SIZE, QUICK_VARIED_SIZE = 100_000, 3000
ORDER, ORDERS, QUICK_ORDERS = 8, tuple(range(1, 14)), (1, 13)
ZOOM_LMAX, ZOOMS, QUICK_ZOOMS = 30.0, (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0), (3.0, 300.0)
SIGNALS, QUICK_SIGNALS = (1, 4, 16, 64), (1, 16)
TOL = 1e-6
PAPER_SWEEPS = 13

# Sizes up to this get their error measured; the reference is slow beyond.
REFERENCE_VERTICES = 1_000_000

EXPONENT_TARGET, ARRAYS_TARGET = 1.05, 6.0
