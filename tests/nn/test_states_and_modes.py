"""What happens around the values: states that are loaded, modes of torch, unusual graphs and input."""

import copy

import numpy as np
import pytest
import torch

import cayleygsp as cg
from cayleygsp.nn import CayleyConv, ChebConv, ChebyshevFeatures, GraphLaplacian, PrecomputedCayleyConv, SpectralConv
from tests.nn.helpers import edges_of, random_adjacency, random_graph, signals

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

METHODS = ("chebyshev", "exact", "jacobi")
EDGES = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])


def x5(channels=3):
    return signals(5, channels, dtype=torch.float32)


@pytest.mark.parametrize("source", ["edges", "core"])
def test_a_loaded_laplacian_is_that_of_the_new_graph(source):
    W = random_adjacency(7, 0)

    def prepared(W):
        if source == "core":
            return GraphLaplacian.from_laplacian(cg.laplacian(W))
        return GraphLaplacian.from_edge_index(*edges_of(W), len(W), normalization=None)

    loaded, other = prepared(W), prepared(20 * W)
    loaded.eigenbasis()
    loaded.load_state_dict(other.state_dict())
    assert loaded.bound == pytest.approx(other.bound, rel=1e-12)
    torch.testing.assert_close(loaded.eigenbasis()[0], other.eigenbasis()[0])
    for method in METHODS:
        layer = CayleyConv(2, 2, 2, normalization=None, method=method).double()
        torch.testing.assert_close(layer(signals(7, 2), loaded), layer(signals(7, 2), other))


def test_a_laplacian_of_the_other_kind_is_not_loaded():
    one, two = (GraphLaplacian.from_edge_index(EDGES, normalization=kind) for kind in ("sym", None))
    before = copy.deepcopy(one.state_dict())
    with pytest.raises(ValueError, match="with normalization='sym', got None"):
        one.load_state_dict(two.state_dict())
    assert torch.equal(one.values, before["values"])


def test_a_laplacian_on_no_device_is_loaded_without_a_bound():
    made = GraphLaplacian.from_edge_index(EDGES)
    empty = copy.deepcopy(made).to("meta")
    with pytest.warns(UserWarning, match="no-op"):
        empty.load_state_dict(made.state_dict())
    assert empty.bound is None
    assert empty.dense().shape == (4, 4)
    empty.load_state_dict(made.state_dict(), assign=True)
    assert empty.bound == 2


@pytest.mark.parametrize("options", [{}, {"shared_filter": True}])
def test_lazy_layer_refuses_weights_of_another_shape(options):
    lazy = CayleyConv(-1, 2, 3, **options)
    other = CayleyConv(3, 2, 3, **options)
    state = {**other.state_dict(), "weight": CayleyConv(3, 4, 2, **options).weight.detach()}
    with pytest.raises(RuntimeError, match="size mismatch for weight"):
        lazy.load_state_dict(state)
    with pytest.raises(RuntimeError, match="weight"):
        CayleyConv(-1, 2, 3, **options).load_state_dict({**other.state_dict(), "weight": torch.zeros(3)})


@pytest.mark.parametrize("make", [lambda: CayleyConv(-1, 2, 3, shared_filter=True), lambda: ChebConv(-1, 2, 3)])
def test_first_call_of_a_lazy_layer_draws_the_weight_alone(make):
    lazy, other = make(), make()
    with torch.no_grad():
        for name, parameter in lazy.named_parameters():
            if name != "weight":
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


def test_digraph_with_structure_is_refused():
    edges = torch.tensor([[0, 2, 4, 0, 1, 1, 5, 3, 2, 3, 5, 4], [1, 0, 0, 5, 2, 3, 1, 2, 4, 4, 3, 5]])
    with pytest.raises(ValueError, match="every edge in both directions"):
        CayleyConv(1, 1, 1)(torch.randn(6, 1), edges)


def test_bound_has_a_margin_for_rounding():
    made = GraphLaplacian.from_edge_index(torch.tensor([[0, 1], [1, 0]]), normalization=None, dtype=torch.float64)
    assert 2 < made.bound < 2 * (1 + 1e-14)


def test_bound_holds_where_weights_span_all_magnitudes():
    W = np.zeros((4, 4))
    W[0, 1], W[1, 2], W[2, 3] = 1e150, 1.0, 1e-150
    W += W.T
    made = GraphLaplacian.from_edge_index(*edges_of(W), normalization=None)
    assert 2e150 * (1 - 1e-12) <= made.bound <= 2e150 * (1 + 1e-12)


@pytest.mark.parametrize("normalization", ["sym", None])
@pytest.mark.parametrize("numbers", [(0, 7), (5, 2), (100, 10**12)])
def test_numbers_of_graphs_may_have_gaps(normalization, numbers):
    edges = torch.tensor([[0, 1, 2, 3, 3, 4], [1, 0, 3, 2, 4, 3]])
    batches = [torch.tensor(pair).repeat_interleave(torch.tensor([2, 3])) for pair in ((0, 1), numbers)]
    expected, found = (
        GraphLaplacian.from_edge_index(edges, num_nodes=5, normalization=normalization, batch=batch)
        for batch in batches
    )
    assert torch.equal(found.lmax, expected.lmax)
    if normalization is None:
        assert found.lmax[0] < found.lmax[4]


