"""The product of a Laplacian with signals; its gradient is the same product."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from cayleygsp.nn._step import product
from cayleygsp.nn.forward_mode import reject_forward_mode, reject_learned_graph
from cayleygsp.nn.graph.laplacian import GraphLaplacian
from cayleygsp.nn.graph.tensors import GraphTensors


def laplacian_product(x: Tensor, laplacian: GraphLaplacian) -> Tensor:
    """Return Δ x for x of shape (n, m)."""
    reject_learned_graph(laplacian.values, "the product with a Laplacian")
    return graph_product(x, laplacian.tensors(x.dtype, own_scale=False))


def graph_product(x: Tensor, graph: GraphTensors) -> Tensor:
    """Return Δ x for x of shape (n, m), in the precision of the graph."""
    reject_forward_mode(x)
    return spmm(x, *graph[:5])


# The tensors one by one, not as a list: torch takes lists apart in Python, which is felt in schemes with many products.
@torch.library.custom_op("cayleygsp::spmm", mutates_args=())
def spmm(x: Tensor, indptr: Tensor, indices: Tensor, values: Tensor, diagonal: Tensor, scale: Tensor) -> Tensor:
    """Return the Laplacian times x."""
    return product(GraphTensors(indptr, indices, values, diagonal, scale), x)


@spmm.register_fake
def _(x: Tensor, indptr: Tensor, indices: Tensor, values: Tensor, diagonal: Tensor, scale: Tensor) -> Tensor:
    return x.new_empty(x.shape)


def _save_graph(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[1:])


def _backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    return (spmm(gradient, *ctx.saved_tensors), *[None] * 5)


spmm.register_autograd(_backward, setup_context=_save_graph)
