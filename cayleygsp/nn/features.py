"""What all precomputed inputs have: a graph that they belong to, and a way to mix what was computed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor

from cayleygsp.laplacians import Laplacian
from cayleygsp.nn.coefficients import CAYLEY, CAYLEY_REAL, order_of, zoom_of
from cayleygsp.nn.forward_mode import reject_learned_graph
from cayleygsp.nn.graph.laplacian import GraphLaplacian


class Features(ABC):
    """Inputs of a :class:`~cayleygsp.nn.PrecomputedCayleyConv`, with what can be computed of them once.

    Attributes
    ----------
    normalization : {"sym", None}
        Of the Laplacian.
    channels : int
        Of the inputs.
    """

    normalization: str | None
    channels: int

    @abstractmethod
    def check_zoom(self, order: int, zoom: float) -> None:
        """Reject a zoom for which the inputs are not prepared."""

    @abstractmethod
    def mix(self, weight: Tensor, log_zoom: Tensor, index: Tensor | None, *, real: bool) -> Tensor:
        """Filter some of the inputs.

        Parameters
        ----------
        weight : Tensor, shape (n_coeffs, channels, out_channels)
            Coefficients in the basis of :func:`cayleygsp.responses.basis.power_basis`.
        log_zoom : Tensor, shape () or (out_channels,)
            log h.
        index : Tensor, shape (k,), or None
            Which inputs; None for all.
        real : bool
            Coefficients are real.

        Returns
        -------
        Tensor, shape (n_rows, out_channels)
        """

    def arrange(self, rows: Tensor) -> Tensor:
        """Return the rows of :meth:`mix` in the shape of the inputs."""
        return rows

    @abstractmethod
    def to(self, *args: Any, **kwargs: Any) -> Features:
        """Move or cast, as ``Tensor.to`` does; returns itself."""


class BlockFeatures(Features):
    """Many signals on one graph, of which the 2r + 1 filtered ones are computed when they are needed.

    They need no gradient, so that their derivatives in log h are computed with them instead of by going back.
    """

    n_vertices: int

    def check_zoom(self, order: int, zoom: float) -> None:
        """Accept every zoom."""

    @abstractmethod
    def blocks(self, index: Tensor | None, zoom: float, order: int, real: bool, like: Tensor) -> tuple[Tensor, Tensor]:
        """Return blocks of filtered signals, and the derivatives of the first of them as combinations of all.

        Parameters
        ----------
        index : Tensor, shape (k,), or None
            Which signals.
        zoom, order, real
            h, r, and whether coefficients are real.
        like : Tensor
            In the precision that is wanted.

        Returns
        -------
        blocks : Tensor, shape (n, k, channels, n_blocks)
            The functions of the basis first.
        derivative : Tensor, shape (n_coeffs, n_blocks)
            The derivative of function b in log h is the sum over b' of ``derivative[b, b']`` times block b'.
        """

    def mix(self, weight: Tensor, log_zoom: Tensor, index: Tensor | None, *, real: bool) -> Tensor:
        """Filter some of the signals; see :meth:`Features.mix`."""
        if log_zoom.dim():
            columns = [self.mix(weight[:, :, o : o + 1], log_zoom[o], index, real=real) for o in range(weight.shape[2])]
            return torch.cat(columns, dim=1)
        order = order_of(CAYLEY_REAL if real else CAYLEY, weight.shape[0])
        blocks, derivative = self.blocks(index, zoom_of(log_zoom.detach()), order, real, weight)
        n, k, channels, n_blocks = blocks.shape
        return _Mix.apply(weight, log_zoom, blocks.reshape(n * k, channels, n_blocks), derivative)

    def arrange(self, rows: Tensor) -> Tensor:
        """Return rows in the shape (k, n, out_channels)."""
        return rows.view(self.n_vertices, -1, rows.shape[1]).transpose(0, 1)


class _Mix(torch.autograd.Function):
    """Blocks of signals times weights, with gradients in the weights and in log h."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, log_zoom: Tensor, blocks: Tensor, derivative: Tensor) -> Tensor:
        size, channels, out = weight.shape
        ctx.save_for_backward(weight, log_zoom, blocks, derivative)
        return blocks[:, :, :size].flatten(1) @ weight.transpose(0, 1).reshape(channels * size, out)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        weight, log_zoom, blocks, derivative = ctx.saved_tensors
        size, channels, out = weight.shape
        d = (blocks.flatten(1).T @ gradient).view(channels, -1, out).transpose(0, 1)
        dw, dh = (d[:size] if ctx.needs_input_grad[0] else None), None
        if ctx.needs_input_grad[1]:
            pairs = weight.reshape(size, -1) @ d.reshape(d.shape[0], -1).T
            dh = (derivative * pairs).sum().to(log_zoom.dtype)
        return dw, dh, None, None


def check_signals(x: Any, n_dimensions: int, shape: str) -> Tensor:
    """Return x if it is a tensor of finite numbers that asks for no gradient.

    Parameters
    ----------
    x : Tensor
        Signals.
    n_dimensions : int
        How many there must be.
    shape : str
        The shape, for the message.
    """
    if not isinstance(x, Tensor) or not x.is_floating_point() or x.dim() != n_dimensions:
        given = f"shape {tuple(x.shape)}, dtype {x.dtype}" if isinstance(x, Tensor) else type(x).__name__
        raise TypeError(f"`x` must be a tensor of shape {shape} of floating point numbers, got {given}")
    if x.requires_grad:
        raise ValueError("`x` must not require a gradient: the features are computed once")
    if not bool(torch.isfinite(x).all()):
        raise ValueError("`x` must be finite")
    return x


def check_laplacian(laplacian: Any, n_vertices: int, device: torch.device) -> GraphLaplacian:
    """Return a Laplacian for the layers if it has so many vertices."""
    if isinstance(laplacian, Laplacian):
        laplacian = GraphLaplacian.from_laplacian(laplacian, device=device)
    if not isinstance(laplacian, GraphLaplacian):
        raise TypeError(f"`laplacian` must be a Laplacian or GraphLaplacian, got {type(laplacian).__name__}")
    reject_learned_graph(laplacian.values, "a set of features, computed once,")
    if n_vertices != laplacian.n_vertices:
        raise ValueError(f"`x` must have {laplacian.n_vertices} rows as the graph has vertices, got {n_vertices}")
    return laplacian


def as_columns(x: Tensor) -> Tensor:
    """Return signals of shape (n_signals, n, channels) with the vertices first, side by side in memory."""
    return x.transpose(0, 1).contiguous()


def chosen(columns: Tensor, index: Tensor | None) -> Tensor:
    """Return some of the signals, shape (n, k, channels)."""
    return columns if index is None else columns[:, index]
