"""The same numbers on every device that there is; a machine without a graphics card has the CPU alone."""

from __future__ import annotations

import copy

import pytest
import torch

import cayleygsp as cg
from cayleygsp import coarsening
from cayleygsp.nn import CayleyConv, ChebConv, GraclusPooling, GraphLaplacian, SpectralConv
from tests.nn.helpers import edges_of, random_adjacency, random_graph, randomized, signals

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])

LAYERS = [
    lambda: CayleyConv(2, 3, order=3, tol=1e-10),
    lambda: CayleyConv(3, 2, order=3, tol=1e-10),
    lambda: CayleyConv(2, 3, order=3, method="exact"),
    lambda: CayleyConv(2, 3, order=3, method="jacobi", n_iter=4),
    lambda: ChebConv(2, 3, order=4),
]


def gradients(layer, x, laplacian):
    """Return the output and all gradients, on the CPU."""
    x = x.clone().requires_grad_()
    y = layer(x, laplacian)
    y.square().sum().backward()
    return [t.detach().cpu() for t in (y, x.grad, *(p.grad for p in layer.parameters()))]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("make", LAYERS)
def test_values_and_gradients_are_those_of_the_cpu(device, make):
    layer = randomized(make())
    _, laplacian = random_graph()
    x = signals(4, 13, layer.in_channels)
    expected = gradients(copy.deepcopy(layer), x, laplacian)
    found = gradients(copy.deepcopy(layer).to(device), x.to(device), copy.deepcopy(laplacian).to(device))
    for got, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("device", DEVICES)
def test_edges_make_the_laplacian_on_their_device(device):
    edge_index, edge_weight = edges_of(random_adjacency(13, 0))
    made = GraphLaplacian.from_edge_index(edge_index.to(device), edge_weight.to(device), 13)
    assert {buffer.device.type for buffer in made.buffers()} == {device}
    torch.testing.assert_close(made.dense().cpu(), GraphLaplacian.from_edge_index(edge_index, edge_weight, 13).dense())


@pytest.mark.parametrize("device", DEVICES)
def test_pooling_and_spectral_layers_follow_their_input(device):
    graph = cg.gallery.sensor(40, rng=0)
    tree = coarsening.coarsen(graph, levels=2, rng=0)
    pool = GraclusPooling(tree, 2).to(device)
    x = signals(3, 40, 2)
    torch.testing.assert_close(pool(pool.permute(x.to(device))).cpu(), GraclusPooling(tree, 2)(pool.cpu().permute(x)))
    conv = SpectralConv(2, 3, 8, laplacian=graph).double()
    torch.testing.assert_close(copy.deepcopy(conv).to(device)(x.to(device)).cpu(), conv(x))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="only a graphics card can be waited for")
def test_forward_does_not_wait_for_the_graphics_card():
    layer = CayleyConv(1, 8, order=3).cuda()
    laplacian = random_graph()[1].cuda()
    x = signals(4, 13, 1, dtype=torch.float32).cuda()
    layer(x, laplacian)  # the first call may look at the zoom
    torch.cuda.set_sync_debug_mode("error")
    try:
        y = layer(x, laplacian)  # raises if the host waits
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert y.device.type == "cuda"
    assert bool(torch.isfinite(y).all())
