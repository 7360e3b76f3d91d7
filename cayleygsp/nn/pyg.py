"""The layers as message passing modules of PyTorch Geometric, which this file imports.

:class:`cayleygsp.nn.CayleyConv` and :class:`cayleygsp.nn.ChebConv` are made of these classes where PyTorch Geometric
has been imported before; subclasses of your own can be derived from them here.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn import Module
from torch_geometric.nn.conv import MessagePassing

from cayleygsp.nn.graph.tensors import GraphTensors
from cayleygsp.nn.layers import cayley_conv, cheb_conv
from cayleygsp.nn.layers.base import HALF, GraphConv, one_kind_of_vertices
from cayleygsp.nn.modes import full_precision


def masked_conv(
    layer: GraphConv,
    x: Tensor,
    edge_index: Tensor,
    edge_weight: Tensor | None,
    batch: Tensor | None,
    lambda_max: Any,
    mask: Tensor,
) -> Tensor:
    r"""Return what a layer gives if its Laplacian has each entry beside the diagonal multiplied by a mask.

    Degrees and λ_max are those without the mask. Every term is kept for the gradient.

    Parameters
    ----------
    layer : GraphConv
        The layer.
    x, edge_index, edge_weight, batch, lambda_max
        As it is called. The graph must be given by edges.
    mask : Tensor, shape (n_edges,)
        For each edge. A layer for undirected graphs takes the mean of both directions of an edge, so that with a mask
        between 0 and 1 its spectrum stays within its bound.

    Returns
    -------
    Tensor, shape (n, out_channels) or (batch, n, out_channels)
    """
    x = one_kind_of_vertices(x)
    if not isinstance(edge_index, Tensor) or edge_index.dim() != 2 or edge_index.shape != (2, mask.shape[0]):
        raise ValueError(f"`edge_index` must hold the {mask.shape[0]} edges of the mask, of shape (2, n_edges)")
    layer.check_input(x)
    with full_precision(x):
        y = _masked(layer, x, edge_index, layer.laplacian_of(x, edge_index, edge_weight, batch, lambda_max), mask)
    return y.to(x.dtype) if x.dtype in HALF else y


def _masked(layer: GraphConv, x: Tensor, edge_index: Tensor, laplacian: Any, mask: Tensor) -> Tensor:
    """Return the convolution in the precision of the layer."""
    if layer.is_lazy:
        layer.materialize(x.shape[-1])
    x = x.to_dense() if x.layout != torch.strided else x
    dtype = layer.parameter.dtype
    graph = laplacian.tensors(dtype, own_scale=layer.own_scale)
    rows, columns = graph.rows(), graph.indices.long()
    ends = edge_index[layer.row_of_edges]
    mask = mask.to(dtype)[torch.argsort(ends, stable=True)]
    if layer.undirected:
        mask = _mean_of_directions(mask, rows, columns, graph.diagonal.shape[0])
    taps = layer.taps(laplacian)
    signals = (x if x.dim() == 3 else x[None]).to(dtype)
    y = _polynomial(graph, graph.values * mask, rows, columns, signals, taps)
    if layer.bias is not None:
        y = y + layer.bias
    return y if x.dim() == 3 else y[0]


def _polynomial(graph: GraphTensors, values: Tensor, rows: Tensor, columns: Tensor, x: Tensor, taps: Tensor) -> Tensor:
    """Return the sum of T_k x W_k, W_k being the k-th of the taps."""
    scale, diagonal = graph.scale[:, None], graph.diagonal[:, None]

    def product(t: Tensor) -> Tensor:
        neighbours = torch.zeros_like(t).index_add(1, rows, values[:, None] * t[:, columns])
        return scale * (diagonal * t - neighbours) - t

    before, t = x, x
    y = x @ taps[0]
    for k in range(1, taps.shape[0]):
        before, t = t, product(t) if k == 1 else 2 * product(t) - before
        y = y + t @ taps[k]
    return y


def _mean_of_directions(mask: Tensor, rows: Tensor, columns: Tensor, n: int) -> Tensor:
    """Return for each entry the mean of the mask there and at the transposed entry."""
    there, back = torch.argsort(rows * n + columns, stable=True), torch.argsort(columns * n + rows, stable=True)
    return torch.zeros_like(mask).index_add(0, there, (mask[there] + mask[back]) / 2)


class _Explained(GraphConv, MessagePassing):
    """What PyTorch Geometric's explainers need: messages that are weighted by a mask of the edges."""

    # in the place of a property that compiles PyTorch Geometric's own propagation anew
    explain: bool | None = None
    _edge_mask: Tensor | None
    _apply_sigmoid: bool

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return how to pickle and copy the layer: without what only PyTorch Geometric can read."""
        made, arguments, state = super().__reduce_ex__(protocol)
        state = {name: value for name, value in state.items() if name != "inspector"}
        state["_modules"] = {name: value for name, value in state["_modules"].items() if name != "aggr_module"}
        return made, arguments, state

    def __setstate__(self, state: dict[str, Any]) -> None:
        MessagePassing.__init__(self)
        modules = {**self._modules, **state["_modules"]}
        Module.__setstate__(self, {**state, "_modules": modules})

    def forward(
        self,
        x: Tensor,
        edge_index: Any,
        edge_weight: Tensor | None = None,
        batch: Tensor | None = None,
        lambda_max: Any = None,
    ) -> Tensor:
        """Filter the signals; under an explainer, with the edges weighted by its mask.

        Parameters
        ----------
        x, edge_index, edge_weight, batch, lambda_max
            Those of :meth:`cayleygsp.nn.layers.base.GraphConv.forward`.
        """
        if self.explain and self._edge_mask is not None:
            mask = self._edge_mask.sigmoid() if self._apply_sigmoid else self._edge_mask
            return masked_conv(self, x, edge_index, edge_weight, batch, lambda_max, mask)
        return super().forward(x, edge_index, edge_weight, batch, lambda_max)


class CayleyConv(cayley_conv.CayleyConv, _Explained):
    """A :class:`cayleygsp.nn.CayleyConv` that is a message passing module of PyTorch Geometric."""


class ChebConv(cheb_conv.ChebConv, _Explained):
    """A :class:`cayleygsp.nn.ChebConv` that is a message passing module of PyTorch Geometric."""
