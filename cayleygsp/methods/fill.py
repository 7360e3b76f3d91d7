"""What a sparse factorisation of hΔ + iI costs, predicted from the separators of the graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from cayleygsp._memory import available_memory, format_bytes
from cayleygsp.eigenbasis import warn_if_long
from cayleygsp.laplacians import Laplacian

# Components, largest first, whose separators are looked for one by one.
_COMPONENTS = 20


@dataclass(frozen=True)
class FactorisationCost:
    """What a sparse factorisation is expected to take, on the pessimistic side."""

    seconds: float
    n_bytes: float


def factorisation_cost(L: Laplacian) -> FactorisationCost:
    r"""Predict the cost of factoring :math:`h\Delta + iI` from the size s of a separator.

    Grids and road networks have small separators and factors of about :math:`n \log n` entries; random graphs
    have none, and their factors are nearly dense. The constants were fitted to SuperLU on grids in two and three
    dimensions, nearest-neighbour, random regular, scale-free and community graphs.
    """
    n_entries = float(L.matrix.nnz)
    for size, separator in separators(L):
        n_entries += 4 * size * np.log2(size + 1) + min(40 * separator**2, 0.4 * size**2)
    return FactorisationCost(
        seconds=2e-7 * n_entries + 3e-10 * n_entries**2 / L.n_vertices,
        n_bytes=2.5 * 16 * n_entries,  # a complex value, its index, and room to grow
    )


def separators(L: Laplacian) -> list[tuple[int, float]]:
    """Return the sizes of the components and of their separators, trees that hang on them cut off first."""
    core = _without_trees(L.matrix)
    if core.shape[0] == 0:
        return [(L.n_vertices, 1.0)]
    _, labels = csgraph.connected_components(core, directed=False)
    sizes = np.bincount(labels)
    sizes_of_separators = [(L.n_vertices - core.shape[0], 1.0)]
    for label in np.argsort(sizes)[::-1][:_COMPONENTS]:
        members = np.flatnonzero(labels == label)
        sizes_of_separators.append((members.size, separator_size(core, int(members[0]))))
    rest = np.sort(sizes)[::-1][_COMPONENTS:]
    return sizes_of_separators + [(int(size), size / 3) for size in rest]


def _without_trees(A: sparse.csr_array) -> sparse.csr_array:
    """Cut off leaves again and again: they are eliminated without fill. Long tails are left after some rounds."""
    for _ in range(50):
        degrees = np.diff(A.indptr) - (A.diagonal() != 0)
        inner = degrees > 1
        if inner.all():
            break
        A = A[inner][:, inner]
    return A


def separator_size(A: sparse.csr_array, vertex: int) -> float:
    """Return the width of the narrowest level that halves a search from a far vertex, or a third if none does."""
    order, parent = np.array([vertex]), np.zeros(1)
    for _ in range(3):  # twice more from the far end, for a long and narrow structure
        order, parent = csgraph.breadth_first_order(A, vertex, directed=False)
        vertex = int(order[-1])
    position = np.empty(A.shape[0], dtype=np.int64)
    position[order] = np.arange(order.size)
    parents = position[parent[order[1:]]]  # ascending
    edges = [0, 1]
    while edges[-1] < order.size:
        edges.append(1 + int(np.searchsorted(parents, edges[-1])))
    below, widths = np.array(edges[:-1]), np.diff(edges)
    above = order.size - below - widths
    halves = np.minimum(below, above) >= order.size / 6
    return float(widths[halves].min()) if halves.any() else order.size / 3


def check_factorisation(L: Laplacian) -> None:
    """Reject a factorisation that would not fit into memory, before it starts.

    Raises
    ------
    MemoryError
        With what it would take and what to use instead.
    """
    cost, available = factorisation_cost(L), available_memory()
    if cost.n_bytes > available:
        raise MemoryError(
            f"method='exact' on {L.n_vertices} vertices is expected to need {format_bytes(cost.n_bytes)} and "
            f"{cost.seconds:.3g} s for a sparse factorisation, and {format_bytes(available)} are available; use "
            "method='chebyshev', or method='multigrid' for a very large zoom"
        )
    warn_if_long(f"method='exact' on {L.n_vertices} vertices", cost.seconds, cost.n_bytes)
