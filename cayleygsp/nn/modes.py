"""The modes that torch may be in: autocast, inference, forward mode, compiled loops or operations of torch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad

_FORCED: ContextVar[bool] = ContextVar("torch_operations", default=False)


def uses_loops(x: Tensor) -> bool:
    """Return whether the compiled loops work on this tensor: on the CPU, unless :func:`torch_operations` says no."""
    return x.device.type == "cpu" and not _FORCED.get()


@contextmanager
def torch_operations() -> Iterator[None]:
    """Compute on the CPU as on other devices while this context lasts; for tests and measurements."""
    token = _FORCED.set(True)
    try:
        yield
    finally:
        _FORCED.reset(token)


def full_precision(x: Tensor) -> AbstractContextManager[Any]:
    """Return a context without autocast on the device of x."""
    kind = x.device.type
    if not torch.amp.is_autocast_available(kind):
        return nullcontext()
    if not torch.compiler.is_compiling() and not torch.is_autocast_enabled(kind):
        return nullcontext()
    return torch.autocast(kind, enabled=False)


def outside_inference() -> AbstractContextManager[Any]:
    """Return a context in which tensors that are kept can be used in training later, even under inference_mode."""
    if torch.compiler.is_compiling() or not torch.is_inference_mode_enabled():
        return nullcontext()
    return torch.inference_mode(False)


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
