r"""Laplacians of edges as tensors, with a guaranteed bound of the spectrum; their entries as functions of edge weights.

The operations of the layers give gradients in ``values``, ``diagonal`` and ``scale`` of a
:class:`~cayleygsp.nn.graph.tensors.GraphTensors`; these functions carry them on to the weights of the edges, through
the degrees of the normalization. They are made of ordinary torch operations on one number per edge and vertex.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from cayleygsp.engine.edge_rows import (
    PLAIN,
    SYMMETRIC,
    consecutive,
    guaranteed_bound,
    largest_per_graph,
    normalize_rows,
    rows_of_edges,
)
from cayleygsp.nn.graph.edges import SYMMETRY, as_arrays, assert_on_device, reject_values
from cayleygsp.spectrum import POWER_STEPS


def asks_for_gradient(edge_weight: Tensor | None) -> bool:
    """Return whether weights are to get a gradient in what is computed now."""
    return isinstance(edge_weight, Tensor) and edge_weight.requires_grad and torch.is_grad_enabled()


def entries_of_edges(
    edge_index: Tensor,
    edge_weight: Tensor,
    n: int,
    normalization: str | None,
    order: Tensor,
    *,
    tied: bool = True,
    keep_loops: bool = True,
) -> tuple[Tensor, Tensor]:
    r"""Return the entries beside the diagonal of a Laplacian, with the sign changed, and the diagonal.

    Parameters
    ----------
    edge_index : Tensor, shape (2, n_edges)
        Where edges begin and end. Degrees are sums over the edges that begin at a vertex.
    edge_weight : Tensor, shape (n_edges,)
        Their weights.
    n : int
        Number of vertices.
    normalization : {"sym", "rw", None}
        Entries are :math:`w_{st}/\sqrt{d_s d_t}`, :math:`w_{st}/d_s` or :math:`w_{st}`.
    order : Tensor, shape (n_edges,)
        The edge of each entry, as rows want them.
    tied : bool
        For undirected graphs: take as degree the mean of what begins and what ends at a vertex, which is the same
        number, so that the gradients of the two halves of an edge are equal.
    keep_loops : bool
        Whether self-loops count in the degrees, as in the core. Otherwise they are left out, and the diagonal of a
        normalized Laplacian is 1 everywhere, as in PyTorch Geometric.

    Returns
    -------
    values : Tensor, shape (n_edges,)
        In double precision; self-loops have the value zero.
    diagonal : Tensor, shape (n,)
        In double precision.
    """
    source, target = edge_index.long()
    w = edge_weight.double()
    beside = torch.where(source == target, 0.0, w)
    zeros = torch.zeros(n, dtype=torch.float64, device=w.device)

    ends = torch.cat([source, target]) if tied else source

    def degrees(weights: Tensor) -> Tensor:
        return zeros.index_add(0, ends, torch.cat([weights, weights]) / 2 if tied else weights)

    diagonal = degrees(beside)
    if normalization is None:
        return beside[order], diagonal
    total = degrees(w) if keep_loops else diagonal
    inner = total > 0 if normalization == "sym" else total != 0
    # a power of two near the largest degree, so that nothing over- or underflows; a constant that cancels
    unit = torch.exp2(-torch.log2(total.detach().abs().amax().clamp(min=1e-300)).ceil()) if n else total.sum() + 1
    scaled = torch.where(inner, total * unit, 1.0)
    if normalization == "sym":
        root = torch.where(inner, scaled.rsqrt(), 0.0)
        values = beside * unit * (root[source] * root[target])
    else:
        values = beside * unit * torch.where(inner, 1 / scaled, 0.0)[source]
    on_diagonal = torch.where(inner, diagonal * unit / scaled, 0.0) if keep_loops else torch.ones_like(diagonal)
    return values[order], on_diagonal


Parts = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


def laplacian_of_edges(
    edge_index: Tensor, edge_weight: Tensor | None, n: int, normalized: bool, batch: Tensor | None
) -> Parts:
    """Return indptr, indices, values, diagonal and lmax of an undirected graph, the numbers in double precision.

    There are as many entries as edges: self-loops stay as entries of weight zero, so that the shapes follow from the
    shapes of the input. On the CPU wrong edges raise here; on other devices they do where the host next waits.
    """
    if edge_index.device.type == "cpu":
        return _by_loops(edge_index, edge_weight, n, normalized, batch)
    return _by_torch(edge_index, edge_weight, n, normalized, batch)


@torch.library.custom_op("cayleygsp::build_laplacian", mutates_args=())
def build_laplacian(
    edge_index: Tensor, edge_weight: Tensor | None, n: int, normalized: bool, batch: Tensor | None
) -> Parts:
    """Do what :func:`laplacian_of_edges` does, as an operation that torch.compile takes as it is."""
    return laplacian_of_edges(edge_index, edge_weight, n, normalized, batch)


@build_laplacian.register_fake
def _(edge_index: Tensor, edge_weight: Tensor | None, n: int, normalized: bool, batch: Tensor | None) -> Parts:
    def empty(size: Any, dtype: torch.dtype) -> Tensor:
        return edge_index.new_empty((size,), dtype=dtype)

    n_edges = edge_index.shape[1]
    return (
        empty(n + 1, torch.int32),
        empty(n_edges, torch.int32),
        empty(n_edges, torch.float64),
        empty(n, torch.float64),
        empty(n, torch.float64),
    )


def _by_loops(edge_index: Tensor, edge_weight: Tensor | None, n: int, normalized: bool, batch: Tensor | None) -> Parts:
    """Do it in compiled loops."""
    rows, columns, weights, labels = as_arrays(edge_index, edge_weight, batch)
    fault, asymmetry, indptr, indices, values, degrees, loops = rows_of_edges(
        columns, rows, weights, n, labels, keep_loops=True
    )
    if fault or not asymmetry <= SYMMETRY or not np.isfinite(degrees).all() or labels.min(initial=0) < 0:
        reject_values(edge_index, edge_weight, n, batch)
    graphs = consecutive(labels)
    diagonal = degrees - loops if loops.any() else degrees
    if normalized:
        normalize_rows(SYMMETRIC, indptr, indices, values, degrees)
        diagonal = np.divide(diagonal, degrees, out=np.zeros(n), where=degrees > 0)
        lmax = 2.0 * (largest_per_graph(diagonal, graphs) > 0)
    else:
        normalize_rows(PLAIN, indptr, indices, values, degrees)
        lmax = guaranteed_bound(indptr, indices, values, diagonal, graphs, POWER_STEPS)
    parts = (torch.from_numpy(part) for part in (indptr, indices, values, diagonal, lmax))
    return tuple(parts)  # type: ignore[return-value]


def _by_torch(edge_index: Tensor, edge_weight: Tensor | None, n: int, normalized: bool, batch: Tensor | None) -> Parts:
    """Do it by torch operations, without asking the device for anything but the number of graphs."""
    assert_on_device(edge_index, edge_weight, n, batch, undirected=True)
    if batch is not None:
        batch = torch.unique(batch, return_inverse=True)[1]  # numbers may have gaps
    order = torch.argsort(edge_index[0], stable=True)
    row, col = edge_index[0, order].long(), edge_index[1, order].long()
    w = torch.ones(row.shape[0], dtype=torch.float64, device=row.device)
    if edge_weight is not None:
        w = edge_weight[order].double()
    whole = torch.int32 if row.shape[0] < 2**31 and n < 2**31 else torch.int64
    zeros = torch.zeros(n, dtype=torch.float64, device=row.device)
    counts = torch.zeros(n, dtype=torch.int64, device=row.device).index_add(0, row, torch.ones_like(row))
    indptr = torch.zeros(n + 1, dtype=torch.int64, device=row.device)
    indptr[1:] = counts.cumsum(0)
    degrees = zeros.index_add(0, row, w)
    values = torch.where(row == col, 0.0, w)
    diagonal = zeros.index_add(0, row, values)
    if normalized:
        # a power of two near the largest degree, so that nothing over- or underflows
        unit = torch.exp2(-torch.log2(degrees.amax().clamp(min=1e-300)).ceil()) if n else degrees.sum() + 1
        scaled = degrees * unit
        root = torch.where(scaled > 0, scaled.clamp(min=5e-324).rsqrt(), 0.0)
        diagonal = torch.where(scaled > 0, diagonal * unit / torch.where(scaled > 0, scaled, 1.0), 0.0)
        values = values * unit * (root[row] * root[col])
        lmax = 2.0 * _per_graph(diagonal, batch).gt(0)
    else:
        lmax = _guaranteed_lmax(row, col, values, diagonal, batch, counts)
    return indptr.to(whole), col.to(whole), values, diagonal, lmax.double().contiguous()


def _per_graph(values: Tensor, batch: Tensor | None) -> Tensor:
    """Return for each vertex the largest value, not below zero, in its graph."""
    if values.shape[0] == 0:
        return values
    if batch is None:
        return values.amax().clamp(min=0).expand_as(values)
    batch = batch.long()
    return torch.zeros_like(values).scatter_reduce(0, batch, values, "amax")[batch]


def _guaranteed_lmax(
    row: Tensor, col: Tensor, w: Tensor, diagonal: Tensor, batch: Tensor | None, counts: Tensor
) -> Tensor:
    """Bound the spectrum of D - W for each graph, as the core does: max of (Qx)_i / x_i, Q = D + W, by power steps."""
    if diagonal.shape[0] == 0:
        return diagonal
    inner = diagonal > 0
    x = torch.where(inner, diagonal, 1.0)
    best = 2 * _per_graph(diagonal, batch)  # by Gershgorin
    usable = inner
    for _ in range(POWER_STEPS):
        top = _per_graph(torch.where(inner, x, 0.0), batch)
        x = torch.where(inner, x / torch.where(top > 0, top, 1.0), 1.0)
        # a graph in which a number underflows keeps the bound that it has
        usable = usable & (_per_graph((inner & (x <= 1e-200)).double(), batch) == 0)
        Qx = diagonal * x + torch.zeros_like(x).index_add(0, row, w * x[col])
        ratio = _per_graph(torch.where(inner, Qx / x, 0.0), batch)
        best = torch.where(usable, torch.minimum(best, ratio), best)
        x = Qx
    best = _per_graph(torch.where(inner & torch.isfinite(best), best, 0.0), batch)
    return best * (1 + (counts.amax().double() + 8) * 2.0**-52)
