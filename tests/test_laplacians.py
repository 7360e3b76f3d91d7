import pickle

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from pygsp import graphs
from scipy import sparse

import cayleygsp as cg
from cayleygsp.graph import AsymmetryError
from tests.strategies import laplacians, weighted_graphs


def dense_laplacian(W, kind):
    d = W.sum(axis=1)
    if kind == "combinatorial":
        return np.diag(d) - W
    s = np.where(d > 0, 1 / np.sqrt(np.where(d > 0, d, 1)), 0)
    return np.diag((d > 0).astype(float)) - s[:, None] * W * s


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
@given(W=weighted_graphs())
def test_laplacian_matches_the_dense_formula(kind, W):
    L = cg.laplacian(W, kind)
    assert_allclose(L.matrix.toarray(), dense_laplacian(W, kind), atol=1e-12 * max(W.max(), 1))
    assert_allclose(L.degrees, W.sum(axis=1))
    assert (L.matrix != L.matrix.T).nnz == 0


@given(L=laplacians())
def test_lmax_bounds_the_spectrum_on_both_sides(L):
    largest = np.linalg.eigvalsh(L.matrix.toarray())[-1]
    slack = 1e-12 * max(largest, 1e-300)
    assert L.lmax >= largest - slack
    assert L.lmax_lower <= largest + slack
    assert L.lanczos_lower <= largest + slack


@given(L=laplacians(kinds=("combinatorial",)))
def test_lmax_is_never_above_the_largest_sum_of_two_neighbouring_degrees(L):
    u, v = L.matrix.nonzero()
    sums = (L.diagonal[u] + L.diagonal[v])[u != v]
    assert L.lmax <= sums.max(initial=0.0) * (1 + 1e-12)


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_lanczos_bound_is_tight_and_on_both_sides(kind):
    L = cg.laplacian(cg.gallery.communities(rng=3), kind)
    bound = L.lanczos_bound(rng=1)
    largest = np.linalg.eigvalsh(L.matrix.toarray())[-1]
    assert bound.lower <= largest <= bound.upper < L.lmax
    assert bound.upper - bound.lower < 1e-2 * largest
    tighter = L.with_lmax(bound.upper)
    assert tighter.lmax == bound.upper
    assert tighter.matrix is L.matrix


def test_lanczos_bound_is_not_fooled_by_one_heavy_edge_among_many_equal_ones():
    weights = np.concatenate([np.ones(2000), np.linspace(0.05, 0.9, 10), [1.01]])
    first = 2 * np.arange(weights.size)
    W = sparse.coo_array((weights, (first, first + 1)), shape=(2 * weights.size,) * 2)
    L = cg.laplacian(W + W.T)
    bound = L.lanczos_bound(rng=0)
    assert bound.lower <= 2.02 <= bound.upper


def test_with_lmax_refuses_what_is_provably_too_small():
    L = cg.laplacian(cg.gallery.ring(16))
    with pytest.raises(ValueError, match=r"`lmax` must not be below the largest eigenvalue.*got 3\.5"):
        L.with_lmax(3.5)


def test_all_kinds_of_input_give_the_same_laplacian():
    G = graphs.Sensor(30, seed=1)
    W = G.W.toarray()
    expected = cg.laplacian(W).matrix.toarray()
    given_graphs = [G, cg.Graph(sparse.csr_array(W)), nx.from_numpy_array(W), sparse.csr_matrix(W), sparse.lil_array(W)]
    for graph in given_graphs:
        assert_allclose(cg.laplacian(graph).matrix.toarray(), expected, rtol=1e-15)
    assert_allclose(expected, G.L.toarray(), atol=1e-14)


def test_pygsp_graph_decides_the_kind_and_the_caller_may_overrule():
    G = graphs.Ring(10, lap_type="normalized")
    assert cg.laplacian(G).kind == "normalized"
    assert_allclose(cg.laplacian(G).matrix.toarray(), G.L.toarray(), atol=1e-15)
    assert cg.laplacian(G, "combinatorial").kind == "combinatorial"


def test_boolean_and_single_precision_weights_are_taken():
    W = np.ones((3, 3)) - np.eye(3)
    for dtype in (bool, np.int8, np.float32):
        assert_allclose(cg.laplacian(W.astype(dtype)).matrix.toarray(), 3 * np.eye(3) - np.ones((3, 3)))


