r"""Series with any coefficients, with gradients in the coefficients and in the matrix, in memory for a few terms.

With :math:`V_k = \sum_b a_{bk} W_b` a layer computes :math:`Y = \sum_k T_k(M) X V_k`. With the incoming gradient
:math:`\bar Y`, the terms :math:`t_k = T_k(M) X` and the sums of Clenshaw's rule :math:`u_k = \bar Y V_k^\top + 2
M^\top u_{k+1} - u_{k+2}`,

.. math:: \bar V_k = t_k^\top \bar Y, \qquad \bar X = u_0, \qquad
          \bar M_{ij} = \sum_k c_k \langle u_{k+1,i}, t_{k,j} \rangle, \qquad c_0 = 1,\ c_k = 2.

The terms are needed from the highest degree down. The last two are kept, and the recurrence runs backwards,
:math:`t_{k-1} = 2 M t_k - t_{k+1}`, as stable as forwards while the spectrum of M is in [-1, 1]. For a matrix of
which that is not known, the terms are computed again, and two of each chunk are kept.

Where the output has fewer channels than the input, the same is done with :math:`M^\top`, :math:`\bar Y` and X in the
places of M, X and :math:`\bar Y`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from cayleygsp.engine import edge_loops
from cayleygsp.nn.graph.laplacian import GraphTensors
from cayleygsp.nn.ops.operation import Operation, uses_loops
from cayleygsp.nn.ops.series import CHUNK, FilterBasis, ScaledMatrix, zoom_slopes

# Terms that the compiled loops keep at once: fewer than operations of torch, so that they stay in the cache.
_LOOP_CHUNK = 4

# With fewer channels than this, the terms of a chunk are put side by side for one dense product with them all.
_FEW_CHANNELS = 8

# Signals of a batch that are worked on at once on the CPU: as many as make a block of about this many numbers.
_GROUP_NUMBERS = 2**18


class Recurrences:
    """The recurrences of a matrix M and of its transposed, with the gradient in the matrix.

    If ``transposed``, terms are those of the transposed and Clenshaw's rule is that of M, and not the other way round.
    If ``tied``, the two halves of an edge get the mean of their gradients. On the CPU compiled loops do the work; a
    graphics card, which has none, does it by torch's sparse products.
    """

    def __init__(self, graph: GraphTensors, like: Tensor, *, transposed: bool = False, tied: bool = False) -> None:
        self.graph, self.swapped, self.tied = graph, transposed, tied
        self.compiled = uses_loops(like)
        self.chunk = _LOOP_CHUNK if self.compiled else CHUNK
        pair = (graph.transposed(), graph) if transposed else (graph, graph.transposed())
        if self.compiled:
            self._up, self._down = (g.packed() for g in pair)
            self._entries = torch.zeros(graph.indices.shape[0], dtype=torch.float64)
            self._diagonal = torch.zeros(graph.diagonal.shape[0], dtype=torch.float64)
        else:
            self._terms = ScaledMatrix(pair[0])
            self._sums = self._terms if graph.is_symmetric else ScaledMatrix(pair[1])
            self._all = torch.zeros_like(self._terms.matrix.values())

    def ascend(self, k0: int, size: int, t: Tensor) -> None:
        """Set slots 2 ... size + 1 of t to the degrees k0 ...; those before stand in slots 0 and 1, degree 0 in slot 2.

        The terms have the shape (size + 2 or more, n, width).
        """
        if self.compiled:
            edge_loops.ascend(self._up, k0, size, t.numpy(), torch.get_num_threads())
        else:
            self._terms.ascend(k0, size, t)

    def descend(self, k0: int, size: int, top: int, u: Tensor, t: Tensor | None, *, backwards: bool = True) -> None:
        """Run Clenshaw's rule down to degree k0, and with terms add up the gradient in the matrix.

        Parameters are those of :func:`cayleygsp.engine.edge_loops.descend`.
        """
        if self.compiled:
            edge_loops.descend(
                self._down,
                self._up,
                k0,
                size,
                top,
                u.numpy(),
                None if t is None else t.numpy(),
                backwards=backwards,
                first_is_u=not self.swapped,
                tied=self.tied,
                entries=self._entries.numpy(),
                diagonal=self._diagonal.numpy(),
                limit=torch.get_num_threads(),
            )
            return
        for q in range(size - 1, -1, -1):
            k = k0 + q
            self._sums.add_step(2 if k else 1, u[q + 1], u[q + 2], u[q])
            if t is None or k == top:
                continue
            now, factor = t[q + 1] if backwards else t[q + 2], 2.0 if k else 1.0
            if self.swapped:
                self._all += self._sums.products(now, u[q + 1], factor, self.tied)
            else:
                self._all += self._terms.products(u[q + 1], now, factor, self.tied)
            if backwards and k > 0:
                self._terms.step(2, now, t[q + 2], t[q])

    def chunks(self, n_terms: int) -> list[tuple[int, int]]:
        """Return the first degree and the size of each chunk, from low degrees to high ones."""
        return [(k0, min(self.chunk, n_terms - k0)) for k0 in range(0, n_terms, self.chunk)]

    def gradients(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the gradients in values, diagonal and scale of the graph, from what was added up.

        In double precision where the loops add up in it: the entries of a Laplacian change together with the weight of
        an edge, and their gradients almost cancel where the zoom is large.
        """
        if self.compiled:
            entries, diagonal = self._entries, self._diagonal
        else:
            places = self._sums if self.swapped else self._terms
            entries, diagonal = self._all[places.beside], self._all[places.diagonal]
        graph = self.graph.to(entries.dtype)
        rows = graph.rows()
        in_scale = (graph.diagonal * diagonal).index_add(0, rows, graph.values * entries, alpha=-1)
        return -graph.scale[rows] * entries, graph.scale * diagonal, in_scale


