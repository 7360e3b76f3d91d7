"""Edges of a graph as tensors: what is taken, and what is rejected."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def as_edges(edges: Any, edge_weight: Tensor | None, num_nodes: int | None) -> tuple[Tensor, Tensor | None, int | None]:
    """Turn an adjacency matrix into edges with weights; leave edges as they are."""
    if not isinstance(edges, Tensor):
        raise TypeError(f"`edge_index` must be a tensor, got {type(edges).__name__}")
    sparse = edges.layout != torch.strided
    if not sparse and not (edges.is_floating_point() and edges.dim() == 2 and edges.shape[0] == edges.shape[1]):
        return edges, edge_weight, num_nodes
    if edge_weight is not None:
        raise ValueError("`edge_weight` must not be given together with an adjacency matrix, which has the weights")
    if edges.dim() != 2 or edges.shape[0] != edges.shape[1]:
        raise ValueError(f"the adjacency matrix must be square, got shape {tuple(edges.shape)}")
    if num_nodes not in (None, edges.shape[0]):
        raise ValueError(f"`num_nodes` must be {edges.shape[0]} as the adjacency matrix says, got {num_nodes}")
    if edges.requires_grad:
        raise ValueError("the adjacency matrix must not require a gradient: the layers take the graph as constant")
    coo = edges.to_sparse_coo().coalesce()
    return coo.indices(), coo.values(), edges.shape[0]


def check_edges(edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int | None, batch: Tensor | None) -> int:
    """Return the number of vertices if the edges are those of an undirected graph; values are looked at on the CPU."""
    if edge_index.dtype not in (torch.int64, torch.int32, torch.int16, torch.uint8, torch.int8):
        raise TypeError(f"`edge_index` must hold whole numbers, got dtype {edge_index.dtype}")
    if edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise ValueError(f"`edge_index` must have shape (2, n_edges), got {tuple(edge_index.shape)}")
    n_edges, device = edge_index.shape[1], edge_index.device
    if edge_weight is not None:
        if not edge_weight.is_floating_point():
            raise TypeError(f"`edge_weight` must hold floating point numbers, got dtype {edge_weight.dtype}")
        if edge_weight.shape != (n_edges,):
            raise ValueError(f"`edge_weight` must have shape ({n_edges},), got {tuple(edge_weight.shape)}")
        check_same_device(edge_weight, device, "edge_weight", "edge_index")
    n = num_nodes
    if n is None:
        n = int(edge_index.max()) + 1 if n_edges else 0
    if batch is not None:
        if batch.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"`batch` must hold whole numbers, got dtype {batch.dtype}")
        if batch.shape != (n,):
            raise ValueError(f"`batch` must have shape ({n},), one number per vertex, got {tuple(batch.shape)}")
        check_same_device(batch, device, "batch", "edge_index")
    if device.type == "cpu" and not torch.compiler.is_compiling():
        _check_values(edge_index.long(), edge_weight, n, batch)
    return n


def check_same_device(tensor: Tensor, device: torch.device, name: str, other: str) -> None:
    """Reject a tensor that is elsewhere."""
    if tensor.device != device:
        raise ValueError(f"`{name}` must be on the device of `{other}`, {device}, got {tensor.device}")


def _check_values(edge_index: Tensor, edge_weight: Tensor | None, n: int, batch: Tensor | None) -> None:
    """Look at the numbers: indices within the graph, weights finite and not negative, both directions alike."""
    if batch is not None and batch.numel() and int(batch.min()) < 0:
        raise ValueError(f"`batch` must not be negative, got {int(batch.min())}")
    if edge_index.numel() == 0:
        return
    low, high = (int(v) for v in edge_index.aminmax())
    if low < 0 or high >= n:
        raise ValueError(f"`edge_index` must be between 0 and {n - 1}, got {low if low < 0 else high}")
    row, col = edge_index
    w = torch.ones(row.shape[0], dtype=torch.float64) if edge_weight is None else edge_weight.detach().double()
    if not torch.isfinite(w).all() or bool((w < 0).any()):
        k = int((~(torch.isfinite(w) & (w >= 0))).nonzero()[0])
        raise ValueError(f"`edge_weight` must be finite and not negative, got {w[k].item():g} at edge {k}")
    if batch is not None and bool((batch[row] != batch[col]).any()):
        k = int((batch[row] != batch[col]).nonzero()[0])
        raise ValueError(f"edge {k} joins vertices of two graphs of `batch`: {int(row[k])} and {int(col[k])}")
    # W x and its transposed have no reason to agree for a random vector unless W is symmetric
    x = torch.rand(n, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).add_(0.5)
    there = torch.zeros(n, dtype=torch.float64).index_add_(0, row, w * x[col])
    back = torch.zeros(n, dtype=torch.float64).index_add_(0, col, w * x[row])
    if not torch.isfinite(there).all():
        raise ValueError("`edge_weight` must have finite sums at every vertex: scale the weights down")
    if bool(((there - back).abs() > 1e-6 * (there + back)).any()):
        i = int(((there - back).abs() > 1e-6 * (there + back)).nonzero()[0])
        raise ValueError(
            f"`edge_index` must hold every edge in both directions with the same weight; at vertex {i} it does not. "
            "Make the graph undirected, for instance by torch_geometric.utils.to_undirected"
        )


def given_lmax(lambda_max: Any, like: Tensor, batch: Tensor | None) -> Tensor:
    """Return the bound that was given, for each vertex."""
    if isinstance(lambda_max, Tensor) and lambda_max.requires_grad:
        raise ValueError(
            "`lambda_max` must not require a gradient: the layers take the graph as constant; pass lambda_max.detach()"
        )
    given = torch.as_tensor(lambda_max, dtype=torch.float64, device=like.device)
    if given.dim() > 1 or (given.numel() > 1 and batch is None):
        raise ValueError(f"`lambda_max` must be one number, or with `batch` one per graph, got {tuple(given.shape)}")
    if given.device.type == "cpu" and not torch.compiler.is_compiling():
        if not bool((torch.isfinite(given) & (given > 0)).all()):
            raise ValueError(f"`lambda_max` must be positive and finite, got {lambda_max!r}")
        if batch is not None and given.numel() > 1 and batch.numel() and int(batch.max()) >= given.numel():
            n_graphs = int(batch.max()) + 1
            raise ValueError(f"`lambda_max` must hold {n_graphs} numbers, one per graph, got {given.numel()}")
    if given.numel() > 1 and batch is not None:
        return given[batch.long()]
    # a copy: the compiled loops want every number in its place, and what was given may change
    return given.reshape(()).expand_as(like).clone(memory_format=torch.contiguous_format)
