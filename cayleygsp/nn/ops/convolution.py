r"""Convolutions as functions of tensors, with gradients that do not go through the recurrence.

A layer with :math:`F_{in}` and :math:`F_{out}` channels computes :math:`\sum_b \varphi_b(\Delta) X W_b`, the basis
functions :math:`\varphi_b` being those of :mod:`cayleygsp.responses.basis` or Chebyshev polynomials. Work is done on
the narrower side: :math:`\varphi_b(\Delta) X` first and then a dense product, or :math:`X W_b` first and then one
recurrence for their sum. A filter that all channels share has numbers :math:`c_b` in the place of matrices, and is one
series; of sparse signals the channels are mixed first, by a sparse product.

The gradients follow from the symmetry of Δ (for a matrix that is not symmetric, take the transposed in what follows).
With the incoming gradient :math:`\bar Y`,

.. math:: \bar X = \sum_b \varphi_b(\Delta) \bar Y W_b^\top, \qquad
          \bar W_b = X^\top \varphi_b(\Delta) \bar Y = (\varphi_b(\Delta) X)^\top \bar Y, \qquad
          \bar c_b = \langle X, \varphi_b(\Delta) \bar Y \rangle,

and since the derivative of the basis in log h is a matrix S times the basis of order r + 1
(:func:`cayleygsp.responses.basis.zoom_derivative`), the gradient in log h is
:math:`\sum_{bb'} S_{bb'} \langle W_b, \bar W_{b'} \rangle`: two more blocks of the gradient of the weights, and nothing
else. So memory is that of 2r + 3 blocks of signals whatever the degree of the series is, and where the input needs no
gradient, no recurrence runs backwards.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, cast

import torch
from torch import Tensor

from cayleygsp.engine.tiles import transposed_product
from cayleygsp.nn.graph.laplacian import GraphLaplacian, GraphTensors, ScaledLaplacian
from cayleygsp.nn.ops.learned_graph import series_conv
from cayleygsp.nn.ops.operation import Operation, reject_forward_mode
from cayleygsp.nn.ops.series import CAYLEY, CAYLEY_REAL, CHEBYSHEV, FilterBasis, combine, terms, zoom_slopes


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
        Signals; sparse ones have the shape (n, in_channels), and their result that of a batch of one.
    weight : Tensor, shape (2r + 1, in_channels, out_channels)
        Coefficients in the basis of :func:`cayleygsp.responses.basis.power_basis`; r + 1 of them if ``real``. Numbers,
        shape (2r + 1,), are one filter for all channels, on a graph whose values ask for no gradient.
    log_zoom : Tensor, shape () or (out_channels,)
        log h, one or one per output channel.
    laplacian : GraphLaplacian
        The graph, whose values may ask for a gradient.
    tol : float
        Largest error of each basis function, which is of size 2.
    real : bool
        Coefficients are real.
    zoom_hint : float, optional
        h itself on the CPU; elsewhere an upper bound of it, from which the degree is chosen without asking the device.
        By default it is read.

    Returns
    -------
    Tensor, shape (batch, n, out_channels)
    """
    kind = CAYLEY_REAL if real else CAYLEY
    basis = FilterBasis(kind, weight.shape[0], tol, laplacian.bound, zoom_hint)
    learned = torch.is_grad_enabled() and laplacian.values.requires_grad
    # where something is traced, the zoom cannot be looked at
    has_own_dtype = learned or torch.compiler.is_compiling()
    dtype = laplacian.values.dtype if has_own_dtype else basis.precision(x.dtype, log_zoom)
    graph = laplacian.tensors(dtype, own_scale=False)
    # the scale is no part of a Cayley filter, and edges have two halves
    graph = graph._replace(scale=graph.scale.detach())
    return _run(x, weight, log_zoom, graph, basis, reversible=True, tied=True)


def cheb_conv(x: Tensor, weight: Tensor, laplacian: GraphLaplacian | ScaledLaplacian) -> Tensor:
    r"""Return :math:`\sum_k T_k(\tilde\Delta) X W_k`, every graph scaled by its own bound of the spectrum.

    Parameters
    ----------
    x : Tensor, shape (batch, n, in_channels)
        Signals; sparse ones have the shape (n, in_channels), and their result that of a batch of one.
    weight : Tensor, shape (r + 1, in_channels, out_channels)
        Coefficients.
    laplacian : GraphLaplacian or ScaledLaplacian
        The graph, whose values may ask for a gradient.

    Returns
    -------
    Tensor, shape (batch, n, out_channels)
    """
    learned = torch.is_grad_enabled() and laplacian.values.requires_grad
    graph = laplacian.tensors(laplacian.values.dtype if learned else x.dtype, own_scale=True)
    basis, reversible = FilterBasis(CHEBYSHEV, weight.shape[0]), not learned or laplacian.reversible
    return _run(x, weight, None, graph, basis, reversible=reversible, tied=laplacian.tied)


