"""Checks of a prepared Laplacian: of the state that is loaded into one, and of a given λ_max."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor

from cayleygsp.engine.edge_rows import consecutive, rayleigh_bound
from cayleygsp.nn.graph.edges import SYMMETRY, sums_both_ways

# A given λ_max may be too small by this part: it may come from single precision.
LMAX_SLACK = 1e-4


def check_given_lmax(given: Tensor, matrix: tuple[Tensor, Tensor, Tensor, Tensor], batch: Tensor | None) -> None:
    """Reject a λ_max that is below a Rayleigh quotient of a symmetric matrix.

    On other devices than the CPU and under torch.compile it is not looked at.

    Parameters
    ----------
    given : Tensor, shape (n,)
        λ_max for each vertex.
    matrix : tuple of Tensor
        ``indptr``, ``indices``, ``values`` and ``diagonal``.
    batch : Tensor, shape (n,), optional
        The graph of each vertex.
    """
    if torch.compiler.is_compiling() or given.device.type != "cpu":
        return
    graphs = np.empty(0, np.int64) if batch is None else consecutive(batch.long().numpy())
    numbers = (t.numpy() if k < 2 else t.detach().double().numpy() for k, t in enumerate(matrix))
    lower = rayleigh_bound(tuple(numbers), graphs)
    reject_low_lmax(given.double().numpy(), lower)


def reject_low_lmax(lmax: np.ndarray, lower: np.ndarray) -> None:
    """Raise where λ_max, for each vertex, is below what an eigenvalue is at least."""
    low = lmax < lower * (1 - LMAX_SLACK)
    if low.any():
        vertex = int(low.argmax())
        raise ValueError(
            "`lambda_max` must not be below the largest eigenvalue of the Laplacian, which is at least "
            f"{lower[vertex]:.6g} for the graph of vertex {vertex}, got {lmax[vertex]:g}"
        )


def check_state(state: Mapping[str, Tensor | None], n: int) -> None:
    """Reject a state with indices out of range, a matrix that is not symmetric, or a bound that does not hold.

    Parameters
    ----------
    state : mapping
        Tensors by the names of the buffers. A part that is missing or of another size is left to torch, which says so.
    n : int
        Vertices of the Laplacian that it is loaded into.
    """
    wanted = [state.get(name) for name in ("indptr", "indices", "values", "diagonal", "lmax")]
    parts = [part for part in wanted if part is not None and part.device.type != "meta"]
    if len(parts) < 5:
        return
    indptr, indices, values, diagonal, lmax = (part.detach().cpu() for part in parts)
    if (
        indptr.shape != (n + 1,)
        or any(part.shape != (n,) for part in (diagonal, lmax))
        or indices.shape != values.shape
    ):
        return
    counts = indptr.long().diff()
    if int(indptr[0]) != 0 or int(indptr[-1]) != indices.numel() or bool((counts < 0).any()):
        raise ValueError(f"`indptr` of the state must grow from 0 to {indices.numel()}, the number of its indices")
    if indices.numel() and not 0 <= int(indices.min()) <= int(indices.max()) < n:
        wrong = int(indices.min()) if int(indices.min()) < 0 else int(indices.max())
        raise ValueError(f"`indices` of the state must be between 0 and {n - 1}, got {wrong}")
    for name, numbers in (("values", values), ("diagonal", diagonal), ("lmax", lmax)):
        if not bool((torch.isfinite(numbers) & (numbers >= 0)).all()):
            raise ValueError(f"`{name}` of the state must be finite and not negative")
    rows = torch.repeat_interleave(torch.arange(n), counts)
    there, back = sums_both_ways(rows, indices.long(), values.double(), n)
    if bool(((there - back).abs() > SYMMETRY * (there + back)).any()):
        raise ValueError("`values` of the state must be those of a symmetric matrix")
    matrix = tuple(part.numpy() for part in (indptr, indices, values.double(), diagonal.double()))
    labels = torch.unique(lmax, return_inverse=True)[1].numpy() if n else np.empty(0, np.int64)
    lower = rayleigh_bound(matrix, labels)
    if bool((lmax.double().numpy() < lower * (1 - LMAX_SLACK)).any()):
        raise ValueError("`lmax` of the state must not be below the largest eigenvalue")
