"""The product of a Laplacian with signals; its gradient is the same product."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from cayleygsp.nn._step import GraphTensors, product
from cayleygsp.nn.forward_mode import reject_forward_mode
from cayleygsp.nn.graph_laplacian import GraphLaplacian


def laplacian_product(x: Tensor, laplacian: GraphLaplacian) -> Tensor:
    """Return Δ x for x of shape (n, m)."""
    return graph_product(x, laplacian.tensors(x.dtype, own_scale=False))


def graph_product(x: Tensor, graph: GraphTensors) -> Tensor:
    """Return Δ x for x of shape (n, m), in the precision of the graph."""
    reject_forward_mode(x)
    return spmm(x, list(graph))


@torch.library.custom_op("cayleygsp::spmm", mutates_args=())
def spmm(x: Tensor, graph: Sequence[Tensor]) -> Tensor:
    """Return the Laplacian times x."""
    return product(GraphTensors(*graph), x)


@spmm.register_fake
def _(x: Tensor, graph: Sequence[Tensor]) -> Tensor:
    return x.new_empty(x.shape)


def _save_graph(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[1])


def _backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    graph = ctx.saved_tensors
    return spmm(gradient, list(graph)), [None] * len(graph)


spmm.register_autograd(_backward, setup_context=_save_graph)
