"""Rows of the scaled Laplacian on blocks of signals, as the loops for the layers step them.

A graph comes as ``(indptr, indices, weights, diagonal, off, scale)``: the scaled Laplacian in row i is ``scale[i] *
(diagonal[i] * t[i] + off * sum(weights * t[indices])) - t[i]``.
"""

from __future__ import annotations

import numpy as np

from cayleygsp.engine.compiling import compiled_helper
from cayleygsp.engine.rows import step_row


@compiled_helper()
def step_scaled_rows(first, last, graph, factor, minus, t, t_old, out, add):  # type: ignore[no-untyped-def]
    """Set rows of out to factor * (scaled Laplacian) t - minus * t_old, plus what stands there if ``add``."""
    indptr, indices, weights, diagonal, off, scale = graph
    for i in range(first, last):
        begin, end = np.int64(indptr[i]), np.int64(indptr[i + 1])
        w1 = factor * scale[i] * off
        w2 = factor * (scale[i] * diagonal[i]) - factor
        step_row(np.int64(i), begin, end, indices, weights, w1, w2, -minus, t, t_old, out, add)
