"""Fixed signals in the eigenbasis of their graph."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from cayleygsp.laplacians import Laplacian
from cayleygsp.nn.features import BlockFeatures, as_columns, check_laplacian, check_signals, chosen
from cayleygsp.nn.graph.laplacian import GraphLaplacian
from cayleygsp.responses.basis import power_basis, zoom_derivative


class EigenbasisFeatures(BlockFeatures):
    r"""The spectrum :math:`\Phi^\top X` of many signals that do not change in training, for the method "exact".

    A step multiplies it with the basis functions and with Φ; neither a product with :math:`\Phi^\top` nor a way back
    is needed. The signals take as much memory as they do, the eigenbasis that of a dense matrix: for small graphs.

    Parameters
    ----------
    x : Tensor, shape (n_signals, n, channels)
        Signals on one graph.
    laplacian : GraphLaplacian or cayleygsp.Laplacian
        The graph.

    Attributes
    ----------
    eigenvalues : Tensor, shape (n,)
        λ, in double precision.
    eigenvectors : Tensor, shape (n, n)
        Φ, in the precision of x.
    spectrum : Tensor, shape (n, n_signals, channels)
        :math:`\Phi^\top X`.

    Examples
    --------
    >>> import torch
    >>> import cayleygsp as cg
    >>> from cayleygsp.nn import EigenbasisFeatures, PrecomputedCayleyConv
    >>> L = cg.laplacian(cg.gallery.ring(20), "normalized")
    >>> features = EigenbasisFeatures(torch.ones(100, 20, 1), L)
    >>> features
    EigenbasisFeatures(n_signals=100, n_vertices=20, channels=1)
    >>> layer = PrecomputedCayleyConv(1, 8, order=3)
    >>> layer(features, torch.tensor([7, 12, 80])).shape
    torch.Size([3, 20, 8])
    """

    def __init__(self, x: Tensor, laplacian: GraphLaplacian | Laplacian) -> None:
        x = check_signals(x, 3, "(n_signals, n, channels)")
        laplacian = check_laplacian(laplacian, x.shape[1], x.device)
        self.normalization = laplacian.normalization
        _, self.n_vertices, self.channels = x.shape
        lam, Phi = laplacian.eigenbasis()
        self.eigenvalues = lam.clamp(min=0.0)
        self.eigenvectors = Phi.to(x.dtype)
        columns = as_columns(x)
        # on the host, once
        spectrum = self.eigenvectors.cpu().numpy().T @ columns.flatten(1).cpu().numpy()
        self.spectrum = torch.from_numpy(spectrum).to(x.device).view_as(columns)

    def blocks(self, index: Tensor | None, zoom: float, order: int, real: bool, like: Tensor) -> tuple[Tensor, Tensor]:
        """Return blocks of filtered signals and their derivatives; see ``BlockFeatures.blocks``."""
        basis = power_basis(order + 1, zoom * self.eigenvalues.cpu().numpy(), real=real)
        functions, derivative = (torch.from_numpy(a).to(like) for a in (basis, zoom_derivative(order, real=real)))
        spectrum = chosen(self.spectrum, index).to(like)
        spread = spectrum[..., None] * functions[:, None, None, :]
        return (self.eigenvectors.to(like) @ spread.flatten(1)).view(spread.shape), derivative

    def to(self, *args: Any, **kwargs: Any) -> EigenbasisFeatures:
        """Move or cast, as ``Tensor.to`` does; returns itself."""
        self.eigenvectors = self.eigenvectors.to(*args, **kwargs)
        self.spectrum = self.spectrum.to(*args, **kwargs)
        return self

    def __len__(self) -> int:
        return int(self.spectrum.shape[1])

    def __repr__(self) -> str:
        return f"EigenbasisFeatures(n_signals={len(self)}, n_vertices={self.n_vertices}, channels={self.channels})"
