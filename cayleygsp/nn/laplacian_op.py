"""The Laplacian of checked edges as tensors, and a guaranteed bound of its spectrum."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from cayleygsp.spectrum import POWER_STEPS


@torch.library.custom_op("cayleygsp::build_laplacian", mutates_args=())
def build_laplacian(
    edge_index: Tensor, edge_weight: Tensor | None, n: int, normalized: bool, batch: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return indptr, indices, values, diagonal and lmax of checked edges, the numbers in double precision.

    There are as many entries as edges: self-loops stay as entries of weight zero, so that the shapes follow from the
    shapes of the input.
    """
    if batch is not None:
        batch = torch.unique(batch, return_inverse=True)[1]  # numbers may have gaps
    order = torch.argsort(edge_index[0], stable=True)
    row, col = edge_index[0, order].long(), edge_index[1, order].long()
    w = torch.ones(row.shape[0], dtype=torch.float64, device=row.device)
    if edge_weight is not None:
        w = edge_weight[order].double()
    whole = torch.int32 if row.shape[0] < 2**31 and n < 2**31 else torch.int64
    indptr = torch.zeros(n + 1, dtype=torch.int64, device=row.device)
    indptr[1:] = torch.bincount(row, minlength=n).cumsum(0)
    zeros = torch.zeros(n, dtype=torch.float64, device=row.device)
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
        lmax = _guaranteed_lmax(row, col, values, diagonal, batch)
    return indptr.to(whole), col.to(whole), values, diagonal, lmax.double().contiguous()


@build_laplacian.register_fake
def _(
    edge_index: Tensor, edge_weight: Tensor | None, n: int, normalized: bool, batch: Tensor | None
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
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


def _per_graph(values: Tensor, batch: Tensor | None) -> Tensor:
    """Return for each vertex the largest value, not below zero, in its graph."""
    if values.shape[0] == 0:
        return values
    if batch is None:
        return values.amax().clamp(min=0).expand_as(values)
    batch = batch.long()
    return torch.zeros_like(values).scatter_reduce(0, batch, values, "amax")[batch]


def _guaranteed_lmax(row: Tensor, col: Tensor, w: Tensor, diagonal: Tensor, batch: Tensor | None) -> Tensor:
    """Bound the spectrum of D - W for each graph, as the core does: max of (Qx)_i / x_i, Q = D + W, by power steps."""
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
    longest_row = torch.bincount(row, minlength=1).max()
    best = _per_graph(torch.where(inner & torch.isfinite(best), best, 0.0), batch)
    return best * (1 + (longest_row.double() + 8) * 2.0**-52)
