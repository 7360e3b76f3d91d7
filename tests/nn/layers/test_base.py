"""What the layers share: ways to give a graph, channels found at the first call, modes of torch, unusual input."""

import copy
import shutil

import numpy as np
import pytest
import torch

import cayleygsp as cg
from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian
from tests.nn.helpers import (
    compiled,
    edges_of,
    random_adjacency,
    random_graph,
    randomized,
    signals,
)

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

METHODS = ("chebyshev", "exact", "jacobi")

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])

TIGHT = 1e-13


def x5(channels=3):
    return signals(5, channels, dtype=torch.float32)


@pytest.mark.parametrize("options", [{}, {"shared_filter": True}])
def test_lazy_layer_refuses_weights_of_another_shape(options):
    lazy = CayleyConv(-1, 2, 3, **options)
    other = CayleyConv(3, 2, 3, **options)
    state = {**other.state_dict(), "weight": CayleyConv(3, 4, 2, **options).weight.detach()}
    for weight in (state["weight"], torch.zeros(3), torch.zeros(5, 4), torch.zeros(7, 0, 2)):
        with pytest.raises(RuntimeError, match="size mismatch for weight") as error:
            lazy.load_state_dict({**state, "weight": weight})
        assert "Unexpected" not in str(error.value)
        assert lazy.is_lazy
        assert lazy.in_channels == -1
    lazy.load_state_dict(other.state_dict())
    assert lazy.in_channels == 3


def test_lazy_polynomials_refuse_weights_of_another_shape():
    state = ChebConv(3, 2, 2).state_dict()
    for weight in (torch.zeros(2), torch.zeros(4, 3), torch.zeros(2, 4)):
        lazy = ChebConv(-1, 2, 2)
        with pytest.raises(RuntimeError, match=r"size mismatch for lins.0.weight"):
            lazy.load_state_dict({**state, "lins.0.weight": weight})
        assert lazy.is_lazy
        assert lazy.in_channels == -1
    lazy.load_state_dict({"lins.0.weight": state["lins.0.weight"]}, strict=False)
    assert torch.isfinite(lazy.weight).all()


@pytest.mark.parametrize("make", [lambda n: CayleyConv(n, 2, 3), lambda n: ChebConv(n, 2, 3)])
def test_loading_draws_nothing(make):
    lazy, state = make(-1), make(3).state_dict()
    before = torch.get_rng_state()
    lazy.load_state_dict(state)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("make", [lambda: CayleyConv(-1, 2, 3, shared_filter=True), lambda: ChebConv(-1, 2, 3)])
def test_first_call_of_a_lazy_layer_draws_the_weight_alone(make):
    lazy, other = make(), make()
    with torch.no_grad():
        for name, parameter in lazy.named_parameters():
            if not name.endswith("weight"):
                parameter.add_(0.7)
    other.load_state_dict(lazy.state_dict())
    assert other.is_lazy
    assert list(dict(other.named_parameters())) == list(dict(lazy.named_parameters()))
    kept = copy.deepcopy(lazy.state_dict())
    assert kept
    for layer in (lazy, other):
        layer(x5(), EDGES)
        assert not layer.is_lazy
        for name, value in kept.items():
            assert torch.equal(layer.state_dict()[name], value), name
    with pytest.raises(RuntimeError, match="Missing key"):
        other.load_state_dict(kept)


@pytest.mark.parametrize("method", [*METHODS, "cheb"])
@pytest.mark.parametrize("given_as", ["edges", "prepared", "core", "prepared before", "inference edges"])
@pytest.mark.parametrize("channels", [3, -1])
def test_training_goes_on_after_inference_mode(method, given_as, channels):
    layer = ChebConv(channels, 2, 2) if method == "cheb" else CayleyConv(channels, 2, 2, method=method)
    layer = layer.double()  # the eigenbasis is in double precision, so that no cast makes a copy of it
    x, L = x5().double().requires_grad_(), cg.laplacian(np.diag(np.ones(4), 1) + np.diag(np.ones(4), -1), "normalized")
    weight = torch.ones(6, dtype=torch.float64)
    graph = GraphLaplacian.from_laplacian(L) if given_as == "prepared before" else L
    with torch.inference_mode():
        if given_as == "prepared":
            graph = GraphLaplacian.from_edge_index(EDGES, weight, 5, lambda_max=torch.tensor(2.0))
        arguments = (EDGES, weight) if given_as == "edges" else (graph,)
        if given_as == "inference edges":
            arguments = (EDGES.clone(), weight.clone())
        expected = layer(x, *arguments)
    y = layer(x, *arguments)
    torch.testing.assert_close(y, expected.clone())
    y.square().sum().backward()
    assert all(parameter.grad is not None for parameter in layer.parameters())
    assert x.grad.abs().sum() > 0


