r"""One filter for all channels, with gradients in signals, coefficients and zoom.

A shared filter :math:`g = \sum_b c_b \varphi_b` is one Chebyshev series: its output is one block, not one for each
basis function. With the incoming gradient :math:`\bar Y`, one recurrence gives :math:`\varphi_b(\Delta^\top) \bar Y`
for all b and with them

.. math:: \bar X = g(\Delta^\top) \bar Y, \qquad \bar c_b = \langle X, \varphi_b(\Delta^\top) \bar Y \rangle,

and the gradient in log h from one power more (:func:`cayleygsp.responses.basis.zoom_derivative`). Nothing is kept but
X.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Tensor

from cayleygsp.nn.graph.laplacian import GraphLaplacian, GraphTensors
from cayleygsp.nn.modes import full_precision, reject_forward_mode, reject_second_derivative
from cayleygsp.nn.ops.coefficients import (
    CAYLEY,
    CAYLEY_REAL,
    block_count,
    order_of,
    recurrence_dtype,
    series_coefficients,
    zoom_slopes,
)
from cayleygsp.nn.ops.recurrence import terms
from cayleygsp.nn.ops.series import cayley_graph_dtype, is_traced, wanted_gradients


def shared_conv(
    x: Tensor,
    coeffs: Tensor,
    log_zoom: Tensor,
    laplacian: GraphLaplacian,
    *,
    tol: float,
    real: bool,
    zoom_hint: float | None,
) -> Tensor:
    r"""Return :math:`\sum_b c_b \varphi_b(h\Delta) X`.

    Parameters
    ----------
    x : Tensor, shape (batch, n, channels)
        Signals.
    coeffs : Tensor, shape (2r + 1,)
        Coefficients; r + 1 of them if ``real``.
    log_zoom : Tensor, shape ()
        log h.
    laplacian, tol, real, zoom_hint
        As in :func:`cayleygsp.nn.ops.series.cayley_conv`; the values of the graph ask for no gradient.
    """
    reject_forward_mode(x, coeffs, log_zoom)
    graph = laplacian.tensors(cayley_graph_dtype(x.dtype, log_zoom, laplacian, zoom_hint), own_scale=False).tensors()
    settings = CAYLEY_REAL if real else CAYLEY, tol, laplacian.bound, zoom_hint
    if is_traced(x):
        return cast(Tensor, filter_shared(x, coeffs, log_zoom, graph, *settings))
    return cast(Tensor, _Shared.apply(x, coeffs, log_zoom, settings, *graph))


def _filtered(
    x: Tensor,
    coeffs: Tensor,
    log_zoom: Tensor,
    graph: Sequence[Tensor],
    basis: str,
    tol: float,
    bound: float | None,
    hint: float | None,
) -> Tensor:
    """Return the filtered signals."""
    dtype = recurrence_dtype(x.dtype, log_zoom, bound, hint)
    with full_precision(x):
        L, size = GraphTensors(*graph).to(dtype), coeffs.shape[0]
        order = order_of(basis, size)
        a, n_terms = series_coefficients(log_zoom, x.new_empty(0, dtype=dtype), L, basis, order, tol, bound, hint)
        assert a is not None
        y = terms(L, x.to(dtype), coeffs.to(dtype)[None] @ a[:size], n_terms)
        return y.squeeze_(2).to(x.dtype)  # no view, so that it may be changed in place


def _differentiated(
    gradient: Tensor,
    x: Tensor,
    coeffs: Tensor,
    log_zoom: Tensor,
    graph: Sequence[Tensor],
    basis: str,
    tol: float,
    bound: float | None,
    hint: float | None,
    needs: Sequence[bool],
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients in x, the coefficients and log h; empty if not needed."""
    need_x, need_coeffs, need_zoom = needs
    dtype = recurrence_dtype(gradient.dtype, log_zoom, bound, hint)
    dx = dc = dh = gradient.new_empty(0)
    with full_precision(gradient):
        L, size = GraphTensors(*graph).to(dtype), coeffs.shape[0]
        order = order_of(basis, size)
        a, n_terms = series_coefficients(log_zoom, x.new_empty(0, dtype=dtype), L, basis, order, tol, bound, hint)
        assert a is not None
        n_blocks = block_count(basis, order, extended=need_zoom) if need_coeffs or need_zoom else 0
        series = [coeffs.to(dtype)[None] @ a[:size]] if need_x else []
        U = terms(L, gradient.to(dtype), torch.cat([*series, a[:n_blocks]]), n_terms)
        if need_x:
            dx = U[:, :, 0].to(gradient.dtype).contiguous()
        if n_blocks:
            products = (U[:, :, -n_blocks:] * x.to(dtype)[:, :, None]).sum(dim=(0, 1, 3), dtype=torch.float64)
            dc = products[:size].to(coeffs.dtype) if need_coeffs else dc
            if need_zoom:
                dh = (coeffs.double() * zoom_slopes(products[:, None], basis)[:, 0]).sum().to(log_zoom.dtype)
    return dx, dc, dh


