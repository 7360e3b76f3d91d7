"""Predictions from the factors, and what the networks are trained for."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from analysis.movielens.data import Ratings
from cayleygsp._typing import IntArray
from cayleygsp.engine.compiling import compiled

# Rows of the product that are computed at a time when its ends are looked for: they fit into the cache.
_BLOCK = 96

LOWEST, HIGHEST = 1.0, 5.0


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
    >>> from analysis.movielens.objective import entries
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
    >>> from analysis.movielens.objective import ends
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


class Objective:
    """Squared error over some ratings, and smoothness on both graphs.

    Parameters
    ----------
    ratings : Ratings
        The ratings and the graphs.
    places : ndarray of int
        Which ratings the loss is over.
    gamma : float
        Weight of the smoothness.
    device : torch.device
        Where to compute.
    """

    def __init__(self, ratings: Ratings, places: IntArray, gamma: float, device: torch.device) -> None:
        self._places = Places(places, ratings.matrix.shape[1], device)
        self._values = torch.as_tensor(ratings.values(places), device=device)
        self._gamma = gamma
        self._laplacians = [_sparse(L.matrix, device) for L in ratings.laplacians]

    def loss(self, W: Tensor, H: Tensor) -> Tensor:
        r"""Return the mean squared error of the predictions plus the smoothness of :math:`X = W H^\top`.

        The smoothness is :math:`\frac\gamma2 (\mathrm{tr}\,X \Delta_m X^\top + \mathrm{tr}\,X^\top \Delta_u X)`,
        computed from the factors.
        """
        error = (predict(W, H, self._places) - self._values).square().mean()
        users, movies = self._laplacians
        smoothness = ((W.T @ W) * quadratic_form(movies, H)).sum() + ((H.T @ H) * quadratic_form(users, W)).sum()
        return error + self._gamma / 2 * smoothness


class Places:
    """Places of a matrix by row and column.

    Parameters
    ----------
    places : ndarray of int
        Of the flattened matrix.
    n_columns : int
        Of the matrix.
    device : torch.device
        Where to compute.
    """

    def __init__(self, places: IntArray, n_columns: int, device: torch.device) -> None:
        rows, columns = np.divmod(places, n_columns)
        self.rows, self.columns = torch.as_tensor(rows, device=device), torch.as_tensor(columns, device=device)


def predict(W: Tensor, H: Tensor, places: Places) -> Tensor:
    r"""Return :math:`W H^\top` at some places, stretched so that all of its entries fill the ratings from 1 to 5.

    Parameters
    ----------
    W, H : Tensor, shapes (n_users, rank) and (n_movies, rank)
        The factors.
    places : Places
        Which entries.

    Examples
    --------
    >>> import torch
    >>> from analysis.movielens.objective import Places, predict
    >>> W, H = torch.tensor([[1.0], [2.0]]), torch.tensor([[0.0], [2.0]])
    >>> predict(W, H, Places([0, 1, 3], 2, torch.device("cpu")))
    tensor([1., 3., 5.])
    """
    low, high = entries(W, H, *ends(W, H))
    picked = entries(W, H, places.rows, places.columns)
    return LOWEST + (HIGHEST - LOWEST) * (picked - low) / (high - low)


def quadratic_form(matrix: Tensor, H: Tensor) -> Tensor:
    r"""Return :math:`H^\top A H` for a sparse symmetric matrix A by rows."""
    return _QuadraticForm.apply(matrix, H)


class _QuadraticForm(torch.autograd.Function):
    """One sparse product, which the gradient uses too; torch transposes the matrix for that."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor, H: Tensor) -> Tensor:
        product = matrix @ H
        ctx.save_for_backward(product)
        return H.T @ product

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        (product,) = ctx.saved_tensors
        return None, product @ (gradient + gradient.T)


def root_mean_square(error: Tensor) -> float:
    """Return the root of the mean of squares, summed in double precision."""
    return float(error.double().square().mean().sqrt())


def _sparse(matrix: Any, device: torch.device) -> Tensor:
    by_rows = matrix.tocsr()
    starts, columns = (torch.as_tensor(part.astype(np.int32)) for part in (by_rows.indptr, by_rows.indices))
    values = torch.as_tensor(by_rows.data.astype(np.float32))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta state")
        return torch.sparse_csr_tensor(starts, columns, values, by_rows.shape, device=device, check_invariants=True)
