"""Predictions from the factors, and what the networks are trained for."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from analysis.movielens.data import Ratings
from cayleygsp._typing import IntArray

LOWEST, HIGHEST = 1.0, 5.0


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
        self._places = torch.as_tensor(places, device=device)
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
        smoothness = ((W.T @ W) * (H.T @ torch.sparse.mm(movies, H))).sum()
        smoothness = smoothness + ((H.T @ H) * (W.T @ torch.sparse.mm(users, W))).sum()
        return error + self._gamma / 2 * smoothness


def predict(W: Tensor, H: Tensor, places: Tensor) -> Tensor:
    r"""Return :math:`W H^\top` at some places, stretched so that all of its entries fill the ratings from 1 to 5.

    Parameters
    ----------
    W, H : Tensor, shapes (n_users, rank) and (n_movies, rank)
        The factors.
    places : Tensor of int
        Of the flattened matrix.

    Examples
    --------
    >>> import torch
    >>> from analysis.movielens.objective import predict
    >>> W, H = torch.tensor([[1.0], [2.0]]), torch.tensor([[0.0], [2.0]])
    >>> predict(W, H, torch.tensor([0, 1, 3]))
    tensor([1., 3., 5.])
    """
    X = W @ H.T
    ends = torch.stack([_place_of_largest(-X.detach()), _place_of_largest(X.detach())])
    picked = X.flatten().index_select(0, torch.cat([places, ends]))  # the gradient has few places, not all of X
    low, high = picked[-2], picked[-1]
    return LOWEST + (HIGHEST - LOWEST) * (picked[:-2] - low) / (high - low)


def _place_of_largest(X: Tensor) -> Tensor:
    """Return where the largest entry is in the flattened matrix; by rows, since torch's argmax takes no vectors."""
    row = X.amax(dim=1).argmax()
    return row * X.shape[1] + X[row].argmax()


def root_mean_square(error: Tensor) -> float:
    """Return the root of the mean of squares, summed in double precision."""
    return float(error.double().square().mean().sqrt())


def _sparse(matrix: Any, device: torch.device) -> Tensor:
    found = matrix.tocoo()
    indices = torch.as_tensor(np.stack([found.row, found.col]).astype(np.int64))
    values = torch.as_tensor(found.data.astype(np.float32))
    return torch.sparse_coo_tensor(
        indices, values, found.shape, device=device, is_coalesced=True, check_invariants=True
    )
