"""Layers that keep the graph of their first call."""

import copy

import pytest
import torch

import cayleygsp as cg
from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian
from tests.nn.helpers import compiled, edges_of, random_adjacency, signals

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])
HEAVY = torch.tensor([1.0, 1, 1, 1, 9, 9])


@pytest.mark.parametrize("make", [CayleyConv, ChebConv])
def test_the_first_graph_is_kept_and_a_changed_one_is_not_noticed(make):
    x, layer = signals(4, 2, dtype=torch.float32), make(2, 3, 2, cached=True)
    state = set(layer.state_dict())
    with torch.inference_mode():
        kept = layer(x, EDGES)
    assert torch.equal(layer(x, EDGES, HEAVY), kept)
    layer(x.requires_grad_(), EDGES, HEAVY).sum().backward()
    assert x.grad.abs().sum() > 0
    assert torch.equal(copy.deepcopy(layer)(x, EDGES, HEAVY), kept)
    assert set(layer.state_dict()) == state
    with pytest.raises(ValueError, match="`x` must have 4 vertices as the graph"):
        layer(x[:3], EDGES[:, :4])
    prepared = GraphLaplacian.from_edge_index(EDGES, HEAVY)
    assert not torch.allclose(layer(x, prepared), kept)


@pytest.mark.parametrize("make", [CayleyConv, ChebConv])
def test_other_layers_look_at_the_graph_of_every_call(make):
    x, layer, weight = signals(4, 2, dtype=torch.float32), make(2, 3, 2), torch.ones(6)
    before = layer(x, EDGES, weight)
    weight.data.mul_(HEAVY)  # which torch does not count
    after = layer(x, EDGES, weight)
    assert not torch.allclose(after, before)
    assert torch.equal(after, layer(x, EDGES, weight.clone()))


def test_what_forgets_the_graph():
    x, layer = signals(4, 2, dtype=torch.float32), CayleyConv(2, 3, 2, cached=True)
    layer(x, EDGES)
    moved = copy.deepcopy(layer).double()
    assert not torch.allclose(moved(x.double(), EDGES, HEAVY), layer(x, EDGES, HEAVY).double())
    state = copy.deepcopy(layer.state_dict())
    layer.reset_parameters()
    layer.load_state_dict(state)
    torch.testing.assert_close(layer(x, EDGES, HEAVY).double(), moved(x.double(), EDGES), atol=1e-5, rtol=0)


@pytest.mark.parametrize("make", [CayleyConv, ChebConv])
def test_a_graph_with_a_gradient_is_neither_kept_nor_passed_over(make):
    x, weight, layer = signals(4, 2).float(), torch.ones(6, requires_grad=True), make(2, 3, 2, cached=True)
    for _ in range(2):  # without a kept graph, and with one
        with pytest.raises(ValueError, match="`edge_weight` must not require a gradient with cached=True"):
            layer(x, EDGES, weight)
        with torch.no_grad():
            layer(x, EDGES, weight)


def test_a_laplacian_of_the_core_is_prepared_once(monkeypatch):
    calls, prepare = [], GraphLaplacian.from_laplacian
    monkeypatch.setattr(GraphLaplacian, "from_laplacian", lambda *a, **k: calls.append(1) or prepare(*a, **k))
    layer, L = CayleyConv(2, 3, 2, cached=True), cg.laplacian(cg.gallery.path(4), "normalized")
    for _ in range(3):
        layer(signals(4, 2).float(), L)
    assert len(calls) == 1


def test_a_compiled_layer_uses_what_was_kept_before():
    edge_index, weight = edges_of(random_adjacency(13, 0))
    layer, x = CayleyConv(2, 3, 2, None, cached=True).double(), signals(13, 2)
    fast = compiled(layer, backend="aot_eager")
    expected = fast(x, edge_index, weight)
    assert not torch.allclose(fast(x, edge_index, 3 * weight), expected)
    torch.testing.assert_close(layer(x, edge_index, weight), expected)
    torch.testing.assert_close(fast(x, edge_index, 3 * weight), expected)
