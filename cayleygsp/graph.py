"""Graphs: one adjacency matrix from whatever describes a graph, checked once."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from cayleygsp._typing import Array, ArrayLike, FloatArray, GraphLike, IntArray, LaplacianKind, Symmetrize
from cayleygsp._validation import check_choice

_ACCEPTED = (
    "a cayleygsp Graph, a PyGSP graph, an undirected networkx graph, a scipy sparse array or matrix, "
    "or a dense 2-D array"
)

# Asymmetry, relative to the largest weight, that counts as rounding and is averaged away.
_ROUNDING_DOUBLE, _ROUNDING_SINGLE = 1e-12, 1e-6

SYMMETRIZE: tuple[Symmetrize, ...] = ("max", "mean")


class AsymmetryError(ValueError):
    """The weights of the two directions of an edge differ."""


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A weighted undirected graph, with coordinates and labels where they are known.

    Parameters
    ----------
    W : graph-like
        Whatever ``cayleygsp.graph.as_adjacency`` accepts; kept as its result, a checked copy.
    coords : array_like, shape (n_vertices, 2) or (n_vertices, 3), optional
        Positions of the vertices.
    labels : array_like, shape (n_vertices,), optional
        One label per vertex: a community, a class, a name.
    name : str
        What to call the graph.

    Examples
    --------
    >>> from cayleygsp.graph import Graph
    >>> triangle = Graph([[0, 1, 2], [1, 0, 0], [2, 0, 0]], name="two edges")
    >>> triangle
    Graph('two edges', n_vertices=3, n_edges=2)
    >>> triangle.W.toarray()
    array([[0., 1., 2.],
           [1., 0., 0.],
           [2., 0., 0.]])
    """

    W: sparse.csr_array
    coords: FloatArray | None = None
    labels: Array | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"`name` must be a string, got {self.name!r}")
        object.__setattr__(self, "W", as_adjacency(self.W, name="W"))
        if self.coords is not None:
            object.__setattr__(self, "coords", _checked_coords(self.coords, self.n_vertices))
        if self.labels is not None:
            labels = np.array(self.labels)
            if labels.shape != (self.n_vertices,):
                raise ValueError(f"`labels` must have shape ({self.n_vertices},), got {labels.shape}")
            object.__setattr__(self, "labels", labels)

    @classmethod
    def from_directed(
        cls,
        graph: GraphLike,
        symmetrize: Symmetrize,
        *,
        coords: FloatArray | None = None,
        labels: Array | None = None,
        name: str = "",
    ) -> Graph:
        r"""Return the undirected graph of a directed one.

        With A the matrix of the directed graph, the weights are :math:`\max(A_{ij}, A_{ji})` or
        :math:`(A_{ij} + A_{ji})/2`; an edge in one direction only keeps its weight or half of it.

        Parameters
        ----------
        graph : graph-like
            Whatever ``cayleygsp.graph.as_adjacency`` accepts, symmetric or not, or a directed networkx graph.
        symmetrize : {"max", "mean"}
            What becomes of two weights.
        coords, labels, name
            As of :class:`Graph`.

        Examples
        --------
        >>> from cayleygsp.graph import Graph
        >>> Graph.from_directed([[0, 1], [3, 0]], "max").W.toarray()
        array([[0., 3.],
               [3., 0.]])
        >>> Graph.from_directed([[0, 1], [3, 0]], "mean").W.toarray()
        array([[0., 2.],
               [2., 0.]])
        """
        return cls(as_adjacency(graph, symmetrize=symmetrize), coords=coords, labels=labels, name=name)

    def __repr__(self) -> str:
        name = f"{self.name!r}, " if self.name else ""
        return f"Graph({name}n_vertices={self.n_vertices}, n_edges={self.n_edges})"

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return int(self.W.shape[0])

    @property
    def n_edges(self) -> int:
        """Number of undirected edges; a self-loop counts once."""
        n_loops = int(np.count_nonzero(self.W.diagonal()))
        return (self.W.nnz + n_loops) // 2

    def largest_component(self) -> tuple[Graph, IntArray]:
        """Return the largest connected component and which vertices it has.

        Returns
        -------
        graph : Graph
            The component, with its coordinates and labels; of several that are largest, the one with the first
            vertex.
        vertices : numpy.ndarray of int64, shape (n_component,)
            The numbers in this graph of the component's vertices, in increasing order.

        Examples
        --------
        >>> from cayleygsp.graph import Graph
        >>> graph = Graph([[0, 0, 0], [0, 0, 1], [0, 1, 0]], labels=["ann", "bob", "cy"])
        >>> component, vertices = graph.largest_component()
        >>> component, vertices, component.labels
        (Graph(n_vertices=2, n_edges=1), array([1, 2]), array(['bob', 'cy'], dtype='<U3'))
        """
        _, component = csgraph.connected_components(self.W, directed=False)
        vertices = np.flatnonzero(component == np.argmax(np.bincount(component)))
        coords = None if self.coords is None else self.coords[vertices]
        labels = None if self.labels is None else self.labels[vertices]
        return Graph(self.W[vertices][:, vertices], coords=coords, labels=labels, name=self.name), vertices

    def to_pygsp(self, lap_type: LaplacianKind = "combinatorial") -> Any:
        """Return the graph as a :class:`pygsp.graphs.Graph` with the same coordinates.

        Parameters
        ----------
        lap_type : {"combinatorial", "normalized"}
            The Laplacian that PyGSP computes.

        Examples
        --------
        >>> from cayleygsp import gallery
        >>> gallery.ring(8).to_pygsp(lap_type="normalized").lap_type
        'normalized'
        """
        from pygsp import graphs

        coords = None if self.coords is None else self.coords.copy()
        return graphs.Graph(sparse.csr_matrix(self.W, copy=True), lap_type=lap_type, coords=coords)

    def to_networkx(self) -> Any:
        """Return the graph as a :class:`networkx.Graph` on the vertices 0, …, n − 1.

        Edges carry ``weight``, vertices ``pos`` and ``label`` where the graph has them.

        Examples
        --------
        >>> from cayleygsp import gallery
        >>> sorted(gallery.path(3).to_networkx().edges(data="weight"))
        [(0, 1, 1.0), (1, 2, 1.0)]
        """
        import networkx

        upper = sparse.triu(self.W, format="coo")
        result = networkx.Graph(name=self.name)
        result.add_nodes_from(range(self.n_vertices))
        result.add_weighted_edges_from(zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True))
        if self.coords is not None:
            networkx.set_node_attributes(result, dict(enumerate(map(tuple, self.coords.tolist()))), "pos")
        if self.labels is not None:
            networkx.set_node_attributes(result, dict(enumerate(self.labels.tolist())), "label")
        return result


