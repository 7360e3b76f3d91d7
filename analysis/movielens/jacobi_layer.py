"""The paper's Jacobi scheme as one function of the frequencies, where all vertices have the same diagonal."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.parameter import Parameter

import cayleygsp as cg


class SpectralJacobiConv(nn.Module):
    r"""What :class:`cayleygsp.nn.CayleyConv` computes with ``method="jacobi"``, in the eigenbasis.

    Where the diagonal of the Laplacian is 1 everywhere, as it is for the normalized one without isolated vertices, a
    Jacobi sweep is a function of the Laplacian itself. With K sweeps after the start vector, the j-th power comes out
    as

    .. math:: \big( C(h\lambda)\, (1 - s^{K+1}) \big)^j, \qquad s = \frac{h (1 - \lambda)}{h + i},

    so that two products with the eigenvectors replace r (K + 1) products with the Laplacian and their derivatives.

    Parameters
    ----------
    laplacian : cayleygsp.Laplacian
        With ones on its diagonal.
    in_channels, out_channels, order, n_iter : int
        As in :class:`cayleygsp.nn.CayleyConv`, whose parameters this layer has.
    zoom : float
        h to start from.

    Examples
    --------
    >>> import torch
    >>> import cayleygsp as cg
    >>> from analysis.movielens.jacobi_layer import SpectralJacobiConv
    >>> layer = SpectralJacobiConv(cg.laplacian(cg.gallery.ring(16), "normalized"), 2, 8, order=3, n_iter=5)
    >>> layer(torch.ones(16, 2)).shape
    torch.Size([16, 8])
    """

    eigenvalues: Tensor
    eigenvectors: Tensor

    def __init__(
        self, laplacian: cg.Laplacian, in_channels: int, out_channels: int, order: int, n_iter: int, zoom: float = 1.0
    ) -> None:
        super().__init__()
        if not (abs(laplacian.diagonal - 1) < 1e-12).all():
            raise ValueError("`laplacian` must have ones on its diagonal: normalized, without isolated vertices")
        self.order, self.n_iter = order, n_iter
        self.weight = Parameter(torch.empty(2 * order + 1, in_channels, out_channels))
        self.bias = Parameter(torch.zeros(out_channels))
        self.log_zoom = Parameter(torch.tensor(math.log(zoom)))
        for name, array in (("eigenvalues", laplacian.eigenvalues), ("eigenvectors", laplacian.eigenvectors)):
            self.register_buffer(name, torch.tensor(array, dtype=torch.get_default_dtype()), persistent=False)
        nn.init.normal_(self.weight, std=1 / math.sqrt(in_channels * (1 + 4 * order)))

    @property
    def zoom(self) -> Tensor:
        """The zoom h."""
        return self.log_zoom.exp()

    def basis(self) -> Tensor:
        """Return the basis functions at the eigenvalues, shape (n, 2r + 1): 1, then 2 Re and −2 Im of the powers."""
        h, lam = self.zoom, self.eigenvalues
        C = torch.complex(h * lam, -torch.ones_like(lam)) / torch.complex(h * lam, torch.ones_like(lam))
        s = torch.complex(h * (1 - lam), torch.zeros_like(lam)) / torch.complex(h, torch.ones_like(h))
        y = C * (1 - s ** (self.n_iter + 1))
        columns, power = [torch.ones_like(lam)], torch.ones_like(y)
        for _ in range(self.order):
            power = power * y
            columns += [2 * power.real, -2 * power.imag]
        return torch.stack(columns, dim=1)

    def forward(self, x: Tensor, laplacian: object = None) -> Tensor:
        """Filter signals of shape (n, in_channels); the graph is that of the layer, whatever is given."""
        x_hat = (x.T @ self.eigenvectors).T  # by rows of the large matrix, three times as fast as by its columns
        spread = self.basis()[:, :, None] * x_hat[:, None, :]
        return torch.addmm(self.bias, self.eigenvectors, spread.flatten(1) @ self.weight.flatten(0, 1))
