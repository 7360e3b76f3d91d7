"""What the layers share: how a graph is given, channels that are found at the first call, checks of the input."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import Parameter, UninitializedParameter
from typing_extensions import Self

from cayleygsp._validation import check_integer
from cayleygsp.filters import ConvergenceWarning
from cayleygsp.laplacians import Laplacian
from cayleygsp.nn.graph.build import asks_for_gradient
from cayleygsp.nn.graph.laplacian import NORMALIZATIONS, GraphLaplacian, ScaledLaplacian
from cayleygsp.nn.ops.operation import full_precision, outside_inference

# Signals of lower precision than the layers compute in.
HALF = (torch.bfloat16, torch.float16)

NO_FILTERS = "the layer has no filters before its first call: in_channels is not known"


class GraphConv(nn.Module, ABC):
    """Base of the layers.

    A subclass sets ``matrix``, ``parameter``, ``reset_parameters``, ``_give_shape``, ``_draw_weight`` and ``convolve``.
    """

    weight: Tensor
    bias: Parameter | None
    order: int

    # What edges are made into.
    matrix: type[GraphLaplacian] | type[ScaledLaplacian]

    # What was prepared at the first call if the layer is ``cached``; in a tuple, which makes it no part of the state.
    _kept: tuple[GraphLaplacian | ScaledLaplacian, ...] = ()

    def __init__(
        self, in_channels: int, out_channels: int, normalization: str | None, bias: bool, cached: bool
    ) -> None:
        super().__init__()
        self.cached = bool(cached)
        if in_channels != -1:
            in_channels = check_integer(in_channels, "in_channels", at_least=1)
        self.in_channels = in_channels
        self.out_channels = check_integer(out_channels, "out_channels", at_least=1)
        self.normalization = normalization
        if bias:
            self.bias = Parameter(torch.empty(self.out_channels))
        else:
            self.register_parameter("bias", None)

    def _apply(self, fn: Any, recurse: bool = True) -> Self:
        self._kept = ()  # it may be on another device, or in another precision
        return super()._apply(fn, recurse)

    @property
    @abstractmethod
    def parameter(self) -> Parameter:
        """A parameter whose precision and device are those of the layer."""

    @abstractmethod
    def _give_shape(self, in_channels: int) -> None:
        """Make room for the weights of a lazy layer, without numbers."""

    @abstractmethod
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights again."""

    @abstractmethod
    def _draw_weight(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights again and leave all other parameters as they are."""

    @abstractmethod
    def convolve(self, x: Tensor, laplacian: Any) -> Tensor:
        """Filter signals of shape (batch, n, in_channels)."""

    def convolve_sparse(self, x: Tensor, laplacian: Any) -> Tensor:
        """Filter sparse signals of shape (n, in_channels); by default as dense ones."""
        return self.convolve(x.to_dense()[None], laplacian)[0]

    @property
    def is_lazy(self) -> bool:
        """Whether the number of input channels is not known yet."""
        return isinstance(self.parameter, UninitializedParameter)

    def materialize(self, in_channels: int) -> None:
        """Draw the weights of a lazy layer whose number of input channels is now known."""
        with outside_inference():
            self._give_shape(in_channels)
            self._draw_weight()

    def forward(
        self,
        x: Tensor,
        edge_index: Any,
        edge_weight: Tensor | None = None,
        batch: Tensor | None = None,
        lambda_max: Any = None,
    ) -> Tensor:
        """Filter the signals and mix their channels.

        Parameters
        ----------
        x : Tensor, shape (n, in_channels) or (batch, n, in_channels)
            Signals on the vertices; the second form has many signals on one graph. Of shape (n, in_channels) it may be
            sparse.
        edge_index : Tensor, GraphLaplacian or cayleygsp.Laplacian
            Edges, shape (2, n_edges); or an adjacency matrix, sparse or dense; or a Laplacian prepared once.
        edge_weight : Tensor, shape (n_edges,) or (n_edges, 1), optional
            Weights of the edges.
        batch : Tensor, shape (n,), optional
            The graph of each vertex, if they are several.
        lambda_max : float or Tensor, optional
            One number or one per graph. :class:`ChebConv` scales by it; a Cayley filter has no such number, and
            :class:`CayleyConv` does not look at it.

        Returns
        -------
        Tensor, shape (n, out_channels) or (batch, n, out_channels)
        """
        if isinstance(x, tuple) and len(x) == 2 and x[0] is x[1]:  # (source, target), as heterogeneous models pass it
            x = x[0]
        parameter = self.parameter
        self._check_input(x, parameter)
        laplacian = self.laplacian_of(x, edge_index, edge_weight, batch, lambda_max)
        if laplacian.n_vertices != x.shape[-2]:
            raise ValueError(f"`x` must have {laplacian.n_vertices} vertices as the graph, got shape {tuple(x.shape)}")
        if laplacian.values.device != x.device:
            raise ValueError(f"the graph must be on the device of `x`, {x.device}, got {laplacian.values.device}")
        if isinstance(parameter, UninitializedParameter):
            self.materialize(x.shape[-1])
        with full_precision(x):
            signals = x.to(parameter.dtype)
            if x.layout != torch.strided:
                y = self.convolve_sparse(signals, laplacian)
            else:
                y = self.convolve(signals, laplacian) if x.dim() == 3 else self.convolve(signals[None], laplacian)[0]
        if self.bias is not None:
            y = y + self.bias
        if has_numbers(y) and not _is_finite(y.detach()):
            check_finite(x)  # what is not a number spreads, so that signals need no look of their own
            warnings.warn(
                f"the result of the layer overflows: it holds numbers beyond the range of {y.dtype}",
                ConvergenceWarning,
                stacklevel=4,
            )
        return y.to(x.dtype) if x.dtype in HALF else y

    def _check_input(self, x: Any, parameter: Parameter) -> None:
        """Reject signals that are wrong in themselves or do not fit the layer, before work is done on the graph."""
        if isinstance(x, tuple):
            raise ValueError(
                "`x` must be the signals of one kind of vertices: edges between two kinds have no Laplacian, got a "
                "pair of different tensors"
            )
        check_floating(x)
        if x.dim() not in (2, 3):
            raise ValueError(f"`x` must have shape (n, channels) or (batch, n, channels), got {tuple(x.shape)}")
        if x.layout != torch.strided and (x.dim() != 2 or x.layout not in (torch.sparse_coo, torch.sparse_csr)):
            raise ValueError(
                f"sparse `x` must be of shape (n, channels) and layout COO or CSR, got {tuple(x.shape)} and {x.layout}"
            )
        if parameter.dtype not in (torch.float32, torch.float64):
            raise TypeError(
                f"the layer must be in float32 or float64, got {parameter.dtype}; signals may be of lower precision"
            )
        if self.in_channels not in (-1, x.shape[-1]):
            raise ValueError(f"`x` must have {self.in_channels} channels, got shape {tuple(x.shape)}")
        if x.device != parameter.device:
            raise ValueError(f"`x` must be on the device of the layer, {parameter.device}, got {x.device}")

    def laplacian_of(
        self, x: Tensor, edges: Any, edge_weight: Tensor | None, batch: Tensor | None, lambda_max: Any
    ) -> GraphLaplacian | ScaledLaplacian:
        """Return the prepared Laplacian of what was given, or if the layer is ``cached`` of what was given first."""
        if isinstance(edges, (GraphLaplacian, Laplacian)):
            for name, value in (("edge_weight", edge_weight), ("batch", batch), ("lambda_max", lambda_max)):
                if value is not None:
                    raise ValueError(f"`{name}` must not be given together with a prepared Laplacian")
            kind = edges.kind if isinstance(edges, Laplacian) else NORMALIZATIONS[edges.normalization]
            if kind != NORMALIZATIONS.get(self.normalization):
                raise ValueError(
                    f"the Laplacian must be {NORMALIZATIONS.get(self.normalization, 'random-walk')} as the layer's "
                    f"normalization={self.normalization!r} says, got a {kind} one"
                )
            if isinstance(edges, GraphLaplacian):
                return edges
        if self.cached and asks_for_gradient(edge_weight):
            raise ValueError("`edge_weight` must not require a gradient with cached=True: the first graph is kept")
        if self._kept:
            return self._kept[0]
        laplacian: GraphLaplacian | ScaledLaplacian
        if isinstance(edges, Laplacian):
            laplacian = GraphLaplacian.from_laplacian(edges, dtype=self.graph_dtype, device=x.device)
        else:
            laplacian = self.matrix.from_edge_index(
                edges,
                edge_weight,
                x.shape[-2],
                normalization=self.normalization,
                batch=batch,
                lambda_max=lambda_max if self.matrix is ScaledLaplacian else None,  # a Cayley filter has none
                dtype=self.graph_dtype,
            )
        if self.cached and not torch.compiler.is_compiling():
            self._kept = (laplacian,)
        return laplacian

    @property
    def graph_dtype(self) -> torch.dtype:
        """The precision that graphs are prepared in."""
        return self.parameter.dtype

    def _filter_index(self, in_channel: Any, out_channel: Any) -> tuple[int, int]:
        """Return which filter it is, if the layer has one from the one channel to the other."""
        i = check_integer(in_channel, "in_channel", at_least=0)
        o = check_integer(out_channel, "out_channel", at_least=0)
        for name, index, n_channels in (("in_channel", i, self.in_channels), ("out_channel", o, self.out_channels)):
            if n_channels != -1 and index >= n_channels:
                raise ValueError(f"`{name}` must be below {n_channels}, got {index}")
        return i, o

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.extra_repr()})"


def check_floating(x: Any) -> None:
    """Reject signals that are no tensor of real floating point numbers."""
    if not isinstance(x, Tensor):
        raise TypeError(f"`x` must be a tensor, got {type(x).__name__}")
    if not x.is_floating_point():
        raise TypeError(f"`x` must hold floating point numbers, got dtype {x.dtype}")


def check_finite(x: Tensor) -> None:
    """Reject signals that are not finite, where there are numbers to look at without waiting for a device."""
    values = x.detach()
    if values.layout != torch.strided:
        values = values._values() if values.layout == torch.sparse_coo else values.values()
    if has_numbers(values) and not _is_finite(values):
        first = (~torch.isfinite(values)).nonzero()[0].tolist()
        raise ValueError(f"`x` must be finite, got {values[tuple(first)].item()} at {first}")


def has_numbers(x: Tensor) -> bool:
    """Return whether the numbers can be looked at: on the CPU, and neither compiled nor in a transform such as vmap."""
    plain = type(x) is Tensor and x.device.type == "cpu" and not torch.compiler.is_compiling()
    return plain and not torch._C._functorch.is_functorch_wrapped_tensor(x)


def _is_finite(x: Tensor) -> bool:
    return bool(x.sum().isfinite()) or bool(x.isfinite().all())


def glorot_like(weight: Tensor, power: float, generator: torch.Generator | None) -> None:
    """Fill weights of shape (..., in, out) uniformly, so that in times ``power`` times their variance is one."""
    limit = math.sqrt(3 / (weight.shape[-2] * power))
    with torch.no_grad():
        weight.uniform_(-limit, limit, generator=generator)
