"""How the work of the layers becomes operations of torch: by which code, in which precision, with which derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any, cast

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


def is_traced(x: Tensor) -> bool:
    """Return whether what is done with x is recorded or transformed, so that it must be operations of torch."""
    plain = not torch.compiler.is_compiling() and type(x) is Tensor and x.device.type != "meta"
    return not plain or bool(torch._C._functorch.maybe_current_level())


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


def _reject_second_derivative(ctx: Any, *gradients: Any) -> Any:
    raise NotImplementedError(
        "the gradients of cayleygsp's layers cannot be differentiated again (create_graph=True); use method='exact', "
        "which is made of ordinary torch operations"
    )


# What operations take, in the language of torch: x or its gradient stands before, and what is kept between the two.
_PARAMETERS = "Tensor? weight, Tensor? log_zoom"
_GRAPH = "Tensor[] graph, str kind, SymInt size, float tol, float? bound, float? hint, SymInt keep, bool tied"


class Operation:
    """A convolution with its gradients: an operation of torch where something is traced, and else called directly.

    The machinery of an operation takes longer than the work on a small graph.

    Parameters
    ----------
    name : str
        Of the operation.
    forward : callable
        ``forward(x, weight, log_zoom, graph, *settings)`` returns the result, shape (batch, n, features), and what the
        gradients need in the place of x: ``keep`` blocks of shape (batch, n, channels) if the input has no more
        channels than the output, or nothing. The weights are matrices, shape (size, in_channels, out_channels),
        numbers, shape (size,), or None if x is blocks, shape (batch, n, size, channels).
    backward : callable
        ``backward(gradient, x, weight, log_zoom, kept, graph, *settings, needs)`` returns the gradients in x, weight,
        log_zoom and in values, diagonal and scale of the graph, in any precision, None where ``needs`` does not ask for
        them: one answer for each of the first three, one for the graph.
    """

    def __init__(
        self, name: str, forward: Callable[..., tuple[Tensor, Tensor]], backward: Callable[..., list[Tensor | None]]
    ) -> None:
        self.forward, self.backward = _without_autocast(forward), _without_autocast(backward)
        self.traced = torch.library.custom_op(
            f"cayleygsp::{name}",
            self.forward,
            mutates_args=(),
            schema=f"(Tensor x, {_PARAMETERS}, {_GRAPH}) -> (Tensor, Tensor)",
        )
        self.traced_backward = torch.library.custom_op(
            f"cayleygsp::{name}_backward",
            self._all_gradients,
            mutates_args=(),
            schema=f"(Tensor gradient, Tensor? x, {_PARAMETERS}, Tensor kept, {_GRAPH}, bool[] needs) -> Tensor[]",
        )
        self.traced.register_fake(_fake_result)
        self.traced_backward.register_fake(_fake_gradients)
        self.traced.register_autograd(self._differentiate_traced, setup_context=_save)
        self.traced_backward.register_autograd(_reject_second_derivative)

    def __call__(
        self, x: Tensor, weight: Tensor | None, log_zoom: Tensor | None, graph: list[Tensor], *settings: Any
    ) -> Tensor:
        """Return the convolution."""
        if is_traced(x):
            return cast(Tensor, self.traced(x, weight, log_zoom, graph, *settings)[0])
        return cast(Tensor, _Direct.apply(self, settings, x, weight, log_zoom, *graph))

    def _all_gradients(self, gradient: Tensor, *rest: Any) -> list[Tensor]:
        """Return all gradients like their tensors, empty where none is needed: an operation cannot return None."""
        _, weight, log_zoom, _, graph, *_ = rest
        alike = gradient, weight, log_zoom, *graph[2:5]
        found = zip(self.backward(gradient, *rest), alike, strict=True)
        return [gradient.new_empty(0) if g is None else g.to(t.dtype).contiguous() for g, t in found]

    def _differentiate_traced(self, ctx: Any, gradient: Tensor, _: Any) -> tuple[Any, ...]:
        x, weight, log_zoom, graph, *settings = ctx.needs_input_grad
        found = _wanted(ctx, self.traced_backward, gradient, (x, weight, log_zoom, *graph))
        return (*found[:3], found[3:], *[None] * len(settings))


class _Direct(torch.autograd.Function):
    """An operation without the machinery of torch."""

    @staticmethod
    def forward(ctx: Any, operation: Operation, settings: Any, x: Tensor, *rest: Any) -> Tensor:
        """Return the result."""
        weight, log_zoom, *graph = rest
        inputs = x, weight, log_zoom, graph, *settings
        output = operation.forward(*inputs)
        _save(ctx, inputs, output)
        ctx.operation = operation
        return output[0]

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Any:
        """Return the gradients in all inputs."""
        # for a second derivative, which the operation rejects
        differentiate = ctx.operation.traced_backward if torch.is_grad_enabled() else ctx.operation.backward
        return None, None, *_wanted(ctx, differentiate, gradients[0], ctx.needs_input_grad[2:])


def _without_autocast(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of a tensor and other things that computes in the precision of the tensor."""

    def call(x: Tensor, *rest: Any) -> Any:
        with full_precision(x):
            return function(x, *rest)

    return call


def _save(ctx: Any, inputs: Sequence[Any], output: tuple[Tensor, Tensor]) -> None:
    """Keep what the gradients need: of x itself nothing if only it is learned, or blocks are kept in its place."""
    x, weight, log_zoom, graph, *settings = inputs
    kept = output[1]
    learns = any(t is not None and t.requires_grad for t in (weight, log_zoom))
    needs_x = any(t.requires_grad for t in graph) or (learns and kept.numel() == 0)
    ctx.mark_non_differentiable(kept)
    ctx.save_for_backward(x if needs_x else None, weight, log_zoom, kept, *graph)
    ctx.settings = settings


def _wanted(ctx: Any, differentiate: Any, gradient: Tensor, needs: Sequence[bool]) -> list[Tensor | None]:
    """Return the gradients in x, the weights, log h and all tensors of the graph, None where none is needed."""
    x, weight, log_zoom, kept, *graph = ctx.saved_tensors
    groups = [*needs[:3], any(needs[3:])]
    found = differentiate(gradient, x, weight, log_zoom, kept, graph, *ctx.settings, groups)
    places = [*found[:3], None, None, *found[3:], *[None] * (len(graph) - 5)]
    return [g if need else None for g, need in zip(places, needs, strict=True)]


def _fake_result(x: Tensor, weight: Tensor | None, log_zoom: Tensor | None, *rest: Any) -> tuple[Tensor, Tensor]:
    """Return tensors like those that ``forward`` returns."""
    keep, has_matrices = rest[-2], weight is not None and weight.dim() == 3
    features = weight.shape[2] if weight is not None and has_matrices else x.shape[-1]
    keeps = keep and has_matrices and x.shape[2] <= features
    kept = (*x.shape[:2], keep, x.shape[2]) if keeps else (0,)
    return x.new_empty((*x.shape[:2], features)), x.new_empty(kept)


def _fake_gradients(gradient: Tensor, *rest: Any) -> list[Tensor]:
    """Return tensors like those that ``backward`` returns."""
    _, weight, log_zoom, _, graph, _, size, *_, needs = rest
    batch, n, features = gradient.shape
    channels = (size, features) if weight is None else (features,) if weight.dim() == 1 else (weight.shape[1],)
    alike = gradient.new_empty((batch, n, *channels)), weight, log_zoom, *graph[2:5]
    asked = zip(alike, (*needs, needs[3], needs[3]), strict=True)
    return [gradient.new_empty(0) if t is None or not need else torch.empty_like(t) for t, need in asked]