def _run(
    x: Tensor,
    weight: Tensor,
    log_zoom: Tensor | None,
    graph: GraphTensors,
    basis: FilterBasis,
    *,
    reversible: bool,
    tied: bool,
) -> Tensor:
    """Return the convolution, by terms some at a time where the graph or many zooms are learned, and else by blocks."""
    reject_forward_mode(x, weight, log_zoom)
    with_gradients, tensors = torch.is_grad_enabled(), graph.tensors()
    learned = with_gradients and any(t.requires_grad for t in tensors)
    if learned or (log_zoom is not None and log_zoom.dim()):
        return series_conv(x, weight, log_zoom, tensors, *basis, 2 if learned and reversible else 0, tied)
    if x.layout != torch.strided:
        size, f_in, f_out = weight.shape
        mixed = sparse_product(x, weight.transpose(0, 1).reshape(f_in, size * f_out))
        return conv(mixed.view(1, x.shape[0], size, f_out), None, log_zoom, tensors, *basis, 0, tied)
    for_zoom = with_gradients and log_zoom is not None and log_zoom.requires_grad
    keep = basis.extended_size if for_zoom else basis.size if with_gradients and weight.requires_grad else 0
    return conv(x, weight, log_zoom, tensors, *basis, keep, tied)


class _Functions:
    """The functions of a basis at a zoom, of a graph: each of them of signals, and their sum for blocks of signals."""

    def __init__(self, basis: FilterBasis, log_zoom: Tensor | None, graph: GraphTensors, dtype: torch.dtype) -> None:
        self.dtype, self.size = basis.precision(dtype, log_zoom), basis.size
        self.graph = graph.to(self.dtype)
        self.series, self.n_terms = basis.series(log_zoom, self.dtype, self.graph)

    def rows(self, n_blocks: int) -> Tensor | None:
        """Return the series of the first functions; None if they are the terms."""
        return None if self.series is None else self.series[:n_blocks]

    def shared_row(self, coeffs: Tensor) -> Tensor:
        """Return the series of one filter with these coefficients, shape (1, n_terms)."""
        assert self.series is not None
        return coeffs.to(self.dtype)[None] @ self.series[: self.size]

    def of(self, x: Tensor, rows: Tensor | None) -> Tensor:
        """Return what has these series, shape (batch, n, n_rows, features)."""
        return terms(self.graph, x.to(self.dtype), rows, self.n_terms)

    def summed(self, z: Tensor) -> Tensor:
        """Return the sum of the functions of their blocks, in the precision of these."""
        return combine(self.graph, z.to(self.dtype), self.rows(self.size), self.n_terms).to(z.dtype)


def _forward(
    x: Tensor, weight: Tensor | None, log_zoom: Tensor | None, graph: Sequence[Tensor], *settings: Any
) -> tuple[Tensor, Tensor]:
    """Return the convolution, and the blocks that its gradient needs on the narrow side (else nothing)."""
    *basis, n_kept, _ = settings
    functions, nothing = _Functions(FilterBasis(*basis), log_zoom, GraphTensors(*graph), x.dtype), x.new_empty(0)
    if weight is None:
        return functions.summed(x), nothing
    if weight.dim() == 1:
        y = functions.of(x, functions.shared_row(weight))
        return y.squeeze_(2).to(x.dtype), nothing  # no view, so that it may be changed in place
    batch, n, f_in = x.shape
    size, _, f_out = weight.shape
    if f_in > f_out:
        mixed = x.reshape(batch * n, f_in) @ weight.transpose(0, 1).reshape(f_in, size * f_out)
        return functions.summed(mixed.view(batch, n, size, f_out)), nothing
    n_blocks = n_kept or size
    Y = functions.of(x, functions.rows(n_blocks)).to(x.dtype)
    rows = Y.view(batch * n, n_blocks * f_in)[:, : size * f_in]
    y = x.new_empty((batch, n, f_out))  # no view here either
    torch.mm(rows, weight.reshape(size * f_in, f_out), out=y.view(batch * n, f_out))
    return y, Y if n_kept else nothing


def _backward(
    gradient: Tensor,
    x: Tensor | None,
    weight: Tensor | None,
    log_zoom: Tensor | None,
    kept: Tensor,
    graph: Sequence[Tensor],
    *settings: Any,
) -> list[Tensor | None]:
    """Return the gradients in x, the weights and log h."""
    *settings_of_basis, _, _, (need_x, need_weight, need_zoom, _) = settings
    basis = FilterBasis(*settings_of_basis)
    functions = _Functions(basis, log_zoom, GraphTensors(*graph).transposed(), gradient.dtype)
    size, n_blocks = basis.size, basis.extended_size if need_zoom else basis.size
    dx = dw = dh = all_weights = None
    if weight is None:
        U = functions.of(gradient, functions.rows(n_blocks))
        dx = U[:, :, :size].contiguous() if need_x else None
        if need_zoom and x is not None:
            # in the precision of the recurrence, which is double where the slopes are small beside the blocks
            dh = zoom_slopes(U, basis.kind).mul_(x).sum(dtype=torch.float64)
    elif weight.dim() == 1:
        dx, all_weights = _through_one_filter(functions, gradient, x, weight, need_x, n_blocks)
    elif weight.shape[1] <= weight.shape[2]:
        dx, all_weights = _through_narrow_input(functions, gradient, weight, kept, need_x)
    else:
        dx, all_weights = _through_narrow_output(functions, gradient, x, weight, need_x, n_blocks)
    if weight is not None and all_weights is not None:
        dw = all_weights[:size] if need_weight else None
        if need_zoom:
            dh = (weight.reshape(size, -1) * zoom_slopes(all_weights.reshape(len(all_weights), -1), basis.kind)).sum()
    return [dx, dw, dh, None, None, None]


