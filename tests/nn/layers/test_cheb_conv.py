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


def make(in_channels, out_channels, K=5, seed=0, **options):
    return randomized(ChebConv(in_channels, out_channels, K, **options), seed)


def dense_conv(layer, L, x, lmax=None):
    y = np.zeros((*x.shape[:2], layer.out_channels))
    for i in range(layer.in_channels):
        for o in range(layer.out_channels):
            p = cg.ChebyshevPolynomial(layer.weight[:, i, o].detach().numpy(), L.lmax if lmax is None else lmax)
            y[:, :, o] += x[:, :, i] @ dense_filter(L, p).T
    return y + (0 if layer.bias is None else layer.bias.detach().numpy())


@settings(max_examples=40)
@given(W=weighted_graphs(), K=st.integers(2, 13), normalization=st.sampled_from(NORMALIZATIONS), wide=st.booleans())
def test_layer_equals_the_dense_filters_on_any_graph(W, K, normalization, wide):
    L = cg.laplacian(W, KIND[normalization])
    layer = make(1 if wide else 3, 2 if wide else 1, K, normalization=normalization)
    x = signals(2, len(W), layer.in_channels)
    prepared = GraphLaplacian.from_laplacian(L)
    np.testing.assert_allclose(layer(x, prepared).detach(), dense_conv(layer, L, x.numpy()), atol=1e-10)


@settings(max_examples=40)
@given(
    n=st.integers(1, 9),
    n_edges=st.integers(0, 30),
    K=st.integers(1, 6),
    normalization=st.sampled_from(["sym", "rw", None]),
    wide=st.booleans(),
    lambda_max=st.sampled_from([None, 50.0]),
    seed=st.integers(0, 1000),
)
def test_any_directed_graph_gives_the_polynomial_of_its_matrix(n, n_edges, K, normalization, wide, lambda_max, seed):
    rng = np.random.default_rng(seed)
    edge_index = torch.from_numpy(rng.integers(0, n, (2, n_edges)))  # with self-loops, and pairs more than once
    weight = torch.from_numpy(rng.random(n_edges)).requires_grad_()
    layer = make(*(1, 2) if wide else (3, 1), K, normalization=normalization)
    x = signals(n, layer.in_channels).requires_grad_()
    y = layer(x, edge_index, weight, lambda_max=lambda_max)
    parameters = [x, weight, *layer.parameters()]
    expected = polynomial_of_the_matrix(layer, x, edge_index, weight, lambda_max)
    torch.testing.assert_close(y, expected, atol=1e-9, rtol=1e-9)
    got, wanted = (torch.autograd.grad(t.sin().sum(), parameters, allow_unused=True) for t in (y, expected))
    for g, w in zip(got, wanted, strict=True):
        assert (g is None) == (w is None) or K == 1
        if g is not None and w is not None:
            torch.testing.assert_close(g, w, atol=1e-9, rtol=1e-8)


def polynomial_of_the_matrix(layer, x, edge_index, weight, lambda_max):
    """Return the layer's result by dense matrices that torch differentiates."""
    n = x.shape[0]
    W = torch.zeros(n, n, dtype=torch.float64).index_put((edge_index[0], edge_index[1]), weight, accumulate=True)
    W = W - W.diag().diag()
    d = W.sum(1)
    inverse = torch.where(d > 0, 1 / torch.where(d > 0, d, 1.0), 0.0)
    if layer.normalization is None:
        L = d.diag() - W
    elif layer.normalization == "rw":
        L = torch.eye(n, dtype=torch.float64) - inverse[:, None] * W
    else:
        root = torch.where(d > 0, torch.where(d > 0, d, 1.0).rsqrt(), 0.0)
        L = torch.eye(n, dtype=torch.float64) - root[:, None] * W * root
    lmax = 2 * L.max() if lambda_max is None else torch.tensor(lambda_max, dtype=torch.float64)
    scaled = (2 / lmax if lmax > 0 else 0.0) * L.T - torch.eye(n, dtype=torch.float64)
    terms = [x, scaled @ x]
    while len(terms) < layer.order + 1:
        terms.append(2 * scaled @ terms[-1] - terms[-2])
    return sum(t @ w for t, w in zip(terms, layer.weight, strict=False)) + layer.bias


def test_arguments_and_names_are_those_of_pytorch_geometric():
    edge_index = torch.tensor([[0, 0, 0, 1, 2, 3], [1, 2, 3, 0, 0, 0]])
    weight, x = torch.rand(6), torch.randn(4, 16)
    layer = ChebConv(16, 32, K=3)
    assert str(layer) == "ChebConv(16, 32, K=3, normalization=sym)"
    assert str(ChebConv(16, 32, 1, None, False)) == "ChebConv(16, 32, K=1, normalization=None)"
    assert set(layer.state_dict()) == {"bias", "lins.0.weight", "lins.1.weight", "lins.2.weight"}
    assert dict(layer.named_parameters())["lins.2.weight"].shape == (32, 16)
    for arguments in ((), (weight,), (weight, None, 3.0)):
        assert layer(x, edge_index, *arguments).shape == (4, 32)
    torch.testing.assert_close(layer(x, edge_index, weight[:, None]), layer(x, edge_index, weight))
    batch, pairs = torch.tensor([0, 0, 1, 1]), torch.tensor([[0, 1, 2, 3], [1, 0, 3, 2]])
    assert layer(x, pairs, weight[:4], batch, torch.tensor([2.0, 3.0])).shape == (4, 32)
    halves = [layer(x[k : k + 2], pairs[:, :2], weight[k : k + 2]) for k in (0, 2)]
    torch.testing.assert_close(layer(x, pairs, weight[:4], batch), torch.cat(halves))
    assert layer(torch.randn(7, 4, 16), edge_index).shape == (7, 4, 32)
    for wrong in (0, 2.5):
        with pytest.raises((ValueError, TypeError), match="`K` must be"):
            ChebConv(2, 2, wrong)
    with pytest.raises(ValueError, match="`normalization` must be 'sym', 'rw' or None, got 'left'"):
        ChebConv(2, 2, 2, "left")


