"""Fixed signals that go through the paper's Jacobi sweeps with their derivatives."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from cayleygsp._validation import check_integer
from cayleygsp.laplacians import Laplacian
from cayleygsp.nn.device_step import uses_loops
from cayleygsp.nn.features import BlockFeatures, as_columns, check_laplacian, check_signals, chosen
from cayleygsp.nn.graph.laplacian import GraphLaplacian
from cayleygsp.nn.graph.tensors import GraphTensors
from cayleygsp.nn.jacobi import DifferentiableSweeps
from cayleygsp.responses.basis import basis_size


class JacobiFeatures(BlockFeatures):
    r"""Many signals that do not change in training, for the paper's Jacobi scheme: the method "jacobi" for them.

    Values and derivatives in log h go through the sweeps together, so that nothing is recorded and no sweep is gone
    back through.

    Parameters
    ----------
    x : Tensor, shape (n_signals, n, channels)
        Signals on one graph.
    laplacian : GraphLaplacian or cayleygsp.Laplacian
        The graph.
    n_iter : int
        Sweeps after the start vector.

    Attributes
    ----------
    columns : Tensor, shape (n, n_signals, channels)
        The signals, vertices first.
    n_iter : int
        Sweeps.

    Examples
    --------
    >>> import torch
    >>> import cayleygsp as cg
    >>> from cayleygsp.nn import JacobiFeatures, PrecomputedCayleyConv
    >>> L = cg.laplacian(cg.gallery.ring(20), "normalized")
    >>> features = JacobiFeatures(torch.ones(100, 20, 1), L, n_iter=5)
    >>> features
    JacobiFeatures(n_signals=100, n_vertices=20, channels=1, n_iter=5)
    >>> PrecomputedCayleyConv(1, 8, order=3)(features, torch.tensor([7, 12, 80])).shape
    torch.Size([3, 20, 8])
    """

    def __init__(self, x: Tensor, laplacian: GraphLaplacian | Laplacian, n_iter: int = 10) -> None:
        x = check_signals(x, 3, "(n_signals, n, channels)")
        laplacian = check_laplacian(laplacian, x.shape[1], x.device)
        self.n_iter = check_integer(n_iter, "n_iter", at_least=0)
        self.normalization = laplacian.normalization
        _, self.n_vertices, self.channels = x.shape
        self.columns = as_columns(x)
        self._graph = laplacian.tensors(laplacian.values.dtype, own_scale=False)

    def blocks(self, index: Tensor | None, zoom: float, order: int, real: bool, like: Tensor) -> tuple[Tensor, Tensor]:
        """Return blocks of filtered signals and their derivatives; see ``BlockFeatures.blocks``."""
        columns = chosen(self.columns, index).to(like)
        compute = _blocks_by_loops if uses_loops(columns) else blocks_by_torch
        blocks = compute(self._graph, zoom, columns.flatten(1), order, self.n_iter)
        if real:
            blocks = blocks[:, :, [0, *range(1, 4 * order + 1, 2)]]
        size = basis_size(order, real=real)
        derivative = like.new_zeros((size, 2 * size - 1))
        derivative[1:, size:] = torch.eye(size - 1, device=like.device)
        return blocks.view(*columns.shape, 2 * size - 1), derivative

    def to(self, *args: Any, **kwargs: Any) -> JacobiFeatures:
        """Move or cast, as ``Tensor.to`` does; returns itself."""
        self.columns = self.columns.to(*args, **kwargs)
        self._graph = GraphTensors(*(t.to(self.columns.device) for t in self._graph.tensors()))
        return self

    def __len__(self) -> int:
        return int(self.columns.shape[1])

    def __repr__(self) -> str:
        sizes = f"n_signals={len(self)}, n_vertices={self.n_vertices}, channels={self.channels}"
        return f"JacobiFeatures({sizes}, n_iter={self.n_iter})"


def _blocks_by_loops(graph: GraphTensors, zoom: float, x: Tensor, order: int, n_iter: int) -> Tensor:
    """Return x, the parts of all powers, and their derivatives, shape (n, m, 4r + 1), by compiled loops."""
    from cayleygsp.engine.jacobi_powers import jacobi_blocks

    diagonal, columns = graph.diagonal.double().numpy(), x.contiguous().numpy()
    packed = graph.to(x.dtype).packed()
    return torch.from_numpy(jacobi_blocks(packed, diagonal, zoom, columns, order, n_iter, torch.get_num_threads()))


def blocks_by_torch(graph: GraphTensors, zoom: float, x: Tensor, order: int, n_iter: int) -> Tensor:
    """Do what the compiled loops do with torch operations, on any device."""
    here = GraphTensors(*graph[:2], *(t.to(x.dtype) for t in graph[2:5]))
    solve = DifferentiableSweeps(here, x.new_tensor(zoom), n_iter, with_derivative=True)
    zero = torch.zeros_like(x)
    y = torch.stack([x, zero, zero, zero], dim=1)
    values, derivatives = [x], []
    for _ in range(order):
        y = solve(y)
        values += [2 * y[:, 0], -2 * y[:, 1]]
        derivatives += [2 * y[:, 2], -2 * y[:, 3]]
    return torch.stack(values + derivatives, dim=2)
