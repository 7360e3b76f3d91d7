"""Compiled loops that turn a list of edges into the rows of a matrix, normalize them and bound their spectrum."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from cayleygsp._rounding import rounded_up
from cayleygsp._typing import Array, FloatArray
from cayleygsp.engine.compiling import compiled

# What edges may have: a negative weight, which leaves the rest right, or a fault that leaves nothing.
NEGATIVE, FAULTY = 1, 2

# How entries are normalized.
PLAIN, SYMMETRIC, RANDOM_WALK = 0, 1, 2


class EdgeRows(NamedTuple):
    """Edges as the rows of a Laplacian: those that end at a vertex, with where they begin and their weights.

    Weights are divided by ``degrees``, sums over the edges that begin at a vertex; self-loops stay as entries of value
    zero. ``diagonal`` is that of the Laplacian. ``fault`` is :data:`FAULTY` if an index is out of range, a weight is
    not finite or an edge joins two graphs. ``asymmetry`` is the largest relative difference between the sums of a
    random vector over the edges that end and that begin at a vertex: rounding for a symmetric matrix.
    """

    fault: int
    asymmetry: float
    indptr: Array
    indices: Array
    values: FloatArray
    diagonal: FloatArray
    degrees: FloatArray


def rows_of_edges(
    sources: Array, targets: Array, weights: FloatArray, n: int, graphs: Array, *, kind: int, keep_loops: bool
) -> EdgeRows:
    """Sort edges by the vertex where they end, and normalize them.

    No ``weights`` (shape (0,)) stand for ones, no ``graphs``, the numbers of the vertices' graphs, for one graph. A
    ``kind`` of :data:`SYMMETRIC` divides by the roots of the degrees of both ends, :data:`RANDOM_WALK` by the degree of
    where the edge begins. Self-loops count in the degrees with ``keep_loops``; without, a normalized diagonal is 1
    everywhere.
    """
    n_edges = sources.shape[0]
    whole = np.int32 if max(n_edges, n) < 2**31 else np.int64
    indptr, indices, values = np.zeros(n + 1, whole), np.empty(n_edges, whole), np.empty(n_edges)
    degrees, loops, diagonal = np.zeros(n), np.zeros(n), np.empty(n)
    fault = _sort(sources, targets, weights, graphs, indptr, indices, values, loops)
    asymmetry = np.inf
    if fault != FAULTY:
        asymmetry = _add_up(indptr, indices, values, degrees)
        _normalize(kind, keep_loops, indptr, indices, values, degrees, loops, diagonal)
    return EdgeRows(fault, asymmetry, indptr, indices, values, diagonal, degrees)


@compiled()
def _sort(sources, targets, weights, graphs, indptr, indices, values, loops):  # type: ignore[no-untyped-def]
    """Fill the rows and the self-loops, whose entries become zero; return what is wrong."""
    n, n_edges = loops.shape[0], sources.shape[0]
    weighted, many = weights.shape[0] > 0, graphs.shape[0] > 0
    fault = 0
    for e in range(n_edges):
        s, t = sources[e], targets[e]
        if s < 0 or s >= n or t < 0 or t >= n or (many and graphs[s] != graphs[t]):
            return FAULTY
        indptr[t + 1] += 1
    place = np.empty(n, np.int64)
    for i in range(n):
        place[i] = indptr[i]
        indptr[i + 1] += indptr[i]
    for e in range(n_edges):
        s, t = sources[e], targets[e]
        w = np.float64(weights[e]) if weighted else 1.0
        if not np.isfinite(w):
            return FAULTY
        if w < 0:
            fault = NEGATIVE
        p = place[t]
        place[t] = p + 1
        indices[p] = s
        values[p] = w
        if s == t:
            values[p] = 0.0
            loops[t] += w
    return fault


@njit
def _noise(i):  # type: ignore[no-untyped-def]
    """Return a number between 0.5 and 1.5 that has no relation to those of other vertices."""
    z = (np.uint64(i) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return 0.5 + np.float64((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


@compiled()
def _add_up(indptr, indices, values, degrees):  # type: ignore[no-untyped-def]
    """Set the degrees, without self-loops; return the asymmetry."""
    n = degrees.shape[0]
    noise, ending, beginning, size = np.empty(n), np.empty(n), np.zeros(n), np.zeros(n)
    for i in range(n):
        noise[i] = _noise(i)
    for t in range(n):
        total = size_of_row = 0.0
        for p in range(indptr[t], indptr[t + 1]):
            s, w = indices[p], values[p]
            degrees[s] += w
            total += w * noise[s]
            beginning[s] += w * noise[t]
            size_of_row += abs(w)
            size[s] += abs(w)
        ending[t] = total
        size[t] += size_of_row
    asymmetry = 0.0
    for i in range(n):
        if size[i] > 0:
            asymmetry = max(asymmetry, abs(ending[i] - beginning[i]) / size[i])
    return asymmetry


@compiled()
def _normalize(kind, keep_loops, indptr, indices, values, degrees, loops, diagonal):  # type: ignore[no-untyped-def]
    """Set the diagonal, divide the values by the degrees, those beside a degree of zero by none."""
    n = degrees.shape[0]
    top = 1e-300
    for i in range(n):
        diagonal[i] = degrees[i]
        if keep_loops:
            degrees[i] += loops[i]
        top = max(top, abs(degrees[i]))
    if kind == PLAIN:
        return
    unit = 2.0 ** -np.ceil(np.log2(top))  # near the largest degree, so that nothing over- or underflows
    factor = np.zeros(n)
    for i in range(n):
        d = degrees[i] * unit
        if d != 0:
            factor[i] = 1 / np.sqrt(d) if kind == SYMMETRIC else 1 / d
        diagonal[i] = (diagonal[i] / degrees[i] if degrees[i] > 0 else 0.0) if keep_loops else 1.0
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            f = factor[indices[p]]
            values[p] = values[p] * unit * (f * factor[i] if kind == SYMMETRIC else f)


def guaranteed_bound(
    indptr: Array, indices: Array, values: FloatArray, diagonal: FloatArray, graphs: Array, steps: int
) -> FloatArray:
    """Bound the spectrum of D - W for each vertex's graph, D and W not negative.

    The bound is max of (Qx)_i / x_i, Q = D + W, of an x that power steps improve. ``graphs`` are numbered below n.
    """
    n_graphs = int(graphs.max(initial=0)) + 1
    best = _power_steps(indptr, indices, values, diagonal, graphs, n_graphs, steps)
    return np.asarray(rounded_up(best, int(np.diff(indptr).max(initial=0)))[graphs])


@compiled()
def _power_steps(indptr, indices, values, diagonal, graphs, n_graphs, steps):  # type: ignore[no-untyped-def]
    n = diagonal.shape[0]
    best, top, ratio = np.zeros(n_graphs), np.empty(n_graphs), np.empty(n_graphs)
    usable = np.ones(n_graphs, np.bool_)
    x, Qx = np.empty(n), np.empty(n)
    for i in range(n):
        best[graphs[i]] = max(best[graphs[i]], 2 * diagonal[i])  # by Gershgorin
        x[i] = diagonal[i]  # zero where there are no edges, and so it stays
    for _ in range(steps):
        top[:] = 0
        ratio[:] = 0
        for i in range(n):
            top[graphs[i]] = max(top[graphs[i]], x[i])
        for i in range(n):
            if diagonal[i] > 0:
                x[i] /= top[graphs[i]]
                if not x[i] > 1e-200:
                    usable[graphs[i]] = False  # a graph in which a number underflows keeps the bound that it has
        for i in range(n):
            total = diagonal[i] * x[i]
            for p in range(indptr[i], indptr[i + 1]):
                total += values[p] * x[indices[p]]
            Qx[i] = total
            if x[i] > 0:
                ratio[graphs[i]] = max(ratio[graphs[i]], total / x[i])
        for g in range(n_graphs):
            if usable[g] and ratio[g] < best[g]:
                best[g] = ratio[g]
        x, Qx = Qx, x
    return best


def rayleigh_bound(
    indptr: Array, indices: Array, values: FloatArray, diagonal: FloatArray, graphs: Array, steps: int = 16
) -> FloatArray:
    """Bound the largest eigenvalue of a symmetric D - W from below, for each vertex's graph, by Rayleigh quotients.

    Power steps start from a random vector; ``graphs`` are those of :func:`guaranteed_bound`.
    """
    n_graphs = int(graphs.max(initial=0)) + 1
    return np.asarray(_rayleigh(indptr, indices, values, diagonal, graphs, n_graphs, steps)[graphs])


@compiled()
def _rayleigh(indptr, indices, values, diagonal, graphs, n_graphs, steps):  # type: ignore[no-untyped-def]
    n = diagonal.shape[0]
    lower, power, form = np.zeros(n_graphs), np.empty(n_graphs), np.empty(n_graphs)
    x, y = np.empty(n), np.empty(n)
    for i in range(n):
        x[i] = _noise(i) - 1
        lower[graphs[i]] = max(lower[graphs[i]], diagonal[i])  # of a unit vector
    for _ in range(steps):
        power[:] = 0
        form[:] = 0
        for i in range(n):
            total = diagonal[i] * x[i]
            for p in range(indptr[i], indptr[i + 1]):
                total -= values[p] * x[indices[p]]
            y[i] = total
            power[graphs[i]] += x[i] * x[i]
            form[graphs[i]] += x[i] * total
        for g in range(n_graphs):
            if power[g] > 0:
                lower[g] = max(lower[g], form[g] / power[g])
        for i in range(n):
            size = max(abs(form[graphs[i]]), 1e-300)
            y[i] = y[i] * (np.sqrt(power[graphs[i]]) / size if power[graphs[i]] > 0 else 0.0)
        x, y = y, x
    return lower