class Mixing:
    """The matrices V_k, some degrees at a time, seen from the side that has fewer channels, which has the terms.

    Attributes
    ----------
    n_terms : int
        Number of terms.
    channels, others : int
        Channels of the terms, and of the other side.
    terms_of_input : bool
        Whether the input has the terms, not the output.
    in_weight : Tensor
        Gradient in the weights.
    """

    def __init__(self, weight: Tensor, log_zoom: Tensor | None, graph: GraphTensors, basis: FilterBasis) -> None:
        self.weight, self.log_zoom, self.kind = weight, log_zoom, basis.kind
        self.channels, self.others = sorted(weight.shape[1:])
        self.terms_of_input = weight.shape[1] <= weight.shape[2]
        # in double precision: the gradient in the zoom is a sum over all terms
        series, self.n_terms = basis.series(log_zoom, torch.float64, graph)
        self.in_weight = torch.zeros_like(weight, memory_format=torch.contiguous_format)
        if series is not None:
            self._series = series if series.dim() == 3 else series[None]
            self._coeffs = self._series[:, : basis.size].to(weight.dtype)
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
        """Return the gradient in log h, one number for each zoom."""
        return (self._in_coeffs * zoom_slopes(self._series, self.kind)).sum(dim=(1, 2))


def _add_mixed(y: Tensor, chunk: Tensor, mixing: Tensor) -> None:
    """Add the sum over k of t_k V_k to y, shape (n_rows, other channels); terms have n_rows * channels numbers each."""
    size, channels, others = mixing.shape
    if channels < _FEW_CHANNELS:
        y.addmm_(_side_by_side(chunk, channels), mixing.reshape(size * channels, others))
    else:
        for t, V in zip(chunk, mixing, strict=True):
            y.addmm_(t.view(-1, channels), V)