@torch.library.custom_op("cayleygsp::filter_shared", mutates_args=())
def filter_shared(
    x: Tensor,
    coeffs: Tensor,
    log_zoom: Tensor,
    graph: Sequence[Tensor],
    basis: str,
    tol: float,
    bound: float | None,
    hint: float | None,
) -> Tensor:
    """Return the filtered signals, as an operation that torch.compile takes as it is."""
    return _filtered(x, coeffs, log_zoom, graph, basis, tol, bound, hint).clone()


@filter_shared.register_fake
def _(x: Tensor, *rest: Any) -> Tensor:
    return x.new_empty(x.shape)


@torch.library.custom_op("cayleygsp::filter_shared_backward", mutates_args=())
def filter_shared_backward(
    gradient: Tensor,
    x: Tensor,
    coeffs: Tensor,
    log_zoom: Tensor,
    graph: Sequence[Tensor],
    basis: str,
    tol: float,
    bound: float | None,
    hint: float | None,
    needs: Sequence[bool],
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients, as an operation that torch.compile takes as it is."""
    dx, dc, dh = _differentiated(gradient, x, coeffs, log_zoom, graph, basis, tol, bound, hint, needs)
    return dx, dc.clone(), dh.clone()


@filter_shared_backward.register_fake
def _(gradient: Tensor, x: Tensor, coeffs: Tensor, log_zoom: Tensor, *rest: Any) -> tuple[Tensor, Tensor, Tensor]:
    need_x, need_coeffs, need_zoom = rest[-1]
    nothing = gradient.new_empty(0)
    return (
        gradient.new_empty(x.shape) if need_x else nothing,
        torch.empty_like(coeffs) if need_coeffs else nothing.clone(),
        torch.empty_like(log_zoom) if need_zoom else nothing.clone(),
    )


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, coeffs, log_zoom, graph, *settings = inputs
    ctx.save_for_backward(x, coeffs, log_zoom, *graph)
    ctx.settings = settings


def _backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    return wanted_gradients(ctx, filter_shared_backward, gradient, 3)


class _Shared(torch.autograd.Function):
    """The same without the machinery of an operation, which takes longer than the work on a small graph."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, coeffs: Tensor, log_zoom: Tensor, settings: Any, *graph: Tensor) -> Tensor:
        """Return the filtered signals."""
        ctx.save_for_backward(x, coeffs, log_zoom, *graph)
        ctx.settings = settings
        return _filtered(x, coeffs, log_zoom, graph, *settings)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        """Return the gradients in x, the coefficients and log h."""
        # for a second derivative, which the operation rejects
        differentiate: Callable[..., Any] = filter_shared_backward if torch.is_grad_enabled() else _differentiated
        return wanted_gradients(ctx, differentiate, gradients[0], 3)


filter_shared.register_autograd(_backward, setup_context=_save)
filter_shared_backward.register_autograd(reject_second_derivative, setup_context=lambda ctx, inputs, output: None)
