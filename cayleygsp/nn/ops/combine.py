r"""Convolutions of sparse signals: channels are mixed first, then one recurrence sums the series of all blocks.

With :math:`Z_b = X W_b`, a sparse product, the result is :math:`\sum_b \varphi_b(\Delta) Z_b`. Its gradient in
:math:`Z_b` is :math:`\varphi_b(\Delta^\top) \bar Y`, and that in log h follows from one more power of the same
(:func:`cayleygsp.responses.basis.zoom_derivative`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from cayleygsp.nn.graph.laplacian import GraphTensors
from cayleygsp.nn.modes import reject_forward_mode, reject_second_derivative
from cayleygsp.nn.ops.coefficients import (
    CAYLEY,
    CAYLEY_REAL,
    CHEBYSHEV,
    block_count,
    order_of,
    recurrence_dtype,
    series_coefficients,
    zoom_slopes,
)
from cayleygsp.nn.ops.recurrence import combine, terms
from cayleygsp.nn.ops.series import cayley_graph_dtype
from cayleygsp.nn.ops.sparse_products import sparse_product


def combine_terms(x: Tensor, weight: Tensor, laplacian: Any) -> Tensor:
    r"""Return :math:`\sum_k T_k(\tilde\Delta) X W_k` for sparse X of shape (n, in_channels).

    Parameters are those of :func:`cayleygsp.nn.ops.series.cheb_conv`.
    """
    reject_forward_mode(weight)
    graph = laplacian.tensors(x.dtype, own_scale=True).tensors()
    return combine_series(mixed_channels(x, weight), None, graph, CHEBYSHEV, 0.0, None, None)[0]


def combine_powers(
    x: Tensor, weight: Tensor, log_zoom: Tensor, laplacian: Any, *, tol: float, real: bool, zoom_hint: float | None
) -> Tensor:
    r"""Return :math:`\sum_b \varphi_b(h\Delta) X W_b` for sparse X of shape (n, in_channels).

    Parameters are those of :func:`cayleygsp.nn.ops.series.cayley_conv`.
    """
    reject_forward_mode(weight, log_zoom)
    basis = CAYLEY_REAL if real else CAYLEY
    dtype = cayley_graph_dtype(x.dtype, log_zoom, laplacian, zoom_hint)
    graph = laplacian.tensors(dtype, own_scale=False).tensors()
    z = mixed_channels(x, weight)
    return combine_series(z, log_zoom, graph, basis, tol, laplacian.bound, zoom_hint)[0]


def mixed_channels(x: Tensor, weight: Tensor) -> Tensor:
    """Return the sparse x times every block of weights, shape (1, n, n_blocks, out_channels)."""
    size, f_in, f_out = weight.shape
    mixed = sparse_product(x, weight.transpose(0, 1).reshape(f_in, size * f_out))
    return mixed.view(1, x.shape[0], size, f_out)


@torch.library.custom_op("cayleygsp::combine_series", mutates_args=())
def combine_series(
    z: Tensor,
    log_zoom: Tensor | None,
    graph: Sequence[Tensor],
    basis: str,
    tol: float,
    bound: float | None,
    hint: float | None,
) -> Tensor:
    """Return the sum of the series of all blocks of z, shape (batch, n, n_blocks, features)."""
    dtype = recurrence_dtype(z.dtype, log_zoom, bound, hint)
    L, blocks, size = GraphTensors(*graph).to(dtype), z.to(dtype), z.shape[2]
    a, n_terms = series_coefficients(log_zoom, blocks, L, basis, order_of(basis, size), tol, bound, hint)
    return combine(L, blocks, None if a is None else a[:size], n_terms).to(z.dtype)


@combine_series.register_fake
def _(z: Tensor, *rest: Any) -> Tensor:
    return z.new_empty((z.shape[0], z.shape[1], z.shape[3]))


@torch.library.custom_op("cayleygsp::combine_series_backward", mutates_args=())
def combine_series_backward(
    gradient: Tensor,
    z: Tensor | None,
    log_zoom: Tensor | None,
    graph: Sequence[Tensor],
    size: int,
    basis: str,
    tol: float,
    bound: float | None,
    hint: float | None,
) -> tuple[Tensor, Tensor]:
    """Return the gradients in the ``size`` blocks and in log h; the second is empty where no blocks z are given."""
    dtype = recurrence_dtype(gradient.dtype, log_zoom, bound, hint)
    L, g = GraphTensors(*graph).transposed().to(dtype), gradient.to(dtype)
    order = order_of(basis, size)
    n_blocks = block_count(basis, order, extended=z is not None)
    a, n_terms = series_coefficients(log_zoom, g, L, basis, order, tol, bound, hint)
    U = terms(L, g, None if a is None else a[:n_blocks], n_terms)
    dh = gradient.new_empty(0)
    if z is not None and log_zoom is not None:
        # in the precision of the recurrence, which is double where the slopes are small beside the blocks
        products = zoom_slopes(U, basis).mul_(z)
        dh = products.sum(dtype=torch.float64).to(log_zoom.dtype).reshape(log_zoom.shape)
    return U[:, :, :size].to(gradient.dtype).contiguous(), dh


@combine_series_backward.register_fake
def _(
    gradient: Tensor, z: Tensor | None, log_zoom: Tensor | None, graph: Sequence[Tensor], size: int, *rest: Any
) -> tuple[Tensor, Tensor]:
    batch, n, features = gradient.shape
    dh = gradient.new_empty(0) if z is None or log_zoom is None else torch.empty_like(log_zoom)
    return gradient.new_empty((batch, n, size, features)), dh


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    z, log_zoom, graph, *settings = inputs
    for_zoom = log_zoom is not None and log_zoom.requires_grad
    ctx.save_for_backward(z if for_zoom else None, log_zoom, *graph)
    ctx.size, ctx.settings = z.shape[2], settings


def _backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    z, log_zoom, *graph = ctx.saved_tensors
    need_zoom = ctx.needs_input_grad[1]
    dz, dh = combine_series_backward(gradient, z if need_zoom else None, log_zoom, graph, ctx.size, *ctx.settings)
    return dz, dh if need_zoom else None, [None] * len(graph), None, None, None, None


combine_series.register_autograd(_backward, setup_context=_save)
combine_series_backward.register_autograd(reject_second_derivative, setup_context=lambda ctx, inputs, output: None)
