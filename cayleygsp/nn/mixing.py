r"""The matrices :math:`V_k = \sum_b a_{bk} W_b` that mix the channels of each Chebyshev term, and their gradient."""

from __future__ import annotations

import torch
from torch import Tensor

from cayleygsp.nn.coefficients import order_of, series_coefficients, zoom_slopes
from cayleygsp.nn.graph.tensors import GraphTensors

# With fewer channels than this, the terms of a chunk are put side by side for one dense product with them all.
_FEW_CHANNELS = 8


class Mixing:
    """The matrices V_k, some degrees at a time, seen from the side that has fewer channels, which has the terms.

    Parameters
    ----------
    weight : Tensor, shape (n_functions, in_channels, out_channels)
        Weights of the basis functions.
    log_zoom : Tensor, shape () or (out_channels,), or None
        log h; None for the Chebyshev basis, whose functions are the terms.
    graph, basis, tol, bound, hint
        As in :func:`cayleygsp.nn.coefficients.series_coefficients`.

    Attributes
    ----------
    n_terms : int
        Number of terms.
    terms_of_input : bool
        Whether the input has the terms, not the output.
    in_weight : Tensor
        Gradient in the weights.
    """

    def __init__(
        self,
        weight: Tensor,
        log_zoom: Tensor | None,
        graph: GraphTensors,
        basis: str,
        tol: float,
        bound: float | None,
        hint: float | None,
    ) -> None:
        size = weight.shape[0]
        self.weight, self.log_zoom, self.basis, self.order = weight, log_zoom, basis, order_of(basis, size)
        self.terms_of_input = weight.shape[1] <= weight.shape[2]
        # in double precision: the gradient in the zoom is a sum over all terms
        series, self.n_terms = series_coefficients(
            log_zoom, weight.new_empty(0, dtype=torch.float64), graph, basis, self.order, tol, bound, hint
        )
        self.in_weight = torch.zeros_like(weight, memory_format=torch.contiguous_format)
        if series is not None:
            self._series = series if series.dim() == 3 else series[None]
            self._coeffs = self._series[:, :size].to(weight.dtype)
            self._in_coeffs = torch.zeros_like(self._coeffs, memory_format=torch.contiguous_format)
            self._zoom = "z" if series.dim() == 2 else "o"

    def chunk(self, k0: int, size: int) -> Tensor:
        """Return V_k of the degrees k0 ..., shape (size, channels with the terms, other channels)."""
        if self.log_zoom is None:
            V = self.weight[k0 : k0 + size]
        else:
            V = torch.einsum(f"{self._zoom}bk,bio->kio", self._coeffs[:, :, k0 : k0 + size], self.weight)
        return V if self.terms_of_input else V.transpose(1, 2)

    def add(self, k0: int, gradient: Tensor) -> None:
        """Take in the gradient in V_k of the degrees k0 ..., in the shape of :meth:`chunk`."""
        here = slice(k0, k0 + gradient.shape[0])
        gradient = gradient if self.terms_of_input else gradient.transpose(1, 2)
        if self.log_zoom is None:
            self.in_weight[here] += gradient
            return
        self.in_weight += torch.einsum(f"{self._zoom}bk,kio->bio", self._coeffs[:, :, here], gradient)
        one_zoom = self._zoom == "z"
        self._in_coeffs[:, :, here] += torch.einsum(f"bio,kio->{'' if one_zoom else 'o'}bk", self.weight, gradient)

    def in_zoom(self) -> Tensor:
        """Return the gradient in log h, in the shape of log h."""
        assert self.log_zoom is not None
        slopes = zoom_slopes(self._series, self.basis)
        return (self._in_coeffs * slopes).sum(dim=(1, 2)).reshape(self.log_zoom.shape).to(self.weight.dtype)


def add_mixed(y: Tensor, chunk: Tensor, mixing: Tensor) -> None:
    """Add the sum over k of t_k V_k to y.

    Parameters
    ----------
    y : Tensor, shape (n_rows, other channels)
        Changed in place.
    chunk : Tensor, shape (size, ...)
        Terms, each with n_rows * channels numbers.
    mixing : Tensor, shape (size, channels, other channels)
        V_k.
    """
    size, channels, others = mixing.shape
    if channels < _FEW_CHANNELS:
        y.addmm_(_side_by_side(chunk, channels), mixing.reshape(size * channels, others))
    else:
        for t, V in zip(chunk, mixing, strict=True):
            y.addmm_(t.view(-1, channels), V)


def products(chunk: Tensor, other: Tensor, channels: int) -> Tensor:
    """Return the transposed terms times ``other``, shape (size, channels, other channels); see :func:`add_mixed`."""
    if channels < _FEW_CHANNELS:
        return (_side_by_side(chunk, channels).T @ other).view(chunk.shape[0], channels, other.shape[1])
    return chunk.view(chunk.shape[0], -1, channels).transpose(1, 2) @ other


def spread(other: Tensor, mixing: Tensor, out: Tensor) -> None:
    """Set out, of shape (size, n_rows, channels), to ``other`` times the transposed V_k; see :func:`add_mixed`."""
    size, channels, others = mixing.shape
    if channels <= _FEW_CHANNELS:
        together = other @ mixing.reshape(size * channels, others).T
        out.copy_(together.view(-1, size, channels).transpose(0, 1))
    else:
        torch.matmul(other, mixing.transpose(1, 2), out=out)


def _side_by_side(chunk: Tensor, channels: int) -> Tensor:
    """Return the terms with their channels side by side in each row, shape (n_rows, size * channels)."""
    size = chunk.shape[0]
    rows = chunk.reshape(size, -1, channels).transpose(0, 1)
    return rows.reshape(rows.shape[0], size * channels)
