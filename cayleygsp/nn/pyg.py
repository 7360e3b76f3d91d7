"""The layers as message passing modules of PyTorch Geometric, which this file imports.

:class:`cayleygsp.nn.CayleyConv` and :class:`cayleygsp.nn.ChebConv` are made of these classes where PyTorch Geometric
has been imported before; subclasses of your own can be derived from them here.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.nn import Module
from torch_geometric.nn.conv import MessagePassing

from cayleygsp.nn import cayley_conv, cheb_conv
from cayleygsp.nn.edge_masks import masked_conv
from cayleygsp.nn.layer import GraphConv


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
            Those of :meth:`cayleygsp.nn.layer.GraphConv.forward`.
        """
        if self.explain and self._edge_mask is not None:
            mask = self._edge_mask.sigmoid() if self._apply_sigmoid else self._edge_mask
            return masked_conv(self, x, edge_index, edge_weight, batch, lambda_max, mask)
        return super().forward(x, edge_index, edge_weight, batch, lambda_max)


class CayleyConv(cayley_conv.CayleyConv, _Explained):
    """A :class:`cayleygsp.nn.CayleyConv` that is a message passing module of PyTorch Geometric."""


class ChebConv(cheb_conv.ChebConv, _Explained):
    """A :class:`cayleygsp.nn.ChebConv` that is a message passing module of PyTorch Geometric."""