@pytest.mark.parametrize("options", [{}, {"shared_filter": True}, {"method": "exact"}, {"method": "jacobi"}])
def test_results_under_autocast_are_in_the_precision_of_the_weights(options):
    layer = CayleyConv(3, 4, 2, **options)
    expected = layer(x5(), EDGES)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = layer(x5(), EDGES)
    assert found.dtype == torch.float32
    assert torch.equal(found, expected)


def test_layers_run_on_the_device_without_numbers():
    graph = GraphLaplacian.from_edge_index(EDGES, num_nodes=5).to("meta")
    for method in METHODS:
        layer = CayleyConv(3, 2, 2, method=method).to("meta")
        assert layer(x5().to("meta"), graph).shape == (5, 2)


@pytest.mark.parametrize("normalization", ["sym", None])
@pytest.mark.parametrize("method", METHODS)
def test_graph_without_vertices(method, normalization):
    layer = CayleyConv(3, 2, 2, method=method, normalization=normalization)
    y = layer(torch.empty(0, 3), torch.empty(2, 0, dtype=torch.int64))
    assert y.shape == (0, 2)
    y.sum().backward()
    assert not layer.weight.grad.any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_layers_in_half_precision_are_refused(dtype):
    with pytest.raises(TypeError, match=f"the layer must be in float32 or float64, got {dtype}"):
        CayleyConv(3, 2, 2).to(dtype)(x5().to(dtype), EDGES)


def test_channels_are_checked_before_the_graph():
    layer = CayleyConv(2, 2, 2)
    with pytest.raises(ValueError, match="`x` must have 2 channels"):
        layer(x5(), "no graph")


@pytest.mark.parametrize("layer", [CayleyConv(2, 3, 2), ChebConv(2, 3, 2)])
def test_a_result_beyond_the_range_of_numbers_is_said(layer):
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    x = torch.full((3, 2), 3e38)
    with torch.no_grad():
        for p in layer.parameters():
            p.fill_(10.0)
    with pytest.warns(cg.ConvergenceWarning, match="overflows"):
        layer(x, edges)
    layer(torch.full((3, 2), 1e30), edges)


def make(in_channels, out_channels, order=3, seed=0, **options):
    return randomized(CayleyConv(in_channels, out_channels, order, **{"tol": TIGHT, **options}), seed)


def test_all_ways_to_give_the_graph_agree():
    L, prepared = random_graph()
    W = random_adjacency(13, 0)
    W[3, :] = W[:, 3] = 0
    W[1, 1] = 0.7
    layer, x = make(2, 3), signals(13, 2)
    expected = layer(x, prepared)
    for given_as in (L, torch.from_numpy(W), torch.from_numpy(W).to_sparse(), torch.from_numpy(W).to_sparse_csr()):
        torch.testing.assert_close(layer(x, given_as), expected, atol=1e-11, rtol=0)
    torch.testing.assert_close(layer(x, *edges_of(W)), expected, atol=1e-11, rtol=0)
    torch.testing.assert_close(layer(x[None].expand(3, -1, -1), prepared)[1], expected, atol=1e-11, rtol=0)


def test_lazy_channels_are_found_at_the_first_call():
    _L, prepared = random_graph()
    layer = CayleyConv(-1, 3, 5)
    assert "weight" not in layer.state_dict()
    with pytest.raises(ValueError, match="no filters before its first call"):
        layer.responses([0.0])
    y = layer(signals(13, 7, dtype=torch.float32), prepared)
    assert y.shape == (13, 3)
    assert layer.weight.shape == (11, 7, 3)
    assert repr(layer) == "CayleyConv(7, 3, order=5, normalization=sym, method=chebyshev)"
    other = CayleyConv(-1, 3, 5)
    other.load_state_dict(layer.state_dict())
    assert other.in_channels == 7
    torch.testing.assert_close(other.coefficients(), layer.coefficients(), atol=1e-6, rtol=1e-5)


def test_shapes_are_known_on_the_meta_device():
    edge_index = torch.empty(2, 40, dtype=torch.int64, device="meta")
    for sides in ((2, 3), (3, 2)):
        layer = CayleyConv(*sides, 4).to("meta")
        x = torch.empty(5, 13, sides[0], device="meta", requires_grad=True)
        y = layer(x, edge_index)
        assert y.shape == (5, 13, sides[1])
        y.sum().backward()
        assert x.grad is not None
        assert x.grad.shape == x.shape


@pytest.mark.parametrize("method", ["chebyshev", "jacobi", "exact"])
@pytest.mark.parametrize("sides", [(2, 3), (3, 2)])
def test_compiles_without_breaks(method, sides):
    _L, prepared = random_graph()
    options = {"order": 1, "n_iter": 1} if method == "jacobi" else {"order": 2}
    layer, x = make(*sides, method=method, **options), signals(13, sides[0]).requires_grad_()
    layer(x, prepared)  # the eigenbasis, where one is needed, is computed before
    fast = compiled(layer, backend="aot_eager")
    expected = torch.autograd.grad(layer(x, prepared).square().sum(), [x, *layer.parameters()])
    got = torch.autograd.grad(fast(x, prepared).square().sum(), [x, *layer.parameters()])
    for left, right in zip(got, expected, strict=True):
        torch.testing.assert_close(left, right)


