"""The paper's Jacobi scheme in the eigenbasis, where all vertices have the same diagonal."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.parameter import Parameter

import cayleygsp as cg
from analysis._jacobi_basis import check_diagonal, jacobi_basis


class SpectralJacobiConv(nn.Module):
    r"""What :class:`cayleygsp.nn.CayleyConv` computes with ``method="jacobi"``, in the eigenbasis.

    Two products with the eigenvectors replace r (K + 1) products with the Laplacian and their derivatives, see
    :func:`analysis._jacobi_basis.jacobi_basis`.

    Parameters
    ----------
    laplacian : cayleygsp.Laplacian
        With ones on its diagonal.
    in_channels, out_channels, order, n_iter : int
        As in :class:`cayleygsp.nn.CayleyConv`, whose parameters this layer has.
    zoom : float
        h to start from.
    tol : float
        What :meth:`taps` may leave out of each function.

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
        self,
        laplacian: cg.Laplacian,
        in_channels: int,
        out_channels: int,
        order: int,
        n_iter: int,
        zoom: float = 1.0,
        tol: float = 1e-4,
    ) -> None:
        super().__init__()
        check_diagonal(laplacian)
        self.order, self.n_iter, self.tol = order, n_iter, tol
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

    def forward(self, x: Tensor, laplacian: object = None) -> Tensor:
        """Filter signals of shape (n, in_channels); the graph is that of the layer, whatever is given."""
        x_hat = (x.T @ self.eigenvectors).T  # by rows of the large matrix, three times as fast as by its columns
        basis = jacobi_basis(self.zoom, self.eigenvalues, self.order, self.n_iter)
        spread = basis[:, :, None] * x_hat[:, None, :]
        return torch.addmm(self.bias, self.eigenvectors, spread.flatten(1) @ self.weight.flatten(0, 1))

    def taps(self, laplacian: object = None) -> Tensor:
        """Return the weights of Chebyshev terms on [0, 2], shape (n_terms, in_channels, out_channels).

        Sweeps are polynomials, whose series is exact with r (K + 1) + 1 terms; what adds up to less than the tolerance
        is left out.
        """
        n = self.order * (self.n_iter + 1) + 1
        angles = (torch.arange(n, dtype=torch.float64) + 0.5) * (math.pi / n)
        basis = jacobi_basis(self.zoom.double(), 1 + torch.cos(angles), self.order, self.n_iter)
        series = torch.cos(torch.arange(n)[:, None] * angles) @ basis * (2 / n)
        series = torch.cat([series[:1] / 2, series[1:]])
        rest = series.detach().abs().flip(0).cumsum(0).flip(0).amax(dim=1)  # of this term and all after it
        n_terms = max(int((rest > self.tol).sum()), 1)
        return torch.einsum("kb,bio->kio", series[:n_terms].to(self.weight.dtype), self.weight)