def test_a_lambda_max_below_the_spectrum_is_refused():
    edge_index = torch.tensor([[0, 1, 2, 3, 1, 2, 3, 0], [1, 2, 3, 0, 0, 1, 2, 3]])  # a cycle: λ_max is 2, or 4
    x = torch.randn(4, 3)
    for normalization, lmax in (("sym", 2.0), ("rw", 2.0), (None, 4.0)):
        layer = ChebConv(3, 5, 4, normalization)
        assert torch.isfinite(layer(x, edge_index, lambda_max=lmax)).all()
        with pytest.raises(ValueError, match=r"`lambda_max` must not be below .* at least .*, got 1\.9"):
            layer(x, edge_index, lambda_max=1.9)
    batch, bounds = torch.zeros(4, dtype=torch.int64), torch.tensor([1.9])
    with pytest.raises(ValueError, match="`lambda_max` must not be below"):
        GraphLaplacian.from_edge_index(edge_index, batch=batch, lambda_max=bounds)
    directed = edge_index[:, :4]
    assert torch.isfinite(ChebConv(3, 5, 4)(x, directed, lambda_max=1.5)).all()  # nothing is known of its spectrum


def test_sparse_signals_give_what_dense_ones_give():
    _, prepared = random_graph()
    layer = make(6, 2)
    x = signals(13, 6) * (signals(13, 6, seed=1) > 0.8)
    directed = torch.tensor([[0, 1, 2, 5], [1, 2, 0, 7]])
    for graph in (prepared, directed):
        layer.zero_grad()
        expected = layer(x, graph)
        expected.square().sum().backward()
        gradients = [p.grad.clone() for p in layer.parameters()]
        for sparse in (x.to_sparse_coo(), x.to_sparse_csr()):
            layer.zero_grad()
            y = layer(sparse, graph)
            torch.testing.assert_close(y, expected, atol=1e-12, rtol=0)
            y.square().sum().backward()
            for p, wanted in zip(layer.parameters(), gradients, strict=True):
                torch.testing.assert_close(p.grad, wanted, atol=1e-11, rtol=0)
    narrow = make(2, 3)
    torch.testing.assert_close(narrow(x[:, :2].to_sparse_coo(), prepared), narrow(x[:, :2], prepared))


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
    weights = {name: p.detach().clone().requires_grad_() for name, p in layer.named_parameters()}

    def call(x, *values):
        return torch.func.functional_call(layer, dict(zip(weights, values, strict=True)), (x, prepared))

    assert gradcheck(call, (x, *weights.values()), fast_mode=True)


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
    plain, W = make(2, 3, bias=False, normalization=None), random_adjacency(13, 0)
    got = sum(plain.to_filter(W, i, 2) @ x[:, i].numpy() for i in range(2))  # scaled as the layer scales edges
    np.testing.assert_allclose(got, plain(x, *edges_of(W)).detach()[:, 2], atol=1e-11)
    with pytest.raises(ValueError, match="`normalization` must be 'sym' or None"):
        make(2, 3, normalization="rw").to_filter(W, 0, 0)


@pytest.mark.parametrize("K", [2, 6, 25])
@pytest.mark.parametrize("channels", [(16, 16), (4, 64), (64, 4)])
def test_output_has_the_variance_of_the_input(K, channels):
    L = cg.laplacian(cg.gallery.sensor(100, rng=0), "normalized")
    prepared = GraphLaplacian.from_laplacian(L, dtype=torch.float32)
    layer = ChebConv(*channels, K)
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
    lazy = ChebConv(-1, 3, 5)
    empty = ChebConv(-1, 3, 5)
    empty.load_state_dict(lazy.state_dict())
    assert lazy(x.float(), prepared).shape == (13, 3)
    assert lazy.weight.shape == (5, 2, 3)
    empty.load_state_dict(lazy.state_dict())
    assert torch.equal(empty(x.float(), prepared), lazy(x.float(), prepared))
    meta = ChebConv(2, 3, 4).to("meta")
    assert meta(x.to("meta"), torch.empty(2, 9, dtype=torch.int64, device="meta")).shape == (13, 3)
    with pytest.raises(ValueError, match="no filters before its first call"):
        ChebConv(-1, 3, 4).responses([0.0])
    with pytest.raises(ValueError, match="`in_channel` must be below 2, got 2"):
        layer.to_filter(L, 2, 0)
    with pytest.raises(ValueError, match="`eigenvalues` must be one-dimensional"):
        layer.responses(1.0)