def test_a_prepared_laplacian_is_passed_through_but_keeps_its_kind():
    L = cg.laplacian(cg.gallery.ring(5))
    assert cg.laplacian(L) is L
    with pytest.raises(ValueError, match="`kind` must be 'combinatorial' as that of the given Laplacian, got 'norm"):
        cg.laplacian(L, "normalized")


def test_unknown_kind_is_named():
    with pytest.raises(ValueError, match="`kind` must be one of 'combinatorial', 'normalized', got 'random'"):
        cg.laplacian(np.eye(3), "random")


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
@given(W=weighted_graphs(self_loops=False))
def test_from_matrix_gives_back_what_laplacian_made(kind, W):
    L = cg.laplacian(W, kind)
    again = cg.Laplacian.from_matrix(L.matrix, kind)
    assert_allclose(again.matrix.toarray(), L.matrix.toarray(), atol=1e-12 * max(L.lmax, 1))
    assert again.lmax >= np.linalg.eigvalsh(L.matrix.toarray())[-1] * (1 - 1e-12)


def test_from_matrix_refuses_what_is_no_laplacian():
    with pytest.raises(ValueError, match="no combinatorial Laplacian: expected 1 on the diagonal of vertex 0, got 2"):
        cg.Laplacian.from_matrix(np.array([[2.0, -1.0], [-1.0, 1.0]]))
    with pytest.raises(ValueError, match="no normalized Laplacian"):
        cg.Laplacian.from_matrix(np.array([[1.0, -3.0], [-3.0, 1.0]]), "normalized")
    with pytest.raises(ValueError, match="no normalized Laplacian"):  # it has the eigenvalue -1
        cg.Laplacian.from_matrix(2 * np.eye(3) - np.ones((3, 3)), "normalized")
    with pytest.raises(ValueError, match=r"`matrix` must be square and not empty, got shape \(2, 3\)"):
        cg.Laplacian.from_matrix(np.ones((2, 3)))
    with pytest.raises(TypeError, match="`matrix` must hold real numbers, got dtype complex128"):
        cg.Laplacian.from_matrix(1j * np.eye(2))
    with pytest.raises(TypeError, match="got a Laplacian"):
        cg.Laplacian.from_matrix(cg.laplacian(np.ones((2, 2))))
    for form in (np.array, sparse.csr_array, sparse.coo_array):
        with pytest.raises(ValueError, match=r"must be at most 0 beside its diagonal, got matrix\[0, 1\] = 1.0"):
            cg.Laplacian.from_matrix(form(np.array([[1.0, 1.0], [1.0, 1.0]])))
        with pytest.raises(ValueError, match=r"`matrix` must be finite, got matrix\[1, 1\] = nan"):
            cg.Laplacian.from_matrix(form(np.array([[1.0, -1.0], [-1.0, np.nan]])))
        with pytest.raises(AsymmetryError, match=r"symmetric, got matrix\[0, 1\] = -1.0 but matrix\[1, 0\] = -2.0"):
            cg.Laplacian.from_matrix(form(np.array([[1.0, -1.0], [-2.0, 1.0]])))


def test_a_laplacian_given_as_adjacency_is_recognised():
    with pytest.raises(ValueError, match=r"Laplacian\.from_matrix"):
        cg.laplacian(np.array([[1.0, -1.0], [-1.0, 1.0]]))


def test_graph_without_edges_has_an_empty_spectrum():
    for kind in ("combinatorial", "normalized"):
        L = cg.laplacian(np.zeros((4, 4)), kind)
        assert L.lmax == 0
        assert_allclose(L.eigenvalues, 0)


def test_eigenbasis_too_large_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr("cayleygsp.eigenbasis.available_memory", lambda: 1000)
    L = cg.laplacian(cg.gallery.ring(50))
    with pytest.raises(MemoryError, match=r"eigenbasis of 50 vertices needs .* method='chebyshev'"):
        _ = L.eigenvalues


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_degrees_whose_squares_are_no_numbers_are_refused(scale):
    with pytest.raises(ValueError, match="largest degree between 1e-150 and 1e"):
        cg.laplacian(scale * cg.gallery.ring(5).W)
    assert cg.laplacian(scale * cg.gallery.ring(5).W, "normalized").lmax <= 2 + 1e-9


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_components_are_the_multiplicity_of_zero(kind):
    W = sparse.block_diag([cg.gallery.ring(5).W, cg.gallery.path(4).W, np.zeros((2, 2))], format="csr")
    L = cg.laplacian(W, kind)
    assert L.n_components == 4
    assert np.count_nonzero(L.eigenvalues < 1e-10) == 4
    assert L.components.tolist() == [0] * 5 + [1] * 4 + [2, 3]


