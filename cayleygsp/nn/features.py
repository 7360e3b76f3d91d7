"""Inputs that do not change in training, with what is computed of them once: terms, spectra, columns for sweeps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor

from cayleygsp._validation import check_integer, check_positive
from cayleygsp.engine.jacobi import jacobi_blocks
from cayleygsp.laplacians import Laplacian
from cayleygsp.nn.graph.laplacian import GraphLaplacian, GraphTensors
from cayleygsp.nn.ops.jacobi import DifferentiableSweeps
from cayleygsp.nn.ops.operation import reject_learned_graph, uses_loops
from cayleygsp.nn.ops.series import CAYLEY, CAYLEY_REAL, FilterBasis, differentiable_series, terms, zoom_of
from cayleygsp.responses.basis import basis_size, power_basis, power_coefficients, power_samples, zoom_derivative


class PrecomputedFeatures(ABC):
    """Inputs of a :class:`~cayleygsp.nn.PrecomputedCayleyConv`, with what can be computed of them once."""

    # Of the Laplacian, and of the inputs.
    normalization: str | None
    channels: int

    def _prepare(self, x: Any, laplacian: Any, shape: str) -> GraphLaplacian:
        """Return the graph of the inputs if both are good; the vertices are their last dimension but one."""
        if not isinstance(x, Tensor) or not x.is_floating_point() or x.dim() != 1 + shape.count(","):
            given = f"shape {tuple(x.shape)}, dtype {x.dtype}" if isinstance(x, Tensor) else type(x).__name__
            raise TypeError(f"`x` must be a tensor of shape {shape} of floating point numbers, got {given}")
        if x.requires_grad:
            raise ValueError("`x` must not require a gradient: the features are computed once")
        if not bool(torch.isfinite(x).all()):
            raise ValueError("`x` must be finite")
        if isinstance(laplacian, Laplacian):
            laplacian = GraphLaplacian.from_laplacian(laplacian, device=x.device)
        if not isinstance(laplacian, GraphLaplacian):
            raise TypeError(f"`laplacian` must be a Laplacian or GraphLaplacian, got {type(laplacian).__name__}")
        reject_learned_graph(laplacian.values, "a set of features, computed once,")
        n, self.channels = x.shape[-2:]
        if n != laplacian.n_vertices:
            raise ValueError(f"`x` must have {laplacian.n_vertices} rows as the graph has vertices, got {n}")
        self.normalization = laplacian.normalization
        return laplacian

    @abstractmethod
    def check_zoom(self, order: int, zoom: float) -> None:
        """Reject a zoom for which the inputs are not prepared."""

    @abstractmethod
    def mix(self, weight: Tensor, log_zoom: Tensor, index: Tensor | None, *, real: bool) -> Tensor:
        """Filter some of the inputs; the result has their shape, with the channels of the output.

        Parameters are those of :func:`cayleygsp.nn.ops.convolution.cayley_conv`, and which inputs, None for all.
        """

    @abstractmethod
    def to(self, *args: Any, **kwargs: Any) -> PrecomputedFeatures:
        """Move or cast, as ``Tensor.to`` does; returns itself."""


class BlockFeatures(PrecomputedFeatures):
    """Many signals on one graph, of which the 2r + 1 filtered ones are computed when they are needed.

    They need no gradient, so that their derivatives in log h are computed with them instead of by going back.
    """

    n_vertices: int

    def check_zoom(self, order: int, zoom: float) -> None:
        """Accept every zoom."""

    @abstractmethod
    def blocks(self, index: Tensor | None, zoom: float, order: int, real: bool, like: Tensor) -> tuple[Tensor, Tensor]:
        """Return blocks of filtered signals, and the derivatives of the first of them as combinations of all.

        The blocks, shape (n, k, channels, n_blocks), are in the precision of ``like``, those of the basis first. The
        derivative of function b in log h is the sum over b' of ``derivative[b, b']`` times block b'.
        """

    def mix(self, weight: Tensor, log_zoom: Tensor, index: Tensor | None, *, real: bool) -> Tensor:
        """Filter some of the signals."""
        if log_zoom.dim():
            columns = [self.mix(weight[:, :, o : o + 1], log_zoom[o], index, real=real) for o in range(weight.shape[2])]
            return torch.cat(columns, dim=2)
        order = FilterBasis(CAYLEY_REAL if real else CAYLEY, weight.shape[0]).order
        blocks, derivative = self.blocks(index, zoom_of(log_zoom.detach()), order, real, weight)
        n, k, channels, n_blocks = blocks.shape
        rows = _Mix.apply(weight, log_zoom, blocks.reshape(n * k, channels, n_blocks), derivative)
        return rows.view(n, k, -1).transpose(0, 1)


class _Mix(torch.autograd.Function):
    """Blocks of signals times weights, with gradients in the weights and in log h."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, log_zoom: Tensor, blocks: Tensor, derivative: Tensor) -> Tensor:
        size, channels, out = weight.shape
        ctx.save_for_backward(weight, log_zoom, blocks, derivative)
        return blocks[:, :, :size].flatten(1) @ weight.transpose(0, 1).reshape(channels * size, out)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, Tensor | None, None, None]:
        weight, log_zoom, blocks, derivative = ctx.saved_tensors
        size, channels, out = weight.shape
        d = (blocks.flatten(1).T @ gradient).view(channels, -1, out).transpose(0, 1)
        dw, dh = (d[:size] if ctx.needs_input_grad[0] else None), None
        if ctx.needs_input_grad[1]:
            pairs = weight.reshape(size, -1) @ d.reshape(d.shape[0], -1).T
            dh = (derivative * pairs).sum().to(log_zoom.dtype)
        return dw, dh, None, None


