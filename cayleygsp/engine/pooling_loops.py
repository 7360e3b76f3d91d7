"""Compiled loops of pooling: the matching of vertices, the maximum over groups of rows, and the way back."""

from __future__ import annotations

import numpy as np

from cayleygsp._typing import Array
from cayleygsp.engine.compiling import UNCOUNTED, compiled


@compiled()
def match_pairs(indptr, indices, weights, d, visits):  # type: ignore[no-untyped-def]
    """Return for each vertex the number of its pair; pairs are numbered as they are found."""
    cluster = np.full(visits.size, -1, np.int64)
    n_found = 0
    for i in visits:
        if cluster[i] >= 0:
            continue
        cluster[i] = n_found
        partner, best = -1, -1.0
        for p in range(indptr[i], indptr[i + 1]):
            j = indices[p]
            if cluster[j] >= 0:  # matched before, or i itself
                continue
            # w/d instead of w·(1/d): neither over- nor underflows where w ≤ d
            gain = weights[p] / d[i] + weights[p] / d[j]
            if gain > best:
                partner, best = j, gain
        if partner >= 0:
            cluster[partner] = n_found
        n_found += 1
    return cluster


@compiled(**UNCOUNTED)
def max_of_groups(x: Array, starts: Array, y: Array, which: Array) -> None:
    """Set y[:, g] to the maximum of x[:, starts[g]:starts[g + 1]], and which to its place in the group, the first one.

    Blocks have the shapes (m, n, width) and (m, n_groups, width), places are bytes; no group is empty. What is not a
    number is larger than all others.
    """
    width = x.shape[2]
    for b in range(x.shape[0]):
        for g in range(starts.size - 1):
            first = starts[g]
            best, at, row = y[b, g], which[b, g], x[b, first]  # rows of their own: the loops over them are vectorised
            for k in range(width):
                best[k] = row[k]
                at[k] = 0
            for i in range(first + 1, starts[g + 1]):
                row, place = x[b, i], np.uint8(i - first)
                for k in range(width):
                    value, old, kept = row[k], best[k], at[k]
                    larger = (value > old) | (value != value)
                    best[k] = value if larger else old
                    at[k] = place if larger else kept


@compiled(**UNCOUNTED)
def spread_to_places(gradient: Array, which: Array, starts: Array, out: Array) -> None:
    """Set out to the gradient where the maximum was found, to zero elsewhere; see :func:`max_of_groups`."""
    width, zero = gradient.shape[2], gradient.dtype.type(0)
    for b in range(gradient.shape[0]):
        for g in range(starts.size - 1):
            row, at = gradient[b, g], which[b, g]
            for i in range(starts[g], starts[g + 1]):
                target, place = out[b, i], np.uint8(i - starts[g])
                for k in range(width):
                    value, here = row[k], at[k]
                    target[k] = value if here == place else zero
