"""Edges of a graph as tensors: what is taken, and what is rejected."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from cayleygsp._typing import Array, FloatArray
from cayleygsp._validation import check_integer

# How far the two directions of an edge may differ, by rounding, in a graph that is taken to be undirected.
SYMMETRY = 1e-6

UNDIRECTED = (
    "`edge_index` must hold every edge in both directions with the same weight; {}. A Cayley filter is a function of "
    "the eigenvalues of the Laplacian, which are real, and bounded as the layer needs it, only where the graph is "
    "undirected. Make it so, for instance by torch_geometric.utils.to_undirected, drop edges with "
    "dropout_edge(force_undirected=True), or take ChebConv, a polynomial of any matrix"
)


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


def check_edges(
    edge_index: Tensor, edge_weight: Tensor | None, num_nodes: int | None, batch: Tensor | None
) -> tuple[Tensor | None, int]:
    """Return weights of shape (n_edges,) and the number of vertices if types, shapes and devices fit together.

    What the tensors hold is looked at where the Laplacian is built.
    """
    if edge_index.dtype not in (torch.int64, torch.int32, torch.int16, torch.uint8, torch.int8):
        raise TypeError(f"`edge_index` must hold whole numbers, got dtype {edge_index.dtype}")
    if edge_index.dim() != 2 or edge_index.shape[0] != 2:
        raise ValueError(f"`edge_index` must have shape (2, n_edges), got {tuple(edge_index.shape)}")
    n_edges, device = edge_index.shape[1], edge_index.device
    if edge_weight is not None:
        _check_tensor(edge_weight, "edge_weight")
        if not edge_weight.is_floating_point():
            raise TypeError(f"`edge_weight` must hold floating point numbers, got dtype {edge_weight.dtype}")
        if edge_weight.shape == (n_edges, 1):
            edge_weight = edge_weight[:, 0]
        if edge_weight.shape != (n_edges,):
            raise ValueError(f"`edge_weight` must have shape ({n_edges},), got {tuple(edge_weight.shape)}")
        check_same_device(edge_weight, device, "edge_weight", "edge_index")
    n = num_nodes
    if n is None:
        n = int(edge_index.max()) + 1 if n_edges else 0
    elif not torch.compiler.is_compiling():
        n = check_integer(n, "num_nodes", at_least=0)
    if batch is not None:
        _check_tensor(batch, "batch")
        if batch.dtype not in (torch.int64, torch.int32):
            raise TypeError(f"`batch` must hold whole numbers, got dtype {batch.dtype}")
        if batch.shape != (n,):
            raise ValueError(f"`batch` must have shape ({n},), one number per vertex, got {tuple(batch.shape)}")
        check_same_device(batch, device, "batch", "edge_index")
    return edge_weight, n


def _check_tensor(value: Any, name: str) -> None:
    if not isinstance(value, Tensor):
        raise TypeError(f"`{name}` must be a tensor, got {type(value).__name__}")


def check_same_device(tensor: Tensor, device: torch.device, name: str, other: str) -> None:
    """Reject a tensor that is elsewhere."""
    if tensor.device != device:
        raise ValueError(f"`{name}` must be on the device of `{other}`, {device}, got {tensor.device}")


def as_arrays(
    edge_index: Tensor, edge_weight: Tensor | None, batch: Tensor | None
) -> tuple[Array, Array, FloatArray, Array]:
    """Return sources, targets, weights and graphs as the compiled loops take them; empty arrays for what is missing."""
    sources, targets = edge_index.detach().long().numpy()
    weights = np.empty(0) if edge_weight is None else edge_weight.detach().double().numpy()
    graphs = np.empty(0, np.int64) if batch is None else batch.long().numpy()
    return sources, targets, weights, graphs


def reject_values(
    edge_index: Tensor, edge_weight: Tensor | None, n: int, batch: Tensor | None, *, undirected: bool = True
) -> None:
    """Say what is wrong: indices out of the graph, weights not finite or negative, an edge without its return.

    Negative weights and edges in one direction are wrong where the graph has to be ``undirected``.
    """
    if batch is not None and batch.numel() and int(batch.min()) < 0:
        raise ValueError(f"`batch` must not be negative, got {int(batch.min())}")
    if edge_index.numel() == 0:
        return
    low, high = (int(v) for v in edge_index.aminmax())
    if low < 0 or high >= n:
        raise ValueError(f"`edge_index` must be between 0 and {n - 1}, got {low if low < 0 else high}")
    row, col = edge_index.long()
    w = torch.ones(row.shape[0], dtype=torch.float64) if edge_weight is None else edge_weight.detach().double()
    good = torch.isfinite(w) & (w >= 0) if undirected else torch.isfinite(w)
    if not bool(good.all()):
        k = int((~good).nonzero()[0])
        expected = "finite and not negative" if undirected else "finite"
        raise ValueError(f"`edge_weight` must be {expected}, got {w[k].item():g} at edge {k}")
    if batch is not None and bool((batch[row] != batch[col]).any()):
        k = int((batch[row] != batch[col]).nonzero()[0])
        raise ValueError(f"edge {k} joins vertices of two graphs of `batch`: {int(row[k])} and {int(col[k])}")
    there, back = sums_both_ways(row, col, w, n)
    if not torch.isfinite(there + back).all():
        raise ValueError("`edge_weight` must have finite sums at every vertex: scale the weights down")
    if undirected:
        differs = (there - back).abs() > SYMMETRY * (there + back)
        where = int(differs.nonzero()[0]) if bool(differs.any()) else int((there - back).abs().argmax())
        raise ValueError(UNDIRECTED.format(f"at vertex {where} it does not"))


def sums_both_ways(row: Tensor, col: Tensor, w: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Return W x and its transposed for a random x: they have no reason to agree unless W is symmetric."""
    x = torch.rand(n, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).add_(0.5).to(w.device)
    zeros = torch.zeros(n, dtype=torch.float64, device=w.device)
    return zeros.index_add(0, row, w * x[col]), zeros.index_add(0, col, w * x[row])


