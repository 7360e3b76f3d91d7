"""Pooling on a coarsened graph, in which fake vertices never count."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from cayleygsp._typing import Array, GraphLike
from cayleygsp._validation import check_choice, check_integer
from cayleygsp.coarsening import Coarsening, coarsen
from cayleygsp.nn.layers.base import check_floating
from cayleygsp.nn.ops.operation import reject_forward_mode, uses_loops

# Groups of more vertices are left to torch: loops keep the place of a maximum in a byte.
_MOST_LEVELS = 8


def max_of_vertices(x: Tensor, starts: Tensor, places: Tensor) -> Tensor:
    """Return the maximum over groups of vertices; with the vertices outside in memory where signals stand like that.

    ``starts`` has the first vertices of the groups and their end, ``places`` the vertices of each group, one of them
    repeated in small groups; no group is empty.
    """
    plain = not torch.compiler.is_compiling() and type(x) is Tensor and uses_loops(x)
    if not plain or places.shape[1] > 2**_MOST_LEVELS or torch._C._functorch.maybe_current_level():
        rows = x.index_select(-2, places.flatten())
        return F.max_pool1d(rows.transpose(-2, -1), places.shape[1]).transpose(-2, -1)
    reject_forward_mode(x)
    signals = x if x.dim() == 3 else x[None]
    batch, n, channels = signals.shape
    if not signals.is_contiguous() and signals.transpose(0, 1).is_contiguous():
        columns = signals.transpose(0, 1).reshape(1, n, batch * channels)
        pooled = cast(Tensor, _GroupMax.apply(columns, starts))[0].view(-1, batch, channels).transpose(0, 1)
    else:
        pooled = cast(Tensor, _GroupMax.apply(signals, starts))
    return pooled if x.dim() == 3 else pooled[0]


class _GroupMax(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, starts: Tensor) -> Tensor:
        """Return the maxima; keep the place of each."""
        from cayleygsp.engine.pooling_loops import max_of_groups

        y = x.new_empty((x.shape[0], starts.numel() - 1, x.shape[2]))
        which = torch.empty_like(y, dtype=torch.uint8)
        max_of_groups(x.detach().contiguous().numpy(), starts.numpy(), y.numpy(), which.numpy())
        ctx.save_for_backward(which, starts)
        ctx.shape = x.shape
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        """Return the gradient at the places of the maxima, zeros elsewhere."""
        from cayleygsp.engine.pooling_loops import spread_to_places

        which, starts = ctx.saved_tensors
        out = gradient.new_empty(ctx.shape)
        spread_to_places(gradient.contiguous().numpy(), which.numpy(), starts.numpy(), out.numpy())
        return out, None


OPS = ("max", "mean")


class GraclusPooling(nn.Module):
    r"""Pool signals from one level of a coarsened graph to another, over groups of :math:`2^k` vertices in a row.

    A group's result is the maximum or the mean over its real vertices alone: whatever bias or nonlinearity came
    before, what stands at fake vertices neither wins nor weighs. A group without any real vertex gives zero.

    Parameters
    ----------
    coarsening : Coarsening or graph-like
        The hierarchy, shared by all poolings of a network. A graph is coarsened to the levels that are needed.
    n_levels : int
        How many levels to go up: 1 pools by two, 2 by four.
    level : int
        Level of the input, 0 being the finest.
    op : {"max", "mean"}
        What to take of each group.
    rng : numpy.random.Generator, int or None
        Source of randomness if a graph is to be coarsened.
    padded : bool
        Whether signals have rows for the fake vertices. Without them, signals are those of the real vertices of a level
        in their order, see :meth:`Coarsening.real_graph`, and no work is done for the others.

    Attributes
    ----------
    coarsening : Coarsening
        The hierarchy; its graphs are those of the convolutions in between.
    in_vertices, out_vertices : int
        Vertices before and after; fake ones are counted if ``padded``.
    n_vertices, n_padded : int
        Vertices of the given graph, and of level 0, again.

    Raises
    ------
    ValueError
        If the coarsening has too few levels; when called, if the shape of the input does not fit.

    Notes
    -----
    The order of the vertices and the places of the fake ones are buffers: they move with ``.to`` and are in
    ``state_dict``. One that was saved with another coarsening is refused, as nothing that was learnt would fit.

    Shapes:

    - input: (in_vertices, channels) or (batch, in_vertices, channels)
    - output: (out_vertices, channels) or (batch, out_vertices, channels)

    Examples
    --------
    >>> import cayleygsp as cg
    >>> import torch
    >>> from cayleygsp.coarsening import coarsen
    >>> from cayleygsp.nn import GraclusPooling
    >>> tree = coarsen(cg.gallery.path(11), levels=2, rng=0)
    >>> pool = GraclusPooling(tree, n_levels=2)
    >>> pool
    GraclusPooling(12, 3, level=0, n_levels=2, op='max')
    >>> x = torch.arange(11.0)[:, None]
    >>> pool(pool.permute(x)).shape
    torch.Size([3, 1])
    """

    position: Tensor
    fake: Tensor
    empty: Tensor
    count: Tensor
    starts: Tensor
    members: Tensor

    def __init__(
        self,
        coarsening: Coarsening | GraphLike,
        n_levels: int = 1,
        level: int = 0,
        op: str = "max",
        *,
        rng: Any = None,
        padded: bool = True,
    ) -> None:
        super().__init__()
        self.n_levels = check_integer(n_levels, "n_levels", at_least=1)
        self.level = check_integer(level, "level", at_least=0)
        self.op = check_choice(op, "op", OPS)
        top = self.level + self.n_levels
        if not isinstance(coarsening, Coarsening):
            coarsening = coarsen(coarsening, levels=top, rng=rng)
        if top > coarsening.levels:
            raise ValueError(
                f"`coarsening` must have at least level + n_levels = {top} levels, got one with {coarsening.levels}"
            )
        self.coarsening, self.padded = coarsening, bool(padded)
        # Plain numbers, for compilers that do not look into a coarsening.
        sizes = coarsening.sizes if self.padded else [int(np.count_nonzero(~fake)) for fake in coarsening.is_fake]
        self.n_vertices, self.n_padded = coarsening.n_vertices, sizes[0]
        self.in_vertices, self.out_vertices = sizes[self.level], sizes[top]
        for name, places in self._places().items():
            self.register_buffer(name, torch.tensor(places))

    def _places(self) -> dict[str, Array]:
        """Return what the buffers hold: where vertices are, which of the input are fake, and what groups hold."""
        is_fake = self.coarsening.is_fake[self.level]
        count = np.count_nonzero(~is_fake.reshape(-1, 2**self.n_levels), axis=1)
        if not self.padded:
            count = count[count > 0]
            starts = np.append(0, np.cumsum(count))
            member = np.minimum(np.arange(2**self.n_levels), count[:, None] - 1)
            return {
                "position": np.argsort(self.coarsening.permutation[~self.coarsening.is_fake[0]]),
                "starts": starts,
                "members": starts[:-1, None] + member,
                "count": count[:, None],
            }
        return {
            "position": self.coarsening.position,
            "fake": np.flatnonzero(is_fake),
            "empty": np.flatnonzero(count == 0),
            "count": np.maximum(count, 1)[:, None],
        }

    def forward(self, x: Tensor) -> Tensor:
        """Pool ``x``."""
        self._check(x, self.in_vertices)
        size = 2**self.n_levels
        if not self.padded and self.op == "max":
            return max_of_vertices(x, self.starts, self.members)
        if not self.padded:
            group = torch.repeat_interleave(self.count.flatten(), output_size=self.in_vertices)
            sums = x.new_zeros((*x.shape[:-2], self.out_vertices, x.shape[-1])).index_add(-2, group, x)
            return sums / self.count
        if self.op == "mean":
            return _filled(x, self.fake, 0.0).unflatten(-2, (-1, size)).sum(-2) / self.count
        x = _filled(x, self.fake, float("-inf"))
        # One-dimensional pooling wants the vertices last; seen this way it runs over whole rows of channels.
        pooled = F.max_pool1d(x.transpose(-2, -1), size).transpose(-2, -1)
        return _filled(pooled, self.empty, 0.0)

    def permute(self, x: Tensor) -> Tensor:
        """Bring signals from the order of the given graph into that of level 0, with zeros at fake vertices if padded.

        Parameters
        ----------
        x : torch.Tensor, shape (n_vertices, channels) or (batch, n_vertices, channels)
            Signals on the given graph.
        """
        self._check(x, self.n_vertices)
        padded = x.new_zeros((*x.shape[:-2], self.n_padded, x.shape[-1]))
        return padded.index_copy(-2, self.position, x)

    def unpermute(self, x: Tensor) -> Tensor:
        """Bring signals of level 0 back into the order of the given graph; values at fake vertices are dropped.

        Parameters
        ----------
        x : torch.Tensor, shape (n_padded, channels) or (batch, n_padded, channels)
            Signals on level 0.
        """
        self._check(x, self.n_padded)
        return x.index_select(-2, self.position)

    def extra_repr(self) -> str:
        """Return the sizes, the levels and the operation, for ``repr``."""
        sizes = f"{self.in_vertices}, {self.out_vertices}"
        padded = "" if self.padded else ", padded=False"
        return f"{sizes}, level={self.level}, n_levels={self.n_levels}, op={self.op!r}{padded}"

    def _check(self, x: Tensor, n_vertices: int) -> None:
        check_floating(x)
        if x.dim() not in (2, 3) or x.shape[-2] != n_vertices:
            raise ValueError(
                f"`x` must have shape ({n_vertices}, channels) or (batch, {n_vertices}, channels), got {tuple(x.shape)}"
            )
        if x.device != self.position.device:
            raise ValueError(f"`x` must be on the device of the layer, {self.position.device}, got {x.device}")

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        """Load the buffers, but reject those of another coarsening."""
        differs = False
        for name, places in self._places().items():
            saved = state_dict.get(prefix + name)
            if saved is not None and saved.device.type != "meta":
                differs |= not np.array_equal(saved.cpu().numpy(), places)
        if differs:
            args[-1].append(
                f"{prefix or 'the pooling'}: saved with another coarsening; make the layer with the same graph and rng"
            )
            return
        super()._load_from_state_dict(state_dict, prefix, *args)


def _filled(x: Tensor, places: Tensor, value: float) -> Tensor:
    """Return x with another value at some vertices; x itself, not a copy, if there are none."""
    return x.index_fill(-2, places, value) if places.numel() else x