def test_compiles_with_edges():
    edge_index, weight = edges_of(random_adjacency(13, 0))
    layer, x = make(2, 3, normalization=None), signals(13, 2)
    fast = compiled(layer, backend="aot_eager")
    torch.testing.assert_close(fast(x, edge_index, weight), layer(x, edge_index, weight))


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # torch's own backend uses it
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch's default backend needs a C++ compiler")
def test_compiles_to_machine_code_and_a_moving_zoom_needs_no_other():
    _L, prepared = random_graph()
    layer, x = make(2, 3).float(), signals(13, 2, dtype=torch.float32)
    fast = compiled(layer)
    # without trying which vector instructions there are, and without headers for later programs
    with torch._inductor.config.patch({"cpp.vec_isa_ok": False, "cpp_cache_precompile_headers": False}):
        torch.testing.assert_close(fast(x, prepared), layer(x, prepared))
    with torch.no_grad():
        layer.log_zoom.add_(1.0)
    with torch._dynamo.config.patch(error_on_recompile=True):
        torch.testing.assert_close(fast(x, prepared), layer(x, prepared))


def test_exports():
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.laplacian = random_graph()[1]
            self.layer = make(2, 3)

        def forward(self, x):
            return self.layer(x, self.laplacian)

    model, x = Model(), signals(13, 2)
    exported = torch.export.export(model, (x,))
    torch.testing.assert_close(exported.module()(x), model(x))


def test_autocast_is_tolerated():
    _L, prepared = random_graph()
    layer, x = make(2, 3).float(), signals(13, 2, dtype=torch.float32)
    expected = layer(x, prepared)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        got = layer(torch.nn.functional.linear(x, torch.eye(2)), prepared)
        got.sum().backward()
    assert got.dtype == torch.bfloat16
    torch.testing.assert_close(got.float(), expected, atol=0.05, rtol=0.05)


@pytest.mark.parametrize("layer", [CayleyConv(3, 2, 2), ChebConv(3, 2, 3), CayleyConv(2, 3, 2)])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_is_computed_in_single_and_returned_as_it_came(layer, dtype):
    x = signals(5, layer.in_channels, dtype=torch.float32).to(dtype).requires_grad_()
    y = layer(x, EDGES)
    torch.testing.assert_close(y, layer(x.detach().float(), EDGES).to(dtype), atol=0, rtol=0)
    y.sum().backward()
    assert x.grad.dtype == dtype


def test_lambda_max_is_no_part_of_a_cayley_filter():
    edge_index = torch.tensor([[0, 1, 2, 3, 1, 2, 3, 0], [1, 2, 3, 0, 0, 1, 2, 3]])
    x = signals(4, 3, dtype=torch.float32)
    for normalization in ("sym", None):
        layer = CayleyConv(3, 5, 4, normalization, zoom=10.0)
        for lambda_max in (0.3, 1.9, 2.0, 5.0, torch.tensor(1.9), "nonsense"):
            assert torch.equal(layer(x, edge_index, lambda_max=lambda_max), layer(x, edge_index))
        prepared = GraphLaplacian.from_edge_index(edge_index, normalization=normalization, lambda_max=50.0)
        assert torch.equal(layer(x, prepared), layer(x, edge_index))


@pytest.mark.parametrize("make", [lambda: CayleyConv(3, 2, 2), lambda: ChebConv(3, 2, 3)])
def test_edges_are_checked_when_compiled_and_exported(make):
    layer, x = make(), signals(5, 3, dtype=torch.float32)
    bad = EDGES.clone()
    bad[0, 0] = 77
    exported = torch.export.export(layer, (x, EDGES)).module()
    torch.testing.assert_close(exported(x, EDGES), layer(x, EDGES))
    for traced in (compiled(layer, backend="eager"), exported):
        with pytest.raises(ValueError, match="`edge_index` must be between 0 and 4, got 77"):
            traced(x, bad)
    if isinstance(layer, CayleyConv):
        with pytest.raises(ValueError, match="every edge in both directions"):
            exported(x, EDGES[:, [0, 0, 2, 2, 4, 4]])


def test_a_compiled_layer_takes_directed_graphs_with_the_right_gradient():
    layer, x = ChebConv(3, 2, 4), signals(5, 3, dtype=torch.float32).requires_grad_()
    directed = torch.tensor([[0, 1, 2, 3], [1, 2, 0, 1]])
    gradients = []
    for call in (layer, compiled(layer, backend="aot_eager")):
        (gradient,) = torch.autograd.grad(call(x, directed).sin().sum(), x)
        gradients.append(gradient)
    torch.testing.assert_close(*gradients)