def assert_on_device(
    edge_index: Tensor, edge_weight: Tensor | None, n: int, batch: Tensor | None, *, undirected: bool
) -> None:
    """Check values where they are, without waiting: the error is raised where the host next waits for the device."""
    if edge_index.device.type == "meta" or edge_index.numel() == 0:
        return
    row, col = edge_index.long()
    within = (edge_index >= 0).all() & (edge_index < n).all()
    assert_async(within, f"`edge_index` must be between 0 and {n - 1}")
    w = torch.ones_like(row, dtype=torch.float64) if edge_weight is None else edge_weight.detach().double()
    good = torch.isfinite(w).all() & (w >= 0).all() if undirected else torch.isfinite(w).all()
    assert_async(good, "`edge_weight` must be finite" + (" and not negative" if undirected else ""))
    row, col = row.clamp(0, n - 1), col.clamp(0, n - 1)
    if batch is not None:
        assert_async((batch[row] == batch[col]).all(), "an edge joins vertices of two graphs of `batch`")
    if undirected:
        there, back = sums_both_ways(row, col, w, n)
        assert_async(((there - back).abs() <= SYMMETRY * (there + back)).all(), UNDIRECTED.format("it does not"))


def assert_async(condition: Tensor, message: str) -> None:
    """Raise if a condition does not hold: at once on the CPU, elsewhere where the host next waits for the device."""
    try:
        torch._assert_async(condition, message)
    except NotImplementedError:  # a device without such an operation is waited for
        if not bool(condition):
            raise RuntimeError(message) from None


def given_lmax(lambda_max: Any, like: Tensor, batch: Tensor | None) -> Tensor:
    """Return the bound that was given, for each vertex."""
    if isinstance(lambda_max, Tensor) and lambda_max.requires_grad:
        raise ValueError(
            "`lambda_max` must not require a gradient: the layers take the graph as constant; pass lambda_max.detach()"
        )
    try:
        given = torch.as_tensor(lambda_max, dtype=torch.float64, device=like.device)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"`lambda_max` must be a real number, or one per graph, got {lambda_max!r}") from None
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
