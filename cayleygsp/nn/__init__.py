"""Trainable layers in torch: the filters of the core, with parameters and gradients.

- :class:`CayleyConv` and :class:`ChebConv` are convolutions in the manner of PyTorch Geometric's:
  ``layer(x, edge_index)``, or ``layer(x, laplacian)`` with a Laplacian prepared once;
- :class:`GraphLaplacian` is that Laplacian, of one graph or of a batch;
- :class:`PrecomputedCayleyConv` trains on inputs that do not change, of which :class:`ChebyshevFeatures`,
  :class:`EigenbasisFeatures` or :class:`JacobiFeatures` compute once what can be;
- :class:`SpectralConv` multiplies in the eigenbasis, :class:`GraclusPooling` pools on a coarsened graph;
- :func:`parameter_groups` gives an optimiser longer steps for the zooms.

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

from cayleygsp.nn.coordinates import parameter_groups
from cayleygsp.nn.features import ChebyshevFeatures, EigenbasisFeatures, JacobiFeatures
from cayleygsp.nn.graph.laplacian import GraphLaplacian
from cayleygsp.nn.layers.cayley_conv import CayleyConv, PrecomputedCayleyConv
from cayleygsp.nn.layers.cheb_conv import ChebConv
from cayleygsp.nn.layers.graclus_pooling import GraclusPooling
from cayleygsp.nn.layers.spectral_conv import SpectralConv

__all__ = [
    "CayleyConv",
    "ChebConv",
    "ChebyshevFeatures",
    "EigenbasisFeatures",
    "GraclusPooling",
    "GraphLaplacian",
    "JacobiFeatures",
    "PrecomputedCayleyConv",
    "SpectralConv",
    "parameter_groups",
]
