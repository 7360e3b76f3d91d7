"""The recurrences of the layers by torch operations, for devices without compiled loops.

Every step is one sparse ``addmm``, which scales, multiplies and adds in one go. Memory is for :data:`CHUNK` terms,
however many there are, and the host never waits for the device.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch
from torch import Tensor

from cayleygsp.nn.graph.tensors import GraphTensors

# Terms that are kept at once.
CHUNK = 8

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


class ScaledMatrix:
    """The scaled matrix as one sparse tensor, its diagonal the first entry of each row.

    Parameters
    ----------
    graph : GraphTensors
        The graph.

    Attributes
    ----------
    matrix : Tensor
        In compressed rows, n entries more than the graph has.
    beside, diagonal : Tensor
        Where the entries of the graph, and the diagonal, stand among the values.
    """

    def __init__(self, graph: GraphTensors) -> None:
        n, n_entries = graph.diagonal.shape[0], graph.indices.shape[0]
        rows = graph.rows()
        whole = graph.indptr.dtype
        vertices = torch.arange(n + 1, dtype=whole, device=rows.device)
        indptr = graph.indptr + vertices
        self.beside = torch.arange(1, n_entries + 1, device=rows.device) + rows
        self.diagonal = indptr[:-1].long()
        indices = torch.empty(n + n_entries, dtype=whole, device=rows.device)
        indices[self.beside], indices[self.diagonal] = graph.indices.to(whole), vertices[:-1]
        values = graph.values.new_empty(n + n_entries)
        values[self.beside] = -graph.scale[rows] * graph.values
        values[self.diagonal] = graph.scale * graph.diagonal - 1
        self.matrix = torch.sparse_csr_tensor(indptr, indices, values, (n, n), check_invariants=False)

    def step(self, factor: int, t: Tensor, t_old: Tensor, out: Tensor) -> None:
        """Set out to factor * (scaled matrix) t - t_old."""
        torch.addmm(t_old, self.matrix, t, beta=-1, alpha=factor, out=out)

    def first(self, t: Tensor, out: Tensor) -> None:
        """Set out to (scaled matrix) t."""
        torch.addmm(out, self.matrix, t, beta=0, out=out)

    def ascend(self, k0: int, size: int, t: Tensor) -> None:
        """Set slots 2 ... of t to the degrees k0 ..., as the compiled loop does."""
        for q in range(size):
            if k0 + q == 1:
                self.first(t[q + 1], t[q + 2])
            elif k0 + q > 1:
                self.step(2, t[q + 1], t[q], t[q + 2])

    def add_step(self, factor: int, u: Tensor, u_old: Tensor, out: Tensor) -> None:
        """Add factor * (scaled matrix) u - u_old to out."""
        out -= u_old
        torch.addmm(out, self.matrix, u, alpha=factor, out=out)

    def products(self, p: Tensor, q: Tensor, factor: float, tied: bool) -> Tensor:
        """Return factor * <p_i, q_j> for each entry (i, j); if ``tied``, the mean of (i, j) and (j, i)."""
        sums = torch.sparse.sampled_addmm(self.matrix, p, q.T, beta=0.0, alpha=factor / 2 if tied else factor).values()
        if tied:
            sums = sums + torch.sparse.sampled_addmm(self.matrix, q, p.T, beta=0.0, alpha=factor / 2).values()
        return sums


def terms_by_torch(graph: GraphTensors, x: Tensor, coeffs: Tensor | None, n_terms: int, y: Tensor) -> Tensor:
    """Fill y as :func:`cayleygsp.nn._step.terms` returns it."""
    batch, n, features = x.shape
    L = ScaledMatrix(graph)
    t = x.new_empty((min(n_terms, CHUNK) + 2, n, batch * features))
    t[2].view(n, batch, features).copy_(x.transpose(0, 1))
    sums = None if coeffs is None else x.new_zeros((coeffs.shape[0], n * batch * features))
    for k0 in range(0, n_terms, CHUNK):
        size = min(CHUNK, n_terms - k0)
        if k0:
            t[:2] = t[CHUNK:]
        L.ascend(k0, size, t)
        chunk = t[2 : size + 2]
        if coeffs is None or sums is None:
            y[:, :, k0 : k0 + size] = chunk.view(size, n, batch, features).permute(2, 1, 0, 3)
        else:
            sums.addmm_(coeffs[:, k0 : k0 + size], chunk.view(size, -1))
    if sums is not None:
        del t, chunk
        y.copy_(sums.view(-1, n, batch, features).permute(2, 1, 0, 3))
    return y


def combine_by_torch(graph: GraphTensors, z: Tensor, coeffs: Tensor | None, n_terms: int) -> Tensor:
    """Return what :func:`cayleygsp.nn._step.combine` returns."""
    batch, n, n_blocks, features = z.shape
    L = ScaledMatrix(graph)
    blocks = None if coeffs is None else z.permute(2, 1, 0, 3).reshape(n_blocks, -1)
    u = z.new_zeros((min(n_terms, CHUNK) + 2, n, batch * features))
    for k0 in range(n_terms - 1 - (n_terms - 1) % CHUNK, -1, -CHUNK):
        size = min(CHUNK, n_terms - k0)
        if k0 + size < n_terms:
            u[CHUNK:] = u[:2]
        if coeffs is None or blocks is None:
            part = z[:, :, k0 : k0 + size].permute(2, 1, 0, 3)
            u[:size].view(size, n, batch, features).copy_(part)
        else:
            torch.mm(coeffs[:, k0 : k0 + size].T, blocks, out=u[:size].view(size, -1))
        for q in range(size - 1, -1, -1):
            L.add_step(2 if k0 + q else 1, u[q + 1], u[q + 2], u[q])
    return u[0].view(n, batch, features).transpose(0, 1).contiguous()


def product_by_torch(graph: GraphTensors, x: Tensor) -> Tensor:
    """Return the matrix, not scaled, times x of shape (n, m)."""
    n = graph.diagonal.shape[0]
    W = torch.sparse_csr_tensor(graph.indptr, graph.indices, graph.values, (n, n), check_invariants=False)
    return torch.addmm(graph.diagonal[:, None] * x, W, x, alpha=-1)
