"""Edges that are taken, and those that are rejected."""

import pytest
import torch

from cayleygsp.nn import CayleyConv, ChebConv, GraphLaplacian
from tests.nn.helpers import signals

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])


def x5(channels=3):
    return signals(5, channels, dtype=torch.float32)


def test_digraph_with_structure_is_refused():
    edges = torch.tensor([[0, 2, 4, 0, 1, 1, 5, 3, 2, 3, 5, 4], [1, 0, 0, 5, 2, 3, 1, 2, 4, 4, 3, 5]])
    with pytest.raises(ValueError, match="every edge in both directions"):
        CayleyConv(1, 1, 1)(torch.randn(6, 1), edges)


def test_negative_numbers_of_graphs_are_refused():
    for edges in (EDGES[:, :2], EDGES[:, :0]):
        with pytest.raises(ValueError, match="`batch` must not be negative, got -1"):
            GraphLaplacian.from_edge_index(edges, num_nodes=2, batch=torch.tensor([-1, -1]))


def test_one_bound_for_all_vertices_is_taken():
    bound = torch.tensor(3.0)
    made = GraphLaplacian.from_edge_index(EDGES, lambda_max=bound)
    assert made.scaling.is_contiguous()
    layer = ChebConv(3, 2, 3)
    torch.testing.assert_close(layer(x5()[:4], EDGES, None, None, bound), layer(x5()[:4], made))
    with pytest.raises(ValueError, match="`lambda_max` must not require a gradient"):
        GraphLaplacian.from_edge_index(EDGES, lambda_max=bound.requires_grad_())


def undirected(**changes):
    edge_index = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    arguments = {"edge_index": edge_index, "edge_weight": torch.ones(4), "num_nodes": 3}
    return {**arguments, **changes}


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"edge_index": [[0], [1]]}, TypeError, "`edge_index` must be a tensor, got list"),
        ({"edge_index": torch.rand(2, 4)}, TypeError, "`edge_index` must hold whole numbers, got dtype torch.float32"),
        (
            {"edge_index": torch.zeros(3, 4, dtype=torch.int64)},
            ValueError,
            r"must have shape \(2, n_edges\), got \(3, 4\)",
        ),
        ({"num_nodes": 2}, ValueError, "`edge_index` must be between 0 and 1, got 2"),
        ({"edge_index": torch.tensor([[0, -1, 1, 2], [-1, 0, 2, 1]])}, ValueError, "between 0 and 2, got -1"),
        ({"edge_weight": torch.ones(3)}, ValueError, r"`edge_weight` must have shape \(4,\), got \(3,\)"),
        (
            {"edge_weight": torch.ones(4, dtype=torch.int64)},
            TypeError,
            "`edge_weight` must hold floating point numbers",
        ),
        ({"edge_weight": torch.tensor([1.0, 1, -2, -2])}, ValueError, "finite and not negative, got -2 at edge 2"),
        (
            {"edge_weight": torch.tensor([1.0, 1, torch.nan, 1])},
            ValueError,
            "finite and not negative, got nan at edge 2",
        ),
        ({"edge_weight": torch.full((4,), 1e308, dtype=torch.float64)}, ValueError, "must have finite sums"),
        (
            {"edge_weight": torch.ones(4, device="meta")},
            ValueError,
            "must be on the device of `edge_index`, cpu, got meta",
        ),
        (
            {"edge_weight": torch.tensor([1.0, 2, 3, 3])},
            ValueError,
            "every edge in both directions with the same weight",
        ),
        ({"edge_index": torch.tensor([[0, 1, 0, 2], [1, 0, 2, 1]])}, ValueError, "every edge in both directions"),
        ({"edge_weight": [1.0] * 4}, TypeError, "`edge_weight` must be a tensor, got list"),
        ({"batch": [0, 0, 0]}, TypeError, "`batch` must be a tensor, got list"),
        ({"num_nodes": -1}, ValueError, "`num_nodes` must be at least 0, got -1"),
        ({"num_nodes": 3.0}, TypeError, "`num_nodes` must be an integer, got 3.0"),
        ({"num_nodes": "3"}, TypeError, "`num_nodes` must be an integer, got '3'"),
        ({"lambda_max": "a"}, TypeError, "`lambda_max` must be a real number, or one per graph, got 'a'"),
        ({"normalization": []}, ValueError, r"`normalization` must be 'sym' or None, got \[\]"),
        ({"batch": torch.zeros(2, dtype=torch.int64)}, ValueError, r"`batch` must have shape \(3,\)"),
        ({"batch": torch.zeros(3)}, TypeError, "`batch` must hold whole numbers, got dtype torch.float32"),
        ({"batch": torch.tensor([0, 0, 1])}, ValueError, "edge 2 joins vertices of two graphs of `batch`: 1 and 2"),
        ({"normalization": "rw"}, ValueError, "`normalization` must be 'sym' or None, got 'rw'"),
        ({"edge_index": torch.rand(3, 3)}, ValueError, "`edge_weight` must not be given together with an adjacency"),
    ],
)
def test_bad_edges_are_refused(changes, error, message):
    with pytest.raises(error, match=message):
        GraphLaplacian.from_edge_index(**undirected(**changes))


@pytest.mark.parametrize("kind", [CayleyConv, ChebConv])
@pytest.mark.parametrize("name", ["edge_weight", "batch"])
def test_layers_name_what_is_no_tensor(kind, name):
    with pytest.raises(TypeError, match=f"`{name}` must be a tensor, got list"):
        kind(3, 2, 2)(x5()[:4], EDGES, **{name: [1.0] * 6})


@pytest.mark.parametrize("weight", [None, torch.ones(6)])
def test_edges_are_refused_within_a_transform_and_a_prepared_graph_is_not(weight):
    layer, x = CayleyConv(3, 2, 2, method="exact"), x5()[:4]
    gradient = torch.func.grad(lambda x, *graph: layer(x, *graph).square().sum())
    with pytest.raises(NotImplementedError, match="prepare a GraphLaplacian before"):
        gradient(x, EDGES, weight)
    prepared = GraphLaplacian.from_edge_index(EDGES, weight)
    assert gradient(x, prepared).shape == x.shape
