r"""Series with any coefficients, with gradients in the coefficients and in the matrix, in memory for a few terms.

With :math:`V_k = \sum_b a_{bk} W_b` a layer computes :math:`Y = \sum_k T_k(M) X V_k`. With the incoming gradient
:math:`\bar Y`, the terms :math:`t_k = T_k(M) X` and the sums of Clenshaw's rule :math:`u_k = \bar Y V_k^\top + 2
M^\top u_{k+1} - u_{k+2}`,

.. math:: \bar V_k = t_k^\top \bar Y, \qquad \bar X = u_0, \qquad
          \bar M_{ij} = \sum_k c_k \langle u_{k+1,i}, t_{k,j} \rangle, \qquad c_0 = 1,\ c_k = 2.

The terms are needed from the highest degree down. The last two are kept, and the recurrence runs backwards,
:math:`t_{k-1} = 2 M t_k - t_{k+1}`, as stable as forwards while the spectrum of M is in [-1, 1]. For a matrix of
which that is not known (``reversible=False``), the terms are computed again, and two of each chunk are kept.

Where the output has fewer channels than the input, the same is done with :math:`M^\top`, :math:`\bar Y` and X in the
places of M, X and :math:`\bar Y`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from cayleygsp.nn.graph.laplacian import GraphTensors
from cayleygsp.nn.modes import full_precision, reject_second_derivative, uses_loops
from cayleygsp.nn.ops.coefficients import order_of, recurrence_dtype, series_coefficients, zoom_slopes
from cayleygsp.nn.ops.recurrence import Recurrences

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
        As in :func:`cayleygsp.nn.ops.coefficients.series_coefficients`.

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


# Signals of a batch that are worked on at once on the CPU: as many as make a block of about this many numbers.
_GROUP_NUMBERS = 2**18


@torch.library.custom_op("cayleygsp::series_conv", mutates_args=())
def series_conv(
    x: Tensor,
    weight: Tensor,
    log_zoom: Tensor | None,
    graph: Sequence[Tensor],
    basis: str,
    tol: float,
    bound: float | None,
    hint: float | None,
    reversible: bool,
    tied: bool,
    keep: bool,
) -> tuple[Tensor, Tensor]:
    """Return the sum over k of T_k X V_k, and the last two terms if the gradient in the matrix wants them.

    Parameters
    ----------
    x : Tensor, shape (batch, n, in_channels)
        Signals.
    weight : Tensor, shape (n_functions, in_channels, out_channels)
        Weights of the basis functions.
    log_zoom : Tensor, shape () or (out_channels,), or None
        log h, one or one per output channel; None for the Chebyshev basis.
    graph : list of Tensor
        The scaled matrix; see :meth:`GraphTensors.tensors`.
    basis, tol, bound, hint
        As in :func:`cayleygsp.nn.ops.coefficients.series_coefficients`.
    reversible : bool
        Whether the spectrum is known to be in [-1, 1].
    tied : bool
        Whether the two halves of an edge get the mean of their gradients; for symmetric matrices.
    keep : bool
        Whether to keep the last two terms, from which the gradient in the matrix then runs backwards. They are of the
        input: nothing is kept where the output has fewer channels, and no use is made of what is kept where the
        recurrence runs in another precision than that of the signals.
    """
    dtype = recurrence_dtype(x.dtype, log_zoom, bound, hint)
    given, M = x.dtype, GraphTensors(*graph).to(dtype)
    x, weight = x.to(dtype), weight.to(dtype)
    batch, n, f_in = x.shape
    f_out = weight.shape[2]
    y, terms_of_input = x.new_empty((batch, n, f_out)), f_in <= f_out
    recurrences = Recurrences(M, x, transposed=not terms_of_input)
    kept = x.new_empty((2, n, batch, f_in) if keep and terms_of_input else (0,), dtype=given)
    with full_precision(x):
        V = Mixing(weight, log_zoom, M, basis, tol, bound, hint)
        for group in _groups(x, min(f_in, f_out)):
            source = _rows(x[group])
            if terms_of_input:
                rows, last = _sum_terms(recurrences, V, source, n)
                if keep:
                    kept[:, :, group] = last.view(2, n, -1, f_in)
            else:
                rows = _clenshaw(recurrences, V, source, n)
            y[group] = rows.view(n, -1, f_out).transpose(0, 1)
    return y if given == dtype else y.to(given), kept


@series_conv.register_fake
def _(x: Tensor, weight: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    batch, n, f_in = x.shape
    kept = (2, n, batch, f_in) if rest[-1] and f_in <= weight.shape[2] else (0,)
    return x.new_empty((batch, n, weight.shape[2])), x.new_empty(kept)


def _groups(x: Tensor, features: int) -> Iterator[slice]:
    """Cut a batch where a block would not stay in the cache; elsewhere it is done at once."""
    batch, n, _ = x.shape
    size = max(_GROUP_NUMBERS // max(n * features, 1), 1) if uses_loops(x) else batch
    for first in range(0, batch, size) if x.numel() else ():
        yield slice(first, min(first + size, batch))


def _rows(x: Tensor) -> Tensor:
    """Return signals of shape (batch, n, channels) as rows, shape (n * batch, channels), vertices outside."""
    return x.transpose(0, 1).reshape(-1, x.shape[2])


def _first_terms(recurrences: Recurrences, source: Tensor, n_terms: int, n: int) -> Tensor:
    """Return memory for a chunk of terms, with the first one in its place."""
    t = source.new_empty((min(n_terms, recurrences.chunk) + 2, n, source.numel() // n))
    t[2] = source.view(n, -1)
    return t


def _go_up(
    recurrences: Recurrences, t: Tensor, n_terms: int, kept: list[Tensor] | None = None
) -> Iterator[tuple[int, Tensor]]:
    """Yield the first degree and the terms of each chunk, from low to high; keep two terms before each if asked."""
    for k0, size in recurrences.chunks(n_terms):
        if k0:
            t[:2] = t[recurrences.chunk :]
            if kept is not None:
                kept.append(t[:2].clone())
        recurrences.ascend(k0, size, t)
        yield k0, t[2 : size + 2]


def _sum_terms(recurrences: Recurrences, V: Mixing, source: Tensor, n: int) -> tuple[Tensor, Tensor]:
    """Return the sum over k of t_k V_k, and the last two terms."""
    terms, y = _first_terms(recurrences, source, V.n_terms, n), None
    for k0, chunk in _go_up(recurrences, terms, V.n_terms):
        mixing = V.chunk(k0, chunk.shape[0])
        y = mixing.new_zeros((source.shape[0], mixing.shape[2])) if y is None else y
        add_mixed(y, chunk, mixing)
    assert y is not None
    return y, terms[chunk.shape[0] : chunk.shape[0] + 2]


def _clenshaw(
    recurrences: Recurrences,
    V: Mixing,
    other: Tensor,
    n: int,
    terms: Tensor | None = None,
    kept: list[Tensor] | None = None,
    take: Callable[[int, Tensor], None] | None = None,
) -> Tensor:
    """Return u_0 of Clenshaw's rule for the sums over k of T_k (other V_k^T); with terms, add up the gradient too.

    Parameters
    ----------
    recurrences, V, other, n
        The matrix, how channels are mixed, rows of signals and the number of vertices.
    terms : Tensor, optional
        Memory for the terms of a chunk, the last two where :func:`_go_up` leaves them.
    kept : list of Tensor, optional
        What :func:`_go_up` kept, if terms are not to run backwards.
    take : callable, optional
        Gets the first degree and the terms of each chunk when they have run backwards.
    """
    chunks, u = recurrences.chunks(V.n_terms), None
    if terms is not None and kept is None:
        top = chunks[-1][1]
        terms[top - 1], terms[top] = terms[top].clone(), terms[top + 1]
    for number in range(len(chunks) - 1, -1, -1):
        k0, size = chunks[number]
        mixing = V.chunk(k0, size)
        last = number == len(chunks) - 1
        if u is None:
            width = other.shape[0] // n * mixing.shape[1]
            u = other.new_zeros((min(V.n_terms, recurrences.chunk) + 2, n, width))
        else:
            u[recurrences.chunk :] = u[:2]
        spread(other, mixing, u[:size].view(size, -1, mixing.shape[1]))
        if terms is not None and not last:
            if kept is None:
                terms[recurrences.chunk :] = terms[:2]
            else:  # those of the last chunk are still there
                _start_chunk(terms, kept, number)
                recurrences.ascend(k0, size, terms)
        recurrences.descend(k0, size, V.n_terms - 1, u, terms, backwards=kept is None)
        if terms is not None and take is not None:
            take(k0, terms[1 : size + 1])
    assert u is not None
    return u[0].reshape(other.shape[0], -1)


def _start_chunk(t: Tensor, kept: list[Tensor], number: int) -> None:
    """Put the two terms before a chunk in their places, or the first term."""
    if number:
        t[:2] = kept[number]
    else:
        t[2] = kept[0][0]


def _differentiate(
    recurrences: Recurrences,
    V: Mixing,
    source: Tensor,
    other: Tensor,
    n: int,
    wants: tuple[bool, bool, bool],
    reversible: bool,
    last: Tensor | None,
) -> Tensor | None:
    """Add up the gradients of a group of signals in V and in the matrix, and return that in the signals, if wanted.

    Parameters
    ----------
    recurrences, V, n
        The matrix, how channels are mixed, and the number of vertices.
    source, other : Tensor
        Rows of the signals and of the incoming gradient.
    wants : tuple of bool
        Whether gradients are wanted in the signals, in V and in the matrix.
    reversible : bool
        Whether terms may run backwards.
    last : Tensor, shape (2, n, width), or None
        The last two terms, if they were kept.
    """
    need_x, need_mixing, need_graph = wants
    if not V.terms_of_input:
        source, other = other, source
    of_terms = torch.zeros_like(other) if need_x and not V.terms_of_input else None

    def take(k0: int, chunk: Tensor) -> None:
        if need_mixing:
            V.add(k0, products(chunk, other, source.shape[1]))
        if of_terms is not None:
            add_mixed(of_terms, chunk, V.chunk(k0, chunk.shape[0]))

    terms = _first_terms(recurrences, source, V.n_terms, n)
    if need_graph and last is not None:
        top = (V.n_terms - 1) % recurrences.chunk + 1
        terms[top : top + 2] = last
        sums = _clenshaw(recurrences, V, other, n, terms, take=take)
        return sums if need_x else None
    kept = None if reversible or not need_graph else [source.view(1, n, -1)]
    if need_mixing or need_graph or of_terms is not None:
        for k0, chunk in _go_up(recurrences, terms, V.n_terms, kept):
            take(k0, chunk)
    if need_graph or (need_x and V.terms_of_input):
        sums = _clenshaw(recurrences, V, other, n, terms if need_graph else None, kept)
        return sums if V.terms_of_input and need_x else of_terms
    return of_terms


@torch.library.custom_op("cayleygsp::series_conv_backward", mutates_args=())
def series_conv_backward(
    gradient: Tensor,
    x: Tensor,
    weight: Tensor,
    log_zoom: Tensor | None,
    kept: Tensor,
    graph: Sequence[Tensor],
    basis: str,
    tol: float,
    bound: float | None,
    hint: float | None,
    reversible: bool,
    tied: bool,
    needs: Sequence[bool],
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    """Return the gradients in x, weights, log h, and values, diagonal and scale of the graph; empty if not needed.

    ``needs`` says so for x, for the weights, for log h, and for the graph; ``kept`` is what :func:`series_conv` kept.
    """
    dtype = recurrence_dtype(x.dtype, log_zoom, bound, hint)
    given, M = x.dtype, GraphTensors(*graph).to(dtype)
    gradient, x, weight = gradient.to(dtype), x.to(dtype), weight.to(dtype)
    need_x, need_weight, need_zoom, need_graph = needs
    terms_of_input = weight.shape[1] <= weight.shape[2]
    recurrences = Recurrences(M, x, transposed=not terms_of_input, tied=tied)
    dx = x.new_zeros(x.shape if need_x else (0,))
    n = x.shape[1]
    last = kept.to(dtype) if kept.numel() and given == dtype else None
    with full_precision(x):
        V = Mixing(weight, log_zoom, M, basis, tol, bound, hint)
        wants = need_x, need_weight or need_zoom, need_graph
        for group in _groups(x, min(weight.shape[1:])):
            rows = _rows(x[group]), _rows(gradient[group])
            two = None if last is None else last[:, :, group].reshape(2, n, -1)
            in_x = _differentiate(recurrences, V, *rows, n, wants, reversible, two)
            if in_x is not None:
                dx[group] = in_x.view(n, -1, x.shape[2]).transpose(0, 1)
    nothing = x.new_empty(0)
    in_graph = nothing.clone(), nothing.clone(), nothing.clone()
    if need_graph:
        values, diagonal, scale = recurrences.gradients()
        in_graph = values.to(graph[2].dtype), diagonal.to(graph[3].dtype), scale.to(graph[4].dtype)
    in_zoom = V.in_zoom() if need_zoom else nothing.clone()
    return dx.to(given), (V.in_weight if need_weight else nothing).to(given), in_zoom.to(given), *in_graph


@series_conv_backward.register_fake
def _(
    gradient: Tensor,
    x: Tensor,
    weight: Tensor,
    log_zoom: Tensor | None,
    kept: Tensor,
    graph: Sequence[Tensor],
    *rest: Any,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
    need_x, need_weight, need_zoom, need_graph = rest[-1]

    def like(tensor: Tensor | None, needed: bool, dtype: torch.dtype = x.dtype) -> Tensor:
        return x.new_empty(tensor.shape if needed and tensor is not None else (0,), dtype=dtype)

    return (
        like(x, need_x),
        like(weight, need_weight),
        like(log_zoom, need_zoom),
        like(graph[2], need_graph, graph[2].dtype if need_graph else x.dtype),
        like(graph[3], need_graph, graph[3].dtype if need_graph else x.dtype),
        like(graph[4], need_graph, graph[4].dtype if need_graph else x.dtype),
    )


def _save(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    x, weight, log_zoom, graph, *settings, _ = inputs
    ctx.mark_non_differentiable(output[1])
    ctx.save_for_backward(x, weight, log_zoom, output[1], *graph)
    ctx.settings = settings


def _backward(ctx: Any, gradient: Tensor, _: Any) -> tuple[Any, ...]:
    x, weight, log_zoom, kept, *graph = ctx.saved_tensors
    in_x, in_weight, in_zoom, in_graph = ctx.needs_input_grad[:4]
    needs = [in_x, in_weight, in_zoom, any(in_graph)]
    dx, dw, dh, dv, dd, ds = series_conv_backward(gradient, x, weight, log_zoom, kept, graph, *ctx.settings, needs)
    graph_gradients: list[Tensor | None] = [None] * len(graph)
    for place, value in ((2, dv), (3, dd), (4, ds)):
        graph_gradients[place] = value if in_graph[place] else None
    if in_zoom:
        dh = dh.to(log_zoom.dtype)
    gradients = (g if need else None for g, need in zip((dx, dw, dh), needs[:3], strict=True))
    return (*gradients, graph_gradients, *[None] * (len(ctx.settings) + 1))


series_conv.register_autograd(_backward, setup_context=_save)
series_conv_backward.register_autograd(reject_second_derivative, setup_context=lambda ctx, inputs, output: None)
