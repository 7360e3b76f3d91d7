"""Any description of a graph becomes the same checked adjacency matrix."""

import dataclasses
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from pygsp import graphs
from scipy import sparse

import cayleygsp.graph
from cayleygsp.graph import Graph, as_adjacency

FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")
TRIANGLE = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 0.5], [2.0, 0.5, 3.0]])


@st.composite
def symmetric_matrices(draw, max_vertices=8):
    """Draw adjacency matrices with zeros, self-loops, and perhaps vertices without edges."""
    n = draw(st.integers(1, max_vertices))
    weights = st.one_of(st.just(0.0), st.floats(1e-3, 1e3))
    upper = np.triu(draw(hnp.arrays(np.float64, (n, n), elements=weights)))
    return upper + np.triu(upper, 1).T


def assert_canonical(W):
    assert isinstance(W, sparse.csr_array)
    assert W.dtype == np.float64
    assert W.indices.dtype == W.indptr.dtype == np.int32
    assert W.has_sorted_indices
    assert W.has_canonical_format
    assert np.all(W.data != 0)


def to_networkx(dense):
    result = nx.Graph()
    result.add_nodes_from(range(len(dense)))
    result.add_weighted_edges_from((i, j, dense[i, j]) for i, j in zip(*np.nonzero(np.triu(dense)), strict=True))
    return result


# Kinds of input.


@given(symmetric_matrices())
def test_every_kind_of_input_gives_the_same_adjacency(dense):
    inputs = [dense, dense.tolist(), np.asfortranarray(dense), Graph(dense)]
    inputs += [getattr(sparse, f"{kind}_array")(dense) for kind in FORMATS]
    inputs += [getattr(sparse, f"{kind}_matrix")(dense) for kind in FORMATS]
    inputs += [to_networkx(dense), nx.MultiGraph(to_networkx(dense))]
    for graph in inputs:
        W = as_adjacency(graph)
        assert_canonical(W)
        assert_array_equal(W.toarray(), dense)


def test_pygsp_graph_gives_its_weights():
    ring = graphs.Ring(8)
    W = as_adjacency(ring)
    assert_canonical(W)
    assert_array_equal(W.toarray(), ring.W.toarray())


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint16, np.int64, np.float16, np.float32, np.longdouble])
def test_real_dtypes_become_double(dtype):
    dense = np.array([[0, 1], [1, 0]], dtype=dtype)
    assert as_adjacency(dense).dtype == np.float64
    if dtype is not np.float16:  # scipy has no sparse matrices of it
        assert_array_equal(as_adjacency(sparse.csr_array(dense)).toarray(), dense.astype(float))


def test_duplicates_are_summed_without_overflow():
    data = np.full(4, 100, dtype=np.int8)
    W = as_adjacency(sparse.coo_array((data, ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2)))
    assert_array_equal(W.toarray(), [[0, 200], [200, 0]])


def test_stored_zeros_are_dropped():
    W = as_adjacency(sparse.csr_array(([0.0, 0.0], ([0, 1], [1, 0])), shape=(2, 2)))
    assert W.nnz == 0


def test_unsorted_rows_with_duplicates_are_put_in_order():
    raw = sparse.csr_array((np.array([1.0, 2.0, 3.0, 2.0, 4.0]), [2, 1, 2, 0, 0], [0, 3, 4, 5]), shape=(3, 3))
    W = as_adjacency(raw)
    assert_canonical(W)
    assert_array_equal(W.toarray(), [[0, 2, 4], [2, 0, 0], [4, 0, 0]])
    assert_array_equal(raw.indices, [2, 1, 2, 0, 0])


def test_64_bit_indices_become_32_bit():
    raw = sparse.csr_array(TRIANGLE)
    raw.indices, raw.indptr = raw.indices.astype(np.int64), raw.indptr.astype(np.int64)
    assert_canonical(as_adjacency(raw))
    assert raw.indices.dtype == np.int64


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_result_shares_no_memory_with_the_input(kind, dtype):
    raw = getattr(sparse, f"{kind}_array")(TRIANGLE.astype(dtype))
    W = as_adjacency(raw)
    W.data[:] = -1
    W.indices[:] = 0
    assert_array_equal(raw.toarray(), TRIANGLE.astype(dtype))


def test_result_shares_no_memory_with_a_graph():
    graph = Graph(TRIANGLE)
    as_adjacency(graph).data[:] = -1
    assert_array_equal(graph.W.toarray(), TRIANGLE)