def _products(chunk: Tensor, other: Tensor, channels: int) -> Tensor:
    """Return the transposed terms times ``other``, shape (size, channels, other channels)."""
    if channels < _FEW_CHANNELS:
        return (_side_by_side(chunk, channels).T @ other).view(chunk.shape[0], channels, other.shape[1])
    return chunk.view(chunk.shape[0], -1, channels).transpose(1, 2) @ other


def _spread(other: Tensor, mixing: Tensor, out: Tensor) -> None:
    """Set out, of shape (size, n_rows, channels), to ``other`` times the transposed V_k."""
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


def _groups(like: Tensor, features: int) -> Iterator[slice]:
    """Cut a batch where a block would not stay in the cache; elsewhere it is done at once."""
    batch, n, _ = like.shape
    size = max(_GROUP_NUMBERS // max(n * features, 1), 1) if uses_loops(like) else batch
    for first in range(0, batch, size) if like.numel() else ():
        yield slice(first, min(first + size, batch))


def _rows(x: Tensor) -> Tensor:
    """Return signals of shape (batch, n, channels) as rows, shape (n * batch, channels), vertices outside."""
    return x.transpose(0, 1).reshape(-1, x.shape[2])


def _room_for_terms(recurrences: Recurrences, V: Mixing, rows: Tensor, n: int) -> Tensor:
    """Return memory for a chunk of terms, and the two before, of as many signals as there are rows for."""
    return rows.new_empty((min(V.n_terms, recurrences.chunk) + 2, n, rows.shape[0] // n * V.channels))


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
    terms, y = _room_for_terms(recurrences, V, source, n), None
    terms[2] = source.view(n, -1)
    for k0, chunk in _go_up(recurrences, terms, V.n_terms):
        mixing = V.chunk(k0, chunk.shape[0])
        y = mixing.new_zeros((source.shape[0], mixing.shape[2])) if y is None else y
        _add_mixed(y, chunk, mixing)
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

    The terms stand where :func:`_go_up` leaves the last ones. They run backwards, and ``take`` gets the first degree
    and the terms of each chunk, unless :func:`_go_up` has ``kept`` two of each.
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
        _spread(other, mixing, u[:size].view(size, -1, mixing.shape[1]))
        if terms is not None and not last:
            if kept is None:
                terms[recurrences.chunk :] = terms[:2]
            else:  # those of the last chunk are still there
                if number:
                    terms[:2] = kept[number]
                else:
                    terms[2] = kept[0][0]
                recurrences.ascend(k0, size, terms)
        recurrences.descend(k0, size, V.n_terms - 1, u, terms, backwards=kept is None)
        if terms is not None and take is not None:
            take(k0, terms[1 : size + 1])
    assert u is not None
    return u[0].reshape(other.shape[0], -1)


def _differentiate(
    recurrences: Recurrences,
    V: Mixing,
    source: Tensor | None,
    other: Tensor | None,
    n: int,
    needs: Sequence[bool],
    last: Tensor | None,
    reversible: bool,
) -> Tensor | None:
    """Add up the gradients of a group of signals in V and in the matrix, and return that in the signals, if needed.

    Of the side with the terms, ``source``, the last two terms are enough, shape (2, n, width); the input need not be
    known at all if only it has a gradient.
    """
    need_x, need_mixing, need_graph = needs
    rows = other if source is None else source
    assert rows is not None
    of_terms = rows.new_zeros((rows.shape[0], V.others)) if need_x and not V.terms_of_input else None

    def take(k0: int, chunk: Tensor) -> None:
        if need_mixing and other is not None:
            V.add(k0, _products(chunk, other, V.channels))
        if of_terms is not None:
            _add_mixed(of_terms, chunk, V.chunk(k0, chunk.shape[0]))

    terms = _room_for_terms(recurrences, V, rows, n)
    if other is not None and need_graph and last is not None:
        top = (V.n_terms - 1) % recurrences.chunk + 1
        terms[top : top + 2] = last
        sums = _clenshaw(recurrences, V, other, n, terms, take=take)
        return sums if need_x else None
    kept = None
    if source is not None:
        terms[2] = source.view(n, -1)
        kept = None if reversible or not need_graph else [source.view(1, n, -1)]
    if need_mixing or need_graph or of_terms is not None:
        for k0, chunk in _go_up(recurrences, terms, V.n_terms, kept):
            take(k0, chunk)
    if other is not None and (need_graph or (need_x and V.terms_of_input)):
        sums = _clenshaw(recurrences, V, other, n, terms if need_graph else None, kept)
        return sums if V.terms_of_input and need_x else of_terms
    return of_terms


def _forward(
    x: Tensor, weight: Tensor, log_zoom: Tensor | None, graph: Sequence[Tensor], *settings: Any
) -> tuple[Tensor, Tensor]:
    """Return the sum over k of T_k X V_k, and the last two terms of the input if they are to be kept."""
    *of_basis, keep, _ = settings
    basis, given = FilterBasis(*of_basis), x.dtype
    dtype = basis.precision(given, log_zoom)
    M, x, weight = GraphTensors(*graph).to(dtype), x.to(dtype), weight.to(dtype)
    (batch, n, f_in), f_out = x.shape, weight.shape[2]
    V, y = Mixing(weight, log_zoom, M, basis), x.new_empty((batch, n, f_out))
    recurrences = Recurrences(M, x, transposed=not V.terms_of_input)
    kept = x.new_empty((batch, n, keep, f_in) if keep and V.terms_of_input else (0,), dtype=given)
    for group in _groups(x, V.channels):
        source = _rows(x[group])
        if V.terms_of_input:
            rows, last = _sum_terms(recurrences, V, source, n)
            if keep:
                kept[group] = last.view(2, n, -1, f_in).permute(2, 1, 0, 3)
        else:
            rows = _clenshaw(recurrences, V, source, n)
        y[group] = rows.view(n, -1, f_out).transpose(0, 1)
    return y.to(given), kept


def _backward(
    gradient: Tensor,
    x: Tensor | None,
    weight: Tensor,
    log_zoom: Tensor | None,
    kept: Tensor,
    graph: Sequence[Tensor],
    *settings: Any,
) -> list[Tensor | None]:
    """Return the gradients in x, weights, log h, and values, diagonal and scale of the graph."""
    *of_basis, keep, tied, (need_x, need_weight, need_zoom, need_graph) = settings
    basis, given = FilterBasis(*of_basis), gradient.dtype
    dtype = basis.precision(given, log_zoom)
    M, gradient = GraphTensors(*graph).to(dtype), gradient.to(dtype)
    (batch, n, _), f_in = gradient.shape, weight.shape[1]
    V = Mixing(weight.to(dtype), log_zoom, M, basis)
    recurrences = Recurrences(M, gradient, transposed=not V.terms_of_input, tied=tied)
    dx = gradient.new_zeros((batch, n, f_in)) if need_x else None
    needs = need_x, need_weight or need_zoom, need_graph
    for group in _groups(gradient, V.channels):
        source, other = None if x is None else _rows(x[group].to(dtype)), _rows(gradient[group])
        if not V.terms_of_input:
            source, other = other, source
        # what was rounded is not good enough to go back from
        last = kept[group].permute(2, 1, 0, 3).reshape(2, n, -1) if kept.numel() and given == dtype else None
        in_x = _differentiate(recurrences, V, source, other, n, needs, last, keep > 0)
        if dx is not None and in_x is not None:
            dx[group] = in_x.view(n, -1, f_in).transpose(0, 1)
    in_graph = recurrences.gradients() if need_graph else (None, None, None)
    in_zoom = V.in_zoom().reshape(log_zoom.shape) if need_zoom and log_zoom is not None else None
    return [dx, V.in_weight if need_weight else None, in_zoom, *in_graph]


series_conv = Operation("series_conv", _forward, _backward)
