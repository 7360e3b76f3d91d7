"""Layers of Cayley filters by the paper's Jacobi scheme, computed without its sweeps."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from cayleygsp.nn import CayleyConv, GraphLaplacian
from cayleygsp.nn.ops.exact import mix_frequencies


def jacobi_basis(zoom: Tensor, eigenvalues: Tensor, order: int, n_iter: int) -> Tensor:
    r"""Return what Jacobi sweeps make of the powers of the Cayley transform, at the eigenvalues.

    Where the diagonal of the Laplacian is 1 everywhere, as it is for the normalized one without isolated vertices, a
    Jacobi sweep is a function of the Laplacian itself. With K sweeps after the start vector, the j-th power comes out
    as

    .. math:: \big( C(h\lambda)\, (1 - s^{K+1}) \big)^j, \qquad s = \frac{h (1 - \lambda)}{h + i}.

    Parameters
    ----------
    zoom : Tensor
        h.
    eigenvalues : Tensor, shape (n,)
        λ.
    order, n_iter : int
        r and K.

    Returns
    -------
    Tensor, shape (n, 2r + 1)
        1, then twice the real and minus twice the imaginary part of each power.

    Examples
    --------
    >>> import torch
    >>> from analysis._jacobi_layer import jacobi_basis
    >>> jacobi_basis(torch.tensor(1.0), torch.tensor([1.0]), order=1, n_iter=0)  # one sweep is enough at λ = 1
    tensor([[1., 0., 2.]])
    """
    h, lam = zoom, eigenvalues
    C = torch.complex(h * lam, -torch.ones_like(lam)) / torch.complex(h * lam, torch.ones_like(lam))
    s = torch.complex(h * (1 - lam), torch.zeros_like(lam)) / torch.complex(h, torch.ones_like(h))
    y = C * (1 - s ** (n_iter + 1))
    columns, power = [torch.ones_like(lam)], torch.ones_like(y)
    for _ in range(order):
        power = power * y
        columns += [2 * power.real, -2 * power.imag]
    return torch.stack(columns, dim=1)


class SpectralJacobiConv(CayleyConv):
    """What :class:`cayleygsp.nn.CayleyConv` computes with ``method="jacobi"``, in the eigenbasis or by Chebyshev terms.

    The graph must have ones on the diagonal of its Laplacian, where sweeps are a function of the frequencies
    (:func:`analysis._jacobi_layer.jacobi_basis`). A step takes a small part of the time that the sweeps take, and gives
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
