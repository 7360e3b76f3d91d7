"""Precomputed signals: the layer on them is the layer on the graph, with its gradients."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

import cayleygsp as cg
from cayleygsp.nn import (
    CayleyConv,
    ChebyshevFeatures,
    EigenbasisFeatures,
    GraphLaplacian,
    JacobiFeatures,
    PrecomputedCayleyConv,
)
from cayleygsp.nn.ops.operation import torch_operations
from tests.nn.helpers import NORMALIZATIONS, random_graph, randomized, signals

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

FORMS = [{}, {"real_coeffs": True}, {"shared_filter": True}, {"zoom_per_channel": True}, {"bias": False}]

METHODS = [("exact", None), ("jacobi", 0), ("jacobi", 3)]

N_SIGNALS = 21  # not a multiple of a tile

CARDS = ["cuda"] if torch.cuda.is_available() else []


def features_of(method, n_iter, x, laplacian):
    return EigenbasisFeatures(x, laplacian) if method == "exact" else JacobiFeatures(x, laplacian, n_iter)


def both(method, n_iter, channels, order, **form):
    """Return the layer on the graph and the layer on features, with the same weights."""
    options = {"method": method, "n_iter": n_iter, **form}
    layer = randomized(CayleyConv(*channels, order, **options))
    precomputed = PrecomputedCayleyConv(*channels, order, **form).double()
    precomputed.load_state_dict(layer.state_dict())
    return layer, precomputed


def gradients(y, layer):
    layer.zero_grad()
    (y * torch.linspace(-1, 1, y.numel(), dtype=y.dtype).view(y.shape)).sum().backward()
    return [p.grad for p in layer.parameters()]


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
@pytest.mark.parametrize("form", FORMS, ids=str)
@pytest.mark.parametrize("channels", [(1, 4), (3, 2)])
@pytest.mark.parametrize(("method", "n_iter"), METHODS)
def test_layer_on_features_is_the_layer_on_the_graph(normalization, form, channels, method, n_iter):
    L, laplacian = random_graph(normalization=normalization)
    x = signals(N_SIGNALS, L.n_vertices, channels[0])
    layer, precomputed = both(method, n_iter, channels, 3, normalization=normalization, **form)
    features = features_of(method, n_iter, x, laplacian)
    for index in (None, torch.tensor([4, 0, 20, 4])):
        expected = layer(x if index is None else x[index], laplacian)
        y = precomputed(features, index)
        torch.testing.assert_close(y, expected, rtol=1e-9, atol=1e-9)
        for got, wanted in zip(gradients(y, precomputed), gradients(expected, layer), strict=True):
            torch.testing.assert_close(got, wanted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("form", FORMS[:4], ids=str)
@pytest.mark.parametrize(("method", "n_iter"), [("exact", None), ("jacobi", 2)])
def test_gradients_are_those_of_finite_differences(form, method, n_iter):
    L, laplacian = random_graph(n=7)
    layer = randomized(PrecomputedCayleyConv(2, 2, order=2, **form))
    features = features_of(method, n_iter, signals(2, L.n_vertices, 2), laplacian)
    names, values = zip(*layer.named_parameters(), strict=True)

    def call(*parameters):
        return torch.func.functional_call(layer, dict(zip(names, parameters, strict=True)), (features,))

    assert torch.autograd.gradcheck(call, tuple(value.detach().requires_grad_() for value in values), atol=1e-6)


@pytest.mark.parametrize(("method", "n_iter"), [("exact", None), ("jacobi", 4)])
def test_derivative_blocks_are_differences_of_the_blocks(method, n_iter):
    L, laplacian = random_graph()
    features = features_of(method, n_iter, signals(5, L.n_vertices, 1), laplacian)
    like, step = torch.empty(0, dtype=torch.float64), 1e-5
    blocks, derivative = features.blocks(None, 0.8, 3, False, like)
    high, low = (features.blocks(None, 0.8 * np.exp(sign * step), 3, False, like)[0][..., :7] for sign in (1, -1))
    torch.testing.assert_close(blocks @ derivative.T, (high - low) / (2 * step), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(("method", "n_iter"), [("exact", None), ("jacobi", 4)])
def test_minibatches_train_and_the_zoom_moves(method, n_iter):
    L = cg.laplacian(cg.gallery.sensor(40, rng=0), "normalized")
    x = signals(60, 40, 1, dtype=torch.float32)
    target = torch.from_numpy(cg.CayleyFilter(L, cg.CayleyPolynomial([0.3, 0.5 - 0.2j], 3.0), method="exact").toarray())
    y = torch.einsum("ij,bjc->bic", target.float(), x)
    features = features_of(method, n_iter, x, L)
    layer = PrecomputedCayleyConv(1, 1, order=1)
    layer.reset_parameters(torch.Generator().manual_seed(0))
    optimizer = torch.optim.Adam(layer.parameters(), lr=0.05)
    losses = []
    for k in range(120):
        index = torch.arange(10) + 10 * (k % 6)
        optimizer.zero_grad()
        loss = (layer(features, index) - y[index]).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.1 * losses[0]
    assert abs(float(layer.zoom.detach()) - 1.0) > 0.2


@pytest.mark.parametrize(("method", "n_iter"), [("exact", None), ("jacobi", 4)])
def test_lower_precision_of_the_features_is_that_of_the_layer(method, n_iter):
    L, laplacian = random_graph()
    x = signals(4, L.n_vertices, 2)
    layer = randomized(PrecomputedCayleyConv(2, 3, order=2)).float()
    expected = copy.deepcopy(layer).double()(features_of(method, n_iter, x, laplacian))
    features = features_of(method, n_iter, x, laplacian).to(torch.float32)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = layer(features)
    assert y.dtype == torch.float32
    torch.testing.assert_close(y.double(), expected, rtol=1e-4, atol=1e-4)


def test_lazy_channels_come_from_the_features():
    L, laplacian = random_graph()
    layer = PrecomputedCayleyConv(-1, 2, order=1)
    assert layer(JacobiFeatures(signals(5, L.n_vertices, 3, dtype=torch.float32), laplacian)).shape == (5, 13, 2)
    assert layer.in_channels == 3


@pytest.mark.parametrize("kind", [EigenbasisFeatures, JacobiFeatures])
def test_bad_input_is_rejected(kind):
    L, laplacian = random_graph()
    x = signals(5, 13, 1)
    with pytest.raises(TypeError, match=r"`x` must be a tensor of shape \(n_signals, n, channels\)"):
        kind(x[0], laplacian)
    with pytest.raises(ValueError, match="`x` must not require a gradient"):
        kind(x.clone().requires_grad_(), laplacian)
    with pytest.raises(ValueError, match="`x` must have 13 rows as the graph has vertices, got 12"):
        kind(x[:, :12], laplacian)
    with pytest.raises(ValueError, match="`x` must be finite"):
        kind(x / 0, laplacian)
    with pytest.raises(TypeError, match="`laplacian` must be a Laplacian or GraphLaplacian, got ndarray"):
        kind(x, np.eye(13))
    with pytest.raises(ValueError, match="`features` must have 2 channels, got 1"):
        PrecomputedCayleyConv(2, 1, 1).double()(kind(x, laplacian))
    with pytest.raises(ValueError, match="`features` must have normalization=None as the layer, got 'sym'"):
        PrecomputedCayleyConv(1, 1, 1, normalization=None).double()(kind(x, L))
    with pytest.raises(ValueError, match="`n_iter` must be"):
        JacobiFeatures(x, laplacian, -1)


def test_features_of_a_batch_of_graphs():
    _, one = random_graph(seed=1)
    row = torch.repeat_interleave(torch.arange(13), one.indptr.diff().long())
    edges = torch.stack([row, one.indices.long()])
    two = GraphLaplacian.from_edge_index(
        torch.cat([edges, edges + 13], 1), one.values.repeat(2), 26, normalization=None, batch=torch.arange(26) // 13
    )
    x = signals(3, 26, 1)
    layer = randomized(PrecomputedCayleyConv(1, 2, order=2, normalization=None))
    alone = GraphLaplacian.from_edge_index(edges, one.values, 13, normalization=None)
    for make in (EigenbasisFeatures, JacobiFeatures):
        torch.testing.assert_close(layer(make(x, two))[:, :13], layer(make(x[:, :13], alone)))


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
@pytest.mark.parametrize("name", ["chebyshev", "exact", "jacobi"])
def test_features_on_a_card_are_those_of_the_cpu(device, name):
    features, layer = make_features(name)
    elsewhere, moved = make_features(name, device)
    torch.testing.assert_close(moved(elsewhere).cpu(), layer(features), rtol=1e-7, atol=1e-7)
    torch.testing.assert_close(moved(features.to(device)).cpu(), layer(make_features(name)[0]), rtol=1e-7, atol=1e-7)