def test_networkx_missing_weight_is_one_and_parallel_edges_add_up():
    graph = nx.MultiGraph([("a", "b"), ("b", "a", {"weight": 2.5}), ("b", "b", {"weight": 4})])
    assert_array_equal(as_adjacency(graph).toarray(), [[0, 3.5], [3.5, 4]])


def test_networkx_vertices_without_edges_stay():
    assert as_adjacency(nx.empty_graph(3)).toarray().tolist() == [[0] * 3] * 3


# Symmetry.


def test_rounding_level_asymmetry_is_averaged():
    near = TRIANGLE.copy()
    near[0, 1] *= 1 + 1e-14
    W = as_adjacency(near)
    assert (abs(W - W.T)).max() == 0
    assert_allclose(W.toarray(), TRIANGLE, rtol=1e-13)


def test_tiny_entry_in_one_direction_only_is_averaged():
    near = TRIANGLE.copy()
    near[0, 0], near[1, 0], near[0, 1] = 0, 0, 1e-13
    W = as_adjacency(sparse.csr_array(near))
    assert_canonical(W)
    assert W[0, 1] == W[1, 0] == 5e-14


def test_single_precision_allows_more_rounding():
    near = TRIANGLE.astype(np.float32)
    near[0, 1] = np.nextafter(near[0, 1], np.float32(2))
    W = as_adjacency(near)
    assert W[0, 1] == W[1, 0]
    with pytest.raises(ValueError, match="must be symmetric"):
        as_adjacency(near.astype(np.float64))


def test_asymmetry_names_the_first_pair():
    with pytest.raises(ValueError, match=r"`adj` must be symmetric, got W\[0, 2\] = 1.0 but W\[2, 0\] = 0.0"):
        as_adjacency([[0, 0, 1], [0, 0, 0], [0, 0, 0]], name="adj")


# Refusals.


@pytest.mark.parametrize("shape", [(2, 3), (3,), (), (1, 2, 2), (0,), (1, 0)])
def test_not_square_tells_the_shape(shape):
    with pytest.raises(ValueError, match="`graph` must be a square 2-D matrix, got shape") as caught:
        as_adjacency(np.zeros(shape))
    assert str(shape) in str(caught.value)


@pytest.mark.parametrize("empty", [np.zeros((0, 0)), sparse.csr_array((0, 0)), nx.Graph()])
def test_no_vertices_is_an_error(empty):
    with pytest.raises(ValueError, match="at least one vertex"):
        as_adjacency(empty)


@pytest.mark.parametrize("dtype", [complex, object, "U3", "M8[s]"])
def test_weights_that_are_not_real_numbers_are_a_type_error(dtype):
    with pytest.raises(TypeError, match="`graph` must have real numbers as weights, got dtype"):
        as_adjacency(np.zeros((2, 2)).astype(dtype))


def test_complex_sparse_is_a_type_error():
    with pytest.raises(TypeError, match="complex128"):
        as_adjacency(sparse.csr_array(TRIANGLE.astype(complex)))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_non_finite_weight_is_located(bad):
    dense = TRIANGLE.copy()
    dense[1, 2] = dense[2, 1] = bad
    with pytest.raises(ValueError, match=rf"finite weights, got W\[1, 2\] = {bad}"):
        as_adjacency(dense)


def test_negative_weight_is_located():
    dense = TRIANGLE.copy()
    dense[1, 2] = -1
    with pytest.raises(ValueError, match=r"non-negative weights, got W\[1, 2\] = -1.0$"):
        as_adjacency(dense)


def test_laplacian_is_recognised():
    laplacian = graphs.Ring(5).L
    with pytest.raises(ValueError, match=r"looks like a Laplacian; use cayleygsp.Laplacian.from_matrix"):
        as_adjacency(laplacian)


def test_directed_networkx_graph_is_refused():
    with pytest.raises(ValueError, match=r"`graph` must be undirected, got a directed networkx DiGraph"):
        as_adjacency(nx.DiGraph([(0, 1)]))


@pytest.mark.parametrize("weight", ["2", None, 1j, [1, 2], Fraction(1, 2)])
def test_networkx_weight_that_is_no_real_number_names_the_edge(weight):
    graph = nx.Graph([("a", "b", {"weight": 1.0}), ("b", "c", {"weight": weight})])
    with pytest.raises(TypeError, match=r"on edge \('b', 'c'\)"):
        as_adjacency(graph)


@pytest.mark.parametrize("thing", [None, {0: 1}, {1, 2}, object(), iter([1])])
def test_unsupported_kind_lists_what_is_accepted(thing):
    with pytest.raises(TypeError, match=r"must be a cayleygsp Graph, a PyGSP graph, .* got"):
        as_adjacency(thing)


