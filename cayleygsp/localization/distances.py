"""Distances in hops, and how far polynomials reach."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csgraph

from cayleygsp._typing import Array, GraphLike
from cayleygsp._validation import check_integer, check_vertex
from cayleygsp.laplacians import laplacian


def hops(graph: GraphLike, vertex: int) -> Array:
    """Return the number of edges on a shortest way from a vertex to every other one.

    Parameters
    ----------
    graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
        See :func:`laplacian`. Weights do not count, as long as they are not zero.
    vertex : int
        Where to start.

    Returns
    -------
    numpy.ndarray of int, shape (n_vertices,)
        −1 for vertices that cannot be reached.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp import localization
    >>> localization.hops(cg.gallery.ring(7), 0)
    array([0, 1, 2, 3, 3, 2, 1])
    """
    L = laplacian(graph)
    start = check_vertex(vertex, L.n_vertices)
    order, before = csgraph.breadth_first_order(L.matrix, start, directed=True, return_predecessors=True)
    # Everyone's distance is that of the predecessor and one: ways are doubled until all have reached the start.
    jump = before.astype(np.int64)
    jump[start] = start
    distance = np.full(L.n_vertices, -1, dtype=np.int64)
    distance[order] = 1
    distance[start] = 0
    far = order[jump[order] != start]
    while far.size:
        halfway = jump[far]
        distance[far] += distance[halfway]
        jump[far] = jump[halfway]
        far = far[jump[far] != start]
    return distance


def jacobi_support(order: int, n_iter: int) -> int:
    """Return how many hops the Jacobi scheme reaches: r (K + 1), K sweeps and a start vector for each power.

    Parameters
    ----------
    order : int
        r ≥ 1.
    n_iter : int
        K ≥ 0.

    Examples
    --------
    >>> from cayleygsp import localization
    >>> localization.jacobi_support(order=3, n_iter=4)
    15
    """
    return check_integer(order, "order", at_least=1) * (check_integer(n_iter, "n_iter", at_least=0) + 1)
