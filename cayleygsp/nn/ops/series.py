r"""Chebyshev series of the functions of a layer: coefficients, and two recurrences, each the adjoint of the other.

:func:`terms` makes many series of one block of signals, :func:`combine` sums one series of each of many blocks. Both
need memory for a fixed number of terms, however many there are, and know of no gradients. On the CPU they run compiled
loops on the memory of the tensors. A graphics card has no such loops: for it, and to test them, the same is written
with torch's sparse products (``*_by_torch``).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import torch
from torch import Tensor

from cayleygsp._typing import FloatArray
from cayleygsp.engine import tiles
from cayleygsp.nn.graph.laplacian import GraphTensors
from cayleygsp.nn.ops.operation import uses_loops
from cayleygsp.responses.basis import power_coefficients

# The functions that a layer combines: powers of the Cayley transform, their real parts alone, Chebyshev polynomials.
CAYLEY, CAYLEY_REAL, CHEBYSHEV = "cayley", "cayley_real", "chebyshev"

# Largest h λ_max of a recurrence in single precision.
SINGLE_LIMIT = 1e3

# Numbers that the series of several zooms may have, for their samples to be transformed at once.
_SAMPLES = 2**15

# Terms that operations of torch keep at once.
CHUNK = 8


class FilterBasis(NamedTuple):
    """The functions that a layer combines, and how good their series are.

    Attributes
    ----------
    kind : str
        One of the three.
    size : int
        How many functions, the coefficients of a filter.
    tol : float
        Largest error of each; Chebyshev polynomials have none.
    bound : float or None
        Right end of the interval; if None, it is read from the graph.
    hint : float or None
        An upper bound of h, on the CPU h itself; if None, it is read.
    """

    kind: str
    size: int
    tol: float = 0.0
    bound: float | None = None
    hint: float | None = None

    @property
    def order(self) -> int:
        """The order r of the filters."""
        return (self.size - 1) // 2 if self.kind == CAYLEY else self.size - 1

    @property
    def extended_size(self) -> int:
        """How many functions there are with those that the gradient in the zoom adds: those of order r + 1."""
        return self.size + {CAYLEY: 2, CAYLEY_REAL: 1, CHEBYSHEV: 0}[self.kind]

    def precision(self, dtype: torch.dtype, log_zoom: Tensor | None) -> torch.dtype:
        """Return the precision of a recurrence: double where rounding in single would spoil the zoom's gradient.

        That gradient is of size 1 / (hλ) where hλ is large, and rounding in a recurrence grows with its length.
        """
        if dtype != torch.float32 or log_zoom is None or self.bound is None or log_zoom.device.type in ("meta", "mps"):
            return dtype
        zoom = self.hint if self.hint is not None else zoom_of(log_zoom.detach().max())
        return torch.float64 if zoom * self.bound > SINGLE_LIMIT else dtype

    def series(self, log_zoom: Tensor | None, dtype: torch.dtype, graph: GraphTensors) -> tuple[Tensor | None, int]:
        """Return the coefficients of the series of order r + 1 and the number of terms; None where it is the terms.

        With many zooms there is a matrix for each, all with the terms that the largest needs.
        """
        if log_zoom is None:
            return None, self.size
        lmax = self.bound
        if lmax is None:
            scale = float(graph.scale.max()) if graph.scale.numel() else 0.0
            lmax = 2 / scale if scale > 0 else 0.0
        zoom = zoom_of(log_zoom.detach().max()) if self.hint is None else self.hint
        a = series_matrix(self.kind, self.order, zoom, lmax, self.tol)
        if uses_loops(log_zoom) and log_zoom.dim() == 0:
            return torch.tensor(a, dtype=dtype), a.shape[1]
        # elsewhere nothing is read back: the degree comes from the hint, the coefficients are computed there
        n_terms = -(-a.shape[1] // 8) * 8
        real = self.kind == CAYLEY_REAL
        # some zooms at a time, so that the samples of all do not stand in memory together
        at_once = max(_SAMPLES // (self.extended_size * n_terms), 1)
        parts = log_zoom.split(at_once) if log_zoom.dim() else (log_zoom,)
        series = [
            differentiable_series(z, self.order + 1, lmax, n_terms, 2 * n_terms, real=real).to(dtype) for z in parts
        ]
        return series[0] if len(series) == 1 else torch.cat(series), n_terms


@lru_cache(maxsize=64)
def series_matrix(kind: str, order: int, zoom: float, lmax: float, tol: float) -> FloatArray:
    """Return the series of the basis of order r + 1, one row per function, cut where all are good enough.

    The rows of order r are the first ones, and the same whether a gradient in the zoom is wanted or not.
    """
    coeffs = power_coefficients(order + 1, zoom, lmax, tol=tol, real=kind == CAYLEY_REAL).coeffs
    coeffs.flags.writeable = False
    return coeffs


def differentiable_series(
    log_zoom: Tensor, order: int, lmax: float, n_terms: int, n_samples: int, *, real: bool = False
) -> Tensor:
    """Return the series of the basis functions on [0, lmax] as a function of log h that torch can differentiate.

    They are computed from ``n_samples`` Chebyshev points, at least ``n_terms``, in double precision, for every number
    of ``log_zoom``: the shape is (..., n_functions, n_terms).
    """
    h = log_zoom.double().exp()
    half = (n_samples - _count(n_samples, h) - 0.5) * (math.pi / (2 * n_samples))
    x = h[..., None] * (lmax * torch.sin(half) ** 2)
    samples = basis_at(x, order, real).transpose(-1, -2)
    # the cosine transform of real samples: a Fourier transform of the samples and their mirror image, shifted by half
    # a sample
    spectrum = torch.fft.rfft(torch.cat([samples, samples.flip(-1)], dim=-1))[..., :n_terms]
    k = _count(n_terms, h)
    angle = k * (math.pi / (2 * n_samples))
    cosines = spectrum.real * torch.cos(angle) + spectrum.imag * torch.sin(angle)
    return cosines * torch.where(k > 0, 1.0, 0.5) / n_samples


def _count(n: int, like: Tensor) -> Tensor:
    """Return 0 ... n - 1 in double precision."""
    return torch.arange(n, dtype=torch.float64, device=like.device)


def basis_at(x: Tensor, order: int, real: bool) -> Tensor:
    """Return the basis functions at x = hλ, shape (..., n_functions) for x of shape (...)."""
    j = torch.arange(1, order + 1, dtype=x.dtype, device=x.device)
    angle = j * (-2 * torch.atan2(torch.ones_like(x), x))[..., None]
    parts = [2 * torch.cos(angle)] if real else [2 * torch.cos(angle), -2 * torch.sin(angle)]
    return torch.cat([torch.ones_like(x)[..., None], torch.stack(parts, -1).flatten(-2)], dim=-1)


def zoom_slopes(blocks: Tensor, kind: str) -> Tensor:
    """Return what a linear map gives for the derivatives in log h of the basis, from what it gives for the basis.

    It is :func:`cayleygsp.responses.basis.zoom_derivative` times the blocks, without a matrix that would have to be
    sent to the device. Functions of order r + 1 stand in the last but one dimension; those of order r are left.
    """
    parts = 1 if kind == CAYLEY_REAL else 2
    n = blocks.shape[-2] - 1 - parts  # functions beside the constant one
    one, rest = blocks[..., :1, :], blocks[..., 1:, :]
    nothing = torch.zeros_like(one)
    below = torch.cat([2 * one, nothing, rest] if parts == 2 else [2 * one, rest], dim=-2)[..., :n, :]
    j = torch.arange(n, device=blocks.device) // parts + 1
    return torch.cat([nothing, (j[:, None] / 2).to(blocks.dtype) * (below - rest[..., parts:, :])], dim=-2)


def zoom_of(log_zoom: Tensor) -> float:
    """Return h as a number."""
    value = float(log_zoom)
    try:
        return math.exp(value)
    except OverflowError:
        raise ValueError(f"`log_zoom` must have a finite exponential, got {value:g}") from None


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
        return _terms_by_torch(graph, x, coeffs, n_terms, y)
    a = x.new_empty((0, 0)) if coeffs is None else coeffs.contiguous()
    _plan(x, n_terms).terms(graph.packed(), a.numpy(), x.contiguous().numpy(), y.numpy())
    return y


def combine(graph: GraphTensors, z: Tensor, coeffs: Tensor | None, n_terms: int) -> Tensor:
    r"""Return :math:`\sum_s \sum_k a_{sk} T_k(\tilde\Delta) z_s` by Clenshaw's rule, shape (batch, n, features).

    The blocks of signals have the shape (batch, n, n_blocks, features); the rest is as in :func:`terms`, of which this
    is the adjoint.
    """
    y = z.new_empty((z.shape[0], z.shape[1], z.shape[3]))
    if y.numel() == 0:
        return y
    if not uses_loops(z):
        return _combine_by_torch(graph, z, coeffs, n_terms)
    a = z.new_empty((0, 0)) if coeffs is None else coeffs.contiguous()
    _plan(y, n_terms).combine(graph.packed(), a.numpy(), z.contiguous().numpy(), y.numpy())
    return y


def _plan(x: Tensor, n_terms: int) -> tiles.TilePlan:
    """Return how the columns of signals like x are cut and shared."""
    batch, n, features = x.shape
    return tiles.TilePlan((batch, n, features), x.new_empty(0).numpy().dtype, n_terms, torch.get_num_threads())


class ScaledMatrix:
    """The scaled matrix as one sparse tensor, its diagonal the first entry of each row.

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

    def ascend(self, k0: int, size: int, t: Tensor) -> None:
        """Set slots 2 ... of t to the degrees k0 ..., as the compiled loop does."""
        for q in range(size):
            if k0 + q == 1:
                torch.addmm(t[q + 2], self.matrix, t[q + 1], beta=0, out=t[q + 2])
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


def _terms_by_torch(graph: GraphTensors, x: Tensor, coeffs: Tensor | None, n_terms: int, y: Tensor) -> Tensor:
    """Fill y as :func:`terms` returns it."""
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


def _combine_by_torch(graph: GraphTensors, z: Tensor, coeffs: Tensor | None, n_terms: int) -> Tensor:
    """Return what :func:`combine` returns."""
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