@pytest.mark.parametrize("thing", ["graph.mtx", b"graph.mtx", Path("graph.mtx")])
def test_path_points_to_read_graph(thing):
    with pytest.raises(TypeError, match=r"cayleygsp\.read_graph"):
        as_adjacency(thing)


def test_ragged_lists_are_a_value_error():
    with pytest.raises(ValueError, match="no rectangular array"):
        as_adjacency([[0, 1], [1]])


def test_masked_entries_are_refused():
    with pytest.raises(TypeError, match="masked"):
        as_adjacency(np.ma.masked_equal(TRIANGLE, 0))


@pytest.mark.parametrize("kind", ["csr", "csc"])
def test_indices_outside_the_matrix_are_refused(kind):
    raw = getattr(sparse, f"{kind}_array")(TRIANGLE)
    raw.indices[0] = 77
    with pytest.raises(ValueError, match=f"valid {kind} matrix"):
        as_adjacency(raw)


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr"])
def test_index_pointers_that_go_back_to_no_entries_are_refused(kind):
    matrix = getattr(sparse, f"{kind}_array")((4, 4))
    matrix.indptr[:] = [0, 2, 4, 6, 0]
    with pytest.raises(ValueError, match=r"index arrays that do not fit: indptr must be a non-decreasing sequence"):
        as_adjacency(matrix)


# Graph.


def test_graph_counts_self_loops_once():
    assert Graph(TRIANGLE).n_edges == 4
    assert Graph(TRIANGLE).n_vertices == 3


def test_graph_repr_is_short():
    assert repr(Graph(TRIANGLE, name="t")) == "Graph('t', n_vertices=3, n_edges=4)"
    assert repr(Graph(TRIANGLE)) == "Graph(n_vertices=3, n_edges=4)"


def test_graph_is_frozen_and_replaceable():
    graph = Graph(TRIANGLE, name="a")
    with pytest.raises(dataclasses.FrozenInstanceError):
        graph.name = "b"
    assert dataclasses.replace(graph, name="b").name == "b"


def test_graph_copies_coords_and_labels():
    coords, labels = np.zeros((3, 2)), np.arange(3)
    graph = Graph(TRIANGLE, coords=coords, labels=labels)
    coords[:], labels[:] = 7, 7
    assert not graph.coords.any()
    assert_array_equal(graph.labels, [0, 1, 2])


def test_graph_refuses_bad_parts():
    with pytest.raises(ValueError, match=r"`coords` must have shape \(3, 2\) or \(3, 3\), got \(2, 2\)"):
        Graph(TRIANGLE, coords=np.zeros((2, 2)))
    with pytest.raises(ValueError, match=r"`coords` must be finite, got coords\[1, 0\] = nan"):
        Graph(TRIANGLE, coords=[[0, 0], [np.nan, 0], [0, 0]])
    with pytest.raises(TypeError, match="`coords` must be real numbers"):
        Graph(TRIANGLE, coords=np.zeros((3, 2), dtype=complex))
    with pytest.raises(ValueError, match=r"`labels` must have shape \(3,\), got \(4,\)"):
        Graph(TRIANGLE, labels=np.zeros(4))
    with pytest.raises(TypeError, match="`name` must be a string"):
        Graph(TRIANGLE, name=3)
    with pytest.raises(ValueError, match="`W` must be a square"):
        Graph(np.zeros((2, 3)))


@pytest.mark.parametrize("lap_type", ["combinatorial", "normalized"])
def test_to_pygsp_and_back(lap_type):
    graph = Graph(TRIANGLE - np.diag(np.diag(TRIANGLE)), coords=np.eye(3))
    other = graph.to_pygsp(lap_type=lap_type)
    assert other.lap_type == lap_type
    assert_array_equal(other.coords, graph.coords)
    assert_array_equal(as_adjacency(other).toarray(), graph.W.toarray())
    other.W.data[:] = 0
    assert graph.W.data.all()


@given(symmetric_matrices())
def test_to_networkx_and_back(dense):
    graph = Graph(dense)
    assert_array_equal(as_adjacency(graph.to_networkx()).toarray(), dense)
    assert graph.to_networkx().number_of_edges() == graph.n_edges


def test_to_networkx_carries_positions_and_labels():
    result = Graph(TRIANGLE, coords=np.ones((3, 2)), labels=["a", "b", "c"], name="t").to_networkx()
    assert result.name == "t"
    assert result.nodes[1] == {"pos": (1.0, 1.0), "label": "b"}


