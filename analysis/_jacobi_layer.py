"""Layers of Cayley filters by the paper's Jacobi scheme, computed in the eigenbasis."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from analysis._jacobi_basis import jacobi_basis
from cayleygsp.nn import CayleyConv, GraphLaplacian
from cayleygsp.nn.exact import mix_frequencies


class SpectralJacobiConv(CayleyConv):
    """What :class:`cayleygsp.nn.CayleyConv` computes with ``method="jacobi"``, without its sweeps.

    The graph must have ones on the diagonal of its Laplacian, where sweeps are a function of the frequencies
    (:func:`analysis._jacobi_basis.jacobi_basis`). On the graphs of MNIST a step takes a small part of the time that the
    sweeps take, and gives the same numbers to rounding.

    Parameters
    ----------
    in_channels, out_channels, order : int
        As in :class:`cayleygsp.nn.CayleyConv`.
    n_iter : int
        Sweeps after the start vector.
    **options
        As there: the zoom to start from, and the parametrization.
    """

    def __init__(self, in_channels: int, out_channels: int, order: int, n_iter: int, **options: Any) -> None:
        super().__init__(in_channels, out_channels, order, bias=False, method="jacobi", n_iter=n_iter, **options)

    def convolve(self, x: Tensor, laplacian: GraphLaplacian) -> Tensor:
        """Filter signals of shape (batch, n, in_channels)."""
        if bool(((laplacian.diagonal - 1).abs() > 1e-6).any()):
            raise ValueError("the Laplacian must have ones on its diagonal: normalized, without isolated vertices")
        lam, Phi = (t.to(x.dtype) for t in laplacian.eigenbasis())
        return mix_frequencies(x, self.coefficients(), jacobi_basis(self.zoom, lam, self.order, self.n_iter), Phi)
