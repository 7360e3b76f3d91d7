"""Products of sparse signals with dense matrices."""

from __future__ import annotations

import warnings
from typing import Any, cast

import torch
from torch import Tensor

from cayleygsp.engine.tiles import transposed_product


def sparse_product(x: Tensor, weight: Tensor) -> Tensor:
    """Return sparse x of shape (n, m) times a dense matrix, with a gradient in the latter.

    If x asks for a gradient, torch's own product is taken.
    """
    if x.requires_grad or x.device.type != "cpu" or torch.compiler.is_compiling():
        return torch.sparse.mm(x, weight)
    return cast(Tensor, _Product.apply(weight, x if x.layout == torch.sparse_csr else _by_rows(x)))


def _by_rows(x: Tensor) -> Tensor:
    """Return x in compressed rows, without torch's remark that they are in beta state."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state", UserWarning)
        return x.to_sparse_csr()


class _Product(torch.autograd.Function):
    """A sparse product whose gradient goes by the rows of x: torch would sort it by columns at every call."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, x: Tensor) -> Tensor:
        """Return x times the weights."""
        ctx.save_for_backward(x.crow_indices(), x.col_indices(), x.values())
        ctx.shape = x.shape
        return torch.sparse.mm(x, weight)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        """Return the gradient in the weights."""
        return _TransposedProduct.apply(gradients[0], ctx.shape, *ctx.saved_tensors), None


class _TransposedProduct(torch.autograd.Function):
    """The product with the transposed of a sparse matrix, which is given by its parts."""

    @staticmethod
    def forward(ctx: Any, y: Tensor, shape: torch.Size, *parts: Tensor) -> Tensor:
        """Return the transposed of x times y."""
        ctx.save_for_backward(*parts)
        ctx.shape = shape
        out = y.new_zeros((shape[1], y.shape[1]))
        indptr, indices, values = (t.numpy() for t in parts)
        transposed_product(indptr, indices, values, y.detach().contiguous().numpy(), out.numpy())
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        """Return the gradient in y."""
        indptr, indices, values = ctx.saved_tensors
        x = torch.sparse_csr_tensor(indptr, indices, values, size=ctx.shape, check_invariants=False)
        return _Product.apply(gradients[0], x), None, None, None, None
