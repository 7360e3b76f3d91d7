r"""Chebyshev coefficients of the basis functions of a layer, where the zoom is known and where it is not waited for."""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch import Tensor

from cayleygsp._typing import FloatArray
from cayleygsp.nn.graph.laplacian import GraphTensors
from cayleygsp.nn.modes import uses_loops
from cayleygsp.responses.basis import basis_size, power_coefficients

# The basis in which a convolution is written.
CAYLEY, CAYLEY_REAL, CHEBYSHEV = "cayley", "cayley_real", "chebyshev"

# Largest h λ_max of a recurrence in single precision.
SINGLE_LIMIT = 1e3

# Numbers that the series of several zooms may have, for their samples to be transformed at once.
_SAMPLES = 2**15


def order_of(basis: str, size: int) -> int:
    """Return the order r of filters that have ``size`` coefficients in a basis."""
    return (size - 1) // 2 if basis == CAYLEY else size - 1


def block_count(basis: str, order: int, *, extended: bool) -> int:
    """Return the number of basis functions, with those that the gradient in the zoom adds if ``extended``."""
    if basis == CHEBYSHEV:
        return order + 1
    return basis_size(order + extended, real=basis == CAYLEY_REAL)


@lru_cache(maxsize=64)
def series_matrix(basis: str, order: int, zoom: float, lmax: float, tol: float) -> FloatArray:
    """Return the series of the basis of order r + 1, one row per function, cut where all are good enough.

    The rows of order r are the first ones, and the same whether a gradient in the zoom is wanted or not.
    """
    coeffs = power_coefficients(order + 1, zoom, lmax, tol=tol, real=basis == CAYLEY_REAL).coeffs
    coeffs.flags.writeable = False
    return coeffs


def differentiable_series(
    log_zoom: Tensor, order: int, lmax: float, n_terms: int, n_samples: int, *, real: bool = False
) -> Tensor:
    r"""Return the series of the basis functions on [0, lmax] as a function of log h that torch can differentiate.

    Parameters
    ----------
    log_zoom : Tensor, any shape
        log h.
    order : int
        r.
    lmax : float
        Right end of the interval.
    n_terms : int
        K + 1.
    n_samples : int
        Chebyshev points that the series are computed from, at least ``n_terms``.
    real : bool
        Coefficients are real.

    Returns
    -------
    Tensor, shape (..., n_functions, n_terms)
        In double precision, and for each zoom.
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


def zoom_slopes(blocks: Tensor, basis: str) -> Tensor:
    r"""Return what a linear map gives for the derivatives in log h of the basis, from what it gives for the basis.

    It is :func:`cayleygsp.responses.basis.zoom_derivative` times the blocks, without a matrix that would have to be
    sent to the device.

    Parameters
    ----------
    blocks : Tensor, shape (..., n_functions of order r + 1, m)
        The map's values for the basis of order r + 1.
    basis : str
        The basis.

    Returns
    -------
    Tensor, shape (..., n_functions of order r, m)
    """
    parts = 1 if basis == CAYLEY_REAL else 2
    n = blocks.shape[-2] - 1 - parts  # functions beside the constant one
    one, rest = blocks[..., :1, :], blocks[..., 1:, :]
    nothing = torch.zeros_like(one)
    below = torch.cat([2 * one, nothing, rest] if parts == 2 else [2 * one, rest], dim=-2)[..., :n, :]
    j = torch.arange(n, device=blocks.device) // parts + 1
    return torch.cat([nothing, (j[:, None] / 2).to(blocks.dtype) * (below - rest[..., parts:, :])], dim=-2)


def series_coefficients(
    log_zoom: Tensor | None,
    like: Tensor,
    graph: GraphTensors,
    basis: str,
    order: int,
    tol: float,
    bound: float | None,
    hint: float | None,
) -> tuple[Tensor | None, int]:
    """Return the coefficients of the series of order r + 1 and the number of terms; None where it is the terms.

    Parameters
    ----------
    log_zoom : Tensor, shape () or (n_zooms,), or None
        log h; None for the Chebyshev basis. With many zooms there is a matrix for each, all with the terms that the
        largest needs.
    like : Tensor
        In the precision that is wanted.
    graph : GraphTensors
        The scaled Laplacian.
    basis : str
        One of the three.
    order : int
        r.
    tol : float
        Largest error of each function.
    bound : float, optional
        Right end of the interval; read from the graph by default.
    hint : float, optional
        An upper bound of h; h itself is read by default, and always on the CPU.
    """
    if log_zoom is None:
        return None, order + 1
    lmax = _bound_of(graph) if bound is None else bound
    if uses_loops(log_zoom) and log_zoom.dim() == 0:
        a = series_matrix(basis, order, zoom_of(log_zoom), lmax, tol)
        return torch.tensor(a, dtype=like.dtype), a.shape[1]
    # elsewhere nothing is read back: the degree comes from the hint, the coefficients are computed there
    zoom = zoom_of(log_zoom.detach().max()) if hint is None else hint
    n_terms = series_matrix(basis, order, zoom, lmax, tol).shape[1]
    n_terms = -(-n_terms // 8) * 8
    real = basis == CAYLEY_REAL
    # some zooms at a time, so that the samples of all do not stand in memory together
    at_once = max(_SAMPLES // (block_count(basis, order, extended=True) * n_terms), 1)
    parts = log_zoom.split(at_once) if log_zoom.dim() else (log_zoom,)
    series = [differentiable_series(z, order + 1, lmax, n_terms, 2 * n_terms, real=real).to(like.dtype) for z in parts]
    return series[0] if len(series) == 1 else torch.cat(series), n_terms


def zoom_of(log_zoom: Tensor) -> float:
    """Return h as a number."""
    value = float(log_zoom)
    try:
        return math.exp(value)
    except OverflowError:
        raise ValueError(f"`log_zoom` must have a finite exponential, got {value:g}") from None


def recurrence_dtype(
    dtype: torch.dtype, log_zoom: Tensor | None, bound: float | None, hint: float | None
) -> torch.dtype:
    """Return the precision that a recurrence runs in: double where rounding in single would spoil the zoom's gradient.

    That gradient is of size 1 / (hλ) where hλ is large, and rounding in a recurrence grows with its length.
    """
    if dtype != torch.float32 or log_zoom is None or bound is None or log_zoom.device.type in ("meta", "mps"):
        return dtype
    zoom = hint if hint is not None else zoom_of(log_zoom.detach().max())
    return torch.float64 if zoom * bound > SINGLE_LIMIT else dtype


def _bound_of(graph: GraphTensors) -> float:
    """Return the λ_max that the scale stands for."""
    scale = float(graph.scale.max()) if graph.scale.numel() else 0.0
    return 2 / scale if scale > 0 else 0.0
