"""The network: one convolution, ReLU, mean over the vertices, linear classifier."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor, nn

from analysis._networks import CHEBNET, CHEBYSHEV, EXACT, N_COMMUNITIES, N_FEATURES
from analysis.community.data import Data
from analysis.community.settings import Config
from cayleygsp._typing import Array, FloatArray
from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian
from cayleygsp.responses.basis import power_basis, zoom_derivative


class Network(nn.Module):
    """One convolution, ReLU, mean over the vertices, linear classifier.

    Means over many vertices differ by little from signal to signal. They are standardised before the classifier, which
    a classifier without this could do by itself: what can be learned is the same, but it is learned in fewer steps.

    The convolution is a layer of :mod:`cayleygsp.nn`. Where the signals that it mixes can be had faster than by the
    layer, as all inputs are known beforehand and need no gradient, they are; what comes out is the same.
    """

    def __init__(self, data: Data, model: str, order: int, config: Config, device: torch.device) -> None:
        super().__init__()
        self.conv = make_layer(model, order, config)
        self.standardize = nn.BatchNorm1d(N_FEATURES, affine=False)
        self.classify = nn.Linear(N_FEATURES, N_COMMUNITIES)
        self.to(device)
        self._graph = GraphLaplacian.from_laplacian(data.laplacian, dtype=torch.float32).to(device)
        self._x = torch.from_numpy(data.signals).to(device)
        self._source = make_source(self.conv, data, device)

    def features(self, indices: Tensor) -> Tensor:
        """Return the pooled features of some signals, shape (batch, 32)."""
        if self._source is None:
            x = self._x[:, indices].T[:, :, None].contiguous()
            return self.conv(x, self._graph).relu().mean(1)
        assert isinstance(self.conv, CayleyConv)
        blocks, derivative = self._source(indices, math.exp(self.conv.log_zoom.item()))
        n, batch, n_blocks = blocks.shape
        y = _Mix.apply(self.conv.weight[:, 0], self.conv.log_zoom, blocks.reshape(n * batch, n_blocks), derivative)
        return (y + self.conv.bias).relu_().view(n, batch, N_FEATURES).mean(0)

    def forward(self, indices: Tensor) -> Tensor:
        """Return the scores of the classes, shape (batch, 15)."""
        return self.classify(self.standardize(self.features(indices)))


def make_layer(model: str, order: int, config: Config) -> CayleyConv | ChebConv:
    """Return the convolution of a model."""
    if model == CHEBNET:
        return ChebConv(1, N_FEATURES, order, normalization=None)
    method, *n_iter = model.split()
    return CayleyConv(
        1,
        N_FEATURES,
        order,
        method=method,  # type: ignore[arg-type]
        n_iter=int(n_iter[0]) if n_iter else None,
        tol=config.tol,
        zoom=config.zoom,
        normalization=None,
    )


class _Mix(torch.autograd.Function):
    """Blocks of signals times weights, with gradients in the weights and in log h.

    The derivative in log h of the first blocks is a matrix times all blocks; there are more of them than weights.
    """

    @staticmethod
    def forward(ctx: Any, weight: Tensor, log_zoom: Tensor, blocks: Tensor, derivative: Tensor) -> Tensor:
        ctx.save_for_backward(weight, blocks, derivative)
        return blocks[:, : weight.shape[0]] @ weight

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None, None]:
        weight, blocks, derivative = ctx.saved_tensors
        d = blocks.T @ gradient
        return d[: weight.shape[0]], (derivative * (weight @ d.T)).sum(), None, None


def make_source(conv: nn.Module, data: Data, device: torch.device) -> _Exact | _Jacobi | None:
    """Return what makes the blocks of signals that a convolution mixes, None where the layer itself does."""
    if device.type != "cpu" or not isinstance(conv, CayleyConv) or conv.method == CHEBYSHEV:
        return None
    return _Exact(data, conv.order) if conv.method == EXACT else _Jacobi(data, conv.order, conv.n_iter)


class _Exact:
    """Blocks by the eigenbasis: the signals are in it once and for all."""

    def __init__(self, data: Data, order: int) -> None:
        self.order = order
        self.lam = np.maximum(data.laplacian.eigenvalues, 0.0)
        Phi = data.laplacian.eigenvectors.astype(np.float32)
        self.Phi = torch.from_numpy(Phi)
        self.x_hat = torch.from_numpy(Phi.T @ data.signals)
        self.derivative = torch.from_numpy(zoom_derivative(order)).float()

    def __call__(self, indices: Tensor, h: float) -> tuple[Tensor, Tensor]:
        basis = torch.from_numpy(power_basis(self.order + 1, h * self.lam)).float()
        x_hat = self.x_hat[:, indices]
        spectrum = x_hat[:, :, None] * basis[:, None, :]
        return (self.Phi @ spectrum.flatten(1)).view(spectrum.shape), self.derivative


class _Jacobi:
    """Blocks by Jacobi sweeps, and their derivatives in log h by the same sweeps."""

    def __init__(self, data: Data, order: int, n_iter: int) -> None:
        self.order, self.n_iter = order, n_iter
        W = data.graph.W
        self.graph = (W.indptr.astype(np.int64), W.indices.astype(np.int64), W.data.astype(np.float32))
        self.diagonal = data.laplacian.diagonal
        self.x = torch.from_numpy(data.signals)
        size = 2 * order + 1
        self.derivative = torch.zeros(size, 2 * size - 1)
        self.derivative[1:, size:] = torch.eye(size - 1)
        self(torch.arange(1), 1.0)  # compiled, or loaded, before anything is timed

    def __call__(self, indices: Tensor, h: float) -> tuple[Tensor, Tensor]:
        x = self.x[:, indices].numpy()
        out = np.empty((*x.shape, self.derivative.shape[1]), dtype=np.float32)
        jacobi_blocks(*self.graph, jacobi_factors(self.diagonal, h), x, self.order, self.n_iter, out)
        return torch.from_numpy(out), self.derivative


def jacobi_factors(diagonal: FloatArray, h: float) -> Array:
    r"""Return what a sweep multiplies with at each vertex, real and imaginary parts in turn, shape (n, 8).

    With E = hd + i: h/E and its derivative in log h, ih/E²; then (hd − i)/E and its derivative, 2ihd/E².
    """
    E = h * diagonal + 1j
    factors = np.column_stack([h / E, 1j * h / E**2, (h * diagonal - 1j) / E, 2j * h * diagonal / E**2])
    return factors.view(np.float64).astype(np.float32)


# Signals that go through the sweeps together: with value and derivative, real and imaginary, 256 bytes a vertex.
_TILE = 16


@njit(cache=True, fastmath={"contract", "nsz", "reassoc"})
def _neighbours(indptr, indices, values, i, y, total):  # type: ignore[no-untyped-def]
    for q in range(4 * _TILE):
        total[q] = 0
    for p in range(indptr[i], indptr[i + 1]):
        w, j = values[p], indices[p]
        for q in range(4 * _TILE):
            total[q] += w * y[j, q]


@njit(cache=True, fastmath={"contract", "nsz", "reassoc"})
def _add_product(f, k, sign, s, out):  # type: ignore[no-untyped-def]
    """Add to values and derivatives of out the product of a factor, which depends on h, with s."""
    m = _TILE
    ar, ai, br, bi = sign * f[k], sign * f[k + 1], sign * f[k + 2], sign * f[k + 3]
    for q in range(m):
        out[q] += ar * s[q] - ai * s[m + q]
        out[m + q] += ar * s[m + q] + ai * s[q]
        out[2 * m + q] += ar * s[2 * m + q] - ai * s[3 * m + q] + br * s[q] - bi * s[m + q]
        out[3 * m + q] += ar * s[3 * m + q] + ai * s[2 * m + q] + br * s[m + q] + bi * s[q]


@njit(cache=True, nogil=True, fastmath={"contract", "nsz", "reassoc"})
def jacobi_blocks(indptr, indices, values, factors, x, order, n_iter, out):  # type: ignore[no-untyped-def]
    """Fill out, shape (n, batch, 4r + 1), with x, the parts of all powers, and their derivatives in log h."""
    n, batch = x.shape
    one = values.dtype.type(1)
    two = one + one
    y = np.empty((n, 4 * _TILE), values.dtype)
    y_new, b = np.empty_like(y), np.empty_like(y)
    total = np.empty(4 * _TILE, values.dtype)
    for first in range(0, batch, _TILE):
        width = min(_TILE, batch - first)
        y[:] = 0
        for i in range(n):
            for q in range(width):
                y[i, q] = x[i, first + q]
                out[i, first + q, 0] = x[i, first + q]
        for j in range(1, order + 1):
            for i in range(n):
                _neighbours(indptr, indices, values, i, y, total)
                b[i, :] = 0
                _add_product(factors[i], 4, one, y[i], b[i])
                _add_product(factors[i], 0, -one, total, b[i])
            y[:] = b
            for _ in range(n_iter):
                for i in range(n):
                    _neighbours(indptr, indices, values, i, y, total)
                    y_new[i] = b[i]
                    _add_product(factors[i], 0, one, total, y_new[i])
                y, y_new = y_new, y
            for i in range(n):
                for q in range(width):
                    for part in range(2):
                        k = 2 * j - 1 + part
                        sign = -two if part else two
                        out[i, first + q, k] = sign * y[i, part * _TILE + q]
                        out[i, first + q, 2 * order + k] = sign * y[i, (2 + part) * _TILE + q]
