"""The same numbers by every path: compiled loops, torch operations as on other devices, and a graphics card if any."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

import cayleygsp as cg
from cayleygsp import coarsening
from cayleygsp.nn import (
    CayleyConv,
    ChebConv,
    ChebyshevFeatures,
    EigenbasisFeatures,
    GraclusPooling,
    GraphLaplacian,
    JacobiFeatures,
    PrecomputedCayleyConv,
    SpectralConv,
)
from cayleygsp.nn.device_step import torch_operations
from tests.nn.helpers import edges_of, random_adjacency, random_graph, randomized, signals

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

CARDS = ["cuda"] if torch.cuda.is_available() else []
DEVICES = ["cpu", *CARDS]

LAYERS = [
    lambda: CayleyConv(2, 3, order=3, tol=1e-10),
    lambda: CayleyConv(3, 2, order=3, tol=1e-10),
    lambda: CayleyConv(2, 3, order=3, real_coeffs=True, tol=1e-10),
    lambda: CayleyConv(2, 3, order=3, method="jacobi", n_iter=4),
    lambda: CayleyConv(3, 2, order=3, method="jacobi", n_iter=4),
    lambda: ChebConv(2, 3, order=4),
    lambda: ChebConv(3, 2, order=20),
]


def gradients(layer, x, laplacian):
    """Return the output and all gradients, on the CPU."""
    x = x.clone().requires_grad_()
    y = layer(x, laplacian)
    y.square().sum().backward()
    return [t.detach().cpu() for t in (y, x.grad, *(p.grad for p in layer.parameters()))]


@pytest.mark.parametrize("make", LAYERS)
def test_torch_operations_give_what_the_compiled_loops_give(make):
    layer = randomized(make())
    _, laplacian = random_graph()
    x = signals(4, 13, layer.in_channels)
    by_loops = gradients(copy.deepcopy(layer), x, laplacian)
    with torch_operations():
        by_torch = gradients(layer, x, laplacian)
    for got, wanted in zip(by_torch, by_loops, strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-7, atol=1e-7)


def make_features(name, device="cpu"):
    """Return features of a kind and a layer for them."""
    L, laplacian = random_graph()
    laplacian = laplacian.to(device)
    layer = randomized(PrecomputedCayleyConv(2, 3, order=2)).to(device)
    if name == "chebyshev":
        features = ChebyshevFeatures(signals(L.n_vertices, 2).to(device), laplacian, order=2, max_zoom=3.0, tol=1e-10)
    elif name == "exact":
        features = EigenbasisFeatures(signals(5, L.n_vertices, 2).to(device), laplacian)
    else:
        features = JacobiFeatures(signals(5, L.n_vertices, 2).to(device), laplacian, n_iter=3)
    return features, layer


@pytest.mark.parametrize("name", ["chebyshev", "jacobi"])
def test_features_by_torch_operations_are_those_of_the_compiled_loops(name):
    features, layer = make_features(name)
    expected = layer(features)
    with torch_operations():
        features, layer = make_features(name)
        torch.testing.assert_close(layer(features), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("device", CARDS)
@pytest.mark.parametrize("make", [*LAYERS, lambda: CayleyConv(2, 3, order=3, method="exact")])
def test_values_and_gradients_on_a_card_are_those_of_the_cpu(device, make):
    layer = randomized(make())
    _, laplacian = random_graph()
    x = signals(4, 13, layer.in_channels)
    expected = gradients(copy.deepcopy(layer), x, laplacian)
    found = gradients(copy.deepcopy(layer).to(device), x.to(device), copy.deepcopy(laplacian).to(device))
    for got, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(got, wanted, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("device", CARDS)
@pytest.mark.parametrize("name", ["chebyshev", "exact", "jacobi"])
def test_features_on_a_card_are_those_of_the_cpu(device, name):
    features, layer = make_features(name)
    elsewhere, moved = make_features(name, device)
    torch.testing.assert_close(moved(elsewhere).cpu(), layer(features), rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(moved(features.to(device)).cpu(), layer(make_features(name)[0]), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("normalization", ["sym", None])
def test_edges_make_on_their_device_the_laplacian_of_the_core(device, normalization):
    W = random_adjacency(13, 0)
    edge_index, edge_weight = edges_of(W)
    made = GraphLaplacian.from_edge_index(
        edge_index.to(device), edge_weight.to(device), 13, normalization=normalization
    )
    assert {buffer.device.type for buffer in made.buffers()} == {device}
    L = cg.laplacian(W, "normalized" if normalization else "combinatorial")
    np.testing.assert_allclose(made.dense().cpu(), L.matrix.toarray(), atol=1e-14)


@pytest.mark.parametrize("device", DEVICES)
def test_pooling_and_spectral_layers_are_what_numpy_says(device):
    graph = cg.gallery.sensor(40, rng=0)
    tree = coarsening.coarsen(graph, levels=2, rng=0)
    pool = GraclusPooling(tree, 2).to(device)
    x = signals(3, 40, 2)
    fours, fake = np.arange(tree.sizes[0]).reshape(-1, 4), np.reshape(tree.is_fake[0], (-1, 4))
    groups = [four[~left_out] for four, left_out in zip(fours, fake, strict=True)]
    for signal, pooled in zip(x, pool(pool.permute(x.to(device))).cpu(), strict=True):
        ordered = tree.permute(signal.numpy())
        expected = [ordered[group].max(axis=0) if group.size else np.zeros(2) for group in groups]
        np.testing.assert_array_equal(pooled, expected)
    conv = SpectralConv(2, 3, 8, laplacian=graph).double().to(device)
    Phi, g = conv.eigenvectors.cpu().numpy(), conv.responses().detach().cpu().numpy()
    expected = np.einsum("nk,kio,mk,bmi->bno", Phi, g, Phi, x.numpy()) + conv.bias.detach().cpu().numpy()
    np.testing.assert_allclose(conv(x.to(device)).detach().cpu(), expected, atol=1e-12)


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
