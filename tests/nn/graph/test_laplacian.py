import copy
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import cayleygsp as cg
from cayleygsp.nn import CayleyConv, GraphLaplacian
from tests.nn.helpers import KIND, NORMALIZATIONS, edges_of, random_adjacency, random_graph, signals
from tests.strategies import weighted_graphs

# said by torch of its own format
pytestmark = pytest.mark.filterwarnings("ignore:Sparse CSR tensor support")

METHODS = ("chebyshev", "exact", "jacobi")

EDGES = torch.tensor([[0, 1, 1, 2, 2, 3], [1, 0, 2, 1, 3, 2]])


@given(W=weighted_graphs(), normalization=st.sampled_from(NORMALIZATIONS))
def test_edges_give_the_laplacian_of_the_core(W, normalization):
    L = cg.laplacian(W, KIND[normalization])
    made = GraphLaplacian.from_edge_index(*edges_of(W), len(W), normalization=normalization)
    scale = max(L.lmax, 1.0)
    np.testing.assert_allclose(made.dense(), L.matrix.toarray(), atol=1e-13 * scale)
    np.testing.assert_allclose(made.lmax, np.full(len(W), L.lmax), rtol=1e-12)
    assert made.bound == pytest.approx(L.lmax, rel=1e-12)
    prepared = GraphLaplacian.from_laplacian(L)
    np.testing.assert_allclose(prepared.dense(), L.matrix.toarray(), atol=1e-15 * scale)
    assert prepared.bound == L.lmax


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_bound_in_lower_precision_is_rounded_upwards(dtype):
    for seed in range(8):
        L = cg.laplacian(random_adjacency(13, seed))
        made = GraphLaplacian.from_laplacian(L, dtype=dtype)
        assert made.lmax.dtype == dtype
        assert bool((made.lmax.double() >= L.lmax).all())


@settings(max_examples=20)
@given(graphs=st.lists(weighted_graphs(max_vertices=6), min_size=1, max_size=3))
def test_every_graph_of_a_batch_has_its_own_bound(graphs):
    sizes = [len(W) for W in graphs]
    edges = [edges_of(W) for W in graphs]
    starts = np.append(0, np.cumsum(sizes)[:-1])
    edge_index = torch.cat([e + int(s) for (e, _), s in zip(edges, starts, strict=True)], dim=1)
    weight = torch.cat([w for _, w in edges])
    batch = torch.repeat_interleave(torch.arange(len(graphs)), torch.tensor(sizes))
    for normalization in NORMALIZATIONS:
        made = GraphLaplacian.from_edge_index(edge_index, weight, sum(sizes), normalization=normalization, batch=batch)
        expected = np.repeat([cg.laplacian(W, KIND[normalization]).lmax for W in graphs], sizes)
        np.testing.assert_allclose(made.lmax, expected, rtol=1e-12)


def test_weights_of_the_same_pair_add_up():
    edge_index = torch.tensor([[0, 1, 0, 1, 1, 2], [1, 0, 1, 0, 2, 1]])
    weight = torch.tensor([1.0, 1.0, 2.0, 2.0, 5.0, 5.0], dtype=torch.float64)
    made = GraphLaplacian.from_edge_index(edge_index, weight, normalization=None)
    expected = cg.laplacian(np.array([[0, 3, 0], [3, 0, 5], [0, 5, 0.0]])).matrix.toarray()
    np.testing.assert_allclose(made.dense(), expected, atol=1e-14)


@pytest.mark.parametrize("layout", ["dense", "coo", "csr"])
def test_adjacency_matrices_are_taken(layout):
    W = torch.from_numpy(random_adjacency(7, 0))
    given_as = {"dense": lambda: W, "coo": W.to_sparse_coo, "csr": W.to_sparse_csr}[layout]()
    made = GraphLaplacian.from_edge_index(given_as)
    expected = cg.laplacian(W.numpy(), "normalized").matrix.toarray()
    np.testing.assert_allclose(made.dense(), expected, atol=1e-14)


