"""Gradients as autograd takes them: those that are needed, and None in the places of all other inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor


def wanted_gradients(ctx: Any, differentiate: Callable[..., Any], gradient: Tensor, n_tensors: int) -> tuple[Any, ...]:
    """Return the gradients of an operation on signals, coefficients, log h, a graph and settings.

    Parameters
    ----------
    ctx : torch.autograd.function.FunctionCtx
        Of the operation, or of the function that does the same; it keeps the tensors that ``differentiate`` takes one
        by one, then those of the graph, and has ``settings``.
    differentiate : callable
        Returns the gradients in signals, coefficients and log h.
    gradient : Tensor
        The incoming one.
    n_tensors : int
        How many tensors are kept before those of the graph.
    """
    kept, needs = ctx.saved_tensors, list(ctx.needs_input_grad[:3])
    gradients = differentiate(gradient, *kept[:n_tensors], list(kept[n_tensors:]), *ctx.settings, needs)
    wanted = [g if need else None for g, need in zip(gradients, needs, strict=True)]
    # an operation has the tensors of the graph as one input, which is a list
    return (*wanted, *(None if isinstance(need, bool) else [None] * len(need) for need in ctx.needs_input_grad[3:]))
