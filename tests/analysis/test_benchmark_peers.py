"""The comparison with peers runs, checks what it times, and writes what it measured; how fast it was is no test."""

from __future__ import annotations

import copy
import time

import numba
import numpy as np
import pytest

import cayleygsp as cg
from analysis import benchmark_peers
from analysis.benchmark_peers import TITLES
from analysis.benchmark_peers.cayley import find_settings, find_sweeps
from analysis.benchmark_peers.grid import grid_reference, with_threads
from analysis.benchmark_peers.roofline import least_bytes, weighted_grid
from cayleygsp.engine.packed import prepare_graph
from tests.analysis.helpers import run


@pytest.fixture(scope="module")
def peers(tmp_path_factory):
    return run(benchmark_peers, tmp_path_factory.mktemp("peers"), "--repeats", "1")


def test_peers_are_all_there(peers):
    rows = peers[0]["rows"]
    names = {row["peer"]["name"].split(", K =")[0] for row in rows if row["peer"]}
    expected = {"PyGSP cheby_op", "PyGSP Filter.filter", "PyGSP Filter.filter, exact", "plain scipy loop"}
    expected |= {"Jacobi", "scipy splu", "STREAM triad", "ours, float64"}
    expected |= {"scipy funm_multiply_krylov, default", "scipy expm_multiply"}
    assert expected <= names
    targets = [row["target"] for row in rows if row["target"] is not None]
    assert {8.0, 3.0, 100.0, 200.0, 80.0} <= set(targets)


def test_groups_of_rows_alone_get_files_of_their_own(tmp_path):
    args = ["--quick", "--repeats", "1", "--only", "overhead", "--results", str(tmp_path)]
    assert benchmark_peers.main(args) == 0
    assert {path.name for path in tmp_path.iterdir()} == {
        f"benchmark_peers_overhead.{e}" for e in ("json", "md", "png")
    }
    page = (tmp_path / "benchmark_peers_overhead.md").read_text(encoding="utf-8")
    assert "one call" in page
    assert "STREAM triad" not in page


def test_peer_rows_hold_positive_figures_with_their_spread(peers):
    for row in peers[0]["rows"]:
        assert 0 < row["value"]["low"] <= row["value"]["median"] <= row["value"]["high"], row["work"]
        assert row["unit"] in TITLES
        assert row["met"] in (True, False, None)
        for side in (row["ours"], row["peer"]):
            if side is not None:
                assert side.get("seconds", side.get("rate"))["median"] > 0


def test_peer_rows_compare_right_results(peers):
    for row in peers[0]["rows"]:
        assert 0 <= row["ours"]["error"] <= row["ours"]["error_limit"], row
        # scipy's Krylov method says nothing of its error: what is wrong stands in the table as wrong
        if not row["peer"] or not row["peer"]["name"].startswith("scipy funm"):
            assert row["correct"], row


def test_settings_of_a_peer_are_the_fastest_that_reach_the_error():
    def run(m, rtol):
        time.sleep(1e-3 * m)
        return np.array([rtol * (1e-4 if m == 20 else 1e-9)])

    assert find_settings(run, lambda y: float(y[0]), (50, 100)) == (50, 1e-1)
    assert find_settings(run, lambda y: float(y[0]), (20, 50)) == (20, 1e-3)
    assert find_settings(lambda m, rtol: np.array([m * rtol]), lambda y: float(y[0]), (20, 50)) == (20, 1e-6)


def test_page_says_how_it_came_about(peers):
    document, page = peers
    assert document["command"] in page
    assert document["date"] in page
    assert document["machine"]["cpu"] in page
    assert f"numba {document['versions']['numba']}" in page
    assert "Seed: 0" in page


def test_peer_page_is_made_from_the_numbers(peers):
    document, page = peers
    changed = copy.deepcopy(document)
    changed["rows"][0]["value"]["median"] = 12345.0
    assert "12,345 ×" in benchmark_peers.markdown(changed)
    assert "12,345 ×" not in page


def test_sweeps_are_the_least_that_reach_the_target():
    found = find_sweeps(lambda K: np.array([0.9**K]), lambda y: float(y[0]), 1e-6, limit=60.0)
    least = int(np.ceil(np.log(1e-6) / np.log(0.9)))
    assert found.reached
    assert least <= found.n_iter <= 1.05 * least
    assert found.error <= 1e-6


def test_sweeps_stop_at_the_time_limit():
    tried = []

    def run(n_iter):
        tried.append(n_iter)
        return np.sqrt(np.arange(1000.0 * n_iter))

    found = find_sweeps(run, lambda y: 1.0, 1e-6, limit=1e-3)
    assert not found.reached
    assert found.n_iter == tried[-1]


def test_grid_reference_is_the_dense_filter():
    L = cg.laplacian(cg.gallery.grid(5))
    f = np.random.default_rng(0).standard_normal((25, 3))
    coeffs = np.random.default_rng(1).standard_normal(7)
    lam, Phi = np.linalg.eigh(L.matrix.toarray())
    expected = Phi @ (cg.ChebyshevPolynomial(coeffs, 8.0)(lam)[:, None] * (Phi.T @ f))
    np.testing.assert_allclose(grid_reference(f, 5, coeffs, 8.0), expected, atol=1e-12)


def test_least_bytes_count_graph_terms_and_a_third_of_the_sum():
    L = cg.laplacian(cg.gallery.ring(30))
    graph = prepare_graph(L.matrix, np.float32)
    assert least_bytes(graph, 6) == graph.n_bytes + 30 * 6 * 4 * 11 / 3


def test_number_of_threads_is_put_back():
    before = numba.get_num_threads()
    inside = []
    with_threads(1, lambda: inside.append(numba.get_num_threads()))()
    assert inside == [1]
    assert numba.get_num_threads() == before


def test_weighted_grid_is_symmetric_with_its_own_weights():
    W = weighted_grid(6, 0).W
    assert abs(W - W.T).max() == 0
    assert np.unique(W.data).size == W.nnz // 2
