r"""Convolutions as functions of tensors, with gradients that do not go through the recurrence.

A layer with :math:`F_{in}` and :math:`F_{out}` channels computes :math:`\sum_b \varphi_b(\Delta) X W_b`, the basis
functions :math:`\varphi_b` being those of :mod:`cayleygsp.responses.basis` or Chebyshev polynomials. Work is done on
the narrower side: :math:`\varphi_b(\Delta) X` first and then a dense product, or :math:`X W_b` first and then one
recurrence for their sum.

The gradients follow from the symmetry of Δ. With the incoming gradient :math:`\bar Y`,

.. math:: \bar X = \sum_b \varphi_b(\Delta) \bar Y W_b^\top, \qquad
          \bar W_b = X^\top \varphi_b(\Delta) \bar Y = (\varphi_b(\Delta) X)^\top \bar Y,

and since the derivative of the basis in log h is a matrix S times the basis of order r + 1
(:func:`cayleygsp.responses.basis.zoom_derivative`), the gradient in log h is
:math:`\sum_{bb'} S_{bb'} \langle W_b, \bar W_{b'} \rangle`: two more blocks of the gradient of the weights, and nothing
else. So memory is that of 2r + 3 blocks of signals whatever the degree of the series is, and where the input needs no
gradient, no recurrence runs backwards.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

from cayleygsp._typing import FloatArray
from cayleygsp.nn._step import GraphTensors, combine, product, terms
from cayleygsp.nn.graph_laplacian import GraphLaplacian
from cayleygsp.responses.basis import basis_size, power_coefficients, zoom_derivative

# The basis in which a convolution is written.
CAYLEY, CAYLEY_REAL, CHEBYSHEV = "cayley", "cayley_real", "chebyshev"


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
    log_zoom : Tensor, shape ()
        log h.
    laplacian : GraphLaplacian
        The graph; a constant.
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
    basis = CAYLEY_REAL if real else CAYLEY
    size = weight.shape[0]
    order = size - 1 if real else (size - 1) // 2
    graph = laplacian.tensors(x.dtype, own_scale=False)
    bound = -1.0 if laplacian.bound is None else laplacian.bound
    hint = -1.0 if zoom_hint is None else zoom_hint
    return _conv(x, weight, log_zoom, graph, basis, order, tol, bound, hint)


def cheb_conv(x: Tensor, weight: Tensor, laplacian: GraphLaplacian) -> Tensor:
    r"""Return :math:`\sum_k T_k(\tilde\Delta) X W_k`, every graph scaled by its own bound of the spectrum.

    Parameters
    ----------
    x : Tensor, shape (batch, n, in_channels)
        Signals.
    weight : Tensor, shape (r + 1, in_channels, out_channels)
        Coefficients.
    laplacian : GraphLaplacian
        The graph; a constant.

    Returns
    -------
    Tensor, shape (batch, n, out_channels)
    """
    graph = laplacian.tensors(x.dtype, own_scale=True)
    return _conv(x, weight, None, graph, CHEBYSHEV, weight.shape[0] - 1, 1.0, -1.0, -1.0)


def _conv(
    x: Tensor,
    weight: Tensor,
    log_zoom: Tensor | None,
    graph: GraphTensors,
    basis: str,
    order: int,
    tol: float,
    bound: float,
    hint: float,
) -> Tensor:
    _refuse_forward_mode(x, weight, log_zoom)
    with_gradient = torch.is_grad_enabled()
    for_zoom = with_gradient and log_zoom is not None and log_zoom.requires_grad
    keep = with_gradient and (weight.requires_grad or for_zoom)
    y, _ = conv(x, weight, log_zoom, *graph, basis, order, tol, bound, hint, keep, for_zoom)
    return y


def laplacian_product(x: Tensor, laplacian: GraphLaplacian) -> Tensor:
    """Return Δ x for x of shape (n, m); its gradient is the same product."""
    _refuse_forward_mode(x)
    graph = laplacian.tensors(x.dtype, own_scale=False)
    return spmm(x, *graph)


def _refuse_forward_mode(*inputs: Tensor | None) -> None:
    """Raise where a derivative would get lost in silence: torch lets a tangent pass by an operation of our own."""
    if torch.compiler.is_compiling():
        return
    if any(t is not None and forward_ad.unpack_dual(t).tangent is not None for t in inputs):
        raise NotImplementedError(
            "cayleygsp's layers have no forward-mode derivative (jvp); use method='exact', which is made of ordinary "
            "torch operations"
        )


# -------------------------------------------------------------------------------------------- coefficients


@lru_cache(maxsize=64)
def series_matrix(basis: str, order: int, zoom: float, lmax: float, tol: float) -> FloatArray:
    """Return the series of the basis of order r + 1, one row a function, cut where all are good enough.

    The rows of order r are the first ones, and the same whether a gradient in the zoom is wanted or not.
    """
    coeffs = power_coefficients(order + 1, zoom, lmax, tol, real=basis == CAYLEY_REAL).coeffs
    coeffs.flags.writeable = False
    return coeffs


def differentiable_series(
    log_zoom: Tensor, order: int, lmax: float, n_terms: int, n_samples: int, *, real: bool = False
) -> Tensor:
    r"""Return the series of the basis functions on [0, lmax] as a function of log h that torch can differentiate.

    Parameters
    ----------
    log_zoom : Tensor, shape ()
        log h.
    order : int
        r.
    lmax : float
        Right end of the interval.
    n_terms : int
        K + 1.
    n_samples : int
        Chebyshev points that the series are computed from, at least ``n_terms``.
    real : bool
        Coefficients are real.

    Returns
    -------
    Tensor, shape (n_functions, n_terms)
        In double precision.
    """
    options: dict[str, Any] = {"dtype": torch.float64, "device": log_zoom.device}
    half = (n_samples - torch.arange(n_samples, **options) - 0.5) * (math.pi / (2 * n_samples))
    x = log_zoom.double().exp() * (lmax * torch.sin(half) ** 2)
    k = torch.arange(n_terms, **options)
    nodes = (torch.arange(n_samples, **options) + 0.5) * (math.pi / n_samples)
    cosines = torch.cos(torch.outer(nodes, k)) * torch.where(k > 0, 2.0, 1.0) / n_samples
    return _basis_at(x, order, real).T @ cosines


def _coefficients(
    log_zoom: Tensor | None,
    like: Tensor,
    graph: GraphTensors,
    basis: str,
    order: int,
    tol: float,
    bound: float,
    hint: float,
) -> tuple[Tensor | None, int]:
    """Return the coefficients of the series of order r + 1 and the number of terms; None where it is the terms."""
    if log_zoom is None:
        return None, order + 1
    if log_zoom.device.type == "cpu":
        zoom = _zoom_of(log_zoom)
        if bound < 0:
            bound = _bound_of(graph)
        a = series_matrix(basis, order, zoom, bound, tol)
        return torch.tensor(a, dtype=like.dtype), a.shape[1]
    # elsewhere nothing is read back: the degree comes from the hint, the coefficients are computed there
    if bound < 0:
        bound = _bound_of(graph)
    zoom = hint if hint > 0 else _zoom_of(log_zoom)
    n_terms = series_matrix(basis, order, zoom, bound, tol).shape[1]
    n_terms = -(-n_terms // 8) * 8
    real = basis == CAYLEY_REAL
    series = differentiable_series(log_zoom, order + 1, bound, n_terms, 2 * n_terms, real=real)
    return series.to(like.dtype), n_terms


def _zoom_of(log_zoom: Tensor) -> float:
    """Return h as a number."""
    value = float(log_zoom)
    try:
        return math.exp(value)
    except OverflowError:
        raise ValueError(f"`log_zoom` must have a finite exponential, got {value:g}") from None


def _bound_of(graph: GraphTensors) -> float:
    """Return the λ_max that the scale stands for."""
    scale = float(graph.scale.max()) if graph.scale.numel() else 0.0
    return 2 / scale if scale > 0 else 0.0


def _derivative(basis: str, order: int, like: Tensor) -> Tensor:
    S = zoom_derivative(order, real=basis == CAYLEY_REAL)
    return torch.as_tensor(S, dtype=like.dtype, device=like.device)


def _blocks(basis: str, order: int, extended: bool) -> int:
    """Return the number of basis functions, with the two (or one) that the gradient in the zoom adds if asked for."""
    if basis == CHEBYSHEV:
        return order + 1
    return basis_size(order + extended, real=basis == CAYLEY_REAL)


# ------------------------------------------------------------------------------------------- convolution


@torch.library.custom_op("cayleygsp::conv", mutates_args=())
def conv(
    x: Tensor,
    weight: Tensor,
    log_zoom: Tensor | None,
    indptr: Tensor,
    indices: Tensor,
    values: Tensor,
    diagonal: Tensor,
    scale: Tensor,
    basis: str,
    order: int,
    tol: float,
    bound: float,
    hint: float,
    keep: bool,
    for_zoom: bool,
) -> tuple[Tensor, Tensor]:
    """Return the convolution, and the blocks that its gradient needs if ``keep`` (else nothing)."""
    graph = GraphTensors(indptr, indices, values, diagonal, scale)
    batch, n, f_in = x.shape
    size, _, f_out = weight.shape
    with torch.autocast(x.device.type, enabled=False):
        a, n_terms = _coefficients(log_zoom, x, graph, basis, order, tol, bound, hint)
        if f_in <= f_out:
            n_blocks = _blocks(basis, order, keep and for_zoom)
            Y = terms(graph, x, None if a is None else a[:n_blocks], n_terms)
            rows = Y.view(batch * n, n_blocks * f_in)[:, : size * f_in]
            y = (rows @ weight.reshape(size * f_in, f_out)).view(batch, n, f_out)
            return y, Y if keep else x.new_empty(0)
        mixed = x.reshape(batch * n, f_in) @ weight.transpose(0, 1).reshape(f_in, size * f_out)
        y = combine(graph, mixed.view(batch, n, size, f_out), None if a is None else a[:size], n_terms)
        return y, x.new_empty(0)


@conv.register_fake
def _(
    x: Tensor,
    weight: Tensor,
    log_zoom: Tensor | None,
    indptr: Tensor,
    indices: Tensor,
    values: Tensor,
    diagonal: Tensor,
    scale: Tensor,
    basis: str,
    order: int,
    tol: float,
    bound: float,
    hint: float,
    keep: bool,
    for_zoom: bool,
) -> tuple[Tensor, Tensor]:
    batch, n, f_in = x.shape
    f_out = weight.shape[2]
    y = x.new_empty((batch, n, f_out))
    if keep and f_in <= f_out:
        return y, x.new_empty((batch, n, _blocks(basis, order, for_zoom), f_in))
    return y, x.new_empty(0)


@torch.library.custom_op("cayleygsp::conv_backward", mutates_args=())
def conv_backward(
    gradient: Tensor,
    x: Tensor,
    weight: Tensor,
    log_zoom: Tensor | None,
    kept: Tensor,
    indptr: Tensor,
    indices: Tensor,
    values: Tensor,
    diagonal: Tensor,
    scale: Tensor,
    basis: str,
    order: int,
    tol: float,
    bound: float,
    hint: float,
    need_x: bool,
    need_weight: bool,
    need_zoom: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the gradients in x, the weights and log h; those that are not needed are empty."""
    graph = GraphTensors(indptr, indices, values, diagonal, scale)
    batch, n, f_in = x.shape
    size, _, f_out = weight.shape
    dx = dw_all = x.new_empty(0)
    with torch.autocast(x.device.type, enabled=False):
        a, n_terms = _coefficients(log_zoom, x, graph, basis, order, tol, bound, hint)
        rows = gradient.reshape(batch * n, f_out)
        if f_in <= f_out:
            if need_weight or need_zoom:
                n_blocks = kept.shape[2]
                dw_all = (kept.view(batch * n, n_blocks * f_in).T @ rows).view(n_blocks, f_in, f_out)
            if need_x:
                spread = rows @ weight.reshape(size * f_in, f_out).T
                dx = combine(graph, spread.view(batch, n, size, f_in), None if a is None else a[:size], n_terms)
        else:
            n_blocks = _blocks(basis, order, need_zoom)
            U = terms(graph, gradient, None if a is None else a[:n_blocks], n_terms).view(batch * n, n_blocks * f_out)
            if need_weight or need_zoom:
                dw_all = (x.reshape(batch * n, f_in).T @ U).view(f_in, n_blocks, f_out).transpose(0, 1)
            if need_x:
                mixing = weight.transpose(0, 1).reshape(f_in, size * f_out)
                dx = (U[:, : size * f_out] @ mixing.T).view(batch, n, f_in)
        dh = x.new_empty(0)
        if need_zoom:
            S = _derivative(basis, order, x)
            dh = (S * (weight.reshape(size, -1) @ dw_all.reshape(n_blocks, -1).T)).sum()
    dw = dw_all[:size].contiguous() if need_weight else x.new_empty(0)
    return dx, dw, dh


