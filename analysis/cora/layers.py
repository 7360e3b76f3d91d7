"""Layers that are not those of the package: sparse inputs for other layers, diffusion, a shifted Laplacian."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor, nn

from analysis.cora.data import Inputs, by_rows
from cayleygsp.engine.compiling import compiled
from cayleygsp.engine.tiles import transposed_product
from cayleygsp.nn import CayleyConv
from cayleygsp.nn.ops.convolution import cheb_conv, sparse_product
from cayleygsp.nn.ops.series import basis_at


class SparseDropout(nn.Module):
    """Dropout on the non-zeros of sparse features: the others stay zero either way, so that it is the same dropout."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Return x of sparse rows with some entries left out and the others scaled up, in training."""
        if not self.training or self.p == 0:
            return x
        values = nn.functional.dropout(x.values(), self.p, True)
        return _with_values(x, values)


def _with_values(x: Tensor, values: Tensor) -> Tensor:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state", UserWarning)
        return torch.sparse_csr_tensor(x.crow_indices(), x.col_indices(), values, size=x.shape, check_invariants=False)


class SparseLinear(nn.Module):
    """A dense layer for sparse rows; ``weight`` has shape (out, in), as torch's."""

    def __init__(self, weight: nn.Parameter, bias: nn.Parameter | None = None) -> None:
        super().__init__()
        self.weight, self.bias = weight, bias

    def forward(self, x: Tensor) -> Tensor:
        """Return x times the transposed weights, plus the bias if there is one."""
        y = sparse_product(x, self.weight.T) if x.layout == torch.sparse_csr else x @ self.weight.T
        return y if self.bias is None else y + self.bias


class ShiftedCayleyConv(CayleyConv):
    r"""Cayley filters of :math:`\tilde\Delta = 2\Delta/\lambda_{\max} - I`, whose eigenvalues are within −1 and 1.

    C is a bijection of the whole real line to the circle without 1, and :math:`C(h\tilde\Delta)` is unitary whatever
    the signs of the eigenvalues are: the filter is well defined, but the zoom now widens the middle of the spectrum and
    not its lower end. The package's layers are for Laplacians and refuse such a matrix. This one computes the Chebyshev
    series of the basis on [−1, 1] itself, and torch differentiates it.
    """

    def convolve_sparse(self, x: Tensor, laplacian: Any) -> Tensor:
        """Filter sparse signals of shape (n, in_channels)."""
        return cheb_conv(x, self.taps(laplacian), laplacian)[0]

    def convolve(self, x: Tensor, laplacian: Any) -> Tensor:
        """Filter signals of shape (batch, n, in_channels)."""
        return cheb_conv(x, self.taps(laplacian), laplacian)

    def taps(self, laplacian: Any) -> Tensor:
        """Return the weights of all terms of the polynomial of the shifted Laplacian, shape (n_terms, in, out)."""
        h = float(self.zoom.detach())
        n_terms = series_length(h, self.order, self.tol)
        m = 2 * n_terms
        angle = torch.arange(m, dtype=torch.float64, device=self.log_zoom.device).add(0.5) * (np.pi / m)
        values = basis_at(self.log_zoom.double().exp() * torch.cos(angle), self.order, self.real_coeffs)
        cosines = torch.cos(torch.arange(n_terms, dtype=torch.float64, device=angle.device)[:, None] * angle)
        cosines[0] /= 2
        series = (2 / m * cosines @ values).to(self.weight.dtype)  # (n_terms, n_functions)
        return torch.einsum("kb,bio->kio", series, self.coefficients())


def series_length(zoom: float, order: int, tol: float) -> int:
    """Return how many Chebyshev terms on [−1, 1] leave the powers of C(hx) up to an order an error of ``tol``.

    They are analytic within the ellipse through ±i/h. On a smaller one, at a share of the way, the j-th power is at
    most ((1 + s)/(1 − s))^j, s the share; the least length over shares is taken.
    """
    share = np.linspace(0.05, 0.98, 200)
    y = share / zoom
    rho = y + np.sqrt(y * y + 1)
    size = ((1 + share) / (1 - share)) ** order
    length = np.log(4 * size / (tol * (rho - 1))) / np.log(rho)
    return int(np.ceil(length.min())) + 1