def test_data_of_pytorch_geometric_is_taken():
    class Data:
        edge_index, edge_attr = edges_of(random_adjacency(6, 1))
        num_nodes = 8

    Data.edge_attr = Data.edge_attr[:, None]
    made = GraphLaplacian.from_data(Data(), normalization=None)
    assert made.n_vertices == 8
    np.testing.assert_allclose(made.dense()[:6, :6], cg.laplacian(random_adjacency(6, 1)).matrix.toarray(), atol=1e-14)
    with pytest.raises(TypeError, match="`data` must have an `edge_index`, got object"):
        GraphLaplacian.from_data(object())


def test_graph_without_edges():
    made = GraphLaplacian.from_edge_index(torch.empty(2, 0, dtype=torch.int64), num_nodes=4)
    assert made.bound == 0
    assert not made.dense().any()


def test_given_lambda_max_is_for_scaling_alone():
    edge_index, weight = edges_of(random_adjacency(6, 1))
    made = GraphLaplacian.from_edge_index(edge_index, weight, lambda_max=2.5)
    assert made.bound == 2
    assert set(made.scaling.tolist()) == {2.5}
    batch = torch.zeros(6, dtype=torch.int64)
    with pytest.raises(ValueError, match="`lambda_max` must be positive and finite, got -1"):
        GraphLaplacian.from_edge_index(edge_index, weight, lambda_max=-1)
    with pytest.raises(ValueError, match="`lambda_max` must be one number, or with `batch` one per graph"):
        GraphLaplacian.from_edge_index(edge_index, weight, lambda_max=[1.0, 2.0])
    with pytest.raises(ValueError, match="`lambda_max` must hold 3 numbers, one per graph, got 2"):
        GraphLaplacian.from_edge_index(edge_index, weight, 6, batch=batch + 2, lambda_max=[1.0, 2.0])


def test_copies_keep_everything():
    _L, made = random_graph()
    made.eigenbasis()
    for other in (copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert torch.equal(other.dense(), made.dense())
        assert (other.bound, other.normalization) == (made.bound, made.normalization)
        torch.testing.assert_close(other.eigenbasis()[0], made.eigenbasis()[0], atol=1e-12, rtol=0)
    single = copy.deepcopy(made).float()
    assert single.values.dtype == torch.float32
    assert single.indices.dtype == torch.int32
    assert set(made.state_dict()) == {"indptr", "indices", "values", "diagonal", "lmax", "_extra_state"}
    assert repr(made).startswith("GraphLaplacian(n_vertices=13, n_entries=")


def test_eigenbasis_diagonalises():
    L, made = random_graph()
    edges = GraphLaplacian.from_edge_index(*edges_of(made.values.new_zeros(0, 0).numpy()), num_nodes=2)
    assert edges.eigenbasis()[0].tolist() == [0.0, 0.0]
    for graph in (made, copy.deepcopy(made)):
        lam, Phi = graph.eigenbasis()
        assert graph.eigenbasis()[1] is Phi
        np.testing.assert_allclose((Phi * lam) @ Phi.T, L.matrix.toarray(), atol=1e-13)


def test_moves_to_another_device():
    _, made = random_graph()
    assert copy.deepcopy(made).to("meta").values.device.type == "meta"


def test_other_bad_input_is_refused():
    with pytest.raises(TypeError, match=r"`laplacian` must be a cayleygsp\.Laplacian, got ndarray"):
        GraphLaplacian.from_laplacian(np.eye(2))
    with pytest.raises(ValueError, match=r"adjacency matrix must be square, got shape \(2, 3\)"):
        GraphLaplacian.from_edge_index(torch.rand(2, 3).to_sparse())
    with pytest.raises(ValueError, match="`num_nodes` must be 3 as the adjacency matrix says, got 4"):
        GraphLaplacian.from_edge_index(torch.ones(3, 3), num_nodes=4)
    with pytest.raises(ValueError, match="adjacency matrix must not require a gradient"):
        GraphLaplacian.from_edge_index(torch.ones(3, 3, requires_grad=True))


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


def test_state_of_the_same_graph_leaves_its_eigenbasis_as_it_is():
    L, graph = random_graph()
    kept = graph.eigenbasis()[1]
    graph.load_state_dict(GraphLaplacian.from_laplacian(L).state_dict())
    assert graph.eigenbasis()[1] is kept
    graph.load_state_dict({**graph.state_dict(), "lmax": 2 * graph.lmax})
    assert graph.eigenbasis()[1] is not kept
    assert graph.bound == 2 * L.lmax
