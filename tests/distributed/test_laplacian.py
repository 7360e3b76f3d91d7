"""Filters on a graph in parts against the dense truth and the graph in one piece."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cayleygsp as cg
from cayleygsp.distributed import DistributedLaplacian
from tests.oracle import dense_filter, random_polynomial, relative_error
from tests.strategies import weighted_graphs

kinds = st.sampled_from(["combinatorial", "normalized"])


def cut(W, n_parts, kind="combinatorial", **options):
    return DistributedLaplacian.from_graph(W, n_parts, kind, client="synchronous", **options)


@st.composite
def cut_graphs(draw):
    """A graph in one piece and in 1 to 16 parts; some are empty, without edges, or joined to a hub."""
    W = draw(weighted_graphs(max_vertices=20))
    n_parts = draw(st.integers(1, 16))
    labels = draw(st.lists(st.integers(0, n_parts - 1), min_size=len(W), max_size=len(W)))
    kind = draw(kinds)
    if draw(st.booleans()) and len(W) > 1:
        W[0, 1:] = W[1:, 0] = 1.0  # a hub that is joined to all parts
    partition = draw(st.sampled_from(["metis", "order", np.array(labels)]))
    hops = draw(st.sampled_from([None, 1, 2, 3]))
    return cg.laplacian(W, kind), cut(W, n_parts, kind, partition=partition, degrees_per_exchange=hops)


@given(cut_graphs())
def test_bounds_are_those_of_the_whole_matrix_to_the_last_bit(graphs):
    L, dL = graphs
    assert (dL.lmax, dL.lmax_bound, dL.lmin) == (L.lmax, L.lmax_bound, L.lmin)
    assert (dL.lmax_lower, dL.rounding_norm) == (L.lmax_lower, L.rounding_norm)
    assert (dL.n_vertices, dL.n_edges, dL.kind) == (L.n_vertices, L.n_edges, L.kind)
    assert np.array_equal(dL.degrees, L.degrees)
    assert sum(dL.part_sizes) == L.n_vertices


@given(cut_graphs(), st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]), st.integers(0, 40))
def test_banks_are_those_of_one_process_within_the_certified_error(graphs, seed, dtype, n_signals):
    L, dL = graphs
    rng = np.random.default_rng(seed)
    f = rng.standard_normal((L.n_vertices, n_signals)).astype(dtype)
    responses = [random_polynomial(2, 0.7, rng), cg.responses.Heat(0.3), cg.responses.Tikhonov(2.0)]
    tol = 1e-4 if dtype == np.float32 else 1e-9
    y, info = cg.FilterBank(dL, responses, tol=tol).filter(f, return_info=True)
    z, local = cg.FilterBank(L, responses, method="chebyshev", tol=tol).filter(f, return_info=True)
    assert y.dtype == dtype
    assert y.shape == z.shape
    assert (info.method, info.n_matvecs, info.converged, info.certificate) == (
        local.method, local.n_matvecs, local.converged, local.certificate,
    )  # fmt: skip
    np.testing.assert_allclose(info.error_bound, local.error_bound, rtol=1e-6)  # rounding to float32 is measured
    for i, g in enumerate(responses):
        wanted = dense_filter(L, g) @ f.astype(float)
        errors = relative_error(y[..., i].astype(float), wanted, f.astype(float))
        assert (errors <= info.error_bound[i] + 1e-13).all()
        # both have the same series: they differ by rounding alone
        rounding = 2 * info.error_bound[i] if dtype == np.float32 else 1e-12 * (1 + info.gain[i])
        assert (relative_error(y[..., i].astype(float), z[..., i].astype(float), f.astype(float)) <= rounding).all()


@given(cut_graphs(), st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_synthesis_is_the_adjoint(graphs, seed):
    L, dL = graphs
    rng = np.random.default_rng(seed)
    bank = cg.FilterBank(dL, [cg.responses.Heat(0.3), cg.responses.Tikhonov(2.0)], tol=1e-10)
    f, c = rng.standard_normal((L.n_vertices, 2)), rng.standard_normal((L.n_vertices, 2, 2))
    left, right = np.vdot(bank.filter(f), c), np.vdot(f, bank.synthesize(c))
    assert abs(left - right) <= 1e-8 * np.linalg.norm(f) * np.linalg.norm(c)
    g = bank[1]
    np.testing.assert_allclose(g.H @ f, g @ f, atol=1e-12)


@given(cut_graphs(), st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]), st.integers(0, 20))
@settings(max_examples=20)
def test_the_adjoint_is_one_recurrence_as_on_the_whole_graph(graphs, seed, dtype, n_signals):
    L, dL = graphs
    rng = np.random.default_rng(seed)
    coeffs = rng.standard_normal((3, 1 + seed % 12))
    f = rng.standard_normal((3, L.n_vertices, n_signals)).astype(dtype)
    wanted, _ = L.sum_series_adjoint(max(L.lmax, 0.1), coeffs, f, dtype)
    y, note = dL.sum_series_adjoint(max(L.lmax, 0.1), coeffs, f, dtype)
    assert (y.shape, y.dtype) == (wanted.shape, wanted.dtype)
    size = np.abs(coeffs).sum() * np.linalg.norm(f)
    np.testing.assert_allclose(y, wanted, atol=200 * np.finfo(dtype).eps * max(size, 1e-300))
    assert note.count("part") == 1


@pytest.mark.parametrize("hops", [1, 2, 5, 7, 9, 200])
@pytest.mark.parametrize("width", [1, 3, 20])
def test_the_adjoint_is_that_of_dense_series_with_every_number_of_degrees_per_exchange(hops, width):
    graph, rng = cg.gallery.path(40), np.random.default_rng(0)
    coeffs, f = rng.standard_normal((2, 14)), rng.standard_normal((2, 40, width))
    x = 2 * cg.laplacian(graph).matrix.toarray() / 4 - np.eye(40)
    T = [np.eye(40), x]
    while len(T) < 14:
        T.append(2 * x @ T[-1] - T[-2])
    wanted = sum(a * (T[k] @ one) for row, one in zip(coeffs, f, strict=True) for k, a in enumerate(row))
    y, _ = cut(graph, 5, degrees_per_exchange=hops).sum_series_adjoint(4.0, coeffs, f, np.float64)
    np.testing.assert_allclose(y, wanted, atol=1e-11)


def test_complex_signals_and_single_ones_keep_their_form():
    graph = cg.gallery.grid(6)
    F = cg.CayleyFilter(cut(graph, 3), cg.CayleyPolynomial([0.5, -0.25j], 2.0), tol=1e-9)
    f = np.arange(36) * (1 - 2j)
    wanted = dense_filter(cg.laplacian(graph), F.response) @ f
    np.testing.assert_allclose(F @ f, wanted, atol=1e-7)
    assert (F @ f).dtype == complex
    assert (F @ np.ones(36, np.float32)).dtype == np.float32


def test_a_path_of_many_degrees_with_every_number_of_degrees_per_exchange():
    graph, f = cg.gallery.path(40), np.random.default_rng(0).standard_normal((40, 3))
    wanted = dense_filter(cg.laplacian(graph), cg.responses.Heat(40.0)) @ f
    for hops in (1, 2, 5, 13, 200):
        heat = cg.KernelFilter(cut(graph, 5, degrees_per_exchange=hops), cg.responses.Heat(40.0), tol=1e-11)
        y, info = heat.filter(f, return_info=True)
        np.testing.assert_allclose(y, wanted, atol=1e-10)
        hops = min(hops, info.n_matvecs)
        assert f"every {hops} degrees" in info.reason if hops > 1 else "every degree" in info.reason


def test_signals_of_extreme_sizes_and_polynomials_of_low_degree():
    graph = cg.gallery.ring(9)
    for coeffs in ([0.5, 0.25], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.5]):
        F = cg.ChebyshevFilter(cut(graph, 4), coeffs)
        G = cg.ChebyshevFilter(graph, coeffs)
        for size in (1e-300, 1.0, 1e200):
            f = size * np.random.default_rng(1).standard_normal(9)
            np.testing.assert_allclose(F @ f, G @ f, rtol=1e-12, atol=1e-12 * size)


def test_a_smaller_lmax_is_checked_by_lanczos_in_parts():
    graph = cg.gallery.grid(15)
    dL, L = cut(graph, 4), cg.laplacian(graph)
    bound = dL.lanczos_bound(rng=0)
    assert bound.lower <= L.eigenvalues[-1] * (1 + 1e-12)
    assert dL.with_lmax(bound.upper).lmax == bound.upper
    with pytest.raises(ValueError, match="must not be below the largest eigenvalue"):
        dL.with_lmax(1.0)
    F = cg.ChebyshevFilter(dL, [0.5, 0.5], lmax=7.9)
    assert F.filter(np.ones(225), return_info=True)[1].certificate == "estimated"


def test_sums_and_frames_of_filters_in_parts():
    dL = cut(cg.gallery.grid(8), 3)
    f = np.random.default_rng(2).standard_normal(64)
    heat, low = (cg.KernelFilter(dL, g, tol=1e-10) for g in (cg.responses.Heat(1.0), cg.responses.Tikhonov(1.0)))
    np.testing.assert_allclose((heat + low) @ f, heat @ f + low @ f, atol=1e-9)
    bank = cg.FilterBank.tight(dL, "itersine", 3, tol=1e-6)
    np.testing.assert_allclose(bank.reconstruct(bank.filter(f), tol=1e-4), f, atol=1e-3)


@pytest.mark.parametrize("method", ["exact", "jacobi", "multigrid"])
def test_other_methods_are_rejected(method):
    with pytest.raises(ValueError, match="`method` must be 'auto' or 'chebyshev' on a graph in parts, got"):
        cg.CayleyFilter(cut(cg.gallery.ring(8), 2), cg.CayleyPolynomial([0.5, 0.5], 1.0), method=method)


def test_what_needs_the_matrix_says_so():
    dL = cut(cg.gallery.ring(8), 2)
    with pytest.raises(TypeError, match="needs the matrix in one memory, and the Laplacian is in parts"):
        dL.eigenvalues  # noqa: B018


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_parts": 0}, "`n_parts` must be at least 1, got 0"),
        ({"kind": "random"}, "`kind` must be one of"),
        ({"partition": "magic"}, "`partition` must be one of 'auto', 'metis', 'order', or the part of each vertex"),
        ({"partition": [0, 1]}, "one part for each of the 8 vertices, got shape"),
        ({"partition": [0, 1, 2, 0, 0, 0, 0, 0]}, "parts from 0 to 1, got 2 for vertex 2"),
        ({"partition": [-1, 1, 1, 0, 0, 0, 0, 0]}, "parts from 0 to 1, got -1 for vertex 0"),
        ({"degrees_per_exchange": 0}, "`degrees_per_exchange` must be at least 1"),
        ({"keep_every": 0}, "`keep_every` must be at least 1"),
    ],
)
def test_invalid_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        DistributedLaplacian.from_graph(cg.gallery.ring(8), **({"n_parts": 2, "client": "synchronous"} | arguments))
    with pytest.raises(TypeError, match="must hold whole numbers"):
        cut(cg.gallery.ring(8), 2, partition=np.zeros(8))


def test_bytes_between_parts_are_the_values_at_their_borders():
    dL = cut(cg.gallery.path(10), 2, partition="order", degrees_per_exchange=1)
    assert dL.exchanged_bytes(7) == 7 * 2 * 8  # one value each way for each degree
    assert dL.exchanged_bytes(7, n_columns=3, dtype=np.float32) == 7 * 2 * 3 * 4
    dL = cut(cg.gallery.path(10), 2, partition="order", degrees_per_exchange=3)
    # three, five and three values each way: the newest term of 3, 3 and 1 rings, the older one of 0, 2 and 0
    assert dL.exchanged_bytes(7) == 2 * (3 + (3 + 2) + (1 + 0)) * 8
