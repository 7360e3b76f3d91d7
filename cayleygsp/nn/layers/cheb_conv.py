"""Convolution with learned Chebyshev filters, as PyTorch Geometric has it."""

from __future__ import annotations

from typing import Any, Literal, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import Parameter, UninitializedParameter

from cayleygsp._typing import ArrayLike, FloatArray, GraphLike
from cayleygsp._validation import check_choice, check_eigenvalues, check_integer, check_positive
from cayleygsp.filters import ChebyshevFilter
from cayleygsp.laplacians import Laplacian
from cayleygsp.laplacians import laplacian as core_laplacian
from cayleygsp.nn.graph.laplacian import NORMALIZATIONS, GraphLaplacian, ScaledLaplacian
from cayleygsp.nn.layers.base import NO_FILTERS, GraphConv, glorot_like
from cayleygsp.nn.ops.convolution import cheb_conv
from cayleygsp.nn.ops.exact import exact_cheb_conv
from cayleygsp.nn.ops.operation import outside_inference


class ChannelMix(nn.Module):
    """The matrix of one term, shape (out_channels, in_channels) as torch's linear layers have it."""

    weight: Parameter

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__()
        if in_channels == -1:
            self.register_parameter("weight", UninitializedParameter())  # type: ignore[arg-type]
        else:
            self.weight = Parameter(torch.empty(out_channels, in_channels))

    def _save_to_state_dict(self, *args: Any, **kwargs: Any) -> None:
        if not isinstance(self.weight, UninitializedParameter):  # else there is nothing to save
            super()._save_to_state_dict(*args, **kwargs)

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        if not isinstance(self.weight, UninitializedParameter):  # else the layer had no use for what was given
            super()._load_from_state_dict(*args, **kwargs)


_METHODS = ("recurrence", "exact")


