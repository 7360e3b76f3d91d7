"""Nearest-neighbour graphs of points and pixels."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from cayleygsp._typing import FloatArray, IntArray
from cayleygsp._validation import check_integer
from cayleygsp.gallery.regular import grid_coords
from cayleygsp.graph import Graph


def sensor(n_vertices: int, n_neighbors: int = 6, rng: np.random.Generator | int | None = None) -> Graph:
    r"""Return a network of random points in the unit square, each joined to its nearest neighbours.

    Weights are :math:`\exp(-d^2/\sigma^2)` with :math:`d` the distance and :math:`\sigma` the mean distance
    to the farthest of the ``n_neighbors`` neighbours; an edge is there if either end counts the other as a
    neighbour. The points are the ``coords``.

    Parameters
    ----------
    n_vertices : int
        Number of points, at least 2.
    n_neighbors : int
        Neighbours per point, 1 to ``n_vertices - 1``.
    rng : numpy.random.Generator, int or None
        Source of randomness.

    Examples
    --------
    >>> from cayleygsp import gallery
    >>> import numpy as np
    >>> graph = gallery.sensor(50, rng=0)
    >>> bool(np.diff(graph.W.indptr).min() >= 6)
    True
    """
    from scipy.spatial import cKDTree  # takes long to load

    n = check_integer(n_vertices, "n_vertices", at_least=2)
    k = _check_neighbors(n_neighbors, n)
    points = np.random.default_rng(rng).random((n, 2))
    # The nearest one is the point itself.
    distance, neighbor = map(np.asarray, cKDTree(points).query(points, k=k + 1))
    W = _gaussian_weights(neighbor[:, 1:], distance[:, 1:] ** 2)
    return Graph(W, coords=points, name="sensor")


def mnist_grid(side: int = 28, n_neighbors: int = 8) -> Graph:
    r"""Return the graph of an image as ChebNet and CayleyNets had it: each pixel joined to its nearest ones.

    Edges and weights are as in :func:`sensor`, with distances in pixels. Pixels at the border reach further to find as
    many neighbours as the others. Vertex ``row * side + col``, the order of ``image.ravel()``, has image coordinates
    (col, row), rows counted downwards.

    Parameters
    ----------
    side : int
        Pixels per row and per column, at least 2.
    n_neighbors : int
        Neighbours per pixel, 1 to ``side**2 - 1``.

    Notes
    -----
    With the default arguments there are 3,198 edges, 8 to 11 at a vertex, :math:`\sigma^2 = 2.2546`, and five
    distinct weights. Of pixels equally far away, those farther from the centre of the image are taken first,
    then those that come first. This matters for the eight pixels next to a corner only; in the original code
    rounding decided there.

    References
    ----------
    .. [1] M. Defferrard, X. Bresson and P. Vandergheynst, "Convolutional neural networks on graphs with fast
       localized spectral filtering", NIPS 2016.
    .. [2] R. Levie, F. Monti, X. Bresson and M. M. Bronstein, "CayleyNets: graph convolutional neural
       networks with complex rational spectral filters", IEEE Transactions on Signal Processing 67, 2019.

    Examples
    --------
    >>> from cayleygsp import gallery
    >>> import numpy as np
    >>> graph = gallery.mnist_grid()
    >>> graph
    Graph('mnist grid', n_vertices=784, n_edges=3198)
    >>> np.unique(graph.W.data.round(4))
    array([0.0288, 0.1089, 0.1696, 0.4119, 0.6418])
    """
    side = check_integer(side, "side", at_least=2)
    k = _check_neighbors(n_neighbors, side**2)
    W = _gaussian_weights(*_nearest_pixels(side, k))
    return Graph(W, coords=grid_coords(side, side), name="mnist grid")


def _check_neighbors(n_neighbors: int, n_vertices: int) -> int:
    k = check_integer(n_neighbors, "n_neighbors", at_least=1)
    if k >= n_vertices:
        raise ValueError(f"`n_neighbors` must be below the number of vertices {n_vertices}, got {k}")
    return k


def _gaussian_weights(neighbors: IntArray, squared_distances: FloatArray) -> sparse.csr_array:
    """Return the adjacency matrix from the neighbours of each vertex, in rows, by increasing distance."""
    n, k = neighbors.shape
    sigma = np.sqrt(squared_distances[:, -1]).mean()
    weights = np.exp(-squared_distances / sigma**2)
    one_way = sparse.csr_array((weights.ravel(), neighbors.ravel(), np.arange(n + 1) * k), shape=(n, n))
    return sparse.csr_array(one_way.maximum(one_way.T.tocsr()))


def _nearest_pixels(side: int, k: int) -> tuple[IntArray, FloatArray]:
    """Return the k nearest other pixels of each pixel of a square image, and their squared distances."""
    # A corner has k others in the square of (reach + 1)² pixels, none of them farther than √2 reach.
    reach = int(np.ceil(np.sqrt(k + 1))) - 1
    step = np.arange(-(3 * reach // 2 + 1), 3 * reach // 2 + 2)
    down, right = (offsets.ravel() for offsets in np.meshgrid(step, step, indexing="ij"))
    row, col = np.divmod(np.arange(side**2)[:, None], side)
    rows, cols = row + down, col + right
    inside = (rows >= 0) & (rows < side) & (cols >= 0) & (cols < side) & ((down != 0) | (right != 0))
    squared = np.where(inside, down**2 + right**2, np.iinfo(np.int64).max)
    inwards = -((2 * rows - side + 1) ** 2 + (2 * cols - side + 1) ** 2)
    # A stable sort: what is left of ties goes to the smaller vertex, as offsets are in that order.
    nearest = np.lexsort((inwards, squared), axis=1)[:, :k]
    neighbors = np.take_along_axis(rows * side + cols, nearest, axis=1)
    return neighbors, np.take_along_axis(squared, nearest, axis=1).astype(np.float64)
