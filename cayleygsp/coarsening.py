"""Graph coarsening by pairwise matching, with the vertices in the order of a binary tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cayleygsp._memory import available_memory, format_bytes
from cayleygsp._typing import Array, ArrayLike, GraphLike, IntArray
from cayleygsp._validation import check_integer
from cayleygsp.graph import Graph, as_adjacency
from cayleygsp.laplacians import Laplacian

__all__ = ["Coarsening", "coarsen"]

# Bytes for each vertex of all levels: masks, orders, row pointers, and the copies that making the graphs takes.
_BYTES_PER_VERTEX = 64


@dataclass(frozen=True, eq=False, repr=False)
class Coarsening:
    r"""A hierarchy of ever coarser graphs; make one with :func:`coarsen`.

    Vertex i of level l + 1 stands for the vertices 2i and 2i + 1 of level l, so pooling by :math:`2^k` is pooling
    over :math:`2^k` neighbours in a row. Where a vertex found no partner, a fake one without edges stands in its
    place.

    Attributes
    ----------
    graphs : tuple of Graph
        One for each level, finest first, with fake vertices and without self-loops.
    permutation : numpy.ndarray, shape (n_padded,)
        Vertex of the given graph at each place of level 0; fake ones have the numbers n_vertices, n_vertices + 1, …
    is_fake : tuple of numpy.ndarray
        For each level, which vertices are fake.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.coarsening import coarsen
    >>> tree = coarsen(cg.gallery.path(5), levels=2, rng=0)
    >>> tree
    Coarsening(n_vertices=5, sizes=(8, 4, 2), n_fake=(3, 1, 0))
    >>> tree.unpermute(tree.permute([1.0, 2.0, 3.0, 4.0, 5.0]))
    array([1., 2., 3., 4., 5.])
    """

    graphs: tuple[Graph, ...]
    permutation: IntArray
    is_fake: tuple[Array, ...]

    def __repr__(self) -> str:
        return f"Coarsening(n_vertices={self.n_vertices}, sizes={self.sizes}, n_fake={self.n_fake})"

    @property
    def levels(self) -> int:
        """How many times the graph was coarsened: one less than there are graphs."""
        return len(self.graphs) - 1

    @property
    def sizes(self) -> tuple[int, ...]:
        """Number of vertices of each level, fake ones included."""
        return tuple(mask.size for mask in self.is_fake)

    @property
    def n_fake(self) -> tuple[int, ...]:
        """Number of fake vertices of each level."""
        return tuple(int(np.count_nonzero(mask)) for mask in self.is_fake)

    @property
    def n_vertices(self) -> int:
        """Number of vertices of the given graph."""
        return self.sizes[0] - self.n_fake[0]

    @property
    def position(self) -> IntArray:
        """Place at level 0 of each vertex of the given graph, shape (n_vertices,)."""
        place = np.empty_like(self.permutation)
        place[self.permutation] = np.arange(self.permutation.size)
        return place[: self.n_vertices]

    def real_graph(self, level: int) -> Graph:
        """Return the graph of a level without its fake vertices, the others in their order.

        Parameters
        ----------
        level : int
            0 is the finest.

        Examples
        --------
        >>> import cayleygsp as cg
        >>> from cayleygsp.coarsening import coarsen
        >>> tree = coarsen(cg.gallery.path(5), levels=2, rng=0)
        >>> tree.graphs[1].n_vertices, tree.real_graph(1).n_vertices
        (4, 3)
        """
        level = check_integer(level, "level", at_least=0)
        if level > self.levels:
            raise ValueError(f"`level` must be at most {self.levels}, got {level}")
        graph, real = self.graphs[level], np.flatnonzero(~self.is_fake[level])
        return Graph(graph.W[real][:, real], name=graph.name)

    def permute(self, signals: ArrayLike) -> Array:
        """Bring signals into the order of level 0, with zeros at fake vertices.

        Parameters
        ----------
        signals : array_like, shape (n_vertices, ...)
            Signals on the given graph.

        Returns
        -------
        numpy.ndarray, shape (n_padded, ...)
            Of the same dtype.
        """
        f = _check_first_axis(signals, self.n_vertices)
        padded = np.zeros((self.sizes[0], *f.shape[1:]), dtype=f.dtype)
        padded[self.position] = f
        return padded

    def unpermute(self, signals: ArrayLike) -> Array:
        """Bring signals of level 0 back into the order of the given graph; values at fake vertices are dropped.

        Parameters
        ----------
        signals : array_like, shape (n_padded, ...)
            Signals on level 0.

        Returns
        -------
        numpy.ndarray, shape (n_vertices, ...)
            Of the same dtype.
        """
        return _check_first_axis(signals, self.sizes[0])[self.position]


def coarsen(graph: GraphLike, levels: int = 4, rng: np.random.Generator | int | None = None) -> Coarsening:
    r"""Coarsen a graph by greedy pairwise matching, as ChebNet and CayleyNets pool.

    Vertices are visited one after the other, at first in random order, on coarser levels by increasing degree. Each
    one not matched yet takes, of its neighbours not matched yet, the one with the largest
    :math:`w_{ij} (1/d_i + 1/d_j)`, the normalized cut of Graclus [1]_; if none is left it stays alone. The
    weights of what is merged are added up.

    Parameters
    ----------
    graph : graph-like
        Anything that :func:`~cayleygsp.graph.as_adjacency` accepts. It need not be connected.
    levels : int
        How many times to coarsen; each level has half as many vertices as the one before, or a few more.
    rng : numpy.random.Generator, int or None
        Source of randomness of the first order of visits.

    Returns
    -------
    Coarsening
        With ``levels + 1`` graphs.

    Raises
    ------
    ValueError
        If ``levels`` is negative or the sum of all weights overflows.
    TypeError
        If the argument is no graph, or already a Laplacian.
    MemoryError
        Before the levels are padded, if they would not fit: with few edges, every level may double the number of
        fake vertices.

    Notes
    -----
    The weight inside a merged pair becomes a self-loop and counts in the degrees :math:`d_i` of the matching, so that
    the sum of all weights is the same on all levels. Self-loops are left out of the resulting graphs.

    The time is proportional to the number of edges and of padded vertices. Level 0 has :math:`2^{levels}` times as many
    vertices as the coarsest level, which is how far an unlucky graph, a star or one without edges, can grow.

    References
    ----------
    .. [1] I. S. Dhillon, Y. Guan and B. Kulis, "Weighted graph cuts without eigenvectors: a multilevel approach",
       IEEE Transactions on Pattern Analysis and Machine Intelligence 29, 2007.
    .. [2] M. Defferrard, X. Bresson and P. Vandergheynst, "Convolutional neural networks on graphs with fast
       localized spectral filtering", NIPS 2016.

    Examples
    --------
    >>> import cayleygsp as cg
    >>> from cayleygsp.coarsening import coarsen
    >>> tree = coarsen(cg.gallery.grid(5), levels=2, rng=0)
    >>> [g.n_vertices for g in tree.graphs]
    [28, 14, 7]
    >>> tree.n_fake
    (3, 0, 0)
    """
    levels = check_integer(levels, "levels", at_least=0)
    if isinstance(graph, Laplacian):
        raise TypeError("`graph` must be a graph, got a Laplacian, whose weights may be normalized; give the graph")
    W = as_adjacency(graph)
    with np.errstate(over="ignore"):  # no number of any level is larger than the sum of all
        total = W.data.sum()
    if not np.isfinite(total):
        raise ValueError("`graph` must have a finite sum of weights: it overflows, scale them down")
    name = graph.name if isinstance(graph, Graph) else ""
    matrices, clusters = coarsen_all(W, levels, np.random.default_rng(rng))
    n_coarsest = matrices[-1].shape[0]
    needed, available = 2 * _BYTES_PER_VERTEX * n_coarsest << levels, available_memory()
    if available is not None and needed > available:
        raise MemoryError(
            f"{levels} levels end at {n_coarsest} vertices, so level 0 has {n_coarsest << levels} with the fake ones, "
            f"which needs {format_bytes(needed)} and {format_bytes(available)} are available; take fewer `levels`"
        )
    orders = [np.arange(n_coarsest)]
    for cluster in reversed(clusters):
        orders.insert(0, _order_of_children(cluster, orders[0]))
    graphs = tuple(
        Graph(_padded(A, order), name=f"{name}, level {level}".removeprefix(", "))
        for level, (A, order) in enumerate(zip(matrices, orders, strict=True))
    )
    masks = tuple(order >= A.shape[0] for A, order in zip(matrices, orders, strict=True))
    for array in (orders[0], *masks):
        array.flags.writeable = False
    return Coarsening(graphs, orders[0], masks)


def _check_first_axis(signals: ArrayLike, n: int) -> Array:
    f = np.asarray(signals)
    if f.ndim == 0 or f.shape[0] != n:
        raise ValueError(f"`signals` must have shape ({n}, ...), got {f.shape}")
    return f


def coarsen_all(
    W: sparse.csr_array, levels: int, rng: np.random.Generator
) -> tuple[list[sparse.csr_array], list[IntArray]]:
    """Return the adjacency matrices of all levels, self-loops included, and the coarse vertex of each vertex."""
    from cayleygsp.engine.pooling_loops import match_pairs  # numba is slow to load

    matrices, clusters = [W], []
    visits = rng.permutation(W.shape[0])
    for _ in range(levels):
        cluster = match_pairs(W.indptr, W.indices, W.data, W.sum(axis=1), visits)
        W = _merged(W, cluster)
        visits = np.argsort(W.sum(axis=1), kind="stable")
        matrices.append(W)
        clusters.append(cluster)
    return matrices, clusters


def _merged(W: sparse.csr_array, cluster: IntArray) -> sparse.csr_array:
    """Add up the weights between pairs; what is inside a pair ends on the diagonal."""
    n = int(cluster.max()) + 1
    rows = np.repeat(cluster, np.diff(W.indptr))
    merged = sparse.coo_array((W.data, (rows, cluster[W.indices])), shape=(n, n)).tocsr()
    # Up to four weights are added in one order above the diagonal, in another below it.
    return sparse.csr_array(0.5 * merged + 0.5 * merged.T)


def _order_of_children(cluster: IntArray, order: IntArray) -> IntArray:
    """Return the children of the vertices in ``order``, two each; numbers beyond the real ones are fake."""
    n_parents, n = int(cluster.max()) + 1, cluster.size
    by_parent = np.argsort(cluster, kind="stable")
    first = np.concatenate([[True], np.diff(cluster[by_parent]) > 0])
    children = np.full((max(n_parents, order.size), 2), -1)
    children[cluster[by_parent], (~first).astype(np.int64)] = by_parent
    placed = children[order].ravel()
    fake = placed < 0
    placed[fake] = n + np.arange(np.count_nonzero(fake))
    return placed


def _padded(W: sparse.csr_array, order: IntArray) -> sparse.csr_array:
    """Return the matrix with its vertices at their places, without self-loops; the other places are empty."""
    n, size = W.shape[0], order.size
    place = np.empty(size, dtype=np.int64)
    place[order] = np.arange(size)
    edges = W.tocoo()
    inner = edges.row != edges.col
    rows, cols = place[:n][edges.row[inner]], place[:n][edges.col[inner]]
    return sparse.csr_array((edges.data[inner], (rows, cols)), shape=(size, size))
