"""Layers of Cayley filters by the paper's Jacobi scheme, computed without its sweeps."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from analysis._jacobi_basis import jacobi_basis
from cayleygsp.nn import CayleyConv, GraphLaplacian
from cayleygsp.nn.ops.exact import mix_frequencies


class SpectralJacobiConv(CayleyConv):
    """What :class:`cayleygsp.nn.CayleyConv` computes with ``method="jacobi"``, in the eigenbasis or by Chebyshev terms.

    The graph must have ones on the diagonal of its Laplacian, where sweeps are a function of the frequencies
    (:func:`analysis._jacobi_basis.jacobi_basis`). A step takes a small part of the time that the sweeps take, and gives
    the same numbers to rounding.

    Parameters
    ----------
    in_channels, out_channels, order : int
        As in :class:`cayleygsp.nn.CayleyConv`.
    n_iter : int
        Sweeps after the start vector.
    **options
        As there: the zoom to start from, the parametrization, the bias; ``tol`` is what :meth:`taps` may leave out of
        each function.

    Examples
    --------
    >>> import torch
    >>> import cayleygsp as cg
    >>> from analysis._jacobi_layer import SpectralJacobiConv
    >>> layer = SpectralJacobiConv(2, 8, order=3, n_iter=5)
    >>> layer(torch.ones(16, 2), cg.laplacian(cg.gallery.ring(16), "normalized")).shape
    torch.Size([16, 8])
    """

    def __init__(self, in_channels: int, out_channels: int, order: int, n_iter: int, **options: Any) -> None:
        super().__init__(in_channels, out_channels, order, method="jacobi", n_iter=n_iter, **options)

    def convolve(self, x: Tensor, laplacian: GraphLaplacian) -> Tensor:
        """Filter signals of shape (batch, n, in_channels)."""
        _check_diagonal(laplacian)
        lam, Phi = (t.to(x.dtype) for t in laplacian.eigenbasis())
        return mix_frequencies(x, self.coefficients(), jacobi_basis(self.zoom, lam, self.order, self.n_iter), Phi)

    def taps(self, laplacian: GraphLaplacian) -> Tensor:
        """Return the weights of Chebyshev terms of the scaled Laplacian, shape (n_terms, in_channels, out_channels).

        Sweeps are polynomials, whose series is exact with r (K + 1) + 1 terms; what adds up to less than the tolerance
        is left out.
        """
        _check_diagonal(laplacian)
        n, a = self.order * (self.n_iter + 1) + 1, float(laplacian.lmax.max()) / 2
        angles = (torch.arange(n, dtype=torch.float64) + 0.5) * (math.pi / n)
        basis = jacobi_basis(self.zoom.double(), a * (1 + torch.cos(angles)), self.order, self.n_iter)
        series = torch.cos(torch.arange(n)[:, None] * angles) @ basis * (2 / n)
        series = torch.cat([series[:1] / 2, series[1:]])
        rest = series.detach().abs().flip(0).cumsum(0).flip(0).amax(dim=1)  # of this term and all after it
        n_terms = max(int((rest > self.tol).sum()), 1)
        return torch.einsum("kb,bio->kio", series[:n_terms].to(self.weight.dtype), self.coefficients())


def _check_diagonal(laplacian: GraphLaplacian) -> None:
    """Reject a Laplacian on which Jacobi sweeps are no function of the frequencies."""
    if bool(((laplacian.diagonal - 1).abs() > 1e-6).any()):
        raise ValueError("the Laplacian must have ones on its diagonal: normalized, without isolated vertices")