def test_a_laplacian_keeps_its_guarantee_beside_an_estimate():
    L = cg.laplacian(cg.gallery.path(400))
    assert L.lmax_guaranteed
    assert L.lmax == L.lmax_bound
    short = L.with_lmax(L.lanczos_lower)
    assert not short.lmax_guaranteed
    assert short.lmax_bound == L.lmax_bound
    assert L.with_lmax(1.5 * L.lmax).lmax_guaranteed
    assert short.with_lmax(L.lmax_bound).lmax_guaranteed


def test_known_eigenvalues_guarantee_what_is_above_them():
    L = cg.laplacian(cg.gallery.sensor(40, rng=0))
    largest = L.eigenvalues[-1]
    assert L.with_lmax(largest * (1 + 1e-9)).lmax_guaranteed
    assert not L.with_lmax(largest * (1 - 1e-13)).lmax_guaranteed


@pytest.mark.parametrize("scale", [1.0, 1e-11, 1e-100])
def test_from_matrix_measures_the_diagonal_by_the_matrix_itself(scale):
    with pytest.raises(ValueError, match="no combinatorial Laplacian: expected 0 on the diagonal of vertex 1, got 3"):
        cg.Laplacian.from_matrix(scale * np.diag([1.0, 3.0]))
    L = cg.Laplacian.from_matrix(scale * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    assert_allclose(L.lmax, 2 * scale)


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
def test_from_matrix_takes_single_precision_as_it_rounds(kind):
    matrix = cg.laplacian(cg.gallery.sensor(300, rng=0), kind).matrix.astype(np.float32)
    L = cg.Laplacian.from_matrix(matrix, kind)
    assert_allclose(L.matrix.toarray(), matrix.toarray(), rtol=1e-7)
    lam = np.linalg.eigvalsh(L.matrix.toarray())
    assert -1e-5 < L.lmin <= lam[0] + 1e-14
    with pytest.raises(ValueError, match=f"no {kind} Laplacian"):
        cg.Laplacian.from_matrix(matrix + 1e-3 * sparse.eye_array(300, dtype=np.float32), kind)


def test_a_rejected_diagonal_is_told_with_all_digits_that_matter():
    matrix = np.array([[1.000000001, -1.0], [-1.0, 1.0]])
    with pytest.raises(ValueError, match=r"expected 1 on the diagonal of vertex 0, got 1\.000000001, which differs by"):
        cg.Laplacian.from_matrix(matrix)


@pytest.mark.parametrize("kind", ["combinatorial", "normalized"])
@given(W=weighted_graphs(self_loops=False))
def test_lmin_is_below_the_spectrum_of_rounded_matrices(kind, W):
    matrix = cg.laplacian(W, kind).matrix.toarray()
    scale = max(np.abs(matrix).max(), 1e-300)
    L = cg.Laplacian.from_matrix(np.round(matrix / scale, 11) * scale, kind)
    lam = np.linalg.eigvalsh(L.matrix.toarray())
    assert -1e-9 * scale <= L.lmin <= 0
    assert L.lmin <= lam[0] + 1e-14 * scale
    assert_allclose(L.shifted().matrix.toarray(), L.matrix.toarray() - L.lmin * np.eye(len(W)), atol=1e-15 * scale)


def test_laplacians_are_pickled_without_their_packed_forms():
    L = cg.laplacian(cg.gallery.grid(30)).with_lmax(7.999)
    size = len(pickle.dumps(L))
    cg.CayleyFilter(L, cg.CayleyPolynomial([0, 1], 1.0), method="chebyshev").filter(np.ones(900, np.float32))
    assert len(pickle.dumps(L)) <= 1.2 * size
    again = pickle.loads(pickle.dumps(L))
    assert (again.lmax, again.lmax_bound, again.kind) == (L.lmax, L.lmax_bound, L.kind)
    assert (again.matrix != L.matrix).nnz == 0
    f = np.random.default_rng(0).standard_normal(900)
    p = cg.CayleyPolynomial([0.5, -0.25], 3.0)
    assert_allclose(cg.CayleyFilter(again, p) @ f, cg.CayleyFilter(L, p) @ f)
