"""Convolutions by the paper's Jacobi scheme, in torch operations."""

from __future__ import annotations

import torch
from torch import Tensor

from cayleygsp.engine import tiles
from cayleygsp.nn.graph.laplacian import GraphLaplacian, GraphTensors
from cayleygsp.nn.ops.operation import reject_forward_mode, reject_learned_graph, uses_loops
from cayleygsp.nn.ops.series import CAYLEY, CAYLEY_REAL, FilterBasis


# The tensors one by one, not as a list: torch takes lists apart in Python, which is felt in schemes with many products.
@torch.library.custom_op("cayleygsp::spmm", mutates_args=())
def spmm(x: Tensor, indptr: Tensor, indices: Tensor, values: Tensor, diagonal: Tensor, scale: Tensor) -> Tensor:
    """Return the Laplacian, not scaled, times x of shape (n, m); its gradient is the same of the gradient."""
    if not uses_loops(x):
        W = torch.sparse_csr_tensor(indptr, indices, values, (len(diagonal), len(diagonal)), check_invariants=False)
        return torch.addmm(diagonal[:, None] * x, W, x, alpha=-1)
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    graph = GraphTensors(indptr, indices, values, diagonal, scale).packed()
    tiles.product(graph, x.contiguous().numpy(), y.numpy(), torch.get_num_threads())
    return y


@spmm.register_fake
def _(x: Tensor, *graph: Tensor) -> Tensor:
    return x.new_empty(x.shape)


spmm.register_autograd(
    lambda ctx, gradient: (spmm(gradient, *ctx.saved_tensors), *[None] * 5),
    setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs[1:]),
)


def jacobi_conv(
    x: Tensor, weight: Tensor, log_zoom: Tensor, laplacian: GraphLaplacian, n_iter: int, *, real: bool = False
) -> Tensor:
    r"""Return the convolution by the paper's Jacobi scheme, ``n_iter`` sweeps per power, Eq. (7), eq:Jaco.

    Parameters are those of :func:`cayleygsp.nn.ops.convolution.cayley_conv`. Real and imaginary parts are pairs of
    real columns. Everything is recorded for the gradient, so that memory grows with r and ``n_iter``.
    """
    reject_forward_mode(x, weight, log_zoom)
    reject_learned_graph(laplacian.values, "method 'jacobi'")
    batch, n, f_in = x.shape
    size, _, f_out = weight.shape
    order = FilterBasis(CAYLEY_REAL if real else CAYLEY, size).order
    graph = laplacian.tensors(x.dtype, own_scale=False)
    solve = DifferentiableSweeps(graph, log_zoom.to(x.dtype).exp(), n_iter)
    if f_in <= f_out:
        y = torch.stack([x.transpose(0, 1).reshape(n, batch * f_in), x.new_zeros(n, batch * f_in)], dim=1)
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


class DifferentiableSweeps:
    r"""K sweeps for :math:`(h\Delta + iI) y = (h\Delta - iI) y_{prev}`, on real and imaginary parts as columns.

    With :math:`E = hd + i`, d the diagonal and W the weights beside it, they start from
    :math:`b = \frac{hd - i}E y_{prev} - \frac hE W y_{prev}` and go on by :math:`y \leftarrow b + \frac hE W y`.
    Torch can go back through them, which it cannot through the loops of :class:`cayleygsp.engine.jacobi.JacobiSweeps`.
    Signals have the shape (n, 2, m), or if the derivatives in log h go with the values (n, 4, m), the derivatives of
    real and imaginary parts after the parts.
    """

    def __init__(self, graph: GraphTensors, h: Tensor, n_iter: int, *, with_derivative: bool = False) -> None:
        self.graph, self.n_iter = graph, n_iter
        self.d = graph.diagonal[:, None, None]
        hd = (h * graph.diagonal)[:, None]
        re, im = hd / (hd * hd + 1), -1 / (hd * hd + 1)  # 1 / E
        # each with its derivative in log h
        self.beside = [(h * re, h * im)]  # h / E
        self.turned = [(1 + 2 * im, -2 * re)]  # (hd - i) / E = 1 - 2i / E
        if with_derivative:
            square = re * re - im * im, 2 * re * im  # 1 / E²
            self.beside.append((-h * square[1], h * square[0]))  # ih / E²
            self.turned.append((-2 * hd * square[1], 2 * hd * square[0]))  # 2ihd / E²

    def __call__(self, y_prev: Tensor) -> Tensor:
        """Return the signals after one more power."""
        b = _times(self.turned, y_prev) - _times(self.beside, self._neighbours(y_prev))
        y = b
        for _ in range(self.n_iter):
            y = b + _times(self.beside, self._neighbours(y))
        return y

    def _neighbours(self, y: Tensor) -> Tensor:
        """Return W y."""
        return self.d * y - spmm(y.flatten(1), *self.graph[:5]).view_as(y)


def _times(factor: list[tuple[Tensor, Tensor]], u: Tensor) -> Tensor:
    """Return the product of a complex factor with signals; with derivatives by the rule for products."""
    value = _complex_product(factor[0], u[:, 0], u[:, 1])
    if len(factor) == 1:
        return torch.stack(value, dim=1)
    changed = _complex_product(factor[1], u[:, 0], u[:, 1])
    derivative = _complex_product(factor[0], u[:, 2], u[:, 3])
    return torch.stack([*value, changed[0] + derivative[0], changed[1] + derivative[1]], dim=1)


def _complex_product(factor: tuple[Tensor, Tensor], re: Tensor, im: Tensor) -> tuple[Tensor, Tensor]:
    return factor[0] * re - factor[1] * im, factor[0] * im + factor[1] * re