@conv_backward.register_fake
def _(
    gradient: Tensor,
    x: Tensor,
    weight: Tensor,
    log_zoom: Tensor | None,
    kept: Tensor,
    indptr: Tensor,
    indices: Tensor,
    values: Tensor,
    diagonal: Tensor,
    scale: Tensor,
    basis: str,
    order: int,
    tol: float,
    bound: float,
    hint: float,
    need_x: bool,
    need_weight: bool,
    need_zoom: bool,
) -> tuple[Tensor, Tensor, Tensor]:
    return (
        x.new_empty(x.shape if need_x else (0,)),
        x.new_empty(weight.shape if need_weight else (0,)),
        x.new_empty(() if need_zoom else (0,)),
    )


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    x, weight, log_zoom, *graph = inputs[:8]
    narrow_input = weight.shape[1] <= weight.shape[2]
    # on the narrow side the blocks say all that is needed of x but its shape
    ctx.shape = x.shape
    ctx.mark_non_differentiable(output[1])
    ctx.narrow_input = narrow_input
    ctx.save_for_backward(None if narrow_input else x, weight, log_zoom, output[1], *graph)
    ctx.settings = inputs[8:13]


def _backward(ctx: Any, gradient: Tensor, _: Any) -> tuple[Any, ...]:
    x, weight, log_zoom, kept, *graph = ctx.saved_tensors
    if x is None:
        x = gradient.new_empty(1).expand(ctx.shape)
    needs = ctx.needs_input_grad[:3]
    dx, dw, dh = conv_backward(gradient, x, weight, log_zoom, kept, *graph, *ctx.settings, *needs)
    if dh.numel() and log_zoom is not None:
        dh = dh.to(log_zoom.dtype).reshape(log_zoom.shape)
    return (dx if needs[0] else None, dw if needs[1] else None, dh if needs[2] else None, *[None] * 12)


