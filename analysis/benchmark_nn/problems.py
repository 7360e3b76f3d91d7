"""Graphs, signals, what is timed, and the dense truth."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import cayleygsp as cg
from cayleygsp._typing import Array
from cayleygsp.graph import Graph
from cayleygsp.nn import CayleyConv


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
