r"""Convolutions as functions of tensors, with gradients that do not go through the recurrence.

A layer with :math:`F_{in}` and :math:`F_{out}` channels computes :math:`\sum_b \varphi_b(\Delta) X W_b`, the basis
functions :math:`\varphi_b` being those of :mod:`cayleygsp.responses.basis` or Chebyshev polynomials. Work is done on
the narrower side: :math:`\varphi_b(\Delta) X` first and then a dense product, or :math:`X W_b` first and then one
recurrence for their sum.

The gradients follow from the symmetry of Δ (for a matrix that is not symmetric, take the transposed in what follows).
With the incoming gradient :math:`\bar Y`,

.. math:: \bar X = \sum_b \varphi_b(\Delta) \bar Y W_b^\top, \qquad
          \bar W_b = X^\top \varphi_b(\Delta) \bar Y = (\varphi_b(\Delta) X)^\top \bar Y,

and since the derivative of the basis in log h is a matrix S times the basis of order r + 1
(:func:`cayleygsp.responses.basis.zoom_derivative`), the gradient in log h is
:math:`\sum_{bb'} S_{bb'} \langle W_b, \bar W_{b'} \rangle`: two more blocks of the gradient of the weights, and nothing
else. So memory is that of 2r + 3 blocks of signals whatever the degree of the series is, and where the input needs no
gradient, no recurrence runs backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Tensor

from cayleygsp.nn.graph.laplacian import GraphLaplacian, GraphTensors, ScaledLaplacian
from cayleygsp.nn.modes import full_precision, reject_forward_mode, reject_second_derivative
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
from cayleygsp.nn.ops.learned_graph import series_conv
from cayleygsp.nn.ops.recurrence import combine, terms


def wanted_gradients(ctx: Any, differentiate: Callable[..., Any], gradient: Tensor, n_tensors: int) -> tuple[Any, ...]:
    """Return the gradients of an operation on signals, coefficients, log h, a graph and settings.

    Parameters
    ----------
    ctx : torch.autograd.function.FunctionCtx
        Of the operation, or of the function that does the same; it keeps the tensors that ``differentiate`` takes one
        by one, then those of the graph, and has ``settings``.
    differentiate : callable
        Returns the gradients in signals, coefficients and log h.
    gradient : Tensor
        The incoming one.
    n_tensors : int
        How many tensors are kept before those of the graph.
    """
    kept, needs = ctx.saved_tensors, list(ctx.needs_input_grad[:3])
    gradients = differentiate(gradient, *kept[:n_tensors], list(kept[n_tensors:]), *ctx.settings, needs)
    wanted = [g if need else None for g, need in zip(gradients, needs, strict=True)]
    # an operation has the tensors of the graph as one input, which is a list
    return (*wanted, *(None if isinstance(need, bool) else [None] * len(need) for need in ctx.needs_input_grad[3:]))


def cayley_conv(
    x: Tensor,
    weight: Tensor,
    log_zoom: Tensor,
    laplacian: GraphLaplacian,
    *,
    tol: float = 1e-4,
    real: bool = False,
    zoom_hint: float | None = None,
) -> Tensor:
    r"""Return :math:`\sum_b \varphi_b(h\Delta) X W_b` by Chebyshev series of degree as low as ``tol`` allows.

    Parameters
    ----------
    x : Tensor, shape (batch, n, in_channels)
        Signals.
    weight : Tensor, shape (2r + 1, in_channels, out_channels)
        Coefficients in the basis of :func:`cayleygsp.responses.basis.power_basis`; r + 1 of them if ``real``.
    log_zoom : Tensor, shape () or (out_channels,)
        log h, one or one per output channel.
    laplacian : GraphLaplacian
        The graph, whose values may ask for a gradient.
    tol : float
        Largest error of each basis function, which is of size 2.
    real : bool
        Coefficients are real.
    zoom_hint : float, optional
        An upper bound of h, from which the degree is chosen without asking the device for h. On the CPU h itself is
        read.

    Returns
    -------
    Tensor, shape (batch, n, out_channels)
    """
    reject_forward_mode(x, weight, log_zoom)
    basis = CAYLEY_REAL if real else CAYLEY
    bound = laplacian.bound
    graph = laplacian.tensors(cayley_graph_dtype(x.dtype, log_zoom, laplacian, zoom_hint), own_scale=False)
    learned = _needs_gradient(graph)
    if log_zoom.dim() or learned:
        # the scale is no part of a Cayley filter, and edges have two halves
        constant = graph._replace(scale=graph.scale.detach()).tensors()
        return series_conv(x, weight, log_zoom, constant, basis, tol, bound, zoom_hint, True, True, learned)[0]
    n_kept = _blocks_to_keep(weight, log_zoom, basis)
    return _run(x, weight, log_zoom, graph, basis, tol, bound, zoom_hint, n_kept)


def cheb_conv(x: Tensor, weight: Tensor, laplacian: GraphLaplacian | ScaledLaplacian) -> Tensor:
    r"""Return :math:`\sum_k T_k(\tilde\Delta) X W_k`, every graph scaled by its own bound of the spectrum.

    Parameters
    ----------
    x : Tensor, shape (batch, n, in_channels)
        Signals.
    weight : Tensor, shape (r + 1, in_channels, out_channels)
        Coefficients.
    laplacian : GraphLaplacian or ScaledLaplacian
        The graph, whose values may ask for a gradient.

    Returns
    -------
    Tensor, shape (batch, n, out_channels)
    """
    reject_forward_mode(x, weight)
    graph = laplacian.tensors(_graph_dtype(x, laplacian), own_scale=True)
    if _needs_gradient(graph):
        settings = laplacian.reversible, laplacian.tied, laplacian.reversible
        return series_conv(x, weight, None, graph.tensors(), CHEBYSHEV, 0.0, None, None, *settings)[0]
    n_kept = _blocks_to_keep(weight, None, CHEBYSHEV)
    return _run(x, weight, None, graph, CHEBYSHEV, 0.0, None, None, n_kept)


def _run(x: Tensor, weight: Tensor, log_zoom: Tensor | None, graph: GraphTensors, *settings: Any) -> Tensor:
    """Return the convolution: as an operation of torch where something is traced, else by the shortest way."""
    if is_traced(x):
        return conv(x, weight, log_zoom, graph.tensors(), *settings)[0]
    return cast(Tensor, _Convolution.apply(x, weight, log_zoom, settings, *graph.tensors()))


def is_traced(x: Tensor) -> bool:
    """Return whether what is done with x is recorded or transformed, so that it must be operations of torch."""
    plain = not torch.compiler.is_compiling() and type(x) is Tensor and x.device.type != "meta"
    return not plain or bool(torch._C._functorch.maybe_current_level())


def cayley_graph_dtype(
    dtype: torch.dtype, log_zoom: Tensor, laplacian: GraphLaplacian, hint: float | None
) -> torch.dtype:
    """Return the precision of the graph for signals of a given one: that of the recurrence, or its own.

    Its own if it gets a gradient, and where the zoom cannot be looked at because something is traced.
    """
    if torch.compiler.is_compiling() or (torch.is_grad_enabled() and laplacian.values.requires_grad):
        return laplacian.values.dtype
    return recurrence_dtype(dtype, log_zoom, laplacian.bound, hint)


def _graph_dtype(x: Tensor, laplacian: GraphLaplacian | ScaledLaplacian) -> torch.dtype:
    """Return the precision of the graph: that of the signals, or its own if it gets a gradient."""
    learned = torch.is_grad_enabled() and laplacian.values.requires_grad
    return laplacian.values.dtype if learned else x.dtype


def _needs_gradient(graph: GraphTensors) -> bool:
    return torch.is_grad_enabled() and any(t.requires_grad for t in graph.tensors())


def _blocks_to_keep(weight: Tensor, log_zoom: Tensor | None, basis: str) -> int:
    """Return how many blocks of signals the gradients need; none where there are no gradients of weights and zoom."""
    for_zoom = log_zoom is not None and log_zoom.requires_grad
    if not torch.is_grad_enabled() or not (weight.requires_grad or for_zoom):
        return 0
    return block_count(basis, order_of(basis, weight.shape[0]), extended=for_zoom)


def convolution(
    x: Tensor,
    weight: Tensor,
    log_zoom: Tensor | None,
    graph: Sequence[Tensor],
    basis: str,
    tol: float,
    bound: float | None,
    hint: float | None,
    n_kept: int,
) -> tuple[Tensor, Tensor]:
    """Return the convolution, and the ``n_kept`` blocks that its gradient needs on the narrow side (else nothing)."""
    batch, n, f_in = x.shape
    size, _, f_out = weight.shape
    L = GraphTensors(*graph)
    dtype = recurrence_dtype(x.dtype, log_zoom, bound, hint)
    with full_precision(x):
        like, order = x.new_empty(0, dtype=dtype), order_of(basis, size)
        a, n_terms = series_coefficients(log_zoom, like, L, basis, order, tol, bound, hint)
        if f_in <= f_out:
            n_blocks = n_kept or size
            Y = terms(L.to(dtype), x.to(dtype), None if a is None else a[:n_blocks], n_terms)
            Y = Y.to(x.dtype)
            rows = Y.view(batch * n, n_blocks * f_in)[:, : size * f_in]
            y = x.new_empty((batch, n, f_out))  # no view, so that it may be changed in place
            torch.mm(rows, weight.reshape(size * f_in, f_out), out=y.view(batch * n, f_out))
            return y, Y if n_kept else x.new_empty(0)
        mixed = x.reshape(batch * n, f_in) @ weight.transpose(0, 1).reshape(f_in, size * f_out)
        blocks = mixed.view(batch, n, size, f_out).to(dtype)
        y = combine(L.to(dtype), blocks, None if a is None else a[:size], n_terms).to(x.dtype)
        return y, x.new_empty(0)


@torch.library.custom_op("cayleygsp::conv", mutates_args=())
def conv(
    x: Tensor,
    weight: Tensor,
    log_zoom: Tensor | None,
    graph: Sequence[Tensor],
    basis: str,
    tol: float,
    bound: float | None,
    hint: float | None,
    n_kept: int,
) -> tuple[Tensor, Tensor]:
    """Do what :func:`convolution` does, as an operation that torch.compile takes as it is."""
    return convolution(x, weight, log_zoom, graph, basis, tol, bound, hint, n_kept)


@conv.register_fake
def _(x: Tensor, weight: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    batch, n, f_in = x.shape
    f_out, n_kept = weight.shape[2], rest[-1]
    kept = x.new_empty((batch, n, n_kept, f_in) if n_kept and f_in <= f_out else (0,))
    return x.new_empty((batch, n, f_out)), kept


def convolution_backward(
    gradient: Tensor,
    x: Tensor | None,
    weight: Tensor,
    log_zoom: Tensor | None,
    kept: Tensor,
    graph: Sequence[Tensor],
    basis: str,
    tol: float,
    bound: float | None,
    hint: float | None,
    needs: Sequence[bool],
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients in x, the weights and log h; those that are not needed are empty.

    On the narrow side, where the input has no more channels than the output, the blocks that were ``kept`` say all that
    is needed of x, which is None.
    """
    need_x, need_weight, need_zoom = needs
    batch, n, f_out = gradient.shape
    size, f_in, _ = weight.shape
    order = order_of(basis, size)
    dtype = recurrence_dtype(gradient.dtype, log_zoom, bound, hint)
    L = GraphTensors(*graph).transposed().to(dtype)
    dx = dw_all = gradient.new_empty(0)
    with full_precision(gradient):
        like = gradient.new_empty(0, dtype=dtype)
        a, n_terms = series_coefficients(log_zoom, like, L, basis, order, tol, bound, hint)
        rows = gradient.reshape(batch * n, f_out)
        if x is None:
            if need_weight or need_zoom:
                dw_all = kept.view(batch * n, kept.shape[2] * f_in).to(dtype).T @ rows.to(dtype)
                dw_all = dw_all.view(kept.shape[2], f_in, f_out)
            if need_x:
                spread = rows @ weight.reshape(size * f_in, f_out).T
                blocks = spread.view(batch, n, size, f_in).to(dtype)
                dx = combine(L, blocks, None if a is None else a[:size], n_terms).to(gradient.dtype)
        else:
            n_blocks = block_count(basis, order, extended=need_zoom)
            U = terms(L, gradient.to(dtype), None if a is None else a[:n_blocks], n_terms)
            U = U.view(batch * n, n_blocks * f_out)
            if need_weight or need_zoom:
                dw_all = x.reshape(batch * n, f_in).to(dtype).T @ U
                dw_all = dw_all.view(f_in, n_blocks, f_out).transpose(0, 1)
            if need_x:
                mixing = weight.transpose(0, 1).reshape(f_in, size * f_out)
                dx = (U[:, : size * f_out].to(mixing.dtype) @ mixing.T).view(batch, n, f_in)
        dh = gradient.new_empty(0)
        if need_zoom and log_zoom is not None:
            dh = _zoom_gradient(weight, dw_all, basis).to(log_zoom.dtype)
    dw = dw_all[:size].to(gradient.dtype).contiguous() if need_weight else gradient.new_empty(0)
    return dx, dw, dh


