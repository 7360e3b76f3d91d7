"""The separable recurrent graph network: two factors of the ratings, diffused on two graphs."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import Parameter

import cayleygsp as cg
from analysis._jacobi_layer import SpectralJacobiConv
from analysis.movielens.data import Ratings
from analysis.movielens.settings import CAYLEY, JACOBI, ORDERS, ORTHOGONAL, SWEEPS, Config
from cayleygsp._typing import FloatArray, IntArray
from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian
from cayleygsp.nn.ops.convolution import cheb_conv

Layer = CayleyConv | ChebConv


class RecurrentCell(nn.Module):
    r"""A long short-term memory in the form of Monti et al., with weights that all vertices share.

    All its gates are sigmoids, the candidate and the state that leaves the cell too, and the change of the factors is
    read from the memory c, not from the state h:

    .. math:: f, i, o, u = \sigma(X W + h U + b), \quad c' = f c + i u, \quad h' = o\, \sigma(c'), \quad
              \delta = \tanh(c' V + d)

    Parameters
    ----------
    features : int
        Columns of the input X, of c and of h.
    rank : int
        Columns of the change δ.

    Examples
    --------
    >>> import torch
    >>> from analysis.movielens.network import RecurrentCell
    >>> cell = RecurrentCell(32, 10)
    >>> state, change = cell(torch.ones(5, 32), None)
    >>> change.shape, sum(p.numel() for p in cell.parameters())
    (torch.Size([5, 10]), 8650)
    """

    def __init__(self, features: int, rank: int) -> None:
        super().__init__()
        self.features = features
        self.from_input = Parameter(torch.empty(features, 4 * features))
        self.from_state = Parameter(torch.empty(features, 4 * features))
        self.bias = Parameter(torch.zeros(4 * features))
        self.to_change = Parameter(torch.empty(features, rank))
        self.change_bias = Parameter(torch.zeros(rank))
        for weight in (self.from_input, self.from_state):
            for gate in weight.detach().split(features, dim=1):  # each gate is a matrix of its own
                nn.init.xavier_uniform_(gate)
        nn.init.xavier_uniform_(self.to_change)

    def forward(self, x: Tensor, state: tuple[Tensor, Tensor] | None) -> tuple[tuple[Tensor, Tensor], Tensor]:
        """Return the next memory and state, and the change of the factors.

        Parameters
        ----------
        x : Tensor, shape (n, features)
            What the convolution sees.
        state : tuple of Tensor, optional
            Memory c and state h, each of shape (n, features); zeros if not given.
        """
        gates = torch.addmm(self.bias, x, self.from_input)
        if state is not None:
            gates = torch.addmm(gates, state[1], self.from_state)
        f, i, o, u = gates.sigmoid().split(self.features, dim=1)
        c = i * u if state is None else torch.addcmul(i * u, f, state[0])
        h = o * c.sigmoid()
        return (c, h), torch.addmm(self.change_bias, c, self.to_change).tanh()


class Side(nn.Module):
    """One graph with its convolution and its recurrent cell.

    Parameters
    ----------
    model : str
        Which filters.
    config : Config
        With the sizes.
    laplacian : cayleygsp.Laplacian
        Of the users or of the movies.
    device : torch.device
        Where to compute.
    """

    def __init__(self, model: str, config: Config, laplacian: cg.Laplacian, device: torch.device) -> None:
        super().__init__()
        self.conv = make_layer(model, config)
        self.cell = RecurrentCell(config.features, config.rank)
        # in a list: constants are no part of the state of the model
        self._laplacian = [GraphLaplacian.from_laplacian(laplacian, dtype=torch.float32, device=device)]

    def forward(self, factor: Tensor, n_steps: int) -> Tensor:
        """Return the factor after some steps; the filters are the same in all of them, and their taps computed once."""
        (laplacian,) = self._laplacian
        taps, state, bias = self.conv.taps(laplacian), None, self.conv.bias
        assert bias is not None
        for _ in range(n_steps):
            filtered = cheb_conv(factor[None], taps, laplacian)[0] + bias
            state, change = self.cell(filtered.relu(), state)
            factor = factor + change
        return factor


class Network(nn.Module):
    """The separable recurrent graph network of Monti et al. [1]_, with Chebyshev or Cayley filters.

    Parameters
    ----------
    ratings : Ratings
        Its graphs are used, none of its ratings.
    start : tuple of ndarray
        The factors to begin with, shapes (n_users, rank) and (n_movies, rank).
    model : str
        Which filters.
    config : Config
        With the sizes.
    device : torch.device
        Where to compute.

    References
    ----------
    .. [1] F. Monti, M. Bronstein and X. Bresson, "Geometric matrix completion with recurrent multi-graph neural
       networks", NIPS 2017.
    """

    def __init__(
        self, ratings: Ratings, start: tuple[FloatArray, FloatArray], model: str, config: Config, device: torch.device
    ) -> None:
        super().__init__()
        self.diffusions = config.diffusions
        self.users, self.movies = (Side(model, config, L, device) for L in ratings.laplacians)
        self.start = [torch.as_tensor(factor, dtype=torch.float32, device=device) for factor in start]
        self.to(device)

    def forward(self) -> tuple[Tensor, Tensor]:
        """Return the diffused factors of users and movies."""
        users, movies = self.start
        return self.users(users, self.diffusions), self.movies(movies, self.diffusions)


def make_layer(model: str, config: Config) -> Layer:
    """Return the convolution of a model, with Glorot's start over all coefficients that reach an output."""
    sizes, order = (config.rank, config.features), ORDERS[model]
    options: dict[str, Any] = {"zoom": config.zoom, "tol": config.tol}
    layer: Layer
    if model == JACOBI:
        layer = SpectralJacobiConv(*sizes, order, SWEEPS, **options, parametrization="coefficients")
    elif model == CAYLEY:
        layer = CayleyConv(*sizes, order, **options, parametrization="coefficients")
    elif model == ORTHOGONAL:
        layer = CayleyConv(*sizes, order, **options)
    else:
        layer = ChebConv(*sizes, order + 1)
    limit = math.sqrt(6 / (layer.weight.shape[0] * config.rank + config.features))
    start = torch.empty_like(layer.weight).uniform_(-limit, limit)
    with torch.no_grad():
        if isinstance(layer, CayleyConv):
            layer.set_coefficients(start)
        else:
            for term, weights in zip(layer.lins, start, strict=True):
                cast(torch.Tensor, term.weight).copy_(weights.T)
    return layer


def start_factors(ratings: Ratings, places: IntArray, rank: int) -> tuple[FloatArray, FloatArray]:
    """Return the factors of the best approximation of that rank to the ratings at some places, zeros elsewhere.

    Examples
    --------
    >>> from analysis.movielens.data import load_ratings
    >>> from analysis.movielens.network import start_factors
    >>> ratings = load_ratings("drawn")
    >>> W, H = start_factors(ratings, ratings.train, 4)
    >>> W.shape, H.shape
    ((60, 4), (90, 4))
    """
    U, s, Vt = np.linalg.svd(ratings.only(places), full_matrices=False)
    root = np.sqrt(s[:rank])
    return U[:, :rank] * root, Vt[:rank].T * root
