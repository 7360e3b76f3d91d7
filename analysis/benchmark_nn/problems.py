"""Graphs, signals, what is timed, and the dense truth."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import cayleygsp as cg
from analysis._comparison import make_row
from analysis._script import Document
from cayleygsp._typing import Array
from cayleygsp.graph import Graph
from cayleygsp.nn import CayleyConv

ORDER = 12

TERMS = 2 * ORDER + 1

SWEEPS = 11

TOL = 1e-4

# Single precision leaves about this much of the norm, and each basis function may be wrong by `TOL`.
CHEBYSHEV_LIMIT = 1e-5

CAYLEY_LIMIT = 1e-3

# Gradients in edge weights are sums over all terms and channels, in single precision too.
EDGE_LIMIT = 1e-4

# Eleven sweeps are as right as they are; more than this would mean that something else is computed.
JACOBI_LIMIT = 1.0


def activation_bytes(call: Callable[[], Tensor]) -> int:
    """Return the bytes that are kept for the backward pass."""
    kept: dict[int, int] = {}

    def pack(tensor: Tensor) -> Tensor:
        kept[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        y = call()
    assert y.requires_grad
    return sum(kept.values())


def peak_bytes(call: Callable[[], Any], device: str = "cpu") -> int:
    """Return how far the memory of torch rises during a call."""
    if device == "cuda":
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        call()
        return torch.cuda.max_memory_allocated() - before
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as profile:
        call()
    events = profile.profiler.kineto_results.events()
    changes = sorted((event.start_ns(), event.nbytes()) for event in events if event.name() == "[memory]")
    levels = np.cumsum([change for _, change in changes])
    return int(levels.max(initial=0))


@dataclass(frozen=True)
class Sizes:
    """How large the problems are."""

    side: int = 28
    batch: int = 100
    features: tuple[int, int] = (32, 64)
    hidden: int = 512
    growth_vertices: int = 1000
    growth_batch: int = 20
    growth_channels: int = 8
    factors: tuple[int, ...] = (1, 2, 4, 8)
    edge_vertices: int = 5000
    edge_channels: int = 32
    fresh: tuple[int, ...] = (60, 500, 5000)
    sparse: tuple[int, int] = (2708, 1433)


QUICK = Sizes(
    side=8,
    batch=4,
    features=(4, 6),
    hidden=16,
    growth_vertices=60,
    growth_batch=2,
    factors=(1, 2),
    edge_vertices=60,
    edge_channels=3,
    fresh=(30,),
    sparse=(40, 100),
)


def weighted_edges(graph: Graph) -> tuple[Tensor, Tensor]:
    """Return the edges of a graph as PyTorch Geometric has them, and their weights in single precision."""
    W = graph.W.tocoo()
    return torch.from_numpy(np.stack([W.row, W.col]).astype(np.int64)), torch.from_numpy(W.data).float()


def signals(seed: int, *shape: int, device: str = "cpu") -> Tensor:
    """Return random numbers in single precision, the same on every device."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed)).to(device)


def finish(x: Tensor) -> None:
    """Wait until the device of a tensor has done all that it was told."""
    if x.device.type == "cuda":
        torch.cuda.synchronize(x.device)


def training_step(layer: nn.Module, x: Tensor, *graph: Any) -> Callable[[], Array]:
    """Return a call that runs the layer forwards and backwards and returns its output."""

    def step() -> Array:
        layer.zero_grad()
        x.grad = None
        y = layer(x, *graph)
        y.square().sum().backward()
        finish(y)
        return y.detach().cpu().numpy()

    return step


def dense_chebyshev(L: cg.Laplacian, weight: Tensor, x: Tensor) -> Array:
    """Return the sum over k of T_k X W_k with a dense matrix in double precision; the spectrum ends at 2."""
    scaled = L.matrix.toarray() - np.eye(L.n_vertices)
    w, t = weight.detach().double().cpu().numpy(), x.detach().double().cpu().numpy()
    t_old, t = t, np.einsum("ij,bjf->bif", scaled, t, optimize=True)
    y = t_old @ w[0] + t @ w[1]
    for k in range(2, len(w)):
        t_old, t = t, 2 * np.einsum("ij,bjf->bif", scaled, t, optimize=True) - t_old
        y += t @ w[k]
    return y


def relative_error(reference: Array) -> Callable[[Array], float]:
    """Return a function that measures the distance from the reference, relative to its norm."""
    return lambda y: float(np.linalg.norm(y - reference) / np.linalg.norm(reference))


def exact_copy(module: nn.Module) -> nn.Module:
    """Return the same in double precision, with Cayley layers that use the eigenbasis."""
    other = copy.deepcopy(module).double()
    for layer in other.modules():
        if isinstance(layer, CayleyConv):
            layer.method = "exact"
    return other


def memory_row(
    work: str,
    names: Sequence[str],
    n_bytes: Sequence[int],
    unit: str,
    target: float,
    note: str,
    errors: Sequence[tuple[float | None, float]] = ((0.0, 0.0), (None, 0.0)),
) -> Document:
    """Return a row that compares our bytes with a peer's: how many times more they are, at most, or how many less."""
    more = unit == "times"
    ratio = n_bytes[0] / n_bytes[1] if more else n_bytes[1] / n_bytes[0]
    ours, peer = (
        {"name": name, "rate": {"median": size}, "error": error, "error_limit": limit}
        for name, size, (error, limit) in zip(names, n_bytes, errors, strict=True)
    )
    value = {"median": ratio, "low": ratio, "high": ratio, "n": 1}
    return make_row(work, ours, peer, unit, value, target, at_most=more, note=note)
