"""Compiled loops that turn a list of edges into the rows of a matrix, normalize them and bound their spectrum."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from cayleygsp._rounding import rounded_up
from cayleygsp._typing import Array, FloatArray
from cayleygsp.engine.compiling import compiled

# What is wrong with edges.
OUT_OF_RANGE, NOT_FINITE, NEGATIVE, TWO_GRAPHS = 1, 2, 3, 4

# How rows are normalized.
PLAIN, SYMMETRIC, RANDOM_WALK = 0, 1, 2


def rows_of_edges(
    sources: Array, targets: Array, weights: FloatArray, n: int, graphs: Array, *, keep_loops: bool
) -> tuple[int, float, Array, Array, FloatArray, FloatArray, FloatArray]:
    """Sort edges by the vertex where they end.

    Parameters
    ----------
    sources, targets : ndarray of int64, shape (n_edges,)
        Where edges begin and end.
    weights : ndarray, shape (n_edges,) or (0,)
        Their weights; none stands for ones.
    n : int
        Number of vertices.
    graphs : ndarray of int64, shape (n,) or (0,)
        The graph of each vertex; none stands for one graph.
    keep_loops : bool
        Whether self-loops count in the degrees. They stay as entries of weight zero in any case.

    Returns
    -------
    fault : int
        What is wrong with the edges; 0 if nothing is, and then the rest holds.
    asymmetry : float
        The largest relative difference between the sums of a random vector over the edges that end and that begin at
        a vertex: rounding for a symmetric matrix.
    indptr, indices, values : ndarray
        The rows: edges that end at a vertex, with where they begin and their weights.
    degrees, loops : ndarray, shape (n,)
        Sums of the weights of the edges that begin at a vertex, and the self-loops in them.
    """
    n_edges = sources.shape[0]
    whole = np.int32 if max(n_edges, n) < 2**31 else np.int64
    indptr, indices, values = np.zeros(n + 1, whole), np.empty(n_edges, whole), np.empty(n_edges)
    degrees, loops = np.zeros(n), np.zeros(n)
    fault, asymmetry = _sort(sources, targets, weights, graphs, keep_loops, indptr, indices, values, degrees, loops)
    return fault, asymmetry, indptr, indices, values, degrees, loops


@njit
def _noise(i):  # type: ignore[no-untyped-def]
    """Return a number between 0.5 and 1.5 that has no relation to those of other vertices."""
    z = (np.uint64(i) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return 0.5 + np.float64((z ^ (z >> np.uint64(31))) >> np.uint64(11)) * 2.0**-53


@compiled()
def _sort(sources, targets, weights, graphs, keep_loops, indptr, indices, values, degrees, loops):  # type: ignore[no-untyped-def]
    """Fill the arrays; return what is wrong, and the asymmetry."""
    n, n_edges = degrees.shape[0], sources.shape[0]
    weighted, many = weights.shape[0] > 0, graphs.shape[0] > 0
    fault = 0
    for e in range(n_edges):
        s, t = sources[e], targets[e]
        if s < 0 or s >= n or t < 0 or t >= n:
            return OUT_OF_RANGE, 0.0
        if many and graphs[s] != graphs[t]:
            fault = TWO_GRAPHS
        indptr[t + 1] += 1
    for i in range(n):
        indptr[i + 1] += indptr[i]
    noise, place = np.empty(n), np.empty(n, np.int64)
    ending, beginning, size = np.zeros(n), np.zeros(n), np.zeros(n)
    for i in range(n):
        noise[i], place[i] = _noise(i), indptr[i]
    for e in range(n_edges):
        s, t = sources[e], targets[e]
        w = np.float64(weights[e]) if weighted else 1.0
        if not np.isfinite(w):
            return NOT_FINITE, 0.0
        if w < 0:
            fault = NEGATIVE
        p = place[t]
        place[t] = p + 1
        indices[p] = s
        if s == t:
            values[p] = 0.0
            loops[t] += w
            if keep_loops:
                degrees[t] += w
            continue
        values[p] = w
        degrees[s] += w
        ending[t] += w * noise[s]
        beginning[s] += w * noise[t]
        size[t] += abs(w)
        size[s] += abs(w)
    asymmetry = 0.0
    for i in range(n):
        if size[i] > 0:
            asymmetry = max(asymmetry, abs(ending[i] - beginning[i]) / size[i])
    return fault, asymmetry


def normalize_rows(kind: int, indptr: Array, indices: Array, values: FloatArray, degrees: FloatArray) -> None:
    """Divide the values by the degrees: by the roots of both ends, or by that where the edge begins.

    Parameters
    ----------
    kind : int
        :data:`PLAIN`, :data:`SYMMETRIC` or :data:`RANDOM_WALK`.
    indptr, indices, values : ndarray
        The rows; values are changed.
    degrees : ndarray, shape (n,)
        Sums of the weights at each vertex; values beside a degree of zero become zero.
    """
    if kind != PLAIN:
        _normalize(kind == SYMMETRIC, indptr, indices, values, degrees)


@compiled()
def _normalize(symmetric, indptr, indices, values, degrees):  # type: ignore[no-untyped-def]
    n = degrees.shape[0]
    top = 1e-300
    for i in range(n):
        top = max(top, abs(degrees[i]))
    unit = 2.0 ** -np.ceil(np.log2(top))  # near the largest degree, so that nothing over- or underflows
    factor = np.zeros(n)
    for i in range(n):
        d = degrees[i] * unit
        if d != 0:
            factor[i] = 1 / np.sqrt(d) if symmetric else 1 / d
    for i in range(n):
        for p in range(indptr[i], indptr[i + 1]):
            f = factor[indices[p]]
            values[p] = values[p] * unit * (f * factor[i] if symmetric else f)


def largest_per_graph(values: FloatArray, graphs: Array) -> FloatArray:
    """Return for each vertex the largest value, not below zero, in its graph (numbered without gaps)."""
    if graphs.shape[0] == 0:
        return np.full(values.shape, max(values.max(initial=0.0), 0.0))
    top = np.zeros(values.shape[0])
    np.maximum.at(top, graphs, values)
    return top[graphs]


def guaranteed_bound(
    indptr: Array, indices: Array, values: FloatArray, diagonal: FloatArray, graphs: Array, steps: int
) -> FloatArray:
    """Bound the spectrum of D - W for each vertex's graph: max of (Qx)_i / x_i, Q = D + W, by power steps.

    Parameters
    ----------
    indptr, indices, values : ndarray
        W by rows, not negative.
    diagonal : ndarray, shape (n,)
        D.
    graphs : ndarray of int64, shape (n,) or (0,)
        The graph of each vertex, numbered without gaps; none stands for one graph.
    steps : int
        Power steps.
    """
    n = diagonal.shape[0]
    if n == 0:
        return np.zeros(0)
    longest = int(np.diff(indptr).max())
    label = graphs if graphs.shape[0] else np.zeros(n, np.int64)
    best = _power_steps(indptr, indices, values, diagonal, label, int(label.max()) + 1, steps)
    return rounded_up(best, longest)[label]


@compiled()
def _power_steps(indptr, indices, values, diagonal, graphs, n_graphs, steps):  # type: ignore[no-untyped-def]
    n = diagonal.shape[0]
    best, top, ratio = np.zeros(n_graphs), np.empty(n_graphs), np.empty(n_graphs)
    usable = np.ones(n_graphs, np.bool_)
    x, Qx = np.ones(n), np.ones(n)
    for i in range(n):
        best[graphs[i]] = max(best[graphs[i]], 2 * diagonal[i])  # by Gershgorin
        if diagonal[i] > 0:
            x[i] = diagonal[i]
    for _ in range(steps):
        top[:] = 0
        ratio[:] = 0
        for i in range(n):
            if diagonal[i] > 0:
                top[graphs[i]] = max(top[graphs[i]], x[i])
        for i in range(n):
            if diagonal[i] > 0:
                x[i] /= top[graphs[i]]
                if not x[i] > 1e-200:
                    usable[graphs[i]] = False  # a graph in which a number underflows keeps the bound that it has
        for i in range(n):
            if diagonal[i] > 0:
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


def consecutive(labels: Array) -> Array:
    """Return labels numbered from zero without gaps, in the order of their values."""
    if labels.shape[0] == 0:
        return labels
    steps = np.diff(labels)
    if (steps >= 0).all():
        return np.append(0, np.cumsum(steps > 0))
    return np.asarray(np.unique(labels, return_inverse=True)[1])


def rayleigh_bound(graph: tuple[Any, ...], graphs: Array, steps: int = 16) -> FloatArray:
    """Bound the largest eigenvalue of a symmetric matrix from below, for each vertex's graph, by Rayleigh quotients.

    Parameters
    ----------
    graph : tuple
        ``indptr``, ``indices``, ``values`` and ``diagonal`` of the matrix diag(diagonal) - W.
    graphs : ndarray of int64, shape (n,) or (0,)
        The graph of each vertex, numbered without gaps; none stands for one graph.
    steps : int
        Power steps from a random vector.
    """
    n = graph[3].shape[0]
    label = graphs if graphs.shape[0] else np.zeros(n, np.int64)
    lower = _rayleigh(*graph, label, int(label.max(initial=0)) + 1, steps)
    return np.asarray(lower[label])


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
