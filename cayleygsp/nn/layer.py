"""What the layers share: how a graph is given, channels that are found at the first call, checks of the input."""

from __future__ import annotations

import math
import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.nn.parameter import Parameter, UninitializedParameter

from cayleygsp._validation import check_integer
from cayleygsp.filters.info import ConvergenceWarning
from cayleygsp.laplacians import Laplacian
from cayleygsp.nn.edge_values import asks_for_gradient
from cayleygsp.nn.graph_key import GraphKey
from cayleygsp.nn.graph_laplacian import NORMALIZATIONS, GraphLaplacian, check_normalization, outside_inference


class GraphConv(nn.Module, ABC):
    """Base of the layers.

    A subclass sets ``weight_shape(in_channels)``, ``reset_parameters``, ``draw_weight`` and ``convolve``.
    """

    weight: Parameter
    bias: Parameter | None

    def __init__(self, in_channels: int, out_channels: int, order: int, normalization: str | None, bias: bool) -> None:
        super().__init__()
        if in_channels != -1:
            in_channels = check_integer(in_channels, "in_channels", at_least=1)
        self.in_channels = in_channels
        self.out_channels = check_integer(out_channels, "out_channels", at_least=1)
        self.order = check_integer(order, "order", at_least=1)
        self.normalization = check_normalization(normalization)
        if bias:
            self.bias = Parameter(torch.empty(self.out_channels))
        else:
            self.register_parameter("bias", None)
        self._prepared: tuple[GraphKey, GraphLaplacian] | None = None

    @abstractmethod
    def weight_shape(self, in_channels: int) -> tuple[int, ...]:
        """Return the shape of the weights."""

    @abstractmethod
    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw the weights again.

        Parameters
        ----------
        generator : torch.Generator, optional
            Source of random numbers; torch's global one by default.
        """

    @abstractmethod
    def draw_weight(self, generator: torch.Generator | None = None) -> None:
        """Draw ``weight`` again and leave all other parameters as they are."""

    @abstractmethod
    def convolve(self, x: Tensor, laplacian: GraphLaplacian) -> Tensor:
        """Filter signals of shape (batch, n, in_channels)."""

    def _make_weight(self) -> None:
        """Register the weights; with unknown input channels they get their shape at the first call."""
        if self.in_channels == -1:
            self.register_parameter("weight", cast(Parameter, UninitializedParameter()))
        else:
            self.weight = Parameter(torch.empty(self.weight_shape(self.in_channels)))

    @property
    def is_lazy(self) -> bool:
        """Whether the number of input channels is not known yet."""
        return isinstance(self.weight, UninitializedParameter)

    def _materialize(self, in_channels: int) -> None:
        assert isinstance(self.weight, UninitializedParameter)
        self.in_channels = in_channels
        with outside_inference():
            self.weight.materialize(self.weight_shape(in_channels))
            self.draw_weight()

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        with self._without_weight() if self.is_lazy else nullcontext():  # it has nothing to save
            super()._save_to_state_dict(destination, prefix, keep_vars)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any, **kwargs: Any) -> None:
        given = state_dict.get(prefix + "weight")
        if isinstance(self.weight, UninitializedParameter) and given is not None and given.dim() > 1:
            # in the shape that the layer wants, so that torch says where another one is found
            self.in_channels = given.shape[-2]
            self.weight.materialize(self.weight_shape(self.in_channels))
        with self._without_weight() if self.is_lazy and given is None else nullcontext():
            super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)

    @contextmanager
    def _without_weight(self) -> Iterator[None]:
        """Hide the weights for a while."""
        kept = dict(self._parameters)
        del self._parameters["weight"]
        try:
            yield
        finally:
            current = dict(self._parameters)
            self._parameters.clear()
            self._parameters.update({name: current.get(name, value) for name, value in kept.items()})

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_prepared": None}  # holds weak references, and can be made again

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
            Signals on the vertices; the second form has many signals on one graph.
        edge_index : Tensor, GraphLaplacian or cayleygsp.Laplacian
            Edges, shape (2, n_edges), in both directions; or an adjacency matrix, sparse or dense; or a Laplacian
            prepared once.
        edge_weight : Tensor, shape (n_edges,), optional
            Weights of the edges, not negative. They get no gradient.
        batch : Tensor, shape (n,), optional
            The graph of each vertex, if they are several.
        lambda_max : float or Tensor, optional
            An upper bound of the spectrum, one or one per graph; by default a guaranteed one.

        Returns
        -------
        Tensor, shape (n, out_channels) or (batch, n, out_channels)
        """
        self._check_signals(x)
        self._check_layer(x)
        laplacian = self._laplacian(x, edge_index, edge_weight, batch, lambda_max)
        if laplacian.n_vertices != x.shape[-2]:
            raise ValueError(f"`x` must have {laplacian.n_vertices} vertices as the graph, got shape {tuple(x.shape)}")
        if laplacian.values.device != x.device:
            raise ValueError(f"the graph must be on the device of `x`, {x.device}, got {laplacian.values.device}")
        if self.is_lazy:
            self._materialize(x.shape[-1])
        with full_precision(x):
            y = self.convolve((x if x.dim() == 3 else x[None]).to(self.weight.dtype), laplacian)
        if self.bias is not None:
            y = y + self.bias
        warn_of_overflow(y)
        return y if x.dim() == 3 else y[0]

    def _check_signals(self, x: Tensor) -> None:
        if not isinstance(x, Tensor):
            raise TypeError(f"`x` must be a tensor, got {type(x).__name__}")
        if not x.is_floating_point():
            raise TypeError(f"`x` must hold floating point numbers, got dtype {x.dtype}")
        if x.dim() not in (2, 3):
            raise ValueError(f"`x` must have shape (n, channels) or (batch, n, channels), got {tuple(x.shape)}")
        if x.device.type == "cpu" and not torch.compiler.is_compiling():
            total = float(x.detach().sum())
            if not math.isfinite(total) and not bool(torch.isfinite(x).all()):
                first = (~torch.isfinite(x)).nonzero()[0].tolist()
                raise ValueError(f"`x` must be finite, got {x.detach()[tuple(first)].item()} at {first}")

    def _check_layer(self, x: Tensor) -> None:
        """Reject signals that do not fit the layer, before work is done on the graph."""
        if self.weight.dtype not in (torch.float32, torch.float64):
            raise TypeError(
                f"the layer must be in float32 or float64, got {self.weight.dtype}; signals may be of lower precision"
            )
        if not self.is_lazy and x.shape[-1] != self.in_channels:
            raise ValueError(f"`x` must have {self.in_channels} channels, got shape {tuple(x.shape)}")
        if x.device != self.weight.device:
            raise ValueError(f"`x` must be on the device of the layer, {self.weight.device}, got {x.device}")

    def _laplacian(
        self, x: Tensor, edges: Any, edge_weight: Tensor | None, batch: Tensor | None, lambda_max: Any
    ) -> GraphLaplacian:
        """Return the prepared Laplacian of what was given; made again only if a tensor is another or was changed."""
        if isinstance(edges, (GraphLaplacian, Laplacian)):
            for name, value in (("edge_weight", edge_weight), ("batch", batch), ("lambda_max", lambda_max)):
                if value is not None:
                    raise ValueError(f"`{name}` must not be given together with a prepared Laplacian")
            self._check_kind(edges)
            if isinstance(edges, GraphLaplacian):
                return edges
        given = (edges, edge_weight, batch, lambda_max)
        key = None
        if not torch.compiler.is_compiling() and not asks_for_gradient(edge_weight):  # what has a gradient is used once
            key = GraphKey.of(given, x, self.weight)
        prepared = self._prepared  # read once: another thread may set it
        if key is not None and prepared is not None and prepared[0].matches(key):
            return prepared[1]
        if isinstance(edges, Laplacian):
            laplacian = GraphLaplacian.from_laplacian(edges, dtype=self.weight.dtype, device=x.device)
        else:
            laplacian = GraphLaplacian.from_edge_index(
                edges,
                edge_weight,
                x.shape[-2],
                normalization=self.normalization,
                batch=batch,
                lambda_max=lambda_max,
                dtype=self.weight.dtype if not self.is_lazy else x.dtype,
            )
        if key is not None:
            self._prepared = (key, laplacian)
        return laplacian

    def _check_kind(self, laplacian: GraphLaplacian | Laplacian) -> None:
        kind = laplacian.kind if isinstance(laplacian, Laplacian) else NORMALIZATIONS[laplacian.normalization]
        expected = NORMALIZATIONS[self.normalization]
        if kind != expected:
            raise ValueError(
                f"the Laplacian must be {expected} as the layer's normalization={self.normalization!r} says, got a "
                f"{kind} one"
            )

    def extra_repr(self) -> str:
        """Say the sizes."""
        return f"{self.in_channels}, {self.out_channels}, order={self.order}, normalization={self.normalization!r}"


