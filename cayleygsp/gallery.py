"""Graphs to try things on: the ones of the CayleyNets paper, and those whose spectrum is known by heart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.spatial import cKDTree

from cayleygsp._typing import ArrayLike, FloatArray
from cayleygsp._validation import check_integer, check_real
from cayleygsp.graph import Graph

__all__ = ["communities", "grid", "mnist_grid", "path", "random_regular", "ring", "sensor", "star"]

IntArray = npt.NDArray[np.int64]

_DEFAULT_COMMUNITIES = 15

_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))
# Points of a sunflower at radius √(k + ½) are at least 1.54 apart.
_SUNFLOWER_GAP = 1.54


def communities(
    n_communities: int = _DEFAULT_COMMUNITIES,
    *,
    sizes: Sequence[int] | npt.NDArray[Any] | None = None,
    n_vertices: int | None = None,
    p_in: ArrayLike = 0.5,
    p_out: float = 0.003,
    spread: float = 0.0,
    rng: np.random.Generator | int | None = None,
) -> Graph:
    r"""Return a planted partition: vertices of one community are joined often, others rarely.

    Every pair of vertices of community :math:`c` is an edge with probability ``p_in[c]``, every pair of
    vertices of different communities with probability ``p_out``, independently. Weights are 1, or with ``spread``
    products of strengths of the two vertices, a few of which are hubs.

    Parameters
    ----------
    n_communities : int
        Number of communities; with ``sizes`` it need not be given.
    sizes : sequence of int, optional
        Number of vertices of each community. Without it and without ``n_vertices``, sizes are drawn uniformly
        from 10, …, 39: communities of different sizes can be told apart by the mean of a filtered signal,
        those of equal size and density cannot.
    n_vertices : int, optional
        Total number of vertices, split as evenly as possible. Not together with ``sizes``.
    p_in : float or array_like, shape (n_communities,)
        Probability of an edge inside a community.
    p_out : float
        Probability of an edge between communities.
    spread : float
        Of the strengths :math:`\theta` of the vertices, at least 0 and less than 1: they are drawn from the Pareto law
        with mean 1 and :math:`P(\theta > t) \sim t^{-1/\text{spread}}`, and the weight of an edge is
        :math:`\theta_u \theta_v`. With 0 all weights are 1.
    rng : numpy.random.Generator, int or None
        Source of randomness.

    Returns
    -------
    Graph
        Vertices sorted by community; ``labels`` tells the community, ``coords`` draws each as a disc of its
        own.

    Raises
    ------
    TypeError
        If a count is not an integer or a probability not a number.
    ValueError
        If counts and sizes contradict each other, a probability is outside [0, 1] or ``spread`` outside [0, 1).

    Notes
    -----
    Only edges are drawn, never all pairs: time and memory are those of the result.

    Examples
    --------
    >>> from cayleygsp import gallery
    >>> import numpy as np
    >>> graph = gallery.communities(sizes=[20, 30, 10], rng=0)
    >>> graph.n_vertices
    60
    >>> np.bincount(graph.labels)
    array([20, 30, 10])
    """
    generator = np.random.default_rng(rng)
    counts = _community_sizes(n_communities, sizes, n_vertices, generator)
    inner = np.broadcast_to(_probabilities(p_in, "p_in", (len(counts),)), counts.shape)
    outer = _probabilities(p_out, "p_out", ())
    tail = _spread(spread)
    tails, heads = _inner_edges(counts, inner, generator)
    tails_out, heads_out = _outer_edges(counts, float(outer), generator)
    W = _unweighted(np.concatenate([tails, tails_out]), np.concatenate([heads, heads_out]), int(counts.sum()))
    if tail > 0:
        theta = (1 - tail) * np.exp(tail * generator.standard_exponential(W.shape[0]))
        W.data *= theta[W.indices] * np.repeat(theta, np.diff(W.indptr))
    labels = np.repeat(np.arange(len(counts)), counts)
    return Graph(W, coords=_disc_coords(counts, labels, generator), labels=labels, name="communities")


def grid(n_rows: int, n_cols: int | None = None) -> Graph:
    r"""Return the grid in which each vertex is joined to its up to four neighbours, with weight 1.

    Parameters
    ----------
    n_rows : int
        Number of rows, at least 1.
    n_cols : int, optional
        Number of columns; as many as rows if not given.

    Returns
    -------
    Graph
        Vertex ``row * n_cols + col`` has coordinates (col, row).

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
    W = _unweighted(tails, heads, vertex.size)
    return Graph(W, coords=_grid_coords(n_rows, n_cols), name="grid")


