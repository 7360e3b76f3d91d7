import copy
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck

import cayleygsp as cg
from cayleygsp.nn import ChebConv, GraphLaplacian
from tests.nn.helpers import (
    KIND,
    NORMALIZATIONS,
    compiled,
    edges_of,
    random_adjacency,
    random_graph,
    randomized,
    signals,
)
from tests.oracle import dense_filter
from tests.strategies import weighted_graphs

# torch says this of its own sparse formats, PyTorch Geometric of its use of TorchScript
pytestmark = [
    pytest.mark.filterwarnings("ignore:Sparse CSR tensor support"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:torch.*"),
]


def make(in_channels, out_channels, order=4, seed=0, **options):
    return randomized(ChebConv(in_channels, out_channels, order, **options), seed)


def dense_conv(layer, L, x):
    y = np.zeros((*x.shape[:2], layer.out_channels))
    for i in range(layer.in_channels):
        for o in range(layer.out_channels):
            p = cg.ChebyshevPolynomial(layer.weight[:, i, o].detach().numpy(), L.lmax)
            y[:, :, o] += x[:, :, i] @ dense_filter(L, p).T
    return y + (0 if layer.bias is None else layer.bias.detach().numpy())


@settings(max_examples=40)
@given(W=weighted_graphs(), order=st.integers(1, 12), normalization=st.sampled_from(NORMALIZATIONS), wide=st.booleans())
def test_layer_equals_the_dense_filters_on_any_graph(W, order, normalization, wide):
    L = cg.laplacian(W, KIND[normalization])
    layer = make(1 if wide else 3, 2 if wide else 1, order, normalization=normalization)
    x = signals(2, len(W), layer.in_channels)
    expected = dense_conv(layer, L, x.numpy())
    np.testing.assert_allclose(layer(x, *edges_of(W)).detach(), expected, atol=1e-10)
    np.testing.assert_allclose(layer(x, GraphLaplacian.from_laplacian(L)).detach(), expected, atol=1e-10)


@pytest.mark.parametrize("normalization", NORMALIZATIONS)
def test_a_batch_of_graphs_equals_its_graphs_one_by_one(normalization):
    graphs = [random_adjacency(n, n) * 10.0**e for n, e in ((5, 0), (1, 0), (9, 2), (4, -1))]
    edges = [edges_of(W) for W in graphs]
    sizes = torch.tensor([len(W) for W in graphs])
    starts = sizes.cumsum(0) - sizes
    edge_index = torch.cat([e + s for (e, _), s in zip(edges, starts, strict=True)], dim=1)
    batch = torch.repeat_interleave(torch.arange(4), sizes)
    x = signals(int(sizes.sum()), 2)
    layer = make(2, 3, normalization=normalization)
    got = layer(x, edge_index, torch.cat([w for _, w in edges]), batch)
    single = [layer(part, *e) for part, e in zip(x.split(sizes.tolist()), edges, strict=True)]
    torch.testing.assert_close(got, torch.cat(single), atol=1e-11, rtol=0)


def test_given_lambda_max_scales():
    W = random_adjacency(9, 0)
    layer, x = make(2, 3, normalization=None, bias=False), signals(9, 2)
    expected = sum(
        np.stack([layer.to_filter(W, i, o, lmax=9.0) @ x[:, i].numpy() for o in range(3)], axis=1) for i in range(2)
    )
    np.testing.assert_allclose(layer(x, *edges_of(W), lambda_max=9.0).detach(), expected, atol=1e-11)
    batch = torch.zeros(9, dtype=torch.int64)
    given_each = layer(x, *edges_of(W), batch=batch, lambda_max=torch.tensor([9.0]))
    np.testing.assert_allclose(given_each.detach(), expected, atol=1e-11)


@pytest.mark.parametrize("sides", [(2, 3), (3, 2), (1, 1)])
def test_gradients_are_those_of_finite_differences(sides):
    _L, prepared = random_graph(n=6)
    layer = make(*sides)
    x = signals(2, 6, sides[0]).requires_grad_()
    weight = layer.weight.detach().clone().requires_grad_()

    def call(x, weight):
        return torch.func.functional_call(layer, {"weight": weight}, (x, prepared))

    assert gradcheck(call, (x, weight), fast_mode=True)


def test_edgeless_graph_is_finite():
    layer, x = make(2, 3), signals(4, 2)
    assert torch.isfinite(layer(x, torch.empty(2, 0, dtype=torch.int64))).all()


def test_learned_filters_go_back_to_the_core():
    L, prepared = random_graph()
    layer, x = make(2, 3, bias=False), signals(13, 2)
    got = sum(layer.to_filter(L, i, 2) @ x[:, i].numpy() for i in range(2))
    np.testing.assert_allclose(got, layer(x, prepared).detach()[:, 2], atol=1e-11)
    lam = np.linspace(0, 2, 5)
    expected = cg.ChebyshevPolynomial(layer.weight[:, 1, 2].detach().numpy(), 2.0)(lam)
    np.testing.assert_allclose(layer.responses(lam)[:, 1, 2], expected, atol=1e-12)


@pytest.mark.parametrize("order", [1, 5, 24])
@pytest.mark.parametrize("channels", [(16, 16), (4, 64), (64, 4)])
def test_output_has_the_variance_of_the_input(order, channels):
    L = cg.laplacian(cg.gallery.sensor(100, rng=0), "normalized")
    prepared = GraphLaplacian.from_laplacian(L, dtype=torch.float32)
    layer = ChebConv(*channels, order)
    layer.reset_parameters(torch.Generator().manual_seed(0))
    with torch.no_grad():
        ratio = float(layer(signals(20, 100, channels[0], dtype=torch.float32), prepared).var())
    assert 1 / 1.5 < ratio < 1.5


def test_works_as_a_module():
    L, prepared = random_graph()
    layer, x = make(2, 3), signals(13, 2)
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert torch.equal(other(x, prepared), layer(x, prepared))
    fast = compiled(layer, backend="aot_eager")
    torch.testing.assert_close(fast(x, prepared), layer(x, prepared))
    lazy = ChebConv(-1, 3, 4)
    assert lazy(x.float(), prepared).shape == (13, 3)
    assert lazy.weight.shape == (5, 2, 3)
    meta = ChebConv(2, 3, 4).to("meta")
    assert meta(x.to("meta"), torch.empty(2, 9, dtype=torch.int64, device="meta")).shape == (13, 3)
    with pytest.raises(ValueError, match="no filters before its first call"):
        ChebConv(-1, 3, 4).responses([0.0])
    with pytest.raises(ValueError, match="`in_channel` must be below 2, got 2"):
        layer.to_filter(L, 2, 0)
    with pytest.raises(ValueError, match="`eigenvalues` must be one-dimensional"):
        layer.responses(1.0)
