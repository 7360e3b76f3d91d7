"""A Chebyshev recurrence run up and down some degrees at a time, by compiled loops or by torch operations."""

from __future__ import annotations

import torch
from torch import Tensor

from cayleygsp.nn.device_step import CHUNK, ScaledMatrix, uses_loops
from cayleygsp.nn.graph.tensors import GraphTensors

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