def as_adjacency(graph: GraphLike, name: str = "graph", *, symmetrize: Symmetrize | None = None) -> sparse.csr_array:
    r"""Return the weighted adjacency matrix W of a graph, checked, in one canonical form.

    Parameters
    ----------
    graph : graph-like
        A :class:`Graph`, a PyGSP graph, an undirected networkx graph (edge attribute ``weight``, 1 where it
        is missing; parallel edges add up; vertices in the order of ``graph.nodes``), a scipy sparse array or
        matrix of any format, or a dense array of shape (n_vertices, n_vertices). Self-loops, vertices
        without edges and several components are fine. The input is never modified.
    name : str
        What error messages call the argument.
    symmetrize : {"max", "mean"}, optional
        Accept directed graphs too, and give both directions of an edge the larger of their weights or the mean.

    Returns
    -------
    scipy.sparse.csr_array, shape (n_vertices, n_vertices)
        Double precision, exactly symmetric, columns sorted within each row, duplicates summed, no stored
        zeros. It shares no memory with the input, whose numbers may have any precision and byte order.

    Raises
    ------
    TypeError
        If the kind of object is not one of those above, or the weights are not real numbers.
    ValueError
        If the matrix is not square, has no vertices, or its weights are not finite, negative or not
        symmetric (:class:`AsymmetryError`). Asymmetry by rounding, at most 1e-12 of the largest weight (1e-6 in
        single precision), is averaged away.

    Examples
    --------
    >>> from cayleygsp.graph import as_adjacency
    >>> as_adjacency([[0, 1], [1, 0]]).toarray()
    array([[0., 1.],
           [1., 0.]])
    >>> as_adjacency([[0, 1], [2, 0]])
    Traceback (most recent call last):
        ...
    cayleygsp.graph.AsymmetryError: `graph` must be symmetric, got W[0, 1] = 1.0 but W[1, 0] = 2.0
    """
    if symmetrize is not None:
        check_choice(symmetrize, "symmetrize", SYMMETRIZE)
    matrix = _matrix_of(graph, name, directed=symmetrize is not None)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"`{name}` must be a square 2-D matrix, got shape {matrix.shape}")
    if matrix.shape[0] == 0:
        raise ValueError(f"`{name}` must have at least one vertex, got shape {matrix.shape}")
    if matrix.dtype.kind not in "biuf":
        raise TypeError(f"`{name}` must have real numbers as weights, got dtype {matrix.dtype}")
    single = matrix.dtype.kind == "f" and matrix.dtype.itemsize <= 4
    W = _canonical_csr(matrix, name)
    _check_weights(W, name)
    return _symmetric(W, symmetrize, _ROUNDING_SINGLE if single else _ROUNDING_DOUBLE, name)