def _no_second_backward(ctx: Any, *gradients: Any) -> Any:
    raise NotImplementedError(
        "the gradients of cayleygsp's layers cannot be differentiated again (create_graph=True); use method='exact', "
        "which is made of ordinary torch operations"
    )


conv.register_autograd(_backward, setup_context=_save)
conv_backward.register_autograd(_no_second_backward, setup_context=lambda ctx, inputs, output: None)


# ------------------------------------------------------------------------------------------------ product


@torch.library.custom_op("cayleygsp::spmm", mutates_args=())
def spmm(x: Tensor, indptr: Tensor, indices: Tensor, values: Tensor, diagonal: Tensor, scale: Tensor) -> Tensor:
    """Return the Laplacian times x."""
    return product(GraphTensors(indptr, indices, values, diagonal, scale), x)


@spmm.register_fake
def _(x: Tensor, indptr: Tensor, indices: Tensor, values: Tensor, diagonal: Tensor, scale: Tensor) -> Tensor:
    return x.new_empty(x.shape)


def _save_graph(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    ctx.save_for_backward(*inputs[1:])


def _product_backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
    return (spmm(gradient, *ctx.saved_tensors), *[None] * 5)


spmm.register_autograd(_product_backward, setup_context=_save_graph)


# ------------------------------------------------------------------------------------- the other two ways


def exact_conv(x: Tensor, weight: Tensor, log_zoom: Tensor, laplacian: GraphLaplacian, *, real: bool = False) -> Tensor:
    r"""Return :math:`\sum_b \Phi \varphi_b(h\Lambda) \Phi^\top X W_b` with the eigenbasis that the Laplacian keeps.

    Parameters are those of :func:`cayley_conv`. Two dense products with Φ whatever the order is.
    """
    lam, Phi = (t.to(x.dtype) for t in laplacian.eigenbasis())
    size, f_in, f_out = weight.shape
    order = size - 1 if real else (size - 1) // 2
    basis = _basis_at(log_zoom.to(x.dtype).exp() * lam, order, real)
    x_hat = Phi.T @ x
    if f_in <= f_out:
        blocks = basis[:, :, None] * x_hat[:, :, None, :]
        y_hat = blocks.flatten(2) @ weight.reshape(size * f_in, f_out)
    else:
        blocks = (x_hat @ weight.transpose(0, 1).reshape(f_in, size * f_out)).unflatten(2, (size, f_out))
        y_hat = (basis[:, :, None] * blocks).sum(2)
    return Phi @ y_hat


def _basis_at(x: Tensor, order: int, real: bool) -> Tensor:
    """Return the basis functions at x = hλ, shape (n, n_functions)."""
    j = torch.arange(1, order + 1, dtype=x.dtype, device=x.device)
    angle = j * (-2 * torch.atan2(torch.ones_like(x), x))[:, None]
    parts = [2 * torch.cos(angle)] if real else [2 * torch.cos(angle), -2 * torch.sin(angle)]
    return torch.cat([torch.ones_like(x)[:, None], torch.stack(parts, 2).flatten(1)], dim=1)


def jacobi_conv(
    x: Tensor, weight: Tensor, log_zoom: Tensor, laplacian: GraphLaplacian, n_iter: int, *, real: bool = False
) -> Tensor:
    r"""Return the convolution by the paper's Jacobi scheme, ``n_iter`` sweeps a power, Eq. (6), eq:Jaco.

    Parameters are those of :func:`cayley_conv`. Real and imaginary parts are pairs of real columns. Everything is
    recorded for the gradient, so that memory grows with r and ``n_iter``.
    """
    batch, n, f_in = x.shape
    size, _, f_out = weight.shape
    order = size - 1 if real else (size - 1) // 2
    solve = _Jacobi(laplacian, log_zoom.to(x.dtype).exp(), n_iter, x.dtype)
    if f_in <= f_out:
        y = torch.stack([x.transpose(0, 1).reshape(n, -1), x.new_zeros(n, batch * f_in)], dim=1)
        blocks = [y[:, 0]]
        for _ in range(order):
            y = solve(y)
            blocks += [2 * y[:, 0]] if real else [2 * y[:, 0], -2 * y[:, 1]]
        rows = torch.stack(blocks, dim=1).view(n, size, batch, f_in).permute(2, 0, 1, 3)
        return rows.reshape(batch, n, size * f_in) @ weight.reshape(size * f_in, f_out)
    mixed = x @ weight.transpose(0, 1).reshape(f_in, size * f_out)
    columns = mixed.view(batch, n, size, f_out).permute(2, 1, 0, 3).reshape(size, n, batch * f_out)
    # Horner's rule on the outputs: the scheme is linear in what it starts from
    y = columns.new_zeros(n, 2, batch * f_out)
    for j in range(order, 0, -1):
        imaginary = torch.zeros_like(columns[0]) if real else columns[2 * j]
        y = solve(y + torch.stack([columns[j if real else 2 * j - 1], imaginary], dim=1))
    return (columns[0] + 2 * y[:, 0]).view(n, batch, f_out).transpose(0, 1)


class _Jacobi:
    r"""K sweeps for :math:`(h\Delta + iI) y = (h\Delta - iI) y_{prev}` on pairs of real columns, shape (n, 2, m)."""

    def __init__(self, laplacian: GraphLaplacian, h: Tensor, n_iter: int, dtype: torch.dtype) -> None:
        self.graph = laplacian.tensors(dtype, own_scale=False)
        self.n_iter, self.h = n_iter, h
        self.d = self.graph.diagonal[:, None, None]
        hd = (h * self.graph.diagonal)[:, None]
        self.re, self.im = hd / (hd * hd + 1), -1 / (hd * hd + 1)  # 1 / (h d + i)

    def _divided(self, u: Tensor) -> Tensor:
        """Return E^{-1} u, E = h d + i."""
        re, im = u[:, 0], u[:, 1]
        return torch.stack([self.re * re - self.im * im, self.re * im + self.im * re], dim=1)

    def _product(self, y: Tensor) -> Tensor:
        _refuse_forward_mode(y)
        return spmm(y.flatten(1), *self.graph).view_as(y)

    def __call__(self, y_prev: Tensor) -> Tensor:
        turned = torch.stack([y_prev[:, 1], -y_prev[:, 0]], dim=1)  # -i y
        b = self._divided(self.h * self._product(y_prev) + turned)
        y = b
        for _ in range(self.n_iter):
            y = b + self._divided(self.h * (self.d * y - self._product(y)))
        return y
