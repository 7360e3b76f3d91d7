"""Single entries of a product of factors, without the whole product."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from cayleygsp.engine.compiling import compiled

# Rows of the product that are computed at a time when its ends are looked for: they fit into the cache.
_BLOCK = 96


def entries(W: Tensor, H: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    r"""Return some entries of :math:`W H^\top`.

    Parameters
    ----------
    W, H : Tensor, shapes (n, rank) and (m, rank)
        The factors.
    rows, columns : Tensor of int
        Which entries.

    Examples
    --------
    >>> import torch
    >>> from analysis.movielens.product_entries import entries
    >>> W, H = torch.tensor([[1.0], [2.0]]), torch.tensor([[0.0], [2.0]])
    >>> entries(W, H, torch.tensor([0, 1]), torch.tensor([1, 1]))
    tensor([2., 4.])
    """
    if W.device.type != "cpu":
        return (W[rows] * H[columns]).sum(dim=1)
    return _Entries.apply(W, H, rows, columns)


def ends(W: Tensor, H: Tensor) -> tuple[Tensor, Tensor]:
    r"""Return rows and columns of the least and of the largest entry of :math:`W H^\top`.

    Examples
    --------
    >>> import torch
    >>> from analysis.movielens.product_entries import ends
    >>> ends(torch.tensor([[1.0], [2.0]]), torch.tensor([[0.0], [2.0], [1.0]]))
    (tensor([0, 1]), tensor([0, 1]))
    """
    W, H = W.detach(), H.detach()
    least, largest = W.new_empty(len(W)), W.new_empty(len(W))
    product = W.new_empty(_BLOCK, len(H))
    for block, low, high in zip(*(part.split(_BLOCK) for part in (W, least, largest)), strict=True):
        X = torch.mm(block, H.T, out=product[: len(block)])
        torch.amin(X, dim=1, out=low)
        torch.amax(X, dim=1, out=high)
    rows = torch.stack([least.argmin(), largest.argmax()])
    low, high = W[rows] @ H.T
    return rows, torch.stack([low.argmin(), high.argmax()])


class _Entries(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, W: Tensor, H: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        ctx.save_for_backward(W, H, rows, columns)
        out = W.new_empty(len(rows))
        _dots(W.numpy(), H.numpy(), rows.numpy(), columns.numpy(), out.numpy())
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        W, H, rows, columns = ctx.saved_tensors
        dW, dH = torch.zeros_like(W), torch.zeros_like(H)
        g = gradient.contiguous().numpy()
        _add_products(g, W.numpy(), H.numpy(), rows.numpy(), columns.numpy(), dW.numpy(), dH.numpy())
        return dW, dH, None, None


@compiled()
def _dots(W, H, rows, columns, out):  # type: ignore[no-untyped-def]
    for p in range(len(rows)):
        total = W.dtype.type(0)
        for d in range(W.shape[1]):
            total += W[rows[p], d] * H[columns[p], d]
        out[p] = total


@compiled()
def _add_products(g, W, H, rows, columns, dW, dH):  # type: ignore[no-untyped-def]
    for p in range(len(rows)):
        i, j = rows[p], columns[p]
        for d in range(W.shape[1]):
            dW[i, d] += g[p] * H[j, d]
            dH[j, d] += g[p] * W[i, d]