class ChebyshevFeatures(PrecomputedFeatures):
    r"""The terms :math:`T_k(\tilde\Delta) X`, k ≤ K, of inputs that do not change in training.

    Every Cayley filter of order up to r with a zoom up to ``max_zoom`` is a combination of them, within ``tol``. They
    take K + 1 times the memory of X.

    Parameters
    ----------
    x : Tensor, shape (n, channels)
        Signals on the vertices.
    laplacian : GraphLaplacian or cayleygsp.Laplacian
        The graph.
    order : int
        Largest order r.
    max_zoom : float
        Largest zoom h that training may reach.
    tol : float
        Largest error of each basis function, which is of size 2.

    Attributes
    ----------
    features : Tensor, shape (n, K + 1, channels)
        The terms.
    lmax : float
        The upper bound of the spectrum that they are scaled by.
    n_samples : int
        Chebyshev points that the coefficients of filters are computed from.

    Examples
    --------
    >>> import torch
    >>> import cayleygsp as cg
    >>> from cayleygsp.nn import ChebyshevFeatures, PrecomputedCayleyConv
    >>> L = cg.laplacian(cg.gallery.ring(100), "normalized")
    >>> features = ChebyshevFeatures(torch.ones(100, 2), L, order=3, max_zoom=4.0)
    >>> features
    ChebyshevFeatures(n_vertices=100, channels=2, degree=37, order=3, max_zoom=4)
    >>> layer = PrecomputedCayleyConv(2, 5, order=3)
    >>> layer(features, torch.tensor([7, 12, 80])).shape
    torch.Size([3, 5])
    """

    def __init__(
        self,
        x: Tensor,
        laplacian: GraphLaplacian | Laplacian,
        order: int,
        max_zoom: float,
        *,
        tol: float = 1e-4,
    ) -> None:
        laplacian = self._prepare(x, laplacian, "(n, channels)")
        self.order = check_integer(order, "order", at_least=1)
        self.max_zoom = check_positive(max_zoom, "max_zoom")
        self.tol = check_positive(tol, "tol")
        self.lmax = float(laplacian.lmax.max()) if laplacian.bound is None else laplacian.bound
        n_terms = self._terms_for(self.order, self.max_zoom)
        self.n_samples = power_samples(self.order + 1, self.max_zoom, self.lmax, tol=self.tol)
        graph = laplacian.tensors(x.dtype, own_scale=False)
        self.features = terms(graph, x[None], None, n_terms)[0]

    def _terms_for(self, order: int, zoom: float) -> int:
        """Return how many terms filters of this order and zoom, and their derivatives in the zoom, need."""
        return power_coefficients(order + 1, zoom, self.lmax, tol=self.tol).coeffs.shape[1]

    def check_zoom(self, order: int, zoom: float) -> None:
        """Reject a zoom that is larger than the terms cover."""
        if self._terms_for(order, zoom) > self.features.shape[1]:
            raise ValueError(
                f"the zoom has grown to {zoom:.4g} and order {order} needs more terms than the "
                f"{self.features.shape[1]} of `features`: compute them with a larger max_zoom (it was "
                f"{self.max_zoom:g} for order {self.order})"
            )

    def mix(self, weight: Tensor, log_zoom: Tensor, index: Tensor | None, *, real: bool) -> Tensor:
        r"""Filter on some vertices: the sum over k of :math:`T_k(\tilde\Delta) X V_k`, V_k the sum of a_bk(h) W_b."""
        order = FilterBasis(CAYLEY_REAL if real else CAYLEY, weight.shape[0]).order
        n_terms = self.features.shape[1]
        a = differentiable_series(log_zoom, order, self.lmax, n_terms, self.n_samples, real=real)
        V = torch.einsum("obk,bio->kio" if log_zoom.dim() else "bk,bio->kio", a, weight.double())
        rows = self.features if index is None else self.features[index]
        V = V.to(weight.dtype)
        return rows.to(V.dtype).flatten(1) @ V.flatten(0, 1)

    def to(self, *args: Any, **kwargs: Any) -> ChebyshevFeatures:
        """Move or cast the terms, as ``Tensor.to`` does; returns itself."""
        self.features = self.features.to(*args, **kwargs)
        return self

    def __len__(self) -> int:
        return int(self.features.shape[0])

    def __repr__(self) -> str:
        n, n_terms, channels = self.features.shape
        return (
            f"ChebyshevFeatures(n_vertices={n}, channels={channels}, degree={n_terms - 1}, order={self.order}, "
            f"max_zoom={self.max_zoom:g})"
        )


