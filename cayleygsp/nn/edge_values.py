r"""Entries of a Laplacian as functions of edge weights that torch can differentiate.

The operations of the layers give gradients in ``values``, ``diagonal`` and ``scale`` of a
:class:`~cayleygsp.nn.graph_tensors.GraphTensors`; these functions carry them on to the weights of the edges, through
the degrees of the normalization. They are made of ordinary torch operations on one number per edge and vertex.
"""

from __future__ import annotations

import torch
from torch import Tensor


def asks_for_gradient(edge_weight: Tensor | None) -> bool:
    """Return whether weights are to get a gradient in what is computed now."""
    return isinstance(edge_weight, Tensor) and edge_weight.requires_grad and torch.is_grad_enabled()


def entries_of_edges(
    edge_index: Tensor,
    edge_weight: Tensor,
    n: int,
    normalization: str | None,
    order: Tensor,
    *,
    tied: bool = True,
    keep_loops: bool = True,
) -> tuple[Tensor, Tensor]:
    r"""Return the entries beside the diagonal of a Laplacian, with the sign changed, and the diagonal.

    Parameters
    ----------
    edge_index : Tensor, shape (2, n_edges)
        Where edges begin and end. Degrees are sums over the edges that begin at a vertex.
    edge_weight : Tensor, shape (n_edges,)
        Their weights.
    n : int
        Number of vertices.
    normalization : {"sym", "rw", None}
        Entries are :math:`w_{st}/\sqrt{d_s d_t}`, :math:`w_{st}/d_s` or :math:`w_{st}`.
    order : Tensor, shape (n_edges,)
        The edge of each entry, as rows want them.
    tied : bool
        For undirected graphs: take as degree the mean of what begins and what ends at a vertex, which is the same
        number, so that the gradients of the two halves of an edge are equal.
    keep_loops : bool
        Whether self-loops count in the degrees, as in the core. Otherwise they are left out, and the diagonal of a
        normalized Laplacian is 1 everywhere, as in PyTorch Geometric.

    Returns
    -------
    values : Tensor, shape (n_edges,)
        In double precision; self-loops have the value zero.
    diagonal : Tensor, shape (n,)
        In double precision.
    """
    source, target = edge_index.long()
    w = edge_weight.double()
    beside = torch.where(source == target, 0.0, w)
    zeros = torch.zeros(n, dtype=torch.float64, device=w.device)

    ends = torch.cat([source, target]) if tied else source

    def degrees(weights: Tensor) -> Tensor:
        return zeros.index_add(0, ends, torch.cat([weights, weights]) / 2 if tied else weights)

    diagonal = degrees(beside)
    if normalization is None:
        return beside[order], diagonal
    total = degrees(w) if keep_loops else diagonal
    inner = total > 0 if normalization == "sym" else total != 0
    # a power of two near the largest degree, so that nothing over- or underflows; a constant that cancels
    unit = torch.exp2(-torch.log2(total.detach().abs().amax().clamp(min=1e-300)).ceil()) if n else total.sum() + 1
    scaled = torch.where(inner, total * unit, 1.0)
    if normalization == "sym":
        root = torch.where(inner, scaled.rsqrt(), 0.0)
        values = beside * unit * (root[source] * root[target])
    else:
        values = beside * unit * torch.where(inner, 1 / scaled, 0.0)[source]
    on_diagonal = torch.where(inner, diagonal * unit / scaled, 0.0) if keep_loops else torch.ones_like(diagonal)
    return values[order], on_diagonal