def ring(n_vertices: int) -> Graph:
    r"""Return the cycle graph with weights 1, whose Laplacian has eigenvalues :math:`2 - 2\cos(2\pi k/n)`.

    Parameters
    ----------
    n_vertices : int
        Number of vertices, at least 3.

    Returns
    -------
    Graph
        Coordinates on the unit circle.

    Examples
    --------
    >>> from cayleygsp import gallery
    >>> gallery.ring(16)
    Graph('ring', n_vertices=16, n_edges=16)
    """
    n = check_integer(n_vertices, "n_vertices", at_least=3)
    vertex = np.arange(n)
    return Graph(_unweighted(vertex, np.roll(vertex, -1), n), coords=_circle(n), name="ring")


def path(n_vertices: int) -> Graph:
    r"""Return the path graph with weights 1, whose Laplacian has eigenvalues :math:`2 - 2\cos(\pi k/n)`.

    Parameters
    ----------
    n_vertices : int
        Number of vertices, at least 1.

    Returns
    -------
    Graph
        Coordinates (0, 0), (1, 0), …

    Examples
    --------
    >>> from cayleygsp import gallery
    >>> gallery.path(5)
    Graph('path', n_vertices=5, n_edges=4)
    """
    n = check_integer(n_vertices, "n_vertices", at_least=1)
    vertex = np.arange(n)
    coords = np.column_stack([vertex.astype(np.float64), np.zeros(n)])
    return Graph(_unweighted(vertex[:-1], vertex[1:], n), coords=coords, name="path")


def star(n_vertices: int) -> Graph:
    r"""Return the star with weights 1, whose Laplacian has the eigenvalues 0, 1 (n − 2 times) and n.

    Parameters
    ----------
    n_vertices : int
        Number of vertices with the centre, at least 2.

    Returns
    -------
    Graph
        Vertex 0 is the centre, the others lie on the unit circle.

    Examples
    --------
    >>> from cayleygsp import gallery
    >>> gallery.star(6)
    Graph('star', n_vertices=6, n_edges=5)
    """
    n = check_integer(n_vertices, "n_vertices", at_least=2)
    W = _unweighted(np.zeros(n - 1, dtype=np.int64), np.arange(1, n), n)
    return Graph(W, coords=np.concatenate([np.zeros((1, 2)), _circle(n - 1)]), name="star")


def random_regular(n_vertices: int, degree: int, rng: np.random.Generator | int | None = None) -> Graph:
    r"""Return a random simple graph in which every vertex has the same degree, with weights 1.

    Parameters
    ----------
    n_vertices : int
        Number of vertices.
    degree : int
        Edges per vertex, 0 to ``n_vertices - 1``; ``n_vertices * degree`` must be even.
    rng : numpy.random.Generator, int or None
        Source of randomness.

    Returns
    -------
    Graph
        Coordinates on the unit circle.

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
        present = np.minimum(tails, heads) + _n_pairs(np.maximum(tails, heads))
        tails, heads = _unrank_pairs(np.delete(np.arange(n * (n - 1) // 2), present))
    return Graph(_unweighted(tails, heads, n), coords=_circle(n), name="random regular")


def sensor(n_vertices: int, n_neighbors: int = 6, rng: np.random.Generator | int | None = None) -> Graph:
    r"""Return a network of random points in the unit square, each joined to its nearest neighbours.

    Weights are :math:`\exp(-d^2/\sigma^2)` with :math:`d` the distance and :math:`\sigma` the mean distance
    to the farthest of the ``n_neighbors`` neighbours; an edge is there if either end counts the other as a
    neighbour.

    Parameters
    ----------
    n_vertices : int
        Number of points, at least 2.
    n_neighbors : int
        Neighbours per point, 1 to ``n_vertices - 1``.
    rng : numpy.random.Generator, int or None
        Source of randomness.

    Returns
    -------
    Graph
        The points are its ``coords``.

    Examples
    --------
    >>> from cayleygsp import gallery
    >>> import numpy as np
    >>> graph = gallery.sensor(50, rng=0)
    >>> bool(np.diff(graph.W.indptr).min() >= 6)
    True
    """
    n = check_integer(n_vertices, "n_vertices", at_least=2)
    k = _check_neighbors(n_neighbors, n)
    points = np.random.default_rng(rng).random((n, 2))
    # The nearest one is the point itself.
    distance, neighbor = map(np.asarray, cKDTree(points).query(points, k=k + 1))
    W = _gaussian_weights(neighbor[:, 1:], distance[:, 1:] ** 2)
    return Graph(W, coords=points, name="sensor")


def mnist_grid(side: int = 28, n_neighbors: int = 8) -> Graph:
    r"""Return the graph of an image as ChebNet and CayleyNets had it: each pixel joined to its nearest ones.

    Weights are :math:`\exp(-d^2/\sigma^2)` with :math:`d` the distance in pixels and :math:`\sigma` the mean
    distance to the farthest of the ``n_neighbors`` neighbours; an edge is there if either end counts the
    other as a neighbour. Pixels at the border reach further to find as many neighbours as the others.

    Parameters
    ----------
    side : int
        Pixels per row and per column, at least 2.
    n_neighbors : int
        Neighbours per pixel, 1 to ``side**2 - 1``.

    Returns
    -------
    Graph
        Vertex ``row * side + col``, the order of ``image.ravel()``, has image coordinates (col, row), rows
        counted downwards.

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
    return Graph(W, coords=_grid_coords(side, side), name="mnist grid")


