"""A layout for graphs without coordinates.

Distances to a few vertices far apart, reduced to their two main directions, unfold a graph (Harel and Koren, "Graph
drawing by high-dimensional embedding", 2002). From there, edges pull and all vertices push each other away (Fruchterman
and Reingold, 1991); the pushing is computed on a grid by a fast Fourier transform, in time linear in the graph.
"""

from __future__ import annotations

import numpy as np
from scipy import fft, sparse
from scipy.sparse import csgraph

from cayleygsp._typing import ComplexArray, FloatArray, IntArray

# Vertices that distances are measured from, rounds of pulling and pushing, the most cells along a side of the grid.
_PIVOTS, _ROUNDS, _MOST_CELLS = 24, 120, 128

_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


def force_layout(W: sparse.csr_array, rng: np.random.Generator | int | None = None) -> FloatArray:
    """Return positions of the vertices of a graph; components lie apart, the largest in the middle.

    Weights do not count, and there is about one vertex per unit of area; ``rng`` moves apart what would lie upon each
    other.
    """
    n = W.shape[0]
    generator = np.random.default_rng(rng)
    n_components, component = csgraph.connected_components(W, directed=False)
    sizes = np.bincount(component, minlength=n_components)
    x = np.zeros((n, 2))
    for c in np.flatnonzero(sizes > 2):
        own = np.flatnonzero(component == c)
        x[own] = _unfolded(W[own][:, own])
    x += 0.1 * generator.standard_normal((n, 2))
    centres = _component_centres(sizes)
    x += centres[component]
    upper = sparse.triu(W, k=1, format="coo")
    kernels = _push_kernels(min(int(4 * np.sqrt(n)) + 12, _MOST_CELLS))
    for round in range(_ROUNDS):
        reach = max(0.15 * np.sqrt(n), 1.0) * (1 - round / _ROUNDS) ** 2 + 0.01
        force = _push(x, kernels) + _pull(x, upper.row, upper.col) + 0.05 * (centres[component] - x)
        length = np.linalg.norm(force, axis=1, keepdims=True)
        x += force * (np.minimum(length, reach) / np.maximum(length, 1e-12))
    return x


def _unfolded(W: sparse.csr_array) -> FloatArray:
    """Return the main two directions of the distances to vertices that are far from each other."""
    n = W.shape[0]
    near = np.full(n, np.inf)
    start, columns = 0, []
    for _ in range(min(_PIVOTS, n)):
        hops = csgraph.dijkstra(W, indices=start, unweighted=True)
        columns.append(hops)
        near = np.minimum(near, hops)
        start = int(near.argmax())
    D = np.column_stack(columns)
    D -= D.mean(axis=0)
    _, _, V = np.linalg.svd(D, full_matrices=False)
    x = np.zeros((n, 2))
    y = D @ V[:2].T
    x[:, : y.shape[1]] = y
    spread = x.std(axis=0)
    # as much area as there are vertices, and no graph as thin as a line
    return x * np.sqrt(n) / 3.5 / np.maximum(spread, 0.35 * spread.max())


def _component_centres(sizes: IntArray) -> FloatArray:
    """Return centres of discs as large as the components, from the largest outwards."""
    order = np.argsort(-sizes, kind="stable")
    area = 2.2 * (np.cumsum(sizes[order]) - sizes[order] / 2) / np.pi
    radius = np.sqrt(area + 2 * np.sqrt(area))
    radius[0] = 0.0
    angle = _GOLDEN_ANGLE * np.arange(sizes.size)
    centres = np.empty((sizes.size, 2))
    centres[order] = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return centres


def _pull(x: FloatArray, rows: IntArray, columns: IntArray) -> FloatArray:
    """Return the pull of the edges, that of an edge as the square of its length."""
    d = x[columns] - x[rows]
    f = d * np.linalg.norm(d, axis=1, keepdims=True)
    total = np.zeros_like(x)
    for axis in range(2):
        total[:, axis] = np.bincount(rows, f[:, axis], len(x)) - np.bincount(columns, f[:, axis], len(x))
    return total


def _push_kernels(cells: int) -> list[ComplexArray]:
    """Return the transforms of both parts of the push on a grid, in cells: x/|x|², softened within a cell."""
    offset = fft.fftfreq(2 * cells, 1 / (2 * cells))
    o = np.meshgrid(offset, offset, indexing="ij")
    return [fft.rfft2(part / (o[0] ** 2 + o[1] ** 2 + 1)) for part in o]


def _push(x: FloatArray, kernels: list[ComplexArray]) -> FloatArray:
    """Return the push of all vertices, that of one as the inverse of its distance."""
    padded = kernels[0].shape[0]
    cells, low = padded // 2, x.min(axis=0)
    cell = max(float((x.max(axis=0) - low).max()), 1e-6) / (cells - 2)
    place = (x - low) / cell
    corner = place.astype(np.int64)
    part = place - corner
    mass = np.zeros(cells * cells)
    corners = []
    for dx in range(2):
        for dy in range(2):
            weight = np.abs(1 - dx - part[:, 0]) * np.abs(1 - dy - part[:, 1])
            flat = (corner[:, 0] + dx) * cells + corner[:, 1] + dy
            corners.append((flat, weight))
            mass += np.bincount(flat, weight, mass.size)
    spectrum = fft.rfft2(mass.reshape(cells, cells), (padded, padded))
    force = np.empty_like(x)
    for axis, kernel in enumerate(kernels):
        field = fft.irfft2(spectrum * kernel, (padded, padded))[:cells, :cells].ravel()
        force[:, axis] = sum(weight * field[flat] for flat, weight in corners)
    return force / cell
