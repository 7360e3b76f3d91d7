"""When a prepared graph is used again, and when not."""

import copy

import pytest
import torch

from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian
from cayleygsp.nn.graph_key import GraphKey
from tests.nn.helpers import (
    edges_of,
    random_adjacency,
    randomized,
    signals,
)

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])

TIGHT = 1e-13


def x5(channels=3):
    return signals(5, channels, dtype=torch.float32)


def test_other_memory_behind_the_same_tensor_is_seen():
    layer, weight = CayleyConv(3, 2, 2), torch.ones(6)
    first = layer(x5(), EDGES, weight)
    version = weight._version
    weight.data = torch.tensor([1.0, 1, 1, 1, 9, 9])
    assert weight._version == version
    expected = copy.deepcopy(layer)(x5(), EDGES, weight)
    assert not torch.allclose(first, expected)
    torch.testing.assert_close(layer(x5(), EDGES, weight), expected)


def test_bounds_whose_changes_are_not_followed_are_read_again():
    layer, bounds = ChebConv(3, 2, 3), [2.0, 3.0]
    batch = torch.tensor([0, 0, 0, 0, 1])
    first = layer(x5(), EDGES, None, batch, bounds)
    bounds[0] = 4.0
    expected = copy.deepcopy(layer)(x5(), EDGES, None, batch, bounds)
    assert not torch.allclose(first, expected)
    torch.testing.assert_close(layer(x5(), EDGES, None, batch, bounds), expected)


def make(in_channels, out_channels, order=3, seed=0, **options):
    return randomized(CayleyConv(in_channels, out_channels, order, **{"tol": TIGHT, **options}), seed)


def test_a_changed_graph_is_noticed():
    layer, x = make(2, 3), signals(13, 2)
    edge_index, weight = edges_of(random_adjacency(13, 0))
    before = layer(x, edge_index, weight)
    assert torch.equal(layer(x, edge_index, weight), before)
    weight.mul_(torch.where(edge_index.sum(0) % 2 == 0, 2.0, 1.0))
    after = layer(x, edge_index, weight)
    assert not torch.allclose(after, before)
    torch.testing.assert_close(after, make(2, 3)(x, edge_index.clone(), weight.clone()), atol=1e-12, rtol=0)
    assert not torch.allclose(layer(x, edge_index), after)
    for seed in range(5):  # tensors that die and others that take their place
        edges = edges_of(random_adjacency(13, seed))
        torch.testing.assert_close(layer(x, *edges), make(2, 3)(x, *edges), atol=1e-12, rtol=0)
        del edges


def test_graph_is_not_prepared_twice(monkeypatch):
    calls = []
    original = GraphLaplacian.from_edge_index.__func__
    monkeypatch.setattr(
        GraphLaplacian, "from_edge_index", classmethod(lambda cls, *a, **k: calls.append(1) or original(cls, *a, **k))
    )
    layer, x = make(2, 3), signals(13, 2)
    edges = edges_of(random_adjacency(13, 0))
    for _ in range(3):
        layer(x, *edges)
    assert len(calls) == 1
    layer(x[:, :2].clone(), edges[0].clone(), edges[1])
    assert len(calls) == 2
    make(2, 4)(x, *edges)  # another layer
    assert len(calls) == 2
    make(2, 3, normalization=None)(x, *edges)  # another Laplacian
    assert len(calls) == 3


@pytest.mark.parametrize("detached", [False, True])
def test_a_fused_step_of_an_optimiser_is_noticed(detached):
    layer, learned = make(2, 3), torch.ones(6, dtype=torch.float64, requires_grad=True)
    weight = learned.detach() if detached else learned
    x, pattern = signals(4, 2), torch.tensor([1.0, 1, 2, 2, -3, -3], dtype=torch.float64)
    optimizer = torch.optim.Adam([learned], lr=0.1, fused=True)
    with torch.no_grad():
        before = layer(x, EDGES, weight)
    for _ in range(3):
        learned.grad = pattern.clone()
        optimizer.step()
    with torch.no_grad():
        after = layer(x, EDGES, weight)
        assert not torch.allclose(after, before)
        torch.testing.assert_close(after, layer(x, EDGES, weight.clone()), atol=1e-12, rtol=0)


@pytest.mark.parametrize("layout", ["coo", "csr"])
def test_a_sparse_matrix_whose_values_are_changed_from_outside_is_noticed(layout):
    layer, values, x = make(2, 3), torch.ones(6, dtype=torch.float64), signals(4, 2)
    if layout == "coo":
        given = torch.sparse_coo_tensor(EDGES, values, (4, 4), is_coalesced=True, check_invariants=False)
    else:
        starts = torch.tensor([0, 1, 3, 5, 6])
        given = torch.sparse_csr_tensor(starts, EDGES[1], values, (4, 4), check_invariants=False)
    before = layer(x, given)
    values.mul_(torch.tensor([1.0, 1, 3, 3, 1, 1]))
    after = layer(x, given)
    assert not torch.allclose(after, before)
    torch.testing.assert_close(after, layer(x, EDGES, values.clone()), atol=1e-12, rtol=0)


def test_small_changes_beside_large_numbers_are_noticed():
    x, weight = signals(4, 2), torch.tensor([1e20, 1, 1e-20, 2, 1, 1e20])
    first = GraphKey.of((EDGES, weight), x, torch.float32)
    assert first is not None
    assert first.matches(GraphKey.of((EDGES, weight), x, torch.float32))
    weight.numpy()[2] = 2e-20
    assert not first.matches(GraphKey.of((EDGES, weight), x, torch.float32))
