"""A scaled Laplacian, or any square matrix, as the recurrences of the layers want it."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor


class GraphTensors(NamedTuple):
    """A graph in the form that the recurrences read.

    Row i of the scaled matrix is ``scale[i] * (diagonal[i] * t[i] - sum(values * t[indices])) - t[i]``, the sum going
    from ``indptr[i]`` to ``indptr[i + 1]``. A matrix that is not symmetric has in addition the rows of its transposed:
    ``indptr_t``, ``indices_t``, and in ``order_t`` where each of their values stands among ``values`` (see
    :func:`transposed_pattern`). The scale is the same for all vertices that are joined by edges.
    """

    indptr: Tensor
    indices: Tensor
    values: Tensor
    diagonal: Tensor
    scale: Tensor
    indptr_t: Tensor | None = None
    indices_t: Tensor | None = None
    order_t: Tensor | None = None

    @property
    def is_symmetric(self) -> bool:
        """Whether the matrix is its own transposed."""
        return self.order_t is None

    def tensors(self) -> list[Tensor]:
        """Return the tensors that there are, as operations take them."""
        return [t for t in self if t is not None]

    def transposed(self) -> GraphTensors:
        """Return the transposed matrix (which does not know of its own transposed)."""
        if self.indptr_t is None or self.indices_t is None or self.order_t is None:
            return self
        return GraphTensors(self.indptr_t, self.indices_t, self.values[self.order_t], self.diagonal, self.scale)

    def packed(self) -> tuple[Any, ...]:
        """Return the same memory as the compiled loops want it: whole numbers without a sign, and the sum's sign."""
        indptr, indices, values, diagonal, scale = (t.contiguous().numpy() for t in self[:5])
        whole = (w.view(f"u{w.itemsize}") for w in (indptr, indices))
        return (*whole, values, diagonal, values.dtype.type(-1), scale)

    def to(self, dtype: torch.dtype) -> GraphTensors:
        """Return the same in another precision."""
        if self.values.dtype == dtype:
            return self
        return self._replace(values=self.values.to(dtype), diagonal=self.diagonal.to(dtype), scale=self.scale.to(dtype))

    def rows(self) -> Tensor:
        """Return the row of each value."""
        counts = self.indptr.diff().long()
        vertices = torch.arange(counts.shape[0], device=counts.device)
        return torch.repeat_interleave(vertices, counts, output_size=self.indices.shape[0])


def transposed_pattern(indptr: Tensor, indices: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return ``indptr_t``, ``indices_t`` and ``order_t`` of the transposed matrix, without asking the device.

    Parameters
    ----------
    indptr, indices : Tensor, shapes (n + 1,) and (n_entries,)
        Where the rows begin, and the columns.
    """
    n = indptr.shape[0] - 1
    vertices = torch.arange(n, device=indptr.device)
    rows = torch.repeat_interleave(vertices, indptr.diff().long(), output_size=indices.shape[0])
    order = torch.argsort(indices, stable=True)
    indptr_t = torch.zeros_like(indptr)
    # not bincount, which asks for the largest number
    counts = torch.zeros(n, dtype=torch.int64, device=indptr.device)
    indptr_t[1:] = counts.scatter_add_(0, indices.long(), torch.ones_like(rows)).cumsum(0)
    return indptr_t, rows[order].to(indices.dtype), order
