r"""The two recurrences of the layers, each the adjoint of the other, on tensors.

:func:`terms` makes many Chebyshev series of one block of signals, :func:`combine` sums one series of each of many
blocks. On the CPU they run compiled loops on the memory of the tensors, elsewhere torch's sparse products. Both need
memory for a fixed number of terms, however many there are. Neither knows of gradients.
"""

from __future__ import annotations

import torch
from torch import Tensor

from cayleygsp.engine import tiles
from cayleygsp.nn.graph.laplacian import GraphTensors
from cayleygsp.nn.modes import uses_loops

# Terms that are kept at once.
CHUNK = 8


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
    """Fill y as :func:`cayleygsp.nn.ops.recurrence.terms` returns it."""
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
    """Return what :func:`cayleygsp.nn.ops.recurrence.combine` returns."""
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


# Terms that the compiled loops keep at once: fewer, which stay in the cache.
_LOOP_CHUNK = 4


class Recurrences:
    """The recurrences of a matrix and of its transposed, with the gradient in the matrix.

    Parameters
    ----------
    graph : GraphTensors
        The scaled matrix M.
    transposed : bool
        Whether terms are those of the transposed and Clenshaw's rule is that of M, and not the other way round.
    like : Tensor
        A tensor of the signals' device.
    tied : bool
        Give the two halves of an edge the mean of their gradients.

    Attributes
    ----------
    chunk : int
        How many degrees at a time.
    """

    def __init__(self, graph: GraphTensors, like: Tensor, *, transposed: bool = False, tied: bool = False) -> None:
        self.graph, self.swapped, self.tied = graph, transposed, tied
        self.compiled = uses_loops(like)
        self.chunk = _LOOP_CHUNK if self.compiled else CHUNK
        pair = (graph.transposed(), graph) if transposed else (graph, graph.transposed())
        if self.compiled:
            self._up, self._down = (g.packed() for g in pair)
            self._entries = torch.zeros(graph.indices.shape[0], dtype=torch.float64)
            self._diagonal = torch.zeros(graph.diagonal.shape[0], dtype=torch.float64)
        else:
            self._terms = ScaledMatrix(pair[0])
            self._sums = self._terms if graph.is_symmetric else ScaledMatrix(pair[1])
            self._all = torch.zeros_like(self._terms.matrix.values())

    def ascend(self, k0: int, size: int, t: Tensor) -> None:
        """Set slots 2 ... size + 1 of t to the degrees k0 ...; those before stand in slots 0 and 1, degree 0 in slot 2.

        Parameters
        ----------
        k0, size : int
            The first degree, and how many.
        t : Tensor, shape (size + 2 or more, n, width)
            The terms.
        """
        if self.compiled:
            from cayleygsp.engine import edge_loops

            edge_loops.ascend(self._up, k0, size, t.numpy(), torch.get_num_threads())
        else:
            self._terms.ascend(k0, size, t)

    def descend(self, k0: int, size: int, top: int, u: Tensor, t: Tensor | None, *, backwards: bool = True) -> None:
        """Run Clenshaw's rule down to degree k0, and with terms add up the gradient in the matrix.

        Parameters are those of :func:`cayleygsp.engine.edge_loops.descend`.
        """
        if self.compiled:
            from cayleygsp.engine import edge_loops

            edge_loops.descend(
                self._down,
                self._up,
                k0,
                size,
                top,
                u.numpy(),
                None if t is None else t.numpy(),
                backwards=backwards,
                first_is_u=not self.swapped,
                tied=self.tied,
                entries=self._entries.numpy(),
                diagonal=self._diagonal.numpy(),
                limit=torch.get_num_threads(),
            )
            return
        for q in range(size - 1, -1, -1):
            k = k0 + q
            self._sums.add_step(2 if k else 1, u[q + 1], u[q + 2], u[q])
            if t is None or k == top:
                continue
            now = t[q + 1] if backwards else t[q + 2]
            self._add_products(u[q + 1], now, 2.0 if k else 1.0)
            if backwards and k > 0:
                self._terms.step(2, now, t[q + 2], t[q])

    def _add_products(self, u: Tensor, t: Tensor, factor: float) -> None:
        """Add what one degree gives to the gradient, in the order of the rows of M."""
        if self.swapped:
            self._all += self._sums.products(t, u, factor, self.tied)
        else:
            self._all += self._terms.products(u, t, factor, self.tied)

    def chunks(self, n_terms: int) -> list[tuple[int, int]]:
        """Return the first degree and the size of each chunk, from low degrees to high ones."""
        return [(k0, min(self.chunk, n_terms - k0)) for k0 in range(0, n_terms, self.chunk)]

    def gradients(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the gradients in values, diagonal and scale of the graph, from what was added up.

        In double precision where the loops add up in it: the entries of a Laplacian change together with the weight of
        an edge, and their gradients almost cancel where the zoom is large.
        """
        if self.compiled:
            entries, diagonal = self._entries, self._diagonal
        else:
            places = self._sums if self.swapped else self._terms
            entries, diagonal = self._all[places.beside], self._all[places.diagonal]
        graph = self.graph.to(entries.dtype)
        rows = graph.rows()
        in_scale = (graph.diagonal * diagonal).index_add(0, rows, graph.values * entries, alpha=-1)
        return -graph.scale[rows] * entries, graph.scale * diagonal, in_scale