def networkx_edges(graph: Any, name: str) -> tuple[Array, Array, FloatArray]:
    """Return tails, heads and weights of the edges of a networkx graph, vertices numbered in its order."""
    position = {vertex: i for i, vertex in enumerate(graph)}
    edges = list(graph.edges(data="weight", default=1))
    for u, v, weight in edges:
        if not isinstance(weight, (int, float, np.bool_, np.integer, np.floating)):
            raise TypeError(
                f"`{name}` must have real numbers as edge weights, got weight {weight!r} on edge {(u, v)!r}"
            )
    weights = np.fromiter((weight for _, _, weight in edges), dtype=np.float64, count=len(edges))
    tails = np.fromiter((position[u] for u, _, _ in edges), dtype=np.int64, count=len(edges))
    heads = np.fromiter((position[v] for _, v, _ in edges), dtype=np.int64, count=len(edges))
    return tails, heads, weights


def _matrix_of(graph: GraphLike, name: str, directed: bool) -> Any:
    """Return the sparse or dense matrix that describes the graph, unchecked and perhaps shared."""
    if isinstance(graph, Graph):
        return graph.W
    if sparse.issparse(graph):
        return graph
    if _is_instance(graph, "pygsp.graphs", "Graph"):
        return graph.W
    if _is_instance(graph, "networkx", "Graph"):
        return _matrix_of_networkx(graph, name, directed)
    if isinstance(graph, (str, bytes, os.PathLike)):
        raise TypeError(f"`{name}` must be {_ACCEPTED}, got {graph!r}; to read a file use cayleygsp.read_graph")
    return _dense_matrix(graph, name)


def _is_instance(thing: object, module: str, class_name: str) -> bool:
    """Tell whether ``thing`` is of a class of a module that may not be loaded (then it cannot be)."""
    cls = getattr(sys.modules.get(module), class_name, None)
    return isinstance(cls, type) and isinstance(thing, cls)


def _matrix_of_networkx(graph: Any, name: str, directed: bool) -> sparse.coo_array:
    if graph.is_directed() and not directed:
        raise ValueError(
            f"`{name}` must be undirected, got a directed networkx {type(graph).__name__}; "
            "decide what the directions mean and use Graph.from_directed or graph.to_undirected()"
        )
    tails, heads, weights = networkx_edges(graph, name)
    n, inner = len(graph), (tails != heads) & (not graph.is_directed())
    rows = np.concatenate([tails, heads[inner]])
    cols = np.concatenate([heads, tails[inner]])
    return sparse.coo_array((np.concatenate([weights, weights[inner]]), (rows, cols)), shape=(n, n))


def _dense_matrix(graph: Any, name: str) -> Array:
    if np.ma.is_masked(graph):
        raise TypeError(f"`{name}` must not have masked entries; use graph.filled(0) if they mean no edge")
    try:
        matrix = np.asarray(graph)
    except (ValueError, TypeError):
        raise ValueError(
            f"`{name}` must be {_ACCEPTED}, got a {type(graph).__name__} that is no rectangular array"
        ) from None
    if matrix.ndim == 0 and matrix.dtype.kind not in "biufc":
        raise TypeError(f"`{name}` must be {_ACCEPTED}, got {type(graph).__name__}")
    return matrix


