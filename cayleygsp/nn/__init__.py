"""Trainable layers in torch: what the core filters with, with parameters and gradients.

- :class:`CayleyConv` and :class:`ChebConv` are convolutions in the manner of PyTorch Geometric's:
  ``layer(x, edge_index)``, or ``layer(x, laplacian)`` with a Laplacian prepared once;
- :class:`GraphLaplacian` is that Laplacian, of one graph or of a batch;
- :class:`ChebyshevFeatures` filters fixed inputs once, so that :class:`PrecomputedCayleyConv` can train on minibatches
  of vertices without the graph;
- :class:`SpectralConv` multiplies in the eigenbasis, :class:`GraclusPooling` pools on a coarsened graph.

What is learned goes back to the core by ``layer.to_filter(graph, in_channel, out_channel)``.
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ImportError(
        'cayleygsp.nn needs torch: install it with `pip install torch`, or with `pip install ".[nn]"` in a checkout of '
        "cayleygsp"
    ) from error

from cayleygsp.nn.cayley_conv import CayleyConv
from cayleygsp.nn.cheb_conv import ChebConv
from cayleygsp.nn.graclus_pooling import GraclusPooling
from cayleygsp.nn.graph_laplacian import GraphLaplacian
from cayleygsp.nn.precomputed import ChebyshevFeatures, PrecomputedCayleyConv
from cayleygsp.nn.spectral_conv import SpectralConv

__all__ = [
    "CayleyConv",
    "ChebConv",
    "ChebyshevFeatures",
    "GraclusPooling",
    "GraphLaplacian",
    "PrecomputedCayleyConv",
    "SpectralConv",
]
