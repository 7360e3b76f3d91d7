r"""The scaled Laplacian of any weighted graph, directed or not, with the conventions of PyTorch Geometric.

A signal moves along the edges: with :math:`w_{ij}` the weight of the edge from i to j and :math:`d_i = \sum_j w_{ij}`
without self-loops, a product is with the transposed of :math:`L = D - W`, :math:`I - D^{-1/2} W D^{-1/2}` or
:math:`I - D^{-1} W`. λ_max is twice the largest entry of L unless it is given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cayleygsp._typing import Array, FloatArray
from cayleygsp.engine.edge_rows import (
    NEGATIVE,
    PLAIN,
    RANDOM_WALK,
    SYMMETRIC,
    consecutive,
    largest_per_graph,
    normalize_rows,
    rayleigh_bound,
    rows_of_edges,
)
from cayleygsp.nn.graph.build import asks_for_gradient, entries_of_edges
from cayleygsp.nn.graph.edges import as_arrays, as_edges, assert_on_device, check_edges, given_lmax, reject_values
from cayleygsp.nn.graph.laplacian_state import reject_low_lmax
from cayleygsp.nn.graph.tensors import GraphTensors, transposed_pattern
from cayleygsp.nn.modes import outside_inference

KINDS = {None: PLAIN, "sym": SYMMETRIC, "rw": RANDOM_WALK}

# Relative difference of sums over both directions up to which a matrix is its own transposed.
_ROUNDING = 1e-12

# How much a given λ_max may be below a bound of the spectrum for recurrences to run backwards nevertheless.
_SLACK = 1e-6

Parts = tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]


class ScaledLaplacian:
    """A scaled Laplacian as :func:`cayleygsp.nn.ops.series.cheb_conv` takes it.

    Attributes
    ----------
    graph : GraphTensors
        The matrix, with its transposed if that is another.
    normalization : {"sym", "rw", None}
        Which Laplacian.
    """

    # the two directions of an edge have gradients of their own
    tied = False

    def __init__(self, graph: GraphTensors, normalization: str | None, *, bounded: bool = True) -> None:
        self.graph, self.normalization = graph, normalization
        self._bounded = bounded

    @classmethod
    def from_edge_index(
        cls,
        edge_index: Any,
        edge_weight: Tensor | None,
        n: int,
        *,
        normalization: str | None,
        batch: Tensor | None = None,
        lambda_max: Any = None,
        dtype: torch.dtype,
    ) -> ScaledLaplacian:
        """Take edges as PyTorch Geometric has them.

        Parameters
        ----------
        edge_index : Tensor, shape (2, n_edges), or an adjacency matrix
            Edges; the entry (i, j) of a matrix is an edge from i to j.
        edge_weight : Tensor, shape (n_edges,) or (n_edges, 1), optional
            Finite; 1 by default.
        n : int
            Number of vertices.
        normalization : {"sym", "rw", None}
            Which Laplacian.
        batch : Tensor, shape (n,), optional
            The graph of each vertex; each then has its own λ_max.
        lambda_max : float or Tensor, optional
            One number, or one per graph.
        dtype : torch.dtype
            Precision of the values.

        Raises
        ------
        ValueError, TypeError
            If indices are out of range, weights are not finite, or ``lambda_max`` is below an eigenvalue of a
            symmetric Laplacian.
        """
        with outside_inference():
            edge_index, edge_weight, _ = as_edges(edge_index, edge_weight, n)
            edge_weight, n = check_edges(edge_index, edge_weight, n, batch)
            if lambda_max is not None:
                like = edge_index.new_empty((n,), dtype=torch.float64)
                lambda_max = given_lmax(lambda_max, like, batch)
            constant = None if edge_weight is None else edge_weight.detach()
            if torch.compiler.is_compiling():
                build: Callable[..., tuple[Tensor, ...]] = build_scaled
            else:
                build = parts_by_loops if edge_index.device.type == "cpu" else parts_by_torch
            parts = build(edge_index, constant, n, KINDS[normalization], batch, lambda_max)
            numbers = parts[2:5]
            bounded = lambda_max is None
            if asks_for_gradient(edge_weight):
                assert edge_weight is not None
                order = torch.argsort(edge_index[1], stable=True)
                options = {"tied": False, "keep_loops": False}
                values, diagonal = entries_of_edges(edge_index, edge_weight, n, normalization, order, **options)
                scale = _scale(values, diagonal, parts, batch)
                dtype = torch.float64
                if len(parts) == 5:  # symmetric, as was found on the CPU
                    bounded = bounded or bool((parts[4] <= (1 + _SLACK) * scale.detach()).all())
                numbers = values, diagonal, scale if lambda_max is None else parts[4]
            graph = GraphTensors(*parts[:2], *(t.to(dtype) for t in numbers), *parts[5:])
            return cls(graph, normalization, bounded=bounded)

    @property
    def reversible(self) -> bool:
        """Whether the recurrence can run backwards without growing: the spectrum is real and within the bound."""
        values = self.graph.values
        if not self._bounded or not self.graph.is_symmetric:
            return False
        return not values.requires_grad or bool((values.detach() >= 0).all())

    @property
    def values(self) -> Tensor:
        """Weights beside the diagonal, in the order of the rows."""
        return self.graph.values

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return int(self.graph.diagonal.shape[0])

    def tensors(self, dtype: torch.dtype, *, own_scale: bool) -> GraphTensors:
        """Return the scaled matrix; every graph has its own scale."""
        assert own_scale
        return self.graph.to(dtype)


def parts_by_loops(
    edge_index: Tensor, edge_weight: Tensor | None, n: int, kind: int, batch: Tensor | None, lambda_max: Tensor | None
) -> tuple[Tensor, ...]:
    """Return indptr, indices, values, diagonal and scale; for a matrix that is not symmetric also its transposed."""
    sources, targets, weights, labels = as_arrays(edge_index, edge_weight, batch)
    fault, asymmetry, indptr, indices, values, degrees, _ = rows_of_edges(
        sources, targets, weights, n, labels, keep_loops=False
    )
    if (fault and fault != NEGATIVE) or not np.isfinite(degrees).all() or labels.min(initial=0) < 0:
        reject_values(edge_index, edge_weight, n, batch, undirected=False)
    if kind == SYMMETRIC and fault == NEGATIVE and (degrees < 0).any():
        vertex = int((degrees < 0).argmax())
        raise ValueError(
            f"`edge_weight` must have sums that are not negative for normalization='sym', got "
            f"{degrees[vertex]:g} at vertex {vertex}"
        )
    normalize_rows(kind, indptr, indices, values, degrees)
    diagonal = degrees if kind == PLAIN else np.ones(n)
    graphs = consecutive(labels)
    symmetric = asymmetry <= _ROUNDING and kind != RANDOM_WALK
    if lambda_max is None:
        lmax = _twice_the_largest(indptr, values, diagonal, graphs, negative=fault == NEGATIVE)
    else:
        lmax = lambda_max.numpy()
        if asymmetry <= _ROUNDING:
            _check_lmax(lmax, (indptr, indices, values, diagonal), graphs, kind, degrees)
    with np.errstate(divide="ignore"):
        scale = np.where(lmax > 0, 2 / lmax, 0.0)
    parts = tuple(torch.from_numpy(part) for part in (indptr, indices, values, diagonal, scale))
    return parts if symmetric else (*parts, *transposed_pattern(*parts[:2]))


def _twice_the_largest(
    indptr: Array, values: FloatArray, diagonal: FloatArray, graphs: Array, *, negative: bool
) -> FloatArray:
    """Return for each vertex twice the largest entry of the Laplacian of its graph."""
    largest = diagonal
    if negative:  # then an entry beside the diagonal may be the largest
        rows = np.repeat(np.arange(diagonal.shape[0]), np.diff(indptr))
        largest = diagonal.copy()
        np.maximum.at(largest, rows, -values)
    return 2 * largest_per_graph(largest, graphs)


def _check_lmax(
    lmax: FloatArray,
    matrix: tuple[Array, Array, FloatArray, FloatArray],
    graphs: Array,
    kind: int,
    degrees: FloatArray,
) -> None:
    """Reject a λ_max that is below a Rayleigh quotient, outside of which a Chebyshev polynomial grows without bound."""
    indptr, indices, values, diagonal = matrix
    if kind == RANDOM_WALK:  # similar to a symmetric matrix
        root = np.sqrt(np.abs(degrees))
        rows = np.repeat(np.arange(diagonal.shape[0]), np.diff(indptr))
        inverse = np.divide(1, root, out=np.zeros_like(root), where=root > 0)
        values = values * root[indices] * inverse[rows]
    lower = rayleigh_bound((indptr, indices, values, diagonal), graphs)
    reject_low_lmax(lmax, lower)


@torch.library.custom_op("cayleygsp::build_scaled", mutates_args=())
def build_scaled(
    edge_index: Tensor, edge_weight: Tensor | None, n: int, kind: int, batch: Tensor | None, lambda_max: Tensor | None
) -> Parts:
    """Return the matrix and the pattern of its transposed, as an operation that torch.compile takes as it is."""
    if edge_index.device.type != "cpu":
        return parts_by_torch(edge_index, edge_weight, n, kind, batch, lambda_max)
    parts = parts_by_loops(edge_index, edge_weight, n, kind, batch, lambda_max)
    return parts if len(parts) == 8 else (*parts, *transposed_pattern(*parts[:2]))  # type: ignore[return-value]


@build_scaled.register_fake
def _(
    edge_index: Tensor, edge_weight: Tensor | None, n: int, kind: int, batch: Tensor | None, lambda_max: Tensor | None
) -> Parts:
    def empty(size: Any, dtype: torch.dtype) -> Tensor:
        return edge_index.new_empty((size,), dtype=dtype)

    n_edges = edge_index.shape[1]
    pattern = empty(n + 1, torch.int32), empty(n_edges, torch.int32)
    numbers = empty(n_edges, torch.float64), empty(n, torch.float64), empty(n, torch.float64)
    return (*pattern, *numbers, empty(n + 1, torch.int32), empty(n_edges, torch.int32), empty(n_edges, torch.int64))


def parts_by_torch(
    edge_index: Tensor, edge_weight: Tensor | None, n: int, kind: int, batch: Tensor | None, lambda_max: Tensor | None
) -> Parts:
    """Do it by torch operations; the transposed always comes along, as no device is asked whether it is needed."""
    assert_on_device(edge_index, edge_weight, n, batch, undirected=False)
    device = edge_index.device
    order = torch.argsort(edge_index[1], stable=True)
    source, target = edge_index[0, order].long(), edge_index[1, order].long()
    w = torch.ones(source.shape[0], dtype=torch.float64, device=device)
    if edge_weight is not None:
        w = edge_weight[order].double()
    w = torch.where(source == target, 0.0, w)
    degrees = torch.zeros(n, dtype=torch.float64, device=device).index_add(0, source, w)
    counts = torch.zeros(n, dtype=torch.int64, device=device).index_add(0, target, torch.ones_like(target))
    diagonal = degrees
    if kind != PLAIN:
        safe = torch.where(degrees != 0, degrees, 1.0)
        factor = torch.where(degrees != 0, 1 / safe if kind == RANDOM_WALK else safe.rsqrt(), 0.0)
        w = w * factor[source] if kind == RANDOM_WALK else w * (factor[source] * factor[target])
        diagonal = torch.ones_like(degrees)
    scale = _scale_of(w, diagonal, target, batch) if lambda_max is None else _inverse_half(lambda_max)
    whole = torch.int32 if max(source.shape[0], n) < 2**31 else torch.int64
    indptr = torch.zeros(n + 1, dtype=torch.int64, device=device)
    indptr[1:] = counts.cumsum(0)
    indptr, indices = indptr.to(whole), source.to(whole)
    return indptr, indices, w, diagonal.contiguous(), scale, *transposed_pattern(indptr, indices)


def _scale(values: Tensor, diagonal: Tensor, parts: tuple[Tensor, ...], batch: Tensor | None) -> Tensor:
    """Return 2/λ_max for each vertex as a function of the entries."""
    counts = parts[0].diff().long()
    vertices = torch.arange(counts.shape[0], device=counts.device)
    rows = torch.repeat_interleave(vertices, counts, output_size=values.shape[0])
    return _scale_of(values, diagonal, rows, batch)


def _scale_of(values: Tensor, diagonal: Tensor, rows: Tensor, batch: Tensor | None) -> Tensor:
    """Return 2/λ_max for each vertex, λ_max being twice the largest entry of the Laplacian of its graph."""
    if diagonal.shape[0] == 0:
        return diagonal
    if batch is None:
        largest = torch.cat([diagonal, -values]).amax().expand_as(diagonal)
    else:
        graphs = torch.unique(batch.long(), return_inverse=True)[1]  # their numbers may have gaps
        entries = torch.cat([diagonal, -values])
        places = torch.cat([graphs, graphs[rows]])
        largest = torch.zeros_like(diagonal).scatter_reduce(0, places, entries, "amax")[graphs]
    return _inverse_half(2 * largest)


def _inverse_half(lmax: Tensor) -> Tensor:
    """Return 2/λ_max where there is one, else zero."""
    return torch.where(lmax > 0, 2 / torch.where(lmax > 0, lmax, 1.0), 0.0).contiguous()
