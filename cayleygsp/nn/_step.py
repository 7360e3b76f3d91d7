r"""The two recurrences of the layers, each the adjoint of the other, on tensors.

:func:`terms` makes many Chebyshev series of one block of signals, :func:`combine` sums one series of each of many
blocks. On the CPU they run compiled loops on the memory of the tensors, elsewhere torch's sparse products. Both need
memory for a fixed number of terms, however many there are. Neither knows of gradients.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from cayleygsp.engine import tiles
from cayleygsp.engine.tiles import MIN_TERMS


class GraphTensors(NamedTuple):
    """A graph as the recurrences want it.

    Row i of the scaled Laplacian is ``scale[i] * (diagonal[i] * t[i] - sum(values * t[indices])) - t[i]``, the sum
    going from ``indptr[i]`` to ``indptr[i + 1]``.
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor
    diagonal: Tensor
    scale: Tensor

    def packed(self) -> tuple[Any, ...]:
        """Return the same memory as the compiled loops want it: whole numbers without a sign, and the sum's sign."""
        indptr, indices, values, diagonal, scale = (t.numpy() for t in self)
        whole = (w.view(f"u{w.itemsize}") for w in (indptr, indices))
        return (*whole, values, diagonal, values.dtype.type(-1), scale)


def terms(graph: GraphTensors, x: Tensor, coeffs: Tensor | None, n_terms: int) -> Tensor:
    r"""Return :math:`\sum_k a_{sk} T_k(\tilde\Delta) x` for every row s of coefficients.

    Parameters
    ----------
    graph : GraphTensors
        The scaled Laplacian, in the precision of x.
    x : Tensor, shape (batch, n, features)
        Signals.
    coeffs : Tensor, shape (n_blocks, n_terms), or None
        None stands for the unit matrix: the terms themselves.
    n_terms : int
        How many terms, K + 1.

    Returns
    -------
    Tensor, shape (batch, n, n_blocks, features)
    """
    n_blocks = n_terms if coeffs is None else coeffs.shape[0]
    y = x.new_empty((x.shape[0], x.shape[1], n_blocks, x.shape[2]))
    if y.numel() == 0:
        return y
    if x.device.type != "cpu":
        return _terms_by_torch(graph, x, coeffs, n_terms, y)
    a = x.new_empty((0, 0)) if coeffs is None else coeffs.contiguous()
    _plan(x, n_terms).terms(graph.packed(), a.numpy(), x.contiguous().numpy(), y.numpy())
    return y


def combine(graph: GraphTensors, z: Tensor, coeffs: Tensor | None, n_terms: int) -> Tensor:
    r"""Return :math:`\sum_s \sum_k a_{sk} T_k(\tilde\Delta) z_s` by Clenshaw's rule.

    Parameters
    ----------
    graph : GraphTensors
        The scaled Laplacian, in the precision of z.
    z : Tensor, shape (batch, n, n_blocks, features)
        Blocks of signals.
    coeffs, n_terms
        As in :func:`terms`.

    Returns
    -------
    Tensor, shape (batch, n, features)
    """
    y = z.new_empty((z.shape[0], z.shape[1], z.shape[3]))
    if y.numel() == 0:
        return y
    if z.device.type != "cpu":
        return _combine_by_torch(graph, z, coeffs, n_terms)
    a = z.new_empty((0, 0)) if coeffs is None else coeffs.contiguous()
    _plan(y, n_terms).combine(graph.packed(), a.numpy(), z.contiguous().numpy(), y.numpy())
    return y


def product(graph: GraphTensors, x: Tensor) -> Tensor:
    """Return the Laplacian, not scaled, times x of shape (n, m)."""
    if x.device.type != "cpu":
        return graph.diagonal[:, None] * x - _adjacency(graph) @ x
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    tiles.product(graph.packed(), x.contiguous().numpy(), y.numpy(), torch.get_num_threads())
    return y


def _plan(x: Tensor, n_terms: int) -> tiles.TilePlan:
    """Return how the columns of signals like x are cut and shared."""
    batch, n, features = x.shape
    return tiles.TilePlan((batch, n, features), x.new_empty(0).numpy().dtype, n_terms, torch.get_num_threads())


def _adjacency(graph: GraphTensors) -> Tensor:
    n = graph.diagonal.shape[0]
    return torch.sparse_csr_tensor(graph.indptr, graph.indices, graph.values, (n, n), check_invariants=False)


class _Scaled:
    """Products of the scaled Laplacian with (n, m) tensors by torch alone."""

    def __init__(self, graph: GraphTensors) -> None:
        self.W = _adjacency(graph)
        self.off = -graph.scale[:, None]
        self.diagonal = graph.scale[:, None] * graph.diagonal[:, None] - 1

    def __matmul__(self, t: Tensor) -> Tensor:
        return self.off * (self.W @ t) + self.diagonal * t


def _terms_by_torch(graph: GraphTensors, x: Tensor, coeffs: Tensor | None, n_terms: int, y: Tensor) -> Tensor:
    """Do what the compiled loops do, a few degrees at a time."""
    batch, n, features = x.shape
    L = _Scaled(graph)
    recent = [x.transpose(0, 1).reshape(n, -1)]
    for k in range(n_terms):
        if k == 1:
            recent.append(L @ recent[-1])
        elif k > 1:
            recent.append(2 * (L @ recent[-1]) - recent[-2])
        if coeffs is None:
            y[:, :, k] = recent[-1].view(n, batch, features).transpose(0, 1)
            recent = recent[-2:]
        elif (k + 1) % MIN_TERMS == 0 or k + 1 == n_terms:
            size = k % MIN_TERMS + 1
            block = torch.stack(recent[-size:]).view(size, -1)
            part = (coeffs[:, k + 1 - size : k + 1] @ block).view(-1, n, batch, features).permute(2, 1, 0, 3)
            if k < MIN_TERMS:
                y.copy_(part)
            else:
                y += part
            recent = recent[-2:]
    return y


def _combine_by_torch(graph: GraphTensors, z: Tensor, coeffs: Tensor | None, n_terms: int) -> Tensor:
    """Do what the compiled loops do, a few degrees at a time."""
    batch, n, n_blocks, features = z.shape
    L = _Scaled(graph)
    blocks = z.permute(2, 1, 0, 3).reshape(n_blocks, -1)
    above = above2 = z.new_zeros((n, batch * features))
    for k in range(n_terms - 1, -1, -1):
        first = k - k % MIN_TERMS
        if coeffs is None:
            D = blocks[k]
        else:
            if k + 1 == n_terms or k % MIN_TERMS == MIN_TERMS - 1:
                part = coeffs[:, first : k + 1].T @ blocks
            D = part[k - first]
        above, above2 = (2 if k else 1) * (L @ above) - above2 + D.view(n, -1), above
    return above.view(n, batch, features).transpose(0, 1).contiguous()