def warn_of_overflow(y: Tensor) -> None:
    """Warn if a result is not finite, as the signals were; on the CPU alone, where nobody has to wait for a device."""
    if torch.compiler.is_compiling() or type(y) is not Tensor or y.device.type != "cpu":
        return
    with torch.no_grad():
        if bool(y.sum().isfinite()) or bool(y.isfinite().all()):
            return
    warnings.warn(
        f"the result of the layer overflows: it holds numbers beyond the range of {y.dtype}",
        ConvergenceWarning,
        stacklevel=4,
    )


def full_precision(x: Tensor) -> AbstractContextManager[Any]:
    """Return a context without autocast on the device of x."""
    if not torch.amp.is_autocast_available(x.device.type):
        return nullcontext()
    return torch.autocast(x.device.type, enabled=False)


def glorot_like(weight: Tensor, power: float, generator: torch.Generator | None) -> None:
    """Fill weights of shape (..., in, out) uniformly, so that in times ``power`` times their variance is one."""
    limit = math.sqrt(3 / (weight.shape[-2] * power))
    with torch.no_grad():
        weight.uniform_(-limit, limit, generator=generator)


def check_channel(channel: Any, n_channels: int, name: str) -> int:
    """Return the number of a channel if there is such a one."""
    index = check_integer(channel, name, at_least=0)
    if n_channels != -1 and index >= n_channels:
        raise ValueError(f"`{name}` must be below {n_channels}, got {index}")
    return index
