"""Grids, rings, paths, stars and random regular graphs."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cayleygsp._typing import FloatArray, IntArray
from cayleygsp._validation import check_integer
from cayleygsp.graph import Graph


def grid(n_rows: int, n_cols: int | None = None) -> Graph:
    """Return the grid in which each vertex is joined to its up to four neighbours, with weight 1.

    Vertex ``row * n_cols + col`` has coordinates (col, row).

    Parameters
    ----------
    n_rows : int
        Number of rows, at least 1.
    n_cols : int, optional
        Number of columns; as many as rows if not given.

    Examples
    --------
    >>> from cayleygsp import gallery
    >>> gallery.grid(3, 4)
    Graph('grid', n_vertices=12, n_edges=17)
    """
    n_rows = check_integer(n_rows, "n_rows", at_least=1)
    n_cols = n_rows if n_cols is None else check_integer(n_cols, "n_cols", at_least=1)
    vertex = np.arange(n_rows * n_cols).reshape(n_rows, n_cols)
    tails = np.concatenate([vertex[:, :-1].ravel(), vertex[:-1].ravel()])
    heads = np.concatenate([vertex[:, 1:].ravel(), vertex[1:].ravel()])
    W = unweighted(tails, heads, vertex.size)
    return Graph(W, coords=grid_coords(n_rows, n_cols), name="grid")


def ring(n_vertices: int) -> Graph:
    r"""Return the cycle graph with weights 1, whose Laplacian has eigenvalues :math:`2 - 2\cos(2\pi k/n)`.

    It is drawn on the unit circle.

    Parameters
    ----------
    n_vertices : int
        Number of vertices, at least 3.

    Examples
    --------
    >>> from cayleygsp import gallery
    >>> gallery.ring(16)
    Graph('ring', n_vertices=16, n_edges=16)
    """
    n = check_integer(n_vertices, "n_vertices", at_least=3)
    vertex = np.arange(n)
    return Graph(unweighted(vertex, np.roll(vertex, -1), n), coords=circle(n), name="ring")


def path(n_vertices: int) -> Graph:
    r"""Return the path graph with weights 1, whose Laplacian has eigenvalues :math:`2 - 2\cos(\pi k/n)`.

    It is drawn at (0, 0), (1, 0), …

    Parameters
    ----------
    n_vertices : int
        Number of vertices, at least 1.

    Examples
    --------
    >>> from cayleygsp import gallery
    >>> gallery.path(5)
    Graph('path', n_vertices=5, n_edges=4)
    """
    n = check_integer(n_vertices, "n_vertices", at_least=1)
    vertex = np.arange(n)
    return Graph(unweighted(vertex[:-1], vertex[1:], n), coords=grid_coords(1, n), name="path")


def star(n_vertices: int) -> Graph:
    """Return the star with weights 1, whose Laplacian has the eigenvalues 0, 1 (n − 2 times) and n.

    Vertex 0 is the centre, the others lie on the unit circle.

    Parameters
    ----------
    n_vertices : int
        Number of vertices with the centre, at least 2.

    Examples
    --------
    >>> from cayleygsp import gallery
    >>> gallery.star(6)
    Graph('star', n_vertices=6, n_edges=5)
    """
    n = check_integer(n_vertices, "n_vertices", at_least=2)
    W = unweighted(np.zeros(n - 1, dtype=np.int64), np.arange(1, n), n)
    return Graph(W, coords=np.concatenate([np.zeros((1, 2)), circle(n - 1)]), name="star")


def random_regular(n_vertices: int, degree: int, rng: np.random.Generator | int | None = None) -> Graph:
    """Return a random simple graph in which every vertex has the same degree, with weights 1.

    It is drawn on the unit circle.

    Parameters
    ----------
    n_vertices : int
        Number of vertices.
    degree : int
        Edges per vertex, 0 to ``n_vertices - 1``; ``n_vertices * degree`` must be even.
    rng : numpy.random.Generator, int or None
        Source of randomness.

    Examples
    --------
    >>> from cayleygsp import gallery
    >>> graph = gallery.random_regular(10, 3, rng=0)
    >>> graph.W.sum(axis=1)
    array([3., 3., 3., 3., 3., 3., 3., 3., 3., 3.])
    """
    import networkx

    n = check_integer(n_vertices, "n_vertices", at_least=1)
    degree = check_integer(degree, "degree", at_least=0)
    if degree >= n:
        raise ValueError(f"`degree` must be below the number of vertices {n}, got {degree}")
    if n * degree % 2:
        raise ValueError(f"`degree` must be even for an odd number of vertices, got {degree} for {n} vertices")
    seed = int(np.random.default_rng(rng).integers(2**63))
    # The complement of a random regular graph is one too; dense ones are hard to draw directly.
    drawn = min(degree, n - 1 - degree)
    edges = networkx.random_regular_graph(drawn, n, seed=seed).edges
    tails, heads = np.array(list(edges), dtype=np.int64).reshape(-1, 2).T
    if drawn != degree:
        left = np.triu(np.ones((n, n), dtype=bool), 1)
        left[np.minimum(tails, heads), np.maximum(tails, heads)] = False
        tails, heads = np.nonzero(left)
    return Graph(unweighted(tails, heads, n), coords=circle(n), name="random regular")


def unweighted(tails: IntArray, heads: IntArray, n_vertices: int) -> sparse.csr_array:
    """Return the adjacency matrix of distinct edges, each given once, without self-loops, with weights 1."""
    index = np.int32 if n_vertices <= np.iinfo(np.int32).max else np.int64
    tails, heads = tails.astype(index), heads.astype(index)
    half = sparse.csr_array((np.ones(len(tails)), (tails, heads)), shape=(n_vertices, n_vertices))
    return sparse.csr_array(half + half.T.tocsr())


def grid_coords(n_rows: int, n_cols: int) -> FloatArray:
    """Return the coordinates of the vertices of a grid."""
    row, col = np.divmod(np.arange(n_rows * n_cols), n_cols)
    return np.column_stack([col, row]).astype(np.float64)


def circle(n: int) -> FloatArray:
    """Return n points on the unit circle."""
    angle = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle)])
