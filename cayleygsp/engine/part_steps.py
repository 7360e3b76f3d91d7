"""Some steps of the recurrence, or of its adjoint, on one part of a graph, with the values around it."""

from __future__ import annotations

from typing import Any

import numpy as np

from cayleygsp._typing import Array, FloatArray, IntArray
from cayleygsp.engine.packed import KernelGraph
from cayleygsp.engine.recurrence import look_ahead


def advance_rows(
    graph: KernelGraph,
    lmax: float,
    coeffs: FloatArray,
    before: int,
    limits: IntArray,
    blocks: tuple[Array, Array, Array],
    *,
    n_threads: int | None = None,
) -> tuple[Array, Array]:
    r"""Step :math:`T_{k+1} = 2\tilde\Delta T_k - T_{k-1}` on the rows of a part and add up, in place.

    Parameters
    ----------
    graph : KernelGraph
        Rows of the part, then rows around it; columns for those and the rim.
    lmax : float
        The interval of the series is [0, lmax].
    coeffs : ndarray, shape (n_filters, K + 1)
        One series per row.
    before : int
        Degree k of the newest block.
    limits : ndarray of int, shape (n_steps,)
        Rows that each step is done on, from the first.
    blocks : tuple of ndarray
        :math:`T_{k-1}` and :math:`T_k` on all rows and the rim, shape (n_local, m), and the sums on the rows of the
        part, shape (n_filters, n_own, m), which need no values for k = 0.
    n_threads : int, optional
        Threads; by default, as many as are useful.

    Returns
    -------
    tuple of ndarray
        The blocks of the last two degrees, the older one first: those that were given, overwritten.
    """
    from cayleygsp.engine.part_loops import advance_block, advance_signal

    loops = advance_signal, advance_block
    return _advance(loops, graph, lmax, coeffs.astype(graph.dtype), before, limits, blocks, n_threads)


def advance_adjoint_rows(
    graph: KernelGraph,
    lmax: float,
    coeffs: FloatArray,
    before: int,
    limits: IntArray,
    blocks: tuple[Array, Array, Array],
    *,
    n_threads: int | None = None,
) -> tuple[Array, Array]:
    r"""Step Clenshaw's rule :math:`b_k = x_k + 2\tilde\Delta b_{k+1} - b_{k+2}` on the rows of a part, in place.

    Here :math:`x_k = \sum_i a_{ik} f_i`, and the last step is :math:`b_0 = x_0 + \tilde\Delta b_1 - b_2`.

    Parameters
    ----------
    graph, lmax, coeffs, limits, n_threads
        As for :func:`advance_rows`.
    before : int
        Steps that were done: the newest block is :math:`b_k` with k = K - before.
    blocks : tuple of ndarray
        :math:`b_{k+1}` and :math:`b_k` on all rows and the rim, shape (n_local, m), and the signals :math:`f_i`, shape
        (n_filters, n_rows, m), on the rows of all steps; n_rows is n_local at most.

    Returns
    -------
    tuple of ndarray
        As from :func:`advance_rows`.
    """
    from cayleygsp.engine.part_loops import advance_block_adjoint, advance_signal_adjoint

    loops = advance_signal_adjoint, advance_block_adjoint
    a = np.ascontiguousarray(coeffs.T, graph.dtype)
    return _advance(loops, graph, lmax, a, before, limits, blocks, n_threads)


def _advance(
    loops: tuple[Any, Any],
    graph: KernelGraph,
    lmax: float,
    coeffs: Array,
    before: int,
    limits: IntArray,
    blocks: tuple[Array, Array, Array],
    n_threads: int | None,
) -> tuple[Array, Array]:
    """Run the loop for one signal or that for a block, and return the blocks of the last two degrees."""
    from cayleygsp.engine.threads import run

    t_old, t, sums = blocks
    arguments = (graph.scaled(lmax), graph.chunks, coeffs, before, limits.astype(np.uint64))
    n_steps, width = limits.size, t.shape[1]
    sizes: dict[str, Any] = {"n_chunks": graph.chunks.size - 1, "n_steps": n_steps, "n_threads": n_threads}
    numbers = graph.arrays[1].size + 4 * t.size
    if width == 1:
        run(loops[0], *arguments, t_old[:, 0], t[:, 0], sums[:, :, 0], look_ahead(graph), numbers=numbers, **sizes)
    elif width > 1:
        run(loops[1], *arguments, t_old, t, sums, numbers=numbers, **sizes)
    return (t, t_old) if n_steps % 2 else (t_old, t)
