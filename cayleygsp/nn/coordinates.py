r"""Coordinates in which plain optimisers learn coefficients and zoom of Cayley filters.

The functions 1, 2 Re Cʲ, −2 Im Cʲ of a filter are nearly dependent on the frequencies of a graph, and a change of the
zoom looks much like one of the coefficients: gradients in the coefficients :math:`c_j` point along narrow valleys. A
layer therefore learns weights w with :math:`c = E(\log h)\, w`. For frequencies spread like those of a graph, G(z) the
matrix of mean products of the functions at log h = z and M(z) that of the functions and their derivatives in z,

.. math:: E' = -(G + \epsilon^2)^{-1} M E, \qquad E^\top (G + \epsilon^2) E = I \text{ at the start.}

As :math:`G' = M + M^\top` the last equation then holds for every z: the new functions are orthonormal up to the ridge
ε at every zoom, and the singular values of E are those of :math:`(G + \epsilon^2)^{-1/2}`, at most 1/ε. And the change
of a filter with the zoom at fixed w is orthogonal, up to the ridge, to all filters at that zoom: the gradient in log h
sees what the weights cannot explain and nothing else, as in variable projection.

All this stays true if the functions are multiplied by numbers, see :func:`sizes`: they decide how far one step of an
optimiser goes along a function, and how strongly weight decay draws it to zero.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from cayleygsp._typing import FloatArray
from cayleygsp.density import spectral_density
from cayleygsp.laplacians import Laplacian
from cayleygsp.responses.basis import power_basis, zoom_derivative

# Functions of a mean square below ε² are not stretched to size one.
RIDGE = 0.01

# With one input channel: sizes of the functions, and root mean square of the outputs at the start, the inputs having 1.
STRETCH, START = 3.0, 0.3

# The table of E: its ends, as logarithms of the zoom times the middle of the spectrum, and its steps.
LOG_LOW, LOG_HIGH, STEP = -7.0, 9.0, 0.1

# Steps of the Runge–Kutta method within one of the table.
_INNER = 2

# Frequencies that stand for a spectrum.
N_NODES = 128


def spectral_nodes(L: Laplacian, rng: np.random.Generator | int | None = None) -> tuple[float, ...]:
    """Return frequencies that are spread like those of a graph: quantiles of its spectrum, estimated if it is large."""
    density = spectral_density(L, rng=rng)
    share = (np.arange(N_NODES) + 0.5) / N_NODES
    below = np.cumsum(density.weights) / density.weights.sum()
    return tuple(density.nodes[np.searchsorted(below, share).clip(max=density.nodes.size - 1)].tolist())


def default_nodes(normalization: str | None, zoom: float) -> tuple[float, ...]:
    """Return frequencies for a graph that is not known yet.

    Evenly over the spectrum of the normalized Laplacian; for the combinatorial one, whose scale is not known, evenly in
    the angle at the zoom of the start.
    """
    share = (np.arange(N_NODES) + 0.5) / N_NODES
    nodes = 2 * share if normalization == "sym" else np.tan(share * np.pi / 2) / zoom
    return tuple(nodes.tolist())


def sizes(in_channels: int, n_coeffs: int) -> FloatArray:
    r"""Return the sizes that the functions have in a layer.

    .. math:: d_j = 3^{1/n}\, (1 + j)^{-(1 - 1/n)}, \qquad n \text{ input channels}

    A single filter is identified from all its outputs: its functions are alike, and large, so that a step of the
    weights counts for as much beside one of log h. An output of many channels is moved by all of them at once and has
    far more weights than it can tell apart: there the first functions, which vary least over the spectrum, are of size
    one, and function j starts smaller, moves less and decays faster, like 1 / (1 + j).
    """
    share = 1 / in_channels
    return STRETCH**share * np.arange(1.0, n_coeffs + 1) ** (share - 1)


def start_power(in_channels: int, n_coeffs: int) -> float:
    """Return what the variance of the weights at the start is divided by.

    An output then has 0.3 to the power 1/n times the root mean square of the inputs, for n input channels, if their
    frequencies are spread as the functions expect: a single small filter lets the zoom start in the right direction.
    """
    return float(np.sum(sizes(in_channels, n_coeffs) ** 2)) / START ** (2 / in_channels)


def plain_start_power(in_channels: int, order: int, *, real: bool) -> float:
    r"""Return the same as :func:`start_power` where the coefficients themselves are drawn.

    The squares of 2 Re Cʲ and 2 Im Cʲ add up to 4 at every frequency and zoom. Real coefficients have the first of the
    two alone, for which half of that is taken.
    """
    return (1 + (2 if real else 4) * order) / START ** (2 / in_channels)


@lru_cache(maxsize=32)
def coordinate_table(order: int, real: bool, nodes: tuple[float, ...]) -> tuple[float, FloatArray]:
    """Return the first log h of the table, and E and dE/d log h from there on, shape (n, 2, k, k), ``STEP`` apart.

    They are made for frequencies ``nodes``, each counting alike, and of cosines alone if ``real``.
    """
    lam = np.array(nodes)
    middle = -math.log(float(np.median(lam[lam > 0]))) if (lam > 0).any() else 0.0
    n_below, n_above = round(-LOG_LOW / STEP), round(LOG_HIGH / STEP)
    start = _orthonormal(order, real, lam, middle)
    below = _transport(order, real, lam, middle, start, -STEP, n_below)
    above = _transport(order, real, lam, middle, start, STEP, n_above)
    table = np.array([*reversed(below[1:]), *above])
    table.setflags(write=False)
    return middle + LOG_LOW, table


def _orthonormal(order: int, real: bool, lam: FloatArray, z: float) -> FloatArray:
    """Return the triangular E at one zoom."""
    basis = power_basis(order, math.exp(z) * lam, real=real)
    G = basis.T @ basis / lam.size + RIDGE**2 * np.eye(basis.shape[1])
    return np.linalg.inv(np.linalg.cholesky(G).T)


def _transport(
    order: int, real: bool, lam: FloatArray, z: float, E: FloatArray, step: float, n_steps: int
) -> list[tuple[FloatArray, FloatArray]]:
    """Follow E from z in one direction by the classical Runge–Kutta method; return E and its derivative."""
    h = step / _INNER
    slope = _slope(order, real, lam, z)
    path: list[tuple[FloatArray, FloatArray]] = [(E, slope @ E)]
    for k in range(n_steps * _INNER):
        middle, end = (_slope(order, real, lam, z + (k + part) * h) for part in (0.5, 1.0))
        k1 = slope @ E
        k2 = middle @ (E + h / 2 * k1)
        k3 = middle @ (E + h / 2 * k2)
        k4 = end @ (E + h * k3)
        E, slope = E + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), end
        if (k + 1) % _INNER == 0:
            path.append((E, slope @ E))
    return path


def _slope(order: int, real: bool, lam: FloatArray, z: float) -> FloatArray:
    """Return −(G + ε²)⁻¹ M."""
    derivative = zoom_derivative(order, real=real)
    wide = power_basis(order + 1, math.exp(z) * lam, real=real)
    size = derivative.shape[0]
    G = wide[:, :size].T @ wide[:, :size] / lam.size + RIDGE**2 * np.eye(size)
    M = wide[:, :size].T @ (wide @ derivative.T) / lam.size
    return -np.linalg.solve(G, M)


def coordinates_at(table: Tensor, first: Tensor, log_zoom: Tensor) -> Tensor:
    """Return E at each zoom, shape (..., k, k), by cubic Hermite interpolation; constant beyond the table.

    ``first`` is log h where the table begins. The result can be differentiated in ``log_zoom``.
    """
    n = table.shape[0]
    u = ((log_zoom.to(table.dtype) - first) / STEP).clamp(0, n - 1)
    index = u.detach().nan_to_num().floor().clamp(max=n - 2).long()
    t = (u - index)[..., None, None]
    left, right = (table.index_select(0, i.reshape(-1)).view(*i.shape, *table.shape[1:]) for i in (index, index + 1))
    a, da, b, db = left.select(-3, 0), left.select(-3, 1), right.select(-3, 0), right.select(-3, 1)
    s = 1 - t
    return s * s * ((1 + 2 * t) * a + STEP * t * da) + t * t * ((1 + 2 * s) * b - STEP * s * db)


def coefficients_of(weights: Tensor, E: Tensor) -> Tensor:
    """Return the coefficients c = E w, for weights of shape (k, ...), or (k, in, out) with an E per output."""
    if E.dim() == 3:
        return torch.einsum("obk,kio->bio", E, weights)
    return torch.tensordot(E, weights, 1)


def weights_of(coefficients: Tensor, E: Tensor) -> Tensor:
    """Return the weights w that have the given coefficients: the inverse of :func:`coefficients_of`, in double."""
    E, c = E.double(), coefficients.double()
    if E.dim() == 3:
        return torch.linalg.solve(E, c.permute(2, 0, 1)).permute(1, 2, 0)
    return torch.linalg.solve(E, c.reshape(c.shape[0], -1)).reshape(c.shape)
