"""The layers as PyTorch Geometric's ``MessagePassing``, for its tools that pass by any other module.

These are ``to_hetero`` and the explainers; elsewhere in its models :class:`cayleygsp.nn.CayleyConv` and
:class:`cayleygsp.nn.ChebConv` work as they are. Importing this module imports PyTorch Geometric, which takes seconds.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import torch
from torch import Tensor
from torch_geometric.nn.conv import MessagePassing

from cayleygsp.laplacians import Laplacian
from cayleygsp.nn.graph.laplacian import GraphLaplacian, ScaledLaplacian, transposed_pattern
from cayleygsp.nn.layers import cayley_conv, cheb_conv
from cayleygsp.nn.layers.base import GraphConv


class _Explained(GraphConv, MessagePassing):
    """A layer whose Laplacian has its entries beside the diagonal multiplied by the mask of an explainer."""

    # in the place of a property that compiles PyTorch Geometric's own propagation anew
    explain: bool | None = None
    _edge_mask: Tensor | None
    _apply_sigmoid: bool

    def laplacian_of(
        self, x: Tensor, edges: Any, edge_weight: Tensor | None, batch: Tensor | None, lambda_max: Any
    ) -> GraphLaplacian | ScaledLaplacian:
        """Return the Laplacian of what was given; under an explainer with its mask, degrees and λ_max being without."""
        laplacian = super().laplacian_of(x, edges, edge_weight, batch, lambda_max)
        mask = self._edge_mask
        if not self.explain or mask is None:
            return laplacian
        if isinstance(edges, (GraphLaplacian, Laplacian)) or edges.shape != (2, mask.shape[0]):
            raise ValueError(f"`edge_index` must hold the {mask.shape[0]} edges of the mask, of shape (2, n_edges)")
        return self._masked(laplacian, edges, mask.sigmoid() if self._apply_sigmoid else mask)

    @abstractmethod
    def _masked(self, laplacian: Any, edges: Tensor, mask: Tensor) -> GraphLaplacian | ScaledLaplacian:
        """Return a Laplacian with each entry multiplied by the mask of its edge."""


class CayleyConv(cayley_conv.CayleyConv, _Explained):
    """A :class:`cayleygsp.nn.CayleyConv` that is a message passing module of PyTorch Geometric."""

    def _masked(self, laplacian: GraphLaplacian, edges: Tensor, mask: Tensor) -> GraphLaplacian:
        # The mean of both directions: then a mask between 0 and 1 leaves the spectrum within its bound.
        order = torch.argsort(edges[0], stable=True)
        (row, col), n = edges[:, order].long(), laplacian.n_vertices
        there, back = torch.argsort(row * n + col, stable=True), torch.argsort(col * n + row, stable=True)
        mask = mask[order].to(laplacian.values.dtype)
        mean = torch.zeros_like(mask).index_add(0, there, (mask[there] + mask[back]) / 2)
        matrix = laplacian.indptr, laplacian.indices, laplacian.values * mean, laplacian.diagonal
        return GraphLaplacian(*matrix, laplacian.lmax, laplacian.normalization, laplacian.bound)


class ChebConv(cheb_conv.ChebConv, _Explained):
    """A :class:`cayleygsp.nn.ChebConv` that is a message passing module of PyTorch Geometric."""

    def _masked(self, laplacian: ScaledLaplacian, edges: Tensor, mask: Tensor) -> ScaledLaplacian:
        graph = laplacian.graph
        indptr_t, indices_t, order_t = transposed_pattern(graph.indptr, graph.indices)
        values = graph.values * mask[torch.argsort(edges[1], stable=True)].to(graph.values.dtype)
        graph = graph._replace(values=values, indptr_t=indptr_t, indices_t=indices_t, order_t=order_t)
        return ScaledLaplacian(graph, bounded=False)
