"""The networks that are timed, and the graphs."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

import cayleygsp as cg
from analysis._networks import CHEBNET, N_COMMUNITIES, N_FEATURES
from analysis.complexity.settings import AVERAGE_DEGREE, EIGENBASIS, INNER_SHARE, INVERSION, SERIES, TOL, ZOOM
from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian


class InversionConv(CayleyConv):
    """The convolution as in the paper's exact form: a dense complex system is solved in every call.

    C(hΔ) is formed once per call by solving with hΔ + iI; then every power is a dense product with the signals.
    """

    def convolve(self, x: Tensor, laplacian: GraphLaplacian) -> Tensor:
        """Filter signals of shape (batch, n, in_channels)."""
        batch, n, channels = x.shape
        hL = self.zoom * laplacian.dense().to(x.dtype)
        eye = torch.eye(n, dtype=x.dtype, device=x.device)
        C = torch.linalg.solve(torch.complex(hL, eye), torch.complex(hL, -eye))
        y = x.transpose(0, 1).reshape(n, batch * channels).to(C.dtype)
        blocks = [y.real]
        for _ in range(self.order):
            y = C @ y
            blocks += [2 * y.real, -2 * y.imag]
        rows = torch.stack(blocks, dim=1).view(n, -1, batch, channels).permute(2, 0, 1, 3)
        return rows.reshape(batch, n, -1) @ self.coefficients().reshape(-1, self.out_channels)


def make_layer(model: str, order: int) -> CayleyConv | ChebConv:
    """Return the convolution of a model."""
    if model == CHEBNET:
        return ChebConv(1, N_FEATURES, order + 1, normalization=None)
    options: dict[str, Any] = {"zoom": ZOOM, "normalization": None}
    if model == INVERSION:
        return InversionConv(1, N_FEATURES, order, method="exact", **options)
    if model == EIGENBASIS:
        return CayleyConv(1, N_FEATURES, order, method="exact", **options)
    if model == SERIES:
        return CayleyConv(1, N_FEATURES, order, tol=TOL, **options)
    return CayleyConv(1, N_FEATURES, order, method="jacobi", n_iter=int(model.split()[1]), **options)


class Network(nn.Module):
    """One convolution, ReLU, mean over the vertices, linear classifier."""

    def __init__(self, model: str, order: int, laplacian: GraphLaplacian) -> None:
        super().__init__()
        self.conv, self.classify = make_layer(model, order), nn.Linear(N_FEATURES, N_COMMUNITIES)
        self._laplacian = [laplacian]  # shared by all networks: not a part of this one

    def forward(self, x: Tensor) -> Tensor:
        """Classify signals of shape (batch, n, 1)."""
        return self.classify(self.conv(x, self._laplacian[0]).relu().mean(1))


def make_graph(n_vertices: int, seed: int) -> cg.Graph:
    """Return 15 communities with as many edges per vertex at every size, so that time can only grow with n."""
    size = n_vertices / N_COMMUNITIES
    p_in = min(INNER_SHARE * AVERAGE_DEGREE / (size - 1), 1.0)
    p_out = (1 - INNER_SHARE) * AVERAGE_DEGREE / (n_vertices - size)
    return cg.gallery.communities(N_COMMUNITIES, n_vertices=n_vertices, p_in=p_in, p_out=p_out, rng=seed)
