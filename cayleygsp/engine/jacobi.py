r"""Jacobi sweeps for :math:`(h\Delta + iI) y = b` on blocks of complex signals."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayleygsp._typing import ComplexArray, FloatArray
from cayleygsp.engine.packed import KernelGraph


class JacobiSweeps:
    r"""The iteration :math:`y \leftarrow J y + b` with :math:`E = \mathrm{Diag}(h\Delta + iI)`.

    Here :math:`J = I - E^{-1}(h\Delta + iI)`. Real and imaginary parts go through the compiled loop as columns in turn.

    Parameters
    ----------
    graph : KernelGraph
        The Laplacian, not reordered, in the precision of the signals.
    zoom : float
        h.
    diagonal : numpy.ndarray, shape (n,)
        That of the Laplacian.
    """

    def __init__(self, graph: KernelGraph, zoom: float, diagonal: FloatArray) -> None:
        self.graph = graph
        self.zoom = graph.dtype.type(zoom)
        self.diagonal = diagonal.astype(graph.dtype)

    def start(self, y: ComplexArray) -> ComplexArray:
        r"""Return :math:`E^{-1}(h\Delta - iI) y`, shape (n, m)."""
        b = np.empty_like(y)
        self._run(1, 1, np.zeros_like(y), y, b)
        return b

    def sweep(self, b: ComplexArray, y: ComplexArray, spare: ComplexArray, n_sweeps: int = 1) -> ComplexArray:
        """Return y after some sweeps; it is ``y`` or ``spare``, and the other holds what was before the last one."""
        self._run(-1, n_sweeps, b, y, spare)
        return spare if n_sweeps % 2 else y

    def transposed(self, y: ComplexArray, n_sweeps: int) -> ComplexArray:
        r"""Return :math:`(h\Delta - iI) \sum_{k \le K} J^k E^{-1} y`: the transposed of start and K sweeps.

        As Δ is symmetric, :math:`E^{-1} (J^\top)^k = J^k E^{-1}`: the sweeps are the same, from another start.
        """
        E = (self.zoom * self.diagonal)[:, None] + y.dtype.type(1j)
        b = np.ascontiguousarray(y / E)
        z = self.sweep(b, b.copy(), np.empty_like(b), n_sweeps)
        return E * self.start(z)

    def _run(self, sign: int, n_steps: int, base: ComplexArray, before: ComplexArray, after: ComplexArray) -> None:
        from cayleygsp.engine.jacobi_loop import sweep
        from cayleygsp.engine.threads import run

        graph, dtype = self.graph, self.graph.dtype
        if before.size == 0:
            return
        blocks: list[Any] = [block.view(dtype) for block in (base, before, after)]
        numbers = graph.arrays[1].size + 8 * before.size
        arguments = (graph.arrays, graph.chunks, self.zoom, sign, self.diagonal, *blocks)
        run(sweep, *arguments, n_chunks=graph.chunks.size - 1, n_steps=n_steps, numbers=numbers)
