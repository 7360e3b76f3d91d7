"""Convolution with learned Chebyshev filters."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from cayleygsp._typing import ArrayLike, FloatArray, GraphLike
from cayleygsp._validation import check_eigenvalues, check_positive
from cayleygsp.filters import ChebyshevFilter
from cayleygsp.laplacians import laplacian as core_laplacian
from cayleygsp.nn.conv_op import cheb_conv
from cayleygsp.nn.graph_laplacian import NORMALIZATIONS, GraphLaplacian
from cayleygsp.nn.layer import GraphConv, check_channel, glorot_like


class ChebConv(GraphConv):
    r"""A layer of Chebyshev filters, one for each pair of channels, Eq. (2) of the paper.

    .. math:: y_o = b_o + \sum_i \sum_{k=0}^r \alpha_{k,io}\, T_k(\tilde\Delta) x_i,
              \qquad \tilde\Delta = 2\Delta/\lambda_{max} - I

    Parameters
    ----------
    in_channels : int
        Channels of the input, or -1 to find out at the first call.
    out_channels : int
        Channels of the output.
    order : int
        r ≥ 1: a filter has r + 1 terms. PyTorch Geometric's ``ChebConv(in, out, K)`` counts terms: K = r + 1.
    normalization : {"sym", None}
        Normalized Laplacian, whose λ_max is taken to be 2, or combinatorial, with a guaranteed upper bound.
    bias : bool
        Whether to add a learned number to each output channel.

    Attributes
    ----------
    weight : Parameter, shape (r + 1, in_channels, out_channels)
        :math:`\alpha_k`.

    Notes
    -----
    In a batch every graph is scaled by its own λ_max: what a graph gives does not depend on the others. Weights start
    uniform with a variance of 2/(in_channels (r + 2)), :math:`T_k^2` being 1/2 on the average for k > 0.

    Shapes: x (n, in_channels) or (batch, n, in_channels) gives the same with out_channels.

    Examples
    --------
    >>> import torch
    >>> from cayleygsp.nn import ChebConv
    >>> layer = ChebConv(-1, 8, order=4)
    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> layer(torch.ones(3, 5), edge_index).shape
    torch.Size([3, 8])
    >>> layer
    ChebConv(5, 8, order=4, normalization='sym')
    """

    def __init__(
        self, in_channels: int, out_channels: int, order: int, *, normalization: str | None = "sym", bias: bool = True
    ) -> None:
        super().__init__(in_channels, out_channels, order, normalization, bias)
        self._make_weight()
        self.reset_parameters()

    def weight_shape(self, in_channels: int) -> tuple[int, ...]:
        """Return the shape of the weights."""
        return (self.order + 1, in_channels, self.out_channels)

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights again.

        Parameters
        ----------
        generator : torch.Generator, optional
            Source of random numbers; torch's global one by default.
        """
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)
        if not self.is_lazy:
            self.draw_weight(generator)

    def draw_weight(self, generator: torch.Generator | None = None) -> None:
        """Draw ``weight`` again and leave all other parameters as they are.

        Parameters
        ----------
        generator : torch.Generator, optional
            Source of random numbers; torch's global one by default.
        """
        glorot_like(self.weight, 1 + self.order / 2, generator)

    def convolve(self, x: Tensor, laplacian: GraphLaplacian) -> Tensor:
        """Filter signals of shape (batch, n, in_channels)."""
        return cheb_conv(x, self.weight, laplacian)

    def to_filter(self, graph: GraphLike, in_channel: int, out_channel: int, **options: Any) -> ChebyshevFilter:
        """Return the learned filter from one channel to another as a filter of the core, without the bias.

        Parameters
        ----------
        graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
            See :func:`cayleygsp.laplacian`; the kind of Laplacian is that of the layer.
        in_channel, out_channel : int
            Which filter.
        **options
            Passed to :class:`cayleygsp.ChebyshevFilter`.
        """
        L = core_laplacian(graph, NORMALIZATIONS[self.normalization])
        weights = self._weights()
        i = check_channel(in_channel, self.in_channels, "in_channel")
        o = check_channel(out_channel, self.out_channels, "out_channel")
        return ChebyshevFilter(L, weights[:, i, o], **options)

    def responses(self, eigenvalues: ArrayLike, lmax: float = 2.0) -> FloatArray:
        """Return all learned responses at the given frequencies.

        Parameters
        ----------
        eigenvalues : array_like, shape (k,)
            Frequencies.
        lmax : float
            λ_max of the graph; 2 for normalized Laplacians.

        Returns
        -------
        numpy.ndarray, shape (k, in_channels, out_channels)
        """
        lam = check_eigenvalues(eigenvalues).astype(np.float64)
        if lam.ndim != 1:
            raise ValueError(f"`eigenvalues` must be one-dimensional, got shape {lam.shape}")
        terms = np.polynomial.chebyshev.chebvander(2 * lam / check_positive(lmax, "lmax") - 1, self.order)
        return np.tensordot(terms, self._weights(), axes=1)

    def _weights(self) -> FloatArray:
        if self.is_lazy:
            raise ValueError("the layer has no filters before its first call: in_channels is not known")
        return self.weight.detach().double().cpu().numpy()