class EigenbasisFeatures(BlockFeatures):
    r"""The spectrum :math:`\Phi^\top X` of many signals that do not change in training, for the method "exact".

    A step multiplies it with the basis functions and with Φ; neither a product with :math:`\Phi^\top` nor a way back
    is needed. The signals take as much memory as they do, the eigenbasis that of a dense matrix: for small graphs.

    Parameters
    ----------
    x : Tensor, shape (n_signals, n, channels)
        Signals on one graph.
    laplacian : GraphLaplacian or cayleygsp.Laplacian
        The graph.

    Attributes
    ----------
    eigenvalues : Tensor, shape (n,)
        λ, in double precision.
    eigenvectors : Tensor, shape (n, n)
        Φ, in the precision of x.
    spectrum : Tensor, shape (n, n_signals, channels)
        :math:`\Phi^\top X`.

    Examples
    --------
    >>> import torch
    >>> import cayleygsp as cg
    >>> from cayleygsp.nn import EigenbasisFeatures, PrecomputedCayleyConv
    >>> L = cg.laplacian(cg.gallery.ring(20), "normalized")
    >>> features = EigenbasisFeatures(torch.ones(100, 20, 1), L)
    >>> features
    EigenbasisFeatures(n_signals=100, n_vertices=20, channels=1)
    >>> layer = PrecomputedCayleyConv(1, 8, order=3)
    >>> layer(features, torch.tensor([7, 12, 80])).shape
    torch.Size([3, 20, 8])
    """

    def __init__(self, x: Tensor, laplacian: GraphLaplacian | Laplacian) -> None:
        laplacian = self._prepare(x, laplacian, "(n_signals, n, channels)")
        self.n_vertices = laplacian.n_vertices
        lam, Phi = laplacian.eigenbasis()
        self.eigenvalues = lam.clamp(min=0.0)
        self.eigenvectors = Phi.to(x.dtype)
        columns = x.transpose(0, 1).contiguous()
        # on the host, once
        spectrum = self.eigenvectors.cpu().numpy().T @ columns.flatten(1).cpu().numpy()
        self.spectrum = torch.from_numpy(spectrum).to(x.device).view_as(columns)

    def blocks(self, index: Tensor | None, zoom: float, order: int, real: bool, like: Tensor) -> tuple[Tensor, Tensor]:
        """Return blocks of filtered signals and their derivatives; see ``BlockFeatures.blocks``."""
        basis = power_basis(order + 1, zoom * self.eigenvalues.cpu().numpy(), real=real)
        functions, derivative = (torch.from_numpy(a).to(like) for a in (basis, zoom_derivative(order, real=real)))
        spectrum = (self.spectrum if index is None else self.spectrum[:, index]).to(like)
        spread = spectrum[..., None] * functions[:, None, None, :]
        return (self.eigenvectors.to(like) @ spread.flatten(1)).view(spread.shape), derivative

    def to(self, *args: Any, **kwargs: Any) -> EigenbasisFeatures:
        """Move or cast, as ``Tensor.to`` does; returns itself."""
        self.eigenvectors = self.eigenvectors.to(*args, **kwargs)
        self.spectrum = self.spectrum.to(*args, **kwargs)
        return self

    def __len__(self) -> int:
        return int(self.spectrum.shape[1])

    def __repr__(self) -> str:
        return f"EigenbasisFeatures(n_signals={len(self)}, n_vertices={self.n_vertices}, channels={self.channels})"


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
        laplacian = self._prepare(x, laplacian, "(n_signals, n, channels)")
        self.n_iter = check_integer(n_iter, "n_iter", at_least=0)
        self.n_vertices = laplacian.n_vertices
        self.columns = x.transpose(0, 1).contiguous()
        self._graph = laplacian.tensors(laplacian.values.dtype, own_scale=False)

    def blocks(self, index: Tensor | None, zoom: float, order: int, real: bool, like: Tensor) -> tuple[Tensor, Tensor]:
        """Return blocks of filtered signals and their derivatives; see ``BlockFeatures.blocks``."""
        columns = (self.columns if index is None else self.columns[:, index]).to(like)
        x = columns.flatten(1)
        if uses_loops(x):
            packed, diagonal = self._graph.to(x.dtype).packed(), self._graph.diagonal.double().numpy()
            sizes = order, self.n_iter, torch.get_num_threads()
            blocks = torch.from_numpy(jacobi_blocks(packed, diagonal, zoom, x.contiguous().numpy(), *sizes))
        else:
            blocks = blocks_by_torch(self._graph, zoom, x, order, self.n_iter)
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


def blocks_by_torch(graph: GraphTensors, zoom: float, x: Tensor, order: int, n_iter: int) -> Tensor:
    """Return x, the parts of all powers, and their derivatives, shape (n, m, 4r + 1), where there are no loops."""
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