def test_negative_numbers_of_graphs_are_refused():
    for edges in (EDGES[:, :2], EDGES[:, :0]):
        with pytest.raises(ValueError, match="`batch` must not be negative, got -1"):
            GraphLaplacian.from_edge_index(edges, num_nodes=2, batch=torch.tensor([-1, -1]))


@pytest.mark.parametrize("normalization", ["sym", None])
@pytest.mark.parametrize("method", METHODS)
def test_graph_without_vertices(method, normalization):
    layer = CayleyConv(3, 2, 2, method=method, normalization=normalization)
    y = layer(torch.empty(0, 3), torch.empty(2, 0, dtype=torch.int64))
    assert y.shape == (0, 2)
    y.sum().backward()
    assert not layer.weight.grad.any()


def test_one_bound_for_all_vertices_is_taken():
    bound = torch.tensor(3.0)
    made = GraphLaplacian.from_edge_index(EDGES, lambda_max=bound)
    assert made.lmax.is_contiguous()
    layer = ChebConv(3, 2, 2)
    torch.testing.assert_close(layer(x5()[:4], EDGES, None, None, bound), layer(x5()[:4], made))
    with pytest.raises(ValueError, match="`lambda_max` must not require a gradient"):
        GraphLaplacian.from_edge_index(EDGES, lambda_max=bound.requires_grad_())


def test_other_memory_behind_the_same_tensor_is_seen():
    layer, weight = CayleyConv(3, 2, 2), torch.ones(6)
    first = layer(x5(), EDGES, weight)
    version = weight._version
    weight.data = torch.tensor([1.0, 1, 1, 1, 9, 9])
    assert weight._version == version
    expected = copy.deepcopy(layer)(x5(), EDGES, weight)
    assert not torch.allclose(first, expected)
    torch.testing.assert_close(layer(x5(), EDGES, weight), expected)


def test_what_is_kept_may_be_replaced_by_another_thread():
    class Shared(CayleyConv):
        @property
        def _prepared(self):
            return self.__dict__.pop("kept", None)  # as if another thread took it away right after

        @_prepared.setter
        def _prepared(self, value):
            self.__dict__["kept"] = value

    layer = Shared(3, 2, 2)
    torch.testing.assert_close(layer(x5(), EDGES), layer(x5(), EDGES))


def test_bounds_whose_changes_are_not_followed_are_read_again():
    layer, bounds = ChebConv(3, 2, 2), [2.0, 3.0]
    batch = torch.tensor([0, 0, 0, 0, 1])
    first = layer(x5(), EDGES, None, batch, bounds)
    bounds[0] = 4.0
    expected = copy.deepcopy(layer)(x5(), EDGES, None, batch, bounds)
    assert not torch.allclose(first, expected)
    torch.testing.assert_close(layer(x5(), EDGES, None, batch, bounds), expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_layers_in_half_precision_are_refused(dtype):
    with pytest.raises(TypeError, match=f"the layer must be in float32 or float64, got {dtype}"):
        CayleyConv(3, 2, 2).to(dtype)(x5().to(dtype), EDGES)


def test_channels_are_checked_before_the_graph():
    layer = CayleyConv(2, 2, 2)
    with pytest.raises(ValueError, match="`x` must have 2 channels"):
        layer(x5(), "no graph")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("value", [1000.0, -1000.0, torch.nan])
def test_zoom_out_of_range_is_named(method, value):
    layer = CayleyConv(3, 2, 2, method=method)
    with torch.no_grad():
        layer.log_zoom.fill_(value)
    with pytest.raises(ValueError, match="`log_zoom` must have a positive and finite exponential"):
        layer(x5(), EDGES)


def test_spectral_layer_casts_its_input():
    layer = SpectralConv(3, 2, 4, laplacian=cg.gallery.ring(5))
    assert layer(x5().double()).dtype == torch.float32
    torch.testing.assert_close(layer(x5().double()), layer(x5()))


def test_precomputed_layer_under_autocast():
    L, _ = random_graph()
    features = ChebyshevFeatures(signals(13, 2, dtype=torch.float32), L, order=2, max_zoom=2.0)
    layer = PrecomputedCayleyConv(2, 3, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = layer(features)
    assert torch.equal(found, layer(features))


@pytest.mark.parametrize("layer", [CayleyConv(2, 3, 2), ChebConv(2, 3, 2)])
def test_a_result_beyond_the_range_of_numbers_is_said(layer):
    edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    x = torch.full((3, 2), 3e38)
    with torch.no_grad():
        layer.weight.fill_(10.0)
    with pytest.warns(cg.ConvergenceWarning, match="overflows"):
        layer(x, edges)
    layer(torch.full((3, 2), 1e30), edges)
