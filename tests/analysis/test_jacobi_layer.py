"""Layers by Jacobi sweeps that are computed without sweeps."""

import numpy as np
import pytest
import torch

import cayleygsp as cg
from analysis._jacobi_layer import SpectralJacobiConv
from cayleygsp.nn import CayleyConv, GraphLaplacian
from cayleygsp.nn.ops.convolution import cheb_conv

GRID = cg.laplacian(cg.gallery.grid(4), "normalized")


@pytest.mark.parametrize("parametrization", ["orthogonal", "coefficients"])
@pytest.mark.parametrize("bias", [True, False])
def test_jacobi_in_the_eigenbasis_is_the_layer_by_sweeps(parametrization, bias):
    options = {"bias": bias, "zoom": 0.7, "parametrization": parametrization}
    spectral = SpectralJacobiConv(2, 3, order=3, n_iter=4, **options).double()
    sweeps = CayleyConv(2, 3, order=3, method="jacobi", n_iter=4, **options).double()
    sweeps.load_state_dict(spectral.state_dict())
    x = torch.randn(5, 16, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    outputs = [layer(x, GraphLaplacian.from_laplacian(GRID)) for layer in (spectral, sweeps)]
    torch.testing.assert_close(*outputs)
    for y in outputs:
        y.square().sum().backward()
    for mine, other in zip(spectral.parameters(), sweeps.parameters(), strict=True):
        torch.testing.assert_close(mine.grad, other.grad)


@pytest.mark.parametrize("parametrization", ["orthogonal", "coefficients"])
def test_taps_of_sweeps_are_exact_without_tolerance(parametrization):
    torch.manual_seed(7)
    layer = SpectralJacobiConv(2, 3, order=2, n_iter=3, zoom=0.8, parametrization=parametrization)
    layer.tol = 0.0
    graph = GraphLaplacian.from_laplacian(GRID)
    taps = layer.taps(graph)
    assert len(taps) == 2 * 4 + 1
    x = torch.randn(16, 2)
    single = GraphLaplacian.from_laplacian(GRID, dtype=torch.float32)
    torch.testing.assert_close(cheb_conv(x[None], taps, single)[0], layer(x, graph) - layer.bias)
    layer.tol = 1e-2
    assert len(layer.taps(graph)) < len(taps)


def test_a_graph_on_which_sweeps_are_no_function_of_the_frequencies_is_refused():
    layer = SpectralJacobiConv(2, 3, order=3, n_iter=4)
    without_edges = GraphLaplacian.from_laplacian(cg.laplacian(np.zeros((15, 15)), "normalized"))
    with pytest.raises(ValueError, match="must have ones on its diagonal"):
        layer(torch.ones(15, 2), without_edges)
    with pytest.raises(ValueError, match="must have ones on its diagonal"):
        layer.taps(without_edges)