class ChebConv(GraphConv):
    r"""A layer of Chebyshev filters, one for each pair of channels (equation 2 of the paper).

    .. math:: y_o = b_o + \sum_i \sum_{k=0}^{K-1} \alpha_{k,io}\, T_k(\tilde\Delta) x_i,
              \qquad \tilde\Delta = 2\Delta/\lambda_{max} - I

    Signature, names of parameters, Laplacian and λ_max are those of PyTorch Geometric's ``ChebConv``, and so are its
    results. Any weighted graph will do, directed or not.

    Parameters
    ----------
    in_channels : int
        Channels of the input, or -1 to find out at the first call.
    out_channels : int
        Channels of the output.
    K : int
        Terms of a filter, at least 1; its order is K − 1.
    normalization : {"sym", "rw", None}
        The Laplacian :math:`I - D^{-1/2} W D^{-1/2}`, :math:`I - D^{-1} W` or :math:`D - W`.
    bias : bool
        Whether to add a learned number to each output channel.
    method : {"recurrence", "exact"}
        "recurrence": a product with the Laplacian for each term. "exact": the dense eigenbasis, which a prepared
        :class:`GraphLaplacian` computes once and keeps; for many signals with many channels on a small graph.
    cached : bool
        Prepare the graph at the first call and keep it, for training on one graph (transductive learning): what later
        calls give in its place is not looked at, so that a changed graph is not noticed. :meth:`reset_parameters`,
        another device and another precision forget it. Layers can share one :class:`GraphLaplacian` instead.

    Attributes
    ----------
    lins : ModuleList
        ``lins[k].weight``, shape (out_channels, in_channels), holds :math:`\alpha_k`.
    weight : Tensor, shape (K, in_channels, out_channels)
        All of them, as the filters have them.

    Notes
    -----
    Edges are taken as PyTorch Geometric takes them: self-loops are left out, a vertex without edges has the eigenvalue
    1 if normalized, λ_max is twice the largest entry of the Laplacian unless ``lambda_max`` says another. In a batch
    each graph has a λ_max of its own, so that what a graph gives does not depend on the others. A prepared
    :class:`GraphLaplacian` brings its own λ_max and the conventions of the core.

    Weights start uniform with a variance of 2/(in_channels (K + 1)), :math:`T_k^2` being 1/2 on the average for k > 0.

    Shapes: x (n, in_channels) or (batch, n, in_channels) gives the same with out_channels.

    Examples
    --------
    >>> import torch
    >>> from cayleygsp.nn import ChebConv
    >>> layer = ChebConv(-1, 8, K=5)
    >>> edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> layer(torch.ones(3, 5), edge_index).shape
    torch.Size([3, 8])
    >>> layer
    ChebConv(5, 8, K=5, normalization=sym)
    """

    matrix = ScaledLaplacian

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        K: int,
        normalization: str | None = "sym",
        bias: bool = True,
        *,
        method: Literal["recurrence", "exact"] = "recurrence",
        cached: bool = False,
    ) -> None:
        if normalization not in (None, "sym", "rw"):
            raise ValueError(f"`normalization` must be 'sym', 'rw' or None, got {normalization!r}")
        super().__init__(in_channels, out_channels, normalization, bias, cached)
        self.order = check_integer(K, "K", at_least=1) - 1
        self.method = check_choice(method, "method", _METHODS)
        self.lins = nn.ModuleList(ChannelMix(self.in_channels, self.out_channels) for _ in range(self.order + 1))
        self.reset_parameters()

    @property
    def weight(self) -> Tensor:  # type: ignore[override]
        """The coefficients of all terms, shape (K, in_channels, out_channels)."""
        return torch.stack([cast(Tensor, lin.weight) for lin in self.lins]).transpose(1, 2)

    @property
    def parameter(self) -> Parameter:
        """A parameter whose precision and device are those of the layer."""
        return cast(Parameter, self.lins._modules["0"].weight)

    def _give_shape(self, in_channels: int) -> None:
        self.in_channels = in_channels
        for lin in self.lins:
            cast(UninitializedParameter, lin.weight).materialize((self.out_channels, in_channels))

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights again and forget a graph that is kept.

        Parameters
        ----------
        generator : torch.Generator, optional
            Source of random numbers; torch's global one by default.
        """
        self._kept = ()
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)
        if not self.is_lazy:
            self._draw_weight(generator)

    def _draw_weight(self, generator: torch.Generator | None = None) -> None:
        for lin in self.lins:
            glorot_like(cast(Tensor, lin.weight).T, 1 + self.order / 2, generator)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any, **kwargs: Any) -> None:
        names = [f"{prefix}lins.{k}.weight" for k in range(self.order + 1)]
        given = {name: state_dict[name] for name in names if name in state_dict}
        if self.is_lazy and given:
            shapes = {name: tuple(getattr(w, "shape", ())) for name, w in given.items()}
            shape = shapes[next(iter(shapes))]
            if len(set(shapes.values())) > 1 or len(shape) != 2 or shape[0] != self.out_channels or not shape[1]:
                args[-1].extend(
                    f"size mismatch for {name}: got shape {shape}, the layer needs {(self.out_channels, -1)}, -1 being "
                    "any number, the same in all terms"
                    for name, shape in shapes.items()
                )
            elif len(given) <= self.order:  # the others are drawn
                self.materialize(shape[1])
            else:
                with outside_inference():
                    self._give_shape(shape[1])
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    def taps(self, laplacian: GraphLaplacian | ScaledLaplacian) -> Tensor:
        """Return the weights of all terms, shape (K, in_channels, out_channels)."""
        return self.weight

    def convolve(self, x: Tensor, laplacian: GraphLaplacian | ScaledLaplacian) -> Tensor:
        """Filter signals of shape (batch, n, in_channels)."""
        if self.method == "recurrence":
            return cheb_conv(x, self.weight, laplacian)
        if isinstance(laplacian, ScaledLaplacian):
            raise ValueError("method 'exact' must get a prepared GraphLaplacian or a cayleygsp.Laplacian, got edges")
        return exact_cheb_conv(x, self.weight, laplacian)

    def convolve_sparse(self, x: Tensor, laplacian: GraphLaplacian | ScaledLaplacian) -> Tensor:
        """Filter sparse signals of shape (n, in_channels): channels first, if that leaves fewer."""
        if self.in_channels <= self.out_channels or laplacian.values.requires_grad or self.method == "exact":
            return super().convolve_sparse(x, laplacian)
        return cheb_conv(x, self.weight, laplacian)[0]

    def extra_repr(self) -> str:
        """Return the sizes, for ``repr``."""
        sizes = f"{self.in_channels}, {self.out_channels}, K={self.order + 1}, normalization={self.normalization}"
        return sizes if self.method == "recurrence" else f"{sizes}, method={self.method}"

    def to_filter(self, graph: GraphLike, in_channel: int, out_channel: int, **options: Any) -> ChebyshevFilter:
        """Return the learned filter from one channel to another as a filter of the core, without the bias.

        Parameters
        ----------
        graph : Laplacian, Graph, pygsp.graphs.Graph, networkx graph, scipy sparse or dense adjacency
            See :func:`cayleygsp.laplacian`; the kind of Laplacian is that of the layer, "sym" or None.
        in_channel, out_channel : int
            Which filter.
        **options
            Passed to :class:`cayleygsp.ChebyshevFilter`. By default ``lmax`` is what the layer scales by: that of a
            Laplacian, twice the largest degree of a graph without normalization.
        """
        if self.normalization not in NORMALIZATIONS:
            raise ValueError("`normalization` must be 'sym' or None for a filter of the core, got 'rw'")
        L = core_laplacian(graph, NORMALIZATIONS[self.normalization])
        if self.normalization is None and not isinstance(graph, Laplacian) and L.diagonal.any():
            options = {"lmax": 2 * float(L.diagonal.max()), **options}
        weights = self._weights()
        i, o = self._filter_index(in_channel, out_channel)
        coeffs = weights[:, i, o] if self.order else np.append(weights[:, i, o], 0.0)
        return ChebyshevFilter(L, coeffs, **options)

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
            raise ValueError(NO_FILTERS)
        return self.weight.detach().double().cpu().numpy()