def _canonical_csr(matrix: Any, name: str) -> sparse.csr_array:
    """Return a copy as CSR in double precision: sorted, without duplicates or stored zeros."""
    # In double precision before duplicates are summed: sums of booleans or of 8-bit numbers go wrong.
    copy = matrix.astype(np.float64)
    if hasattr(copy, "check_format"):  # index arrays that point outside: scipy looks for them only when asked
        try:
            copy.check_format(full_check=True)
            # Without entries scipy does not look at this, and reads outside of its arrays afterwards.
            if (np.diff(copy.indptr) < 0).any():
                raise ValueError("indptr must be a non-decreasing sequence")
        except ValueError as error:
            raise ValueError(
                f"`{name}` must be a valid {copy.format} matrix, got index arrays that do not fit: {error}"
            ) from None
    W = sparse.csr_array(copy)
    W.sum_duplicates()
    W.eliminate_zeros()
    if max(W.nnz, *W.shape) <= np.iinfo(np.int32).max:
        W.indices = W.indices.astype(np.int32, copy=False)
        W.indptr = W.indptr.astype(np.int32, copy=False)
    return W


def _check_weights(W: sparse.csr_array, name: str) -> None:
    finite = np.isfinite(W.data)
    if not finite.all():
        i, j, weight = _entry(W, int(np.argmin(finite)))
        raise ValueError(f"`{name}` must have finite weights, got W[{i}, {j}] = {weight}")
    negative = W.data < 0
    if negative.any():
        i, j, weight = _entry(W, int(np.argmax(negative)))
        diagonal = W.diagonal()
        only_there = np.count_nonzero(diagonal > 0) == np.count_nonzero(W.data > 0) > 0 and (diagonal >= 0).all()
        hint = "; this looks like a Laplacian; use cayleygsp.Laplacian.from_matrix" if only_there else ""
        raise ValueError(f"`{name}` must have non-negative weights, got W[{i}, {j}] = {weight}{hint}")


def _symmetric(W: sparse.csr_array, how: Symmetrize | None, rounding: float, name: str) -> sparse.csr_array:
    """Return the larger of W and its transpose or their mean; W itself or the mean, if they differ by rounding only."""
    # The transpose read as CSR: rows come out sorted, as W is canonical.
    T = W.T.tocsr()
    if all(np.array_equal(getattr(W, part), getattr(T, part)) for part in ("indptr", "indices", "data")):
        return W
    if how is None:
        difference = sparse.csr_array(W - T)
        difference.sort_indices()
        too_far = np.abs(difference.data) > rounding * W.data.max()
        if too_far.any():
            i, j, _ = _entry(difference, int(np.argmax(too_far)))
            raise AsymmetryError(f"`{name}` must be symmetric, got W[{i}, {j}] = {W[i, j]} but W[{j}, {i}] = {W[j, i]}")
    result = sparse.csr_array(W.maximum(T) if how == "max" else 0.5 * W + 0.5 * T)
    result.sort_indices()
    result.eliminate_zeros()
    return result


def _entry(W: sparse.csr_array, k: int) -> tuple[int, int, float]:
    """Return row, column and value of the k-th stored entry."""
    return int(np.searchsorted(W.indptr, k, side="right")) - 1, int(W.indices[k]), float(W.data[k])


def _checked_coords(coords: ArrayLike, n_vertices: int) -> FloatArray:
    array = np.asarray(coords)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"`coords` must be real numbers, got dtype {array.dtype}")
    if array.shape not in ((n_vertices, 2), (n_vertices, 3)):
        raise ValueError(f"`coords` must have shape ({n_vertices}, 2) or ({n_vertices}, 3), got {array.shape}")
    double = array.astype(np.float64)
    bad = np.argwhere(~np.isfinite(double))
    if len(bad):
        i, j = map(int, bad[0])
        raise ValueError(f"`coords` must be finite, got coords[{i}, {j}] = {double[i, j]}")
    return double
