"""Learned filters: responses over the frequencies, and what they make of one bright pixel."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn

import cayleygsp as cg
from analysis._document import Document
from analysis.mnist.data import SIDE
from cayleygsp import gallery
from cayleygsp._typing import FloatArray
from cayleygsp.nn import CayleyConv, ChebConv

# Filters of a layer that are kept, frequencies of their responses, and digits of all numbers.
N_FILTERS = 12
_N_FREQUENCIES = 201
_DIGITS = 4
_LEAST = 1e-12


def learned_filters(network: nn.Module) -> list[Document]:
    """Return some learned filters of each layer of Chebyshev or Cayley filters.

    Returns
    -------
    list of dict
        ``zoom`` (None for Chebyshev filters), ``responses`` at the same frequencies from 0 to 2, one list per filter,
        and for the first layer ``images``: the filtered impulse in the middle of the grid, row by row. Filters are
        those of the largest norm, over pairs of channels, largest first.
    """
    layers = [m for m in network.modules() if isinstance(m, (CayleyConv, ChebConv))]
    return [_filters_of(layer, is_first=k == 0) for k, layer in enumerate(layers)]


def frequencies() -> FloatArray:
    """Return where responses are kept."""
    return np.linspace(0.0, 2.0, _N_FREQUENCIES)


def _filters_of(layer: CayleyConv | ChebConv, *, is_first: bool) -> Document:
    with torch.no_grad():
        responses = layer.responses(frequencies()).reshape(_N_FREQUENCIES, -1)
        largest = np.argsort(-np.linalg.norm(responses, axis=0), kind="stable")[:N_FILTERS]
        kept: Document = {
            "zoom": float(layer.zoom) if isinstance(layer, CayleyConv) else None,
            "responses": _rounded(responses[:, largest].T),
        }
        if is_first:
            L = cg.laplacian(gallery.mnist_grid(SIDE), "normalized")
            middle = (SIDE // 2) * SIDE + SIDE // 2
            at_eigenvalues = layer.responses(L.eigenvalues).reshape(L.n_vertices, -1)[:, largest]
            kept["images"] = _rounded((L.eigenvectors @ (L.eigenvectors[middle][:, None] * at_eigenvalues)).T)
    return kept


def _rounded(numbers: FloatArray) -> list[list[float]]:
    """Return numbers with some digits of the largest of their row: those far below it are what rounding leaves."""
    decimals = [_DIGITS - math.ceil(math.log10(max(largest, _LEAST))) for largest in np.abs(numbers).max(axis=1)]
    return [(np.round(row, d) + 0.0).tolist() for row, d in zip(numbers, decimals, strict=True)]
