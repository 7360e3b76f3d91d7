import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import cayleygsp as cg
from cayleygsp.engine import packed
from cayleygsp.engine.packed import prepare_graph
from cayleygsp.engine.recurrence import sum_series, sum_series_adjoint
from cayleygsp.engine.reference import sum_series_by_scipy
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
    width=st.sampled_from([0, 1, 2, 3, 16, 17, 33, 40]),
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
@pytest.mark.parametrize("width", [1, 5, 16, 50])
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
    for threads in range(1, n_threads + 1):
        numba.set_num_threads(threads)
        results.append(sum_series(graph, lmax, coeffs, f))
    assert_array_equal(f, kept)
    for y in results[1:]:
        assert_array_equal(y, results[0])
    expected = sum_series_by_scipy(L.matrix, lmax, coeffs, f.astype(np.float64))
    assert_allclose(results[0], expected, atol=TOLERANCE[dtype] * 400)


@pytest.mark.parametrize("width", [1, 20])
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


@given(L=laplacians(), degree=st.integers(0, 9), n_filters=st.integers(1, 3))
def test_adjoint_is_the_sum_of_the_filters(L, degree, n_filters):
    graph, lmax, coeffs, _ = case(L, degree, n_filters, 1, np.float64)
    f = np.random.default_rng(1).standard_normal((n_filters, L.n_vertices, 2))
    one_by_one = sum(sum_series(graph, lmax, coeffs[i : i + 1], f[i])[0] for i in range(n_filters))
    assert_allclose(sum_series_adjoint(graph, lmax, coeffs, f), one_by_one, atol=1e-11)


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