class Diffusion(nn.Module):
    r"""A layer of a diffusion-convolutional network (Atwood and Towsley 2016): tanh of weighted features of every hop.

    .. math:: Z_{j} = \tanh(w_j \odot P^j X), \quad j = 0, \dots, H, \qquad P = A (D + I)^{-1},

    followed by a dense layer of all :math:`Z_j`. Both start as in the authors' code: w normal with deviation 0.01, the
    dense layer after Glorot and Bengio, without a bias.
    """

    def __init__(self, in_channels: int, out_channels: int, n_hops: int) -> None:
        super().__init__()
        self.n_hops = n_hops
        self.weight = nn.Parameter(torch.empty((n_hops + 1) * in_channels))
        self.dense = nn.Linear((n_hops + 1) * in_channels, out_channels)
        with torch.no_grad():
            self.weight.normal_(0, 0.01)
            nn.init.xavier_uniform_(self.dense.weight)
            self.dense.bias.zero_()

    def forward(self, diffused: Tensor) -> Tensor:
        """Map diffused features of shape (n, (H + 1) in_channels), sparse by rows or dense."""
        if diffused.layout != torch.sparse_csr:
            return self.dense(torch.tanh(diffused * self.weight))
        values = torch.tanh(diffused.values() * self.weight[diffused.col_indices()])
        product = _ValuesProduct.apply(values, self.dense.weight.T, diffused.crow_indices(), diffused.col_indices())
        return product + self.dense.bias


class _ValuesProduct(torch.autograd.Function):
    """A sparse matrix times a dense one, with gradients in the entries and in the dense one."""

    @staticmethod
    def forward(ctx: Any, values: Tensor, weight: Tensor, crow: Tensor, col: Tensor) -> Tensor:
        """Return the product."""
        ctx.save_for_backward(values, weight, crow, col)
        x = torch.sparse_csr_tensor(crow, col, values, (crow.numel() - 1, weight.shape[0]), check_invariants=False)
        return torch.sparse.mm(x, weight)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        """Return both gradients."""
        values, weight, crow, col = ctx.saved_tensors
        g, W = gradients[0].contiguous().numpy(), weight.contiguous().numpy()
        d_values, d_weight = torch.empty_like(values), torch.zeros_like(weight, memory_format=torch.contiguous_format)
        _entry_products(crow.numpy(), col.numpy(), g, W, d_values.numpy())
        transposed_product(crow.numpy(), col.numpy(), values.detach().numpy(), g, d_weight.numpy())
        return d_values, d_weight, None, None


@compiled()
def _entry_products(indptr, indices, g, W, out):  # type: ignore[no-untyped-def]
    """Write the products of row i of g and row j of W for every entry (i, j) of a sparse matrix."""
    for i in range(g.shape[0]):
        for p in range(indptr[i], indptr[i + 1]):
            j, total = indices[p], np.float32(0)
            for k in range(g.shape[1]):
                total += g[i, k] * W[j, k]
            out[p] = total


def transition(inputs: Inputs) -> sparse.csr_array:
    """Return A with each column divided by the degree plus one, as the authors of DCNN do it."""
    A = inputs.graph.adjacency
    return sparse.csr_array(A @ sparse.diags_array(1 / (np.asarray(A.sum(axis=0)).ravel() + 1)))


def diffused_features(inputs: Inputs, n_hops: int, *, binary: bool = False) -> Tensor:
    """Return the features after 0 to H steps side by side, shape (n, (H + 1) n_features), sparse by rows.

    If ``binary``, each is 1 before the first step where it is not 0.
    """
    P = transition(inputs).astype(np.float32)
    X = inputs.graph.features
    blocks = [sparse.csr_array((X != 0).astype(np.float32)) if binary else X]
    for _ in range(n_hops):
        blocks.append(sparse.csr_array(P @ blocks[-1]))
    X = sparse.csr_array(sparse.hstack(blocks))
    X.sort_indices()
    return by_rows(X, inputs.x.device)