def test_graph_module_needs_neither_pygsp_nor_networkx():
    # The package without its __init__, which may load more.
    folder = str(Path(cayleygsp.graph.__file__).parent)
    code = f"""
import sys, types
sys.modules["cayleygsp"] = types.ModuleType("cayleygsp")
sys.modules["cayleygsp"].__path__ = [{folder!r}]
import cayleygsp.graph
cayleygsp.graph.as_adjacency([[0]])
assert not {{"pygsp", "networkx"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


# Directed graphs, components, kinds of numbers.

DIRECTED = np.array([[0.0, 1.0, 4.0], [3.0, 0.0, 0.0], [0.0, 0.0, 5.0]])


@pytest.mark.parametrize("make", [np.asarray, np.ndarray.tolist, sparse.csr_array, sparse.coo_matrix, nx.DiGraph])
def test_directed_graphs_lose_their_directions_on_request(make):
    graph = make(DIRECTED)
    kept = Graph.from_directed(graph, "max", coords=np.ones((3, 2)), labels=["a", "b", "c"], name="d")
    assert_canonical(kept.W)
    assert_array_equal(kept.W.toarray(), np.maximum(DIRECTED, DIRECTED.T))
    assert (kept.coords.shape, kept.labels.tolist(), kept.name) == ((3, 2), ["a", "b", "c"], "d")
    assert_array_equal(Graph.from_directed(graph, "mean").W.toarray(), (DIRECTED + DIRECTED.T) / 2)


@given(symmetric_matrices())
def test_undirected_graphs_stay_what_they_are(dense):
    for how in ("max", "mean"):
        assert_array_equal(as_adjacency(dense, symmetrize=how).toarray(), dense)
        assert_array_equal(as_adjacency(to_networkx(dense), symmetrize=how).toarray(), dense)


def test_other_ways_to_lose_directions_are_refused():
    with pytest.raises(ValueError, match="`symmetrize` must be one of 'max', 'mean', got 'sum'"):
        Graph.from_directed(DIRECTED, "sum")
    with pytest.raises(cayleygsp.graph.AsymmetryError, match="must be symmetric"):
        Graph(DIRECTED)
    with pytest.raises(ValueError, match="non-negative"):
        Graph.from_directed(-DIRECTED, "max")


@given(symmetric_matrices())
def test_largest_component_is_that_of_networkx(dense):
    graph = Graph(dense, coords=np.arange(2.0 * len(dense)).reshape(-1, 2), labels=np.arange(len(dense)), name="g")
    component, vertices = graph.largest_component()
    expected = max(nx.connected_components(to_networkx(dense)), key=lambda part: (len(part), -min(part)))
    assert vertices.tolist() == sorted(expected)
    assert_array_equal(component.W.toarray(), dense[np.ix_(vertices, vertices)])
    assert_array_equal(component.coords, graph.coords[vertices])
    assert_array_equal(component.labels, vertices)
    assert component.name == "g"


def test_largest_component_without_coordinates_has_none():
    component, vertices = Graph(np.diag(np.ones(1), 1) + np.diag(np.ones(1), -1)).largest_component()
    assert component.coords is component.labels is None
    assert vertices.dtype == np.int64


@pytest.mark.parametrize("dtype", [">f8", ">f4", ">f2", ">i4", ">u2", "g"])
def test_any_byte_order_becomes_that_of_the_machine(dtype):
    dense = (TRIANGLE * 2).astype(dtype)
    graph = Graph(dense, coords=dense[:, :2])
    assert graph.W.data.dtype == graph.coords.dtype == np.float64
    assert graph.W.data.dtype.isnative
    assert_array_equal(graph.W.toarray(), TRIANGLE * 2)
    raw = sparse.csr_array(TRIANGLE)
    raw.data, raw.indices, raw.indptr = raw.data.astype(">f8"), raw.indices.astype(">i4"), raw.indptr.astype(">i4")
    assert_canonical(as_adjacency(raw))
    assert_array_equal(as_adjacency(raw).toarray(), TRIANGLE)


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(np.float64).max, reason="no wider numbers here")
@pytest.mark.filterwarnings("ignore:overflow")
def test_numbers_beyond_double_precision_are_not_finite():
    huge = np.full((2, 2), np.longdouble(10) ** 4000)
    with pytest.raises(ValueError, match="`coords` must be finite"):
        Graph([[0, 1], [1, 0]], coords=huge)
    with pytest.raises(ValueError, match="must have finite weights"):
        Graph(huge)
