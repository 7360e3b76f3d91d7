"""Derivatives that operations of this package do not have: in forward mode, second ones, some in edge weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad


def reject_forward_mode(*inputs: Tensor | None) -> None:
    """Raise where a derivative would get lost in silence: torch lets a tangent pass by an operation of our own."""
    if torch.compiler.is_compiling():
        return
    if any(t is not None and forward_ad.unpack_dual(t).tangent is not None for t in inputs):
        raise NotImplementedError(
            "cayleygsp's layers have no forward-mode derivative (jvp); use method='exact', which is made of ordinary "
            "torch operations"
        )


def reject_learned_graph(values: Tensor, what: str) -> None:
    """Raise where a gradient in edge weights would get lost in silence."""
    if torch.is_grad_enabled() and values.requires_grad:
        raise NotImplementedError(
            f"{what} has no gradient in edge weights: take method='chebyshev', or pass edge_weight.detach()"
        )


def reject_second_derivative(ctx: Any, *gradients: Any) -> Any:
    """Raise where the gradient of an operation of this package would be differentiated again."""
    raise NotImplementedError(
        "the gradients of cayleygsp's layers cannot be differentiated again (create_graph=True); use method='exact', "
        "which is made of ordinary torch operations"
    )
