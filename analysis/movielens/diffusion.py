"""All diffusion steps of one side at once, with a backward pass of their own."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from analysis.movielens.terms import ScaledGraph


class Workspace:
    """What the forward pass leaves for the backward pass, in arrays that the next forward pass writes again.

    New arrays for every step would be cleared by the system first, which takes longer than to compute what is in them.
    Only the last forward pass can therefore be differentiated.

    Attributes
    ----------
    terms : Tensor, shape (n_steps, n, n_terms, rank)
        Chebyshev terms of the factors.
    inputs : Tensor, shape (n_steps, 2 * features, n)
        What the cell sees: the convolved factors, and its own state.
    gates : Tensor, shape (n_steps, 4 * features, n)
        Of the cell.
    memory, squashed : Tensor, shapes (n_steps + 1, features, n) and (n_steps, features, n)
        The memory before each step and after the last, and its sigmoid after each.
    changes : Tensor, shape (n_steps, rank, n)
        Of the factors.
    n_uses : int
        How many forward passes there were.
    """

    def __init__(self) -> None:
        self.n_uses = 0
        self._key: Any = None

    def claim(self, start: Tensor, taps: Tensor, n_steps: int) -> int:
        """Make the arrays large enough for a forward pass, and return its number."""
        (n, rank), (n_terms, _, features) = start.shape, taps.shape
        key = (n_steps, n, rank, n_terms, features, start.dtype, start.device)
        if key != self._key:
            self.terms = start.new_empty(n_steps, n, n_terms, rank)
            self.inputs = start.new_zeros(n_steps, 2 * features, n)
            self.gates = start.new_empty(n_steps, 4 * features, n)
            self.memory = start.new_zeros(n_steps + 1, features, n)
            self.squashed = start.new_empty(n_steps, features, n)
            self.changes = start.new_empty(n_steps, rank, n)
            self._key = key
        self.n_uses += 1
        return self.n_uses


class Diffusion(torch.autograd.Function):
    """The factors after some steps of convolution, recurrent cell and change.

    The same numbers as :class:`~analysis.movielens.network.RecurrentCell` behind a layer of :mod:`cayleygsp.nn`, in
    fewer passes over memory: weights are the same in all steps, so that the taps of the filters are computed once, and
    their gradients are summed on the way; channels of the cell stand one below the other, so that every gate is an
    array without gaps.
    """

    @staticmethod
    def forward(
        ctx: Any,
        start: Tensor,
        graph: ScaledGraph,
        n_steps: int,
        space: Workspace,
        taps: Tensor,
        conv_bias: Tensor,
        from_input: Tensor,
        from_state: Tensor,
        bias: Tensor,
        to_change: Tensor,
        change_bias: Tensor,
    ) -> Tensor:
        """Return the changed factors.

        Parameters
        ----------
        ctx
            Of torch.
        start : Tensor, shape (n, rank)
            Factors to begin with; no gradient is passed on to them.
        graph : ScaledGraph
            Of this side of the network.
        n_steps : int
            How often the factors are changed.
        space : Workspace
            Likewise.
        taps : Tensor, shape (n_terms, rank, features)
            Weights of the Chebyshev terms.
        conv_bias : Tensor, shape (features,)
            Of the convolution.
        from_input, from_state, bias, to_change, change_bias : Tensor
            Parameters of the cell.
        """
        n, m = len(start), taps.shape[2]
        ctx.use = space.claim(start, taps, n_steps)
        ctx.space, ctx.n_steps, ctx.graph = space, n_steps, graph
        weights = torch.cat([from_input, from_state])
        ctx.save_for_backward(taps, weights, to_change)
        factor = start.clone()
        for t in range(n_steps):
            terms, x, gates, c = space.terms[t], space.inputs[t], space.gates[t], space.memory[t + 1]
            graph.write_terms(factor, terms)
            torch.addmm(conv_bias[:, None], taps.view(-1, m).T, terms.view(n, -1).T, out=x[:m]).relu_()
            torch.addmm(bias[:, None], weights.T, x, out=gates).sigmoid_()
            f, i, o, u = gates.view(4, m, n)
            torch.mul(i, u, out=c).addcmul_(f, space.memory[t])
            torch.sigmoid(c, out=space.squashed[t])
            if t + 1 < n_steps:
                torch.mul(o, space.squashed[t], out=space.inputs[t + 1, m:])
            factor += torch.addmm(change_bias[:, None], to_change.T, c, out=space.changes[t]).tanh_().T
        return factor

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """Return the gradients of taps, biases and weights."""
        space, (taps, weights, to_change) = ctx.space, ctx.saved_tensors
        if ctx.use != space.n_uses:
            raise RuntimeError("only the last forward pass can be differentiated: its workspace was used again")
        n, m = len(gradient), taps.shape[2]
        d_factor = gradient.clone()
        d_c, d_x = gradient.new_zeros(m, n), gradient.new_zeros(2 * m, n)
        d_h, d_gates = d_x[m:], torch.empty_like(space.gates[0])
        d_weights, d_to_change = torch.zeros_like(weights.T), torch.zeros_like(to_change)
        d_taps = taps.new_zeros(m, taps[..., 0].numel())  # transposed: a faster product
        d_conv_bias, d_bias = taps.new_zeros(m), taps.new_zeros(4 * m)
        d_change_bias = taps.new_zeros(to_change.shape[1])
        for t in reversed(range(ctx.n_steps)):
            terms, x, gates, squashed = space.terms[t], space.inputs[t], space.gates[t], space.squashed[t]
            d_change = d_factor * (1 - space.changes[t].square().T)
            d_to_change.addmm_(space.memory[t + 1], d_change)
            d_change_bias += d_change.sum(dim=0)
            d_c.addmm_(to_change, d_change.T)
            f, i, o, u = gates.view(4, m, n)
            d_c += torch.ops.aten.sigmoid_backward(d_h * o, squashed)
            for product, factors in zip(
                d_gates.view(4, m, n), ((d_c, space.memory[t]), (d_c, u), (d_h, squashed), (d_c, i)), strict=True
            ):
                torch.mul(*factors, out=product)
            d_c *= f
            torch.ops.aten.sigmoid_backward.grad_input(d_gates, gates, grad_input=d_gates)
            d_weights.addmm_(d_gates, x.T)
            d_bias += d_gates.sum(dim=1)
            torch.mm(weights, d_gates, out=d_x)
            d_conv = d_x[:m].mul_(x[:m] > 0)
            d_taps.addmm_(d_conv, terms.view(n, -1))
            d_conv_bias += d_conv.sum(dim=1)
            if t:
                d_factor += ctx.graph.sum_terms((d_conv.T @ taps.view(-1, m).T).view(terms.shape))
        d_input, d_state = d_weights.T[:m], d_weights.T[m:]
        d_taps = d_taps.T.reshape(taps.shape)
        return None, None, None, None, d_taps, d_conv_bias, d_input, d_state, d_bias, d_to_change, d_change_bias
