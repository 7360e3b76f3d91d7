"""The maximum over groups of vertices in a row, as an operation with a gradient."""

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from cayleygsp.nn.device_step import uses_loops
from cayleygsp.nn.forward_mode import reject_forward_mode

# Groups of more vertices are left to torch: loops keep the place of a maximum in a byte.
_MOST_LEVELS = 8


def max_of_vertices(x: Tensor, starts: Tensor, places: Tensor) -> Tensor:
    """Return the maximum over groups of vertices.

    Parameters
    ----------
    x : Tensor, shape (n, channels) or (batch, n, channels)
        Signals. Where they stand in memory with the vertices outside, so does the result.
    starts : Tensor, shape (n_groups + 1,)
        First vertices of the groups, and their end; no group is empty.
    places : Tensor, shape (n_groups, size)
        The vertices of each group, one of them repeated in small groups.
    """
    plain = not torch.compiler.is_compiling() and type(x) is Tensor and uses_loops(x)
    if plain and places.shape[1] <= 2**_MOST_LEVELS and not torch._C._functorch.maybe_current_level():
        reject_forward_mode(x)
        signals = x if x.dim() == 3 else x[None]
        pooled = cast(Tensor, _GroupMax.apply(signals, starts))
        return pooled if x.dim() == 3 else pooled[0]
    rows = x.index_select(-2, places.flatten())
    return F.max_pool1d(rows.transpose(-2, -1), places.shape[1]).transpose(-2, -1)


class _GroupMax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, starts: Tensor) -> Tensor:
        """Return the maxima; keep the place of each."""
        from cayleygsp.engine.pooling_loops import max_of_groups

        ctx.vertices_outside = _has_vertices_outside(x)
        rows = _blocks(x, ctx.vertices_outside)
        y = rows.new_empty((rows.shape[0], starts.numel() - 1, rows.shape[2]))
        which = torch.empty_like(y, dtype=torch.uint8)
        max_of_groups(rows.detach().numpy(), starts.numpy(), y.numpy(), which.numpy())
        ctx.save_for_backward(which, starts)
        ctx.shape = x.shape
        return _as_signals(y, x.shape, ctx.vertices_outside)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """Return the gradient at the places of the maxima, zeros elsewhere."""
        from cayleygsp.engine.pooling_loops import spread_to_places

        which, starts = ctx.saved_tensors
        rows = _blocks(gradient, ctx.vertices_outside)
        out = rows.new_empty((rows.shape[0], ctx.shape[1], rows.shape[2]))
        spread_to_places(rows.numpy(), which.numpy(), starts.numpy(), out.numpy())
        return _as_signals(out, ctx.shape, ctx.vertices_outside), None


def _has_vertices_outside(x: Tensor) -> bool:
    return x.dim() == 3 and not x.is_contiguous() and x.transpose(0, 1).is_contiguous()


def _blocks(x: Tensor, vertices_outside: bool) -> Tensor:
    """Return signals of shape (batch, n, channels) as contiguous (m, n, width), without a copy if they can be."""
    return x.transpose(0, 1).contiguous().flatten(1)[None] if vertices_outside else x.contiguous()


def _as_signals(y: Tensor, shape: torch.Size, vertices_outside: bool) -> Tensor:
    """Return what :func:`_blocks` made of signals as signals again; the number of vertices is that of y."""
    if not vertices_outside:
        return y
    return y[0].view(y.shape[1], shape[0], shape[2]).transpose(0, 1)