@torch.library.custom_op("cayleygsp::conv_backward", mutates_args=())
def conv_backward(
    gradient: Tensor,
    x: Tensor | None,
    weight: Tensor,
    log_zoom: Tensor | None,
    kept: Tensor,
    graph: Sequence[Tensor],
    basis: str,
    tol: float,
    bound: float | None,
    hint: float | None,
    needs: Sequence[bool],
) -> tuple[Tensor, Tensor, Tensor]:
    """Do what :func:`convolution_backward` does, as an operation that torch.compile takes as it is."""
    return convolution_backward(gradient, x, weight, log_zoom, kept, graph, basis, tol, bound, hint, needs)


def _zoom_gradient(weight: Tensor, dw_all: Tensor, basis: str) -> Tensor:
    """Return the gradient in log h, from the gradients in the weights of the basis of order r + 1."""
    return (weight.flatten(1) * zoom_slopes(dw_all.flatten(1), basis)).sum()


@conv_backward.register_fake
def _(
    gradient: Tensor, x: Tensor | None, weight: Tensor, log_zoom: Tensor | None, *rest: Any
) -> tuple[Tensor, Tensor, Tensor]:
    need_x, need_weight, need_zoom = rest[-1]
    batch, n, _ = gradient.shape
    return (
        gradient.new_empty((batch, n, weight.shape[1]) if need_x else (0,)),
        gradient.new_empty(weight.shape if need_weight else (0,)),
        gradient.new_empty(0) if log_zoom is None or not need_zoom else torch.empty_like(log_zoom),
    )


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    x, weight, log_zoom, graph, *settings, _ = inputs
    narrow_input = weight.shape[1] <= weight.shape[2]
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(None if narrow_input else x, weight, log_zoom, output[1], *graph)
    ctx.settings = settings


def _backward(ctx: Any, gradient: Tensor, _: Any) -> tuple[Any, ...]:
    return wanted_gradients(ctx, conv_backward, gradient, 4)


class _Convolution(torch.autograd.Function):
    """The same without the machinery of an operation, which takes longer than the work on a small graph."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, log_zoom: Tensor | None, settings: Any, *graph: Tensor) -> Tensor:
        """Return the convolution."""
        y, kept = convolution(x, weight, log_zoom, graph, *settings)
        narrow_input = weight.shape[1] <= weight.shape[2]
        ctx.save_for_backward(None if narrow_input else x, weight, log_zoom, kept, *graph)
        ctx.settings = settings[:-1]
        return y

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        """Return the gradients in x, the weights and log h."""
        # for a second derivative, which the operation rejects
        differentiate: Callable[..., Any] = conv_backward if torch.is_grad_enabled() else convolution_backward
        return wanted_gradients(ctx, differentiate, gradients[0], 4)


conv.register_autograd(_backward, setup_context=_save)
conv_backward.register_autograd(reject_second_derivative, setup_context=lambda ctx, inputs, output: None)
