import tracemalloc

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import cayleygsp as cg
from analysis._problems import sum_series_by_scipy
from cayleygsp.engine import packed, threads
from cayleygsp.engine.packed import prepare_graph
from cayleygsp.engine.recurrence import recurrence_dots, signal_tiles, sum_series, sum_series_adjoint
from tests.strategies import laplacians

TOLERANCE = {np.float32: 2e-5, np.float64: 1e-13}


def case(L, degree, n_filters, width, dtype, seed=0):
    rng = np.random.default_rng(seed)
    coeffs = rng.standard_normal((n_filters, degree + 1))
    f = rng.standard_normal((L.n_vertices, width)).astype(dtype)
    lmax = L.lmax or 1.0
    return prepare_graph(L.matrix, dtype), lmax, coeffs, f


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    L=laplacians(),
    degree=st.integers(0, 12),
    n_filters=st.integers(1, 3),
    width=st.sampled_from([0, 1, 2, 3, 4, 6, 12, 16, 17, 33, 40]),
)
def test_compiled_loops_equal_scipy_to_rounding(dtype, L, degree, n_filters, width):
    graph, lmax, coeffs, f = case(L, degree, n_filters, width, dtype)
    y = sum_series(graph, lmax, coeffs, f)
    expected = sum_series_by_scipy(L.matrix, lmax, coeffs, f.astype(np.float64))
    assert y.shape == (n_filters, L.n_vertices, width)
    assert y.dtype == dtype
    scale = np.abs(coeffs).sum() * max(1.0, np.abs(f).max(initial=0.0)) * (degree + 1)
    assert_allclose(y, expected, atol=TOLERANCE[dtype] * scale)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 3, 5, 16, 50])
@pytest.mark.parametrize("name", ["grid", "sensor", "communities", "star"])
def test_threads_change_nothing(dtype, width, name):
    made = {
        "grid": lambda: cg.gallery.grid(70, 90),
        "sensor": lambda: cg.gallery.sensor(5000, rng=0),
        "communities": lambda: cg.gallery.communities(rng=0, n_vertices=3000, p_in=0.05),
        "star": lambda: cg.gallery.star(9000),
    }
    L = cg.laplacian(made[name]())
    graph, lmax, coeffs, f = case(L, 20, 2, width, dtype)
    kept = f.copy()
    n_threads = numba.get_num_threads()
    results = []
    for count in range(1, n_threads + 1):
        numba.set_num_threads(count)
        results.append(sum_series(graph, lmax, coeffs, f))
    assert_array_equal(f, kept)
    for y in results[1:]:
        assert_array_equal(y, results[0])
    expected = sum_series_by_scipy(L.matrix, lmax, coeffs, f.astype(np.float64))
    assert_allclose(results[0], expected, atol=TOLERANCE[dtype] * 400)


@pytest.mark.parametrize("itemsize", [4, 8])
@given(n=st.integers(5000, 10_000), m=st.integers(0, 100))
def test_tiles_cover_the_signals_and_make_vectors(itemsize, n, m):
    tiles = signal_tiles((n, m), itemsize)
    widths = [tile.stop - tile.start for tile in tiles]
    assert [k for tile in tiles for k in range(tile.start, tile.stop)] == list(range(m))
    assert all(width == 1 or width % 4 == 0 for width in widths if m)
    assert sum(width == 1 for width in widths) == m % 4
    assert max(widths) * itemsize <= 128


def test_small_blocks_are_one_tile():
    assert signal_tiles((100, 7), 8) == [slice(0, 7)]
    assert signal_tiles((10, 17), 8) == [slice(0, 16), slice(16, 17)]


@pytest.mark.parametrize("width", [1, 3, 20])
def test_a_scattered_graph_is_reordered_behind_the_scenes(monkeypatch, width):
    monkeypatch.setattr(packed, "_REORDER_VERTICES", 100)
    W = cg.gallery.grid(40).W
    order = np.random.default_rng(0).permutation(1600)
    scattered = cg.laplacian(W[order][:, order])
    graph, lmax, coeffs, f = case(scattered, 15, 2, width, np.float64)
    assert graph.order is not None
    assert prepare_graph(cg.laplacian(W).matrix, np.float64).order is None
    assert_allclose(
        sum_series(graph, lmax, coeffs, f), sum_series_by_scipy(scattered.matrix, lmax, coeffs, f), atol=1e-11
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    L=laplacians(),
    degree=st.integers(0, 9),
    n_filters=st.integers(1, 3),
    width=st.sampled_from([0, 1, 2, 4, 7, 16, 17, 40]),
)
def test_adjoint_is_the_transposed_of_the_bank(dtype, L, degree, n_filters, width):
    graph, lmax, coeffs, _ = case(L, degree, n_filters, 1, dtype)
    n = L.n_vertices
    f = np.random.default_rng(1).standard_normal((n_filters, n, width)).astype(dtype)
    bank = sum_series_by_scipy(L.matrix, lmax, coeffs, np.eye(n)).reshape(n_filters * n, n)
    got = sum_series_adjoint(graph, lmax, coeffs, f)
    assert got.dtype == dtype
    scale = np.abs(coeffs).sum() * max(1.0, np.abs(f).max(initial=0.0)) * (degree + 1)
    assert_allclose(got, bank.T @ f.reshape(n_filters * n, width).astype(np.float64), atol=TOLERANCE[dtype] * scale)