def _unweighted(tails: IntArray, heads: IntArray, n_vertices: int) -> sparse.csr_array:
    """Return the adjacency matrix of distinct edges, each given once, without self-loops, with weights 1."""
    index = np.int32 if n_vertices <= np.iinfo(np.int32).max else np.int64
    tails, heads = tails.astype(index), heads.astype(index)
    half = sparse.csr_array((np.ones(len(tails)), (tails, heads)), shape=(n_vertices, n_vertices))
    return sparse.csr_array(half + half.T.tocsr())


def _grid_coords(n_rows: int, n_cols: int) -> FloatArray:
    row, col = np.divmod(np.arange(n_rows * n_cols), n_cols)
    return np.column_stack([col, row]).astype(np.float64)


def _circle(n: int) -> FloatArray:
    angle = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle)])


# Planted partition.


def _community_sizes(
    n_communities: int,
    sizes: Sequence[int] | npt.NDArray[Any] | None,
    n_vertices: int | None,
    rng: np.random.Generator,
) -> IntArray:
    n_communities = check_integer(n_communities, "n_communities", at_least=1)
    if sizes is not None and n_vertices is not None:
        raise ValueError(f"`sizes` must not be given together with `n_vertices`, got {sizes!r} and {n_vertices}")
    if sizes is not None:
        return _explicit_sizes(n_communities, sizes)
    if n_vertices is None:
        return rng.integers(10, 40, size=n_communities)
    n_vertices = check_integer(n_vertices, "n_vertices", at_least=1)
    if n_vertices < n_communities:
        raise ValueError(f"`n_vertices` must be at least the number of communities {n_communities}, got {n_vertices}")
    return n_vertices // n_communities + (np.arange(n_communities) < n_vertices % n_communities).astype(np.int64)


def _explicit_sizes(n_communities: int, sizes: Sequence[int] | npt.NDArray[Any]) -> IntArray:
    array = np.asarray(sizes)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(f"`sizes` must be a sequence of at least one size, got {sizes!r}")
    if array.dtype.kind not in "iu":
        raise TypeError(f"`sizes` must be integers, got dtype {array.dtype}")
    if array.min() < 1:
        first = int(np.argmax(array < 1))
        raise ValueError(f"`sizes` must be at least 1, got sizes[{first}] = {array[first]}")
    if n_communities not in (_DEFAULT_COMMUNITIES, len(array)):
        raise ValueError(f"`n_communities` must be the number of sizes {len(array)}, got {n_communities}")
    return array.astype(np.int64)


def _probabilities(value: ArrayLike, name: str, shape: tuple[int, ...]) -> FloatArray:
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"`{name}` must be a probability, got {value!r}")
    if array.shape not in ((), shape):
        expected = f"a number or have shape {shape}" if shape else "a number"
        raise ValueError(f"`{name}` must be {expected}, got shape {array.shape}")
    if not ((array >= 0) & (array <= 1)).all():
        raise ValueError(f"`{name}` must be within 0 and 1, got {value!r}")
    return array.astype(np.float64)


def _spread(value: Any) -> float:
    number = check_real(value, "spread")
    if not 0 <= number < 1:
        raise ValueError(f"`spread` must be at least 0 and less than 1, got {value!r}")
    return number


