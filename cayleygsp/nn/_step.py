r"""The two recurrences of the layers, each the adjoint of the other, on tensors.

:func:`terms` makes many Chebyshev series of one block of signals, :func:`combine` sums one series of each of many
blocks. On the CPU they run compiled loops on the memory of the tensors, elsewhere torch's sparse products
(:mod:`cayleygsp.nn.device_step`). Both need
memory for a fixed number of terms, however many there are. Neither knows of gradients.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cayleygsp.engine import tiles
from cayleygsp.nn.device_step import combine_by_torch, product_by_torch, terms_by_torch, uses_loops
from cayleygsp.nn.graph.tensors import GraphTensors

__all__ = ["GraphTensors", "combine", "product", "terms"]


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
    if not uses_loops(x):
        return terms_by_torch(graph, x, coeffs, n_terms, y)
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
    if not uses_loops(z):
        return combine_by_torch(graph, z, coeffs, n_terms)
    a = z.new_empty((0, 0)) if coeffs is None else coeffs.contiguous()
    _plan(y, n_terms).combine(graph.packed(), a.numpy(), z.contiguous().numpy(), y.numpy())
    return y


def product(graph: GraphTensors, x: Tensor) -> Tensor:
    """Return the Laplacian, not scaled, times x of shape (n, m)."""
    if not uses_loops(x):
        return product_by_torch(graph, x)
    y = torch.empty_like(x, memory_format=torch.contiguous_format)
    tiles.product(graph.packed(), x.contiguous().numpy(), y.numpy(), torch.get_num_threads())
    return y


def _plan(x: Tensor, n_terms: int) -> tiles.TilePlan:
    """Return how the columns of signals like x are cut and shared."""
    batch, n, features = x.shape
    return tiles.TilePlan((batch, n, features), x.new_empty(0).numpy().dtype, n_terms, torch.get_num_threads())