@pytest.mark.parametrize("width", [1, 3, 20])
def test_adjoint_on_a_reordered_graph(monkeypatch, width):
    monkeypatch.setattr(packed, "_REORDER_VERTICES", 100)
    order = np.random.default_rng(0).permutation(1600)
    L = cg.laplacian(cg.gallery.grid(40).W[order][:, order])
    graph, lmax, coeffs, _ = case(L, 15, 2, 1, np.float64)
    assert graph.order is not None
    f = np.random.default_rng(1).standard_normal((2, 1600, width))
    expected = sum(sum_series_by_scipy(L.matrix, lmax, a[None], x)[0] for a, x in zip(coeffs, f, strict=True))
    assert_allclose(sum_series_adjoint(graph, lmax, coeffs, f), expected, atol=1e-11)


@given(L=laplacians(), degree=st.integers(1, 9), width=st.sampled_from([1, 3, 6, 16, 18]))
def test_dots_are_those_of_the_terms(L, degree, width):
    graph, lmax, _, f = case(L, degree, 1, width, np.float64)
    terms = sum_series_by_scipy(L.matrix, lmax, np.eye(degree + 1), f)
    dots = recurrence_dots(graph, lmax, degree, f)
    atol = 1e-12 * degree * max(1.0, (f**2).sum())
    assert_allclose(dots[:, 0], (terms[1:] ** 2).sum(axis=1), atol=atol)
    assert_allclose(dots[:, 1], (terms[1:] * terms[:-1]).sum(axis=1), atol=atol)


@pytest.mark.parametrize("width", [1, 40])
def test_single_precision_signals_are_promoted_tile_by_tile(width):
    L = cg.laplacian(cg.gallery.grid(30))
    graph, lmax, coeffs, f = case(L, 25, 2, width, np.float64)
    f = f.astype(np.float32)
    expected = sum_series(graph, lmax, coeffs, f.astype(np.float64))
    assert_array_equal(sum_series(graph, lmax, coeffs, f, np.float64), expected)
    assert_array_equal(sum_series(graph, lmax, coeffs, f), expected.astype(np.float32))
    blocks = np.stack([f, 2 * f])
    assert_array_equal(
        sum_series_adjoint(graph, lmax, coeffs, blocks, np.float64),
        sum_series_adjoint(graph, lmax, coeffs, blocks.astype(np.float64)),
    )


@pytest.mark.parametrize("width", [1, 64])
def test_a_tight_tolerance_takes_at_most_six_single_precision_arrays(monkeypatch, width):
    """Single precision signals that need double precision work are promoted by tile, not as a whole."""
    monkeypatch.setattr(threads, "thread_limit", lambda: 1)  # a helper that sleeps may let go of arrays too late
    g = cg.CayleyFilter(cg.gallery.grid(300), cg.CayleyPolynomial([0.2, 0.5, 0.1j], 1.0), method="chebyshev", tol=3e-7)
    f = np.random.default_rng(0).standard_normal((90_000, width)).astype(np.float32)
    g.filter(f)
    tracemalloc.start()
    try:
        y, info = g.filter(f, return_info=True)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert y.dtype == np.float32
    assert info.converged
    assert peak <= 6.1 * f.nbytes + 300_000


def test_loops_work_where_no_cache_can_be_written(tmp_path):
    """Importing the kernels with a cache folder that is a file falls back to compiling in memory."""
    import subprocess
    import sys

    blocked = tmp_path / "file"
    blocked.write_text("")
    code = (
        "import cayleygsp as cg, numpy as np;"
        "g = cg.ChebyshevFilter(cg.gallery.ring(8), [0.5, 0.5]);"
        "print(np.round(g @ np.ones(8), 6).sum())"
    )
    env = {"NUMBA_CACHE_DIR": str(blocked / "below"), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "0.0"