def _inner_edges(sizes: IntArray, p: FloatArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Draw the edges inside communities; community c has the vertices from ``sum(sizes[:c])`` on."""
    n_pairs = _n_pairs(sizes)
    n_edges = rng.binomial(n_pairs, p)
    pairs = _draw_distinct(n_pairs, n_edges, rng)
    pairs -= np.repeat(_starts(n_pairs), n_edges)
    low, high = _unrank_pairs(pairs)
    first_vertex = np.repeat(_starts(sizes), n_edges)
    return low + first_vertex, high + first_vertex


def _outer_edges(sizes: IntArray, p: float, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Draw the edges between communities.

    Pairs are numbered by the community of the later vertex v, then by v, then by the other vertex u, which is
    any of those before that community.
    """
    starts = _starts(sizes)
    n_pairs = sizes * starts
    total = int(n_pairs.sum())
    n_edges = rng.binomial(total, p)
    pairs = _draw_distinct(np.array([total]), np.array([n_edges]), rng)
    community = np.searchsorted(np.cumsum(n_pairs), pairs, side="right")
    pairs -= _starts(n_pairs)[community]
    first_vertex = starts[community]
    later, earlier = np.divmod(pairs, first_vertex)
    return earlier, later + first_vertex


def _n_pairs(n: IntArray) -> IntArray:
    return n * (n - 1) // 2


def _starts(lengths: IntArray) -> IntArray:
    return np.cumsum(lengths) - lengths


def _unrank_pairs(rank: IntArray) -> tuple[IntArray, IntArray]:
    r"""Return the pairs i < j with :math:`j(j-1)/2 + i` equal to the ranks 0, 1, 2, …: 01, 02, 12, 03, …."""
    j = ((1 + np.sqrt(8.0 * rank + 1)) / 2).astype(np.int64)
    # The square root may be off by rounding, by far less than one.
    j -= _n_pairs(j) > rank
    j += _n_pairs(j + 1) <= rank
    return rank - _n_pairs(j), j


def _draw_distinct(lengths: IntArray, counts: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw ``counts[b]`` distinct numbers of the b-th of consecutive ranges, each set equally likely.

    The ranges follow each other from 0 on and have the given lengths. The result is sorted. Of ranges of
    which more than half is wanted, the numbers left out are drawn instead.
    """
    inverted = 2 * counts > lengths
    n_drawn = np.where(inverted, lengths - counts, counts)
    drawn = _draw_with_redraws(lengths, n_drawn, rng)
    if not inverted.any():
        return drawn
    left_out = np.repeat(inverted, n_drawn)
    members = _range_members(lengths, inverted)
    kept = np.delete(members, np.searchsorted(members, drawn[left_out]))
    result = np.concatenate([drawn[~left_out], kept])
    result.sort()
    return result


def _draw_with_redraws(lengths: IntArray, counts: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw with replacement as many as are missing, drop repetitions, and again until none is missing.

    The set is that of the first distinct values of a sequence of independent uniform draws; no number is
    preferred, so all sets of that many numbers are equally likely.
    """
    starts = _starts(lengths)
    found = np.zeros(0, dtype=np.int64)
    missing = counts
    while missing.any():
        block = np.repeat(np.arange(len(lengths)), missing)
        new = rng.integers(lengths[block])
        new += starts[block]
        # np.unique takes several times as long from numpy 2.3 on, where it hashes before it sorts.
        new.sort()
        new = new[np.diff(new, prepend=-1) > 0]
        if found.size:
            position = np.searchsorted(found, new)
            known = found[np.minimum(position, found.size - 1)] == new
            new = np.insert(found, position[~known], new[~known])
        found = new
        ends = np.searchsorted(found, starts + lengths)
        missing = counts - np.diff(ends, prepend=0)
    return found


def _range_members(lengths: IntArray, chosen: npt.NDArray[np.bool_]) -> IntArray:
    """Return all numbers of the chosen ranges among consecutive ranges that start at 0."""
    sizes = lengths[chosen]
    shift = _starts(lengths)[chosen] - _starts(sizes)
    return np.arange(sizes.sum()) + np.repeat(shift, sizes)


def _disc_coords(sizes: IntArray, labels: IntArray, rng: np.random.Generator) -> FloatArray:
    """Return random points in discs, one per community, of area as the size, centres on a sunflower."""
    radius = np.sqrt(sizes)
    k = np.arange(len(sizes))
    # Centres are at least 2.4 times the largest radius apart.
    centre_radius = 2.4 / _SUNFLOWER_GAP * radius.max() * np.sqrt(k + 0.5)
    centres = _polar(centre_radius, k * _GOLDEN_ANGLE)
    offset = _polar(radius[labels] * np.sqrt(rng.random(len(labels))), 2 * np.pi * rng.random(len(labels)))
    return centres[labels] + offset


def _polar(radius: FloatArray, angle: FloatArray) -> FloatArray:
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


# Nearest neighbours.


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