def _through_one_filter(
    functions: _Functions, gradient: Tensor, x: Tensor | None, coeffs: Tensor, need_x: bool, n_blocks: int
) -> tuple[Tensor | None, Tensor | None]:
    """Return the gradients in x and in the numbers of all functions, by one recurrence; x is None if not the latter."""
    series = [functions.shared_row(coeffs)] if need_x else []
    of_all = None if x is None else functions.rows(n_blocks)
    U = functions.of(gradient, torch.cat(series if of_all is None else [*series, of_all]))
    dx = U[:, :, 0].contiguous() if need_x else None  # so that the other blocks do not stay in memory
    if x is None:
        return dx, None
    return dx, (U[:, :, -n_blocks:] * x.to(U.dtype)[:, :, None]).sum(dim=(0, 1, 3), dtype=torch.float64)


def _through_narrow_input(
    functions: _Functions, gradient: Tensor, weight: Tensor, kept: Tensor, need_x: bool
) -> tuple[Tensor | None, Tensor | None]:
    """Return the gradients in x and in the matrices of all functions, whose blocks were kept if it is wanted."""
    batch, n, f_out = gradient.shape
    size, f_in, _ = weight.shape
    rows = gradient.reshape(batch * n, f_out)
    dx = all_weights = None
    if kept.dim() == 4:
        n_blocks = kept.shape[2]
        all_weights = kept.view(batch * n, n_blocks * f_in).to(functions.dtype).T @ rows.to(functions.dtype)
        all_weights = all_weights.view(n_blocks, f_in, f_out)
    if need_x:
        blocks = rows @ weight.reshape(size * f_in, f_out).T
        dx = functions.summed(blocks.view(batch, n, size, f_in))
    return dx, all_weights


def _through_narrow_output(
    functions: _Functions, gradient: Tensor, x: Tensor | None, weight: Tensor, need_x: bool, n_blocks: int
) -> tuple[Tensor | None, Tensor | None]:
    """Return the gradients in x and in the matrices of all functions; x is None if the latter are not wanted."""
    batch, n, f_out = gradient.shape
    size, f_in, _ = weight.shape
    U = functions.of(gradient, functions.rows(n_blocks)).view(batch * n, n_blocks * f_out)
    dx = all_weights = None
    if x is not None:
        all_weights = x.reshape(batch * n, f_in).to(U.dtype).T @ U
        all_weights = all_weights.view(f_in, n_blocks, f_out).transpose(0, 1)
    if need_x:
        mixing = weight.transpose(0, 1).reshape(f_in, size * f_out)
        dx = (U[:, : size * f_out].to(mixing.dtype) @ mixing.T).view(batch, n, f_in)
    return dx, all_weights


conv = Operation("conv", _forward, _backward)


def sparse_product(x: Tensor, weight: Tensor) -> Tensor:
    """Return sparse x of shape (n, m) times a dense matrix, with a gradient in the latter.

    If x asks for a gradient, torch's own product is taken.
    """
    if x.requires_grad or x.device.type != "cpu" or torch.compiler.is_compiling():
        return torch.sparse.mm(x, weight)
    if x.layout != torch.sparse_csr:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state", UserWarning)
            x = x.to_sparse_csr()
    return cast(Tensor, _SparseProduct.apply(weight, x, False))


class _SparseProduct(torch.autograd.Function):
    """A sparse matrix, or its transposed by the rows of itself: torch would sort it by columns at every call."""

    @staticmethod
    def forward(ctx: Any, dense: Tensor, x: Tensor, transposed: bool) -> Tensor:
        """Return the matrix times a dense one."""
        ctx.x, ctx.transposed = x, transposed
        if not transposed:
            return torch.sparse.mm(x, dense)
        out = dense.new_zeros((x.shape[1], dense.shape[1]))
        parts = (t.numpy() for t in (x.crow_indices(), x.col_indices(), x.values()))
        transposed_product(*parts, dense.detach().contiguous().numpy(), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        """Return the gradient in the dense one, by the other of the two products."""
        return _SparseProduct.apply(gradients[0], ctx.x, not ctx.transposed), None, None
