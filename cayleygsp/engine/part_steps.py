"""Some steps of the recurrence on one part of a graph, with the values around it."""

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
    from cayleygsp.engine.threads import run

    t_old, t, out = blocks
    a = coeffs.astype(graph.dtype)
    arguments = (graph.scaled(lmax), graph.chunks, a, before, limits.astype(np.uint64))
    n_steps, width = limits.size, t.shape[1]
    sizes: dict[str, Any] = {"n_chunks": graph.chunks.size - 1, "n_steps": n_steps, "n_threads": n_threads}
    numbers = graph.arrays[1].size + 4 * t.size
    if width == 1:
        signal = (t_old[:, 0], t[:, 0], out[:, :, 0])
        run(advance_signal, *arguments, *signal, look_ahead(graph), numbers=numbers, **sizes)
    elif width > 1:
        run(advance_block, *arguments, t_old, t, out, numbers=numbers, **sizes)
    return (t, t_old) if n_steps % 2 else (t_old, t)
