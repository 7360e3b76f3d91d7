"""Compiled loops for one part of a graph: some steps of the recurrence, or its adjoint, on its rows and around it.

The rows of a part stand first, then those around it, nearest first. Values at the rim are not stepped, and what is
wrong there moves one row inwards with each step: step q is done on the rows below ``limits[q]`` alone. Only rows of the
part itself are added up; signals that go into the adjoint are given around it, too. Graphs come as
:meth:`~cayleygsp.engine.packed.KernelGraph.scaled` returns them.
"""

from __future__ import annotations

import numpy as np

from cayleygsp.engine.blocks import adjoint_rows, sum_rows
from cayleygsp.engine.board import MORE, claim, finish
from cayleygsp.engine.compiling import compiled
from cayleygsp.engine.one_signal import adjoint_signal_rows, new_strip, sum_signal_rows
from cayleygsp.engine.schedule import clenshaw_weights, due_terms, step_weights


@compiled()
def advance_signal(graph, chunks, coeffs, before, limits, t_old, t, out, ahead, board, mine, budget):  # type: ignore[no-untyped-def]
    """Do degrees before + 1, before + 2, … on one signal; ``out`` has the rows of the part alone."""
    n_chunks, sums, n_own = chunks.size - 1, new_strip(t), np.uint64(out.shape[1])
    terms = np.empty((coeffs.shape[0], 3), coeffs.dtype)
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        step, q = divmod(ticket, n_chunks)
        k = before + step + 1
        c, a = step_weights(graph[5][0], k, t), due_terms(coeffs, k, terms)
        now, old = (t_old, t) if step & 1 else (t, t_old)
        first, last = chunks[q], min(chunks[q + 1], limits[step])
        if first < n_own:
            sum_signal_rows(first, min(last, n_own), graph, c, now, old, out, a, k < 3, sums, ahead)
        if n_own < last:
            sum_signal_rows(max(first, n_own), last, graph, c, now, old, out, terms[:0], False, sums, ahead)
        finish(board)
    return MORE


@compiled()
def advance_block(graph, chunks, coeffs, before, limits, t_old, t, out, board, mine, budget):  # type: ignore[no-untyped-def]
    """Do degrees before + 1, before + 2, … on a block; ``out`` has the rows of the part alone."""
    n_chunks, n_own = chunks.size - 1, np.uint64(out.shape[1])
    terms = np.empty((coeffs.shape[0], 3), coeffs.dtype)
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        step, q = divmod(ticket, n_chunks)
        k = before + step + 1
        c, a = step_weights(graph[5][0], k, t), due_terms(coeffs, k, terms)
        now, old = (t_old, t) if step & 1 else (t, t_old)
        first, last = chunks[q], min(chunks[q + 1], limits[step])
        if first < n_own:
            # blocks as long as the outputs, whose places are counted by their length; neighbours lie beyond it
            sum_rows(first, min(last, n_own), graph, c, now[:n_own], old[:n_own], out, a, k < 3)
        if n_own < last:
            sum_rows(max(first, n_own), last, graph, c, now, old, out, terms[:0], False)
        finish(board)
    return MORE


@compiled()
def advance_signal_adjoint(graph, chunks, coeffs, before, limits, t_old, t, f, ahead, board, mine, budget):  # type: ignore[no-untyped-def]
    """Do degrees K - before - 1, K - before - 2, … of Clenshaw's rule on one signal; coeffs[k] holds degree k."""
    n_chunks, sums, K = chunks.size - 1, new_strip(t), coeffs.shape[0] - 1
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        step, q = divmod(ticket, n_chunks)
        k = K - before - step - 1
        c = clenshaw_weights(graph[5][0], k, t)
        now, old = (t_old, t) if step & 1 else (t, t_old)
        last = min(chunks[q + 1], limits[step])
        adjoint_signal_rows(chunks[q], last, graph, c, now, old, f, coeffs[k], sums, ahead)
        finish(board)
    return MORE


@compiled()
def advance_block_adjoint(graph, chunks, coeffs, before, limits, t_old, t, f, board, mine, budget):  # type: ignore[no-untyped-def]
    """Do degrees K - before - 1, K - before - 2, … of Clenshaw's rule on a block; coeffs[k] holds degree k."""
    n_chunks, K, n_inputs = chunks.size - 1, coeffs.shape[0] - 1, f.shape[1]
    for _ in range(budget):
        ticket = claim(board, mine)
        if ticket < 0:
            return ticket
        step, q = divmod(ticket, n_chunks)
        k = K - before - step - 1
        c = clenshaw_weights(graph[5][0], k, t)
        now, old = (t_old, t) if step & 1 else (t, t_old)
        last = min(chunks[q + 1], limits[step])
        # blocks as long as the signals, whose places are counted by their length; neighbours lie beyond it
        adjoint_rows(chunks[q], last, graph, c, now[:n_inputs], old[:n_inputs], f, coeffs[k])
        finish(board)
    return MORE
