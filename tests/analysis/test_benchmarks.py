"""The benchmarks run, check what they time, and write what they measured; how fast it was is no test."""

from __future__ import annotations

import argparse
import copy
import json
import platform
import re

import numba
import numpy as np
import pytest

import cayleygsp as cg
from analysis import _bench, _results, benchmark_peers, benchmark_scaling, profile_kernels
from cayleygsp.engine.packed import prepare_graph


def run(module, folder):
    """Run a benchmark in its small size and return what it wrote."""
    name = module.__name__.removeprefix("analysis.")
    arguments = ["--quick", "--repeats", "2", "--results", str(folder / "new"), "--json", str(folder / "out.json")]
    assert module.main(arguments) == 0
    assert {path.name for path in (folder / "new").iterdir()} == {f"{name}.{end}" for end in ("json", "md", "png")}
    text = (folder / "new" / f"{name}.json").read_text(encoding="utf-8")
    assert text == (folder / "out.json").read_text(encoding="utf-8")
    assert (folder / "new" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    return json.loads(text), (folder / "new" / f"{name}.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def peers(tmp_path_factory):
    return run(benchmark_peers, tmp_path_factory.mktemp("peers"))


@pytest.fixture(scope="module")
def scaling(tmp_path_factory):
    return run(benchmark_scaling, tmp_path_factory.mktemp("scaling"))


# ---------------------------------------------------------------------------------------------------- peers


def test_peers_are_all_there(peers):
    rows = peers[0]["rows"]
    names = {row["peer"]["name"].split(", K =")[0] for row in rows if row["peer"]}
    expected = {"PyGSP cheby_op", "PyGSP Filter.filter", "PyGSP Filter.filter, exact", "plain scipy loop"}
    expected |= {"Jacobi", "scipy splu", "STREAM triad", "ours, float64"}
    assert expected <= names
    targets = [row["target"] for row in rows if row["target"] is not None]
    assert {8.0, 3.0, 100.0, 200.0, 80.0} <= set(targets)


def test_peer_rows_hold_positive_figures_with_their_spread(peers):
    for row in peers[0]["rows"]:
        assert 0 < row["value"]["low"] <= row["value"]["median"] <= row["value"]["high"], row["work"]
        assert row["unit"] in benchmark_peers.TITLES
        assert row["met"] in (True, False, None)
        for side in (row["ours"], row["peer"]):
            if side is not None:
                assert side.get("seconds", side.get("rate"))["median"] > 0


def test_peer_rows_compare_right_results(peers):
    for row in peers[0]["rows"]:
        assert row["correct"], row
        assert 0 <= row["ours"]["error"] <= row["ours"]["error_limit"]
        if row["peer"] and row["peer"]["error"] is not None and not row["lower_bound"]:
            assert 0 <= row["peer"]["error"] <= row["peer"]["error_limit"]


@pytest.mark.parametrize("benchmark", ["peers", "scaling"])
def test_page_says_how_it_came_about(benchmark, request):
    document, page = request.getfixturevalue(benchmark)
    assert document["command"] in page
    assert document["date"] in page
    assert document["machine"]["cpu"] in page
    assert f"numba {document['versions']['numba']}" in page
    assert "Seed: 0" in page


def test_peer_page_is_made_from_the_numbers(peers):
    document, page = peers
    assert benchmark_peers.markdown(document) == page
    changed = copy.deepcopy(document)
    changed["rows"][0]["value"]["median"] = 12345.0
    assert "12,345 ×" in benchmark_peers.markdown(changed)
    assert "12,345 ×" not in page


def row_with(error, value, **more):
    side = {"name": "a", "seconds": {"median": 1.0}, "error": error, "error_limit": 1e-6}
    return benchmark_peers.make_row("w", side, side, "×", {"median": value, "low": 1.0, "high": 1e3}, 8.0, **more)


def test_wrong_result_meets_no_target():
    right, wrong = row_with(1e-7, 10.0), row_with(1e-5, 10.0)
    assert right["met"] is True
    assert wrong["met"] is False
    assert benchmark_peers.table_cells(wrong)[-1].endswith("WRONG")
    assert row_with(1e-7, 10.0, at_most=True)["met"] is False


def test_lower_bound_below_the_target_leaves_it_open():
    assert row_with(1e-7, 5.0, lower_bound=True)["met"] is None
    assert row_with(1e-7, 10.0, lower_bound=True)["met"] is True
    assert benchmark_peers.table_cells(row_with(1e-7, 5.0, lower_bound=True))[3:6] == [
        "≥ 5.00 × (1.00–1,000)",
        "≥ 8 ×",
        "open",
    ]


def test_sweeps_are_the_least_that_reach_the_target():
    found = benchmark_peers.find_sweeps(lambda K: np.array([0.9**K]), lambda y: float(y[0]), 1e-6, limit=60.0)
    least = int(np.ceil(np.log(1e-6) / np.log(0.9)))
    assert found.reached
    assert least <= found.n_iter <= 1.05 * least
    assert found.error <= 1e-6


def test_sweeps_stop_at_the_time_limit():
    tried = []

    def run(n_iter):
        tried.append(n_iter)
        return np.sqrt(np.arange(1000.0 * n_iter))

    found = benchmark_peers.find_sweeps(run, lambda y: 1.0, 1e-6, limit=1e-3)
    assert not found.reached
    assert found.n_iter == tried[-1]


def test_grid_reference_is_the_dense_filter():
    L = cg.laplacian(cg.gallery.grid(5))
    f = np.random.default_rng(0).standard_normal((25, 3))
    coeffs = np.random.default_rng(1).standard_normal(7)
    lam, Phi = np.linalg.eigh(L.matrix.toarray())
    expected = Phi @ (cg.ChebyshevPolynomial(coeffs, 8.0)(lam)[:, None] * (Phi.T @ f))
    np.testing.assert_allclose(benchmark_peers.grid_reference(f, 5, coeffs, 8.0), expected, atol=1e-12)


def test_least_bytes_count_graph_terms_and_a_third_of_the_sum():
    L = cg.laplacian(cg.gallery.ring(30))
    graph = prepare_graph(L.matrix, np.float32)
    assert benchmark_peers.least_bytes(graph, 6) == graph.n_bytes + 30 * 6 * 4 * 11 / 3


def test_number_of_threads_is_put_back():
    before = numba.get_num_threads()
    inside = []
    benchmark_peers._with_threads(1, lambda: inside.append(numba.get_num_threads()))()
    assert inside == [1]
    assert numba.get_num_threads() == before


def test_weighted_grid_is_symmetric_with_its_own_weights():
    W = benchmark_peers.weighted_grid(6, 0).W
    assert abs(W - W.T).max() == 0
    assert np.unique(W.data).size == W.nnz // 2


# -------------------------------------------------------------------------------------------------- scaling


def test_every_size_is_measured(scaling):
    document = scaling[0]
    assert [row["n_vertices"] for row in document["sizes"]] == list(benchmark_scaling.QUICK_SIZES)
    for row in document["sizes"]:
        assert 9 * row["n_vertices"] < row["n_entries"] < 11 * row["n_vertices"]
        for name in ("graph_seconds", "laplacian_seconds", "prepare_seconds", "peak_bytes", "peak_beyond_graph_bytes"):
            assert row[name] > 0
        assert row["apply_seconds"]["median"] > 0
        assert row["arrays"] >= 0
        assert 0 < row["error"] <= row["error_bound"] <= benchmark_scaling.TOL


def test_other_methods_are_timed_or_say_why_not(scaling):
    for row in scaling[0]["sizes"]:
        assert [entry["method"].split(",")[0] for entry in row["methods"]] == ["jacobi", "jacobi", "exact"]
        for entry in row["methods"]:
            assert (entry["seconds"] is None) == bool(entry["reason"])


def test_every_variation_is_measured(scaling):
    rows = scaling[0]["variations"]
    assert [(row["varied"], row["value"]) for row in rows] == benchmark_scaling.variations(True)
    for row in rows:
        assert 0 < row["error"] <= row["error_bound"] <= benchmark_scaling.TOL
        assert row["seconds"]["median"] > 0
        assert row["jacobi_seconds"]["median"] > 0
        assert row["arrays"] >= 0


def test_full_run_varies_what_it_should():
    values = benchmark_scaling.variations(False)
    assert [v for name, v in values if name == "order"] == list(range(1, 14))
    assert [v for name, v in values if name == "signals"] == [1, 4, 16, 64]
    assert benchmark_scaling.SIZES == (10**4, 10**5, 10**6, 10**7)


def test_scaling_page_is_made_from_the_numbers(scaling):
    document, page = scaling
    assert benchmark_scaling.markdown(document) == page
    changed = copy.deepcopy(document)
    changed["sizes"][0]["prepare_seconds"] = 4321.0
    changed["fits"][0]["exponent"] = 7.654
    assert "4,321 s" in benchmark_scaling.markdown(changed)
    assert "n^7.654" in benchmark_scaling.markdown(changed)
    assert "4,321 s" not in page


def test_exponent_of_a_power_is_found():
    n = np.array([1e4, 1e5, 1e6])
    assert benchmark_scaling.fit_exponent(n, 3 * n**1.3) == pytest.approx(1.3)


def test_fits_use_the_larger_sizes_that_did_not_fail(scaling):
    row = scaling[0]["sizes"][0]
    sizes = [{**row, "n_vertices": n, "prepare_seconds": max(n, 1e5)} for n in (10**4, 10**5, 10**6, 10**7)]
    fits = {fit["quantity"]: fit for fit in benchmark_scaling.fit_all([*sizes, {"n_vertices": 10**8, "failed": "x"}])}
    assert fits["time of preparation"]["between"] == [10**5, 10**7]
    assert fits["time of preparation"]["exponent"] == pytest.approx(1.0)
    assert benchmark_scaling.fit_all(sizes[:1]) == []


def test_failed_size_is_reported_and_the_page_still_made(scaling, capfd):
    args = argparse.Namespace(seed=0, repeats=1, seconds=1.0, quick=True)
    failed = benchmark_scaling.run_child("size:0", args)
    assert failed == "exit code 1"
    capfd.readouterr()
    document = copy.deepcopy(scaling[0])
    document["sizes"][-1] = {"n_vertices": 10**7, "failed": failed}
    assert "failed: exit code 1" in benchmark_scaling.markdown(document)
    assert benchmark_scaling.draw(document).axes


def test_memory_peak_sees_what_was_used_and_freed():
    with benchmark_scaling.MemoryPeak() as memory:
        np.ones(2**23)
    if memory.how == "largest ever":
        pytest.skip("this system does not reset its record of the peak")
    assert 0.9 < memory.beyond / 2**26 < 1.5


# ---------------------------------------------------------------------------------------------------- shared


def test_community_graph_has_degree_ten():
    graph = _bench.community_graph(5000, 0)
    assert 9.7 < graph.W.nnz / graph.n_vertices < 10.3
    assert np.bincount(graph.labels).tolist() == 50 * [100]


def test_cayley_reference_is_the_dense_filter():
    L = cg.laplacian(_bench.community_graph(200, 0))
    p = _bench.cayley_polynomial(8, 30 / L.lmax, 0)
    f = np.random.default_rng(0).standard_normal((200, 2))
    lam, Phi = np.linalg.eigh(L.matrix.toarray())
    expected = Phi @ (p(lam)[:, None] * (Phi.T @ f))
    np.testing.assert_allclose(_bench.cayley_reference(L, p, f), expected, atol=1e-10)


def test_slow_calls_are_not_repeated_beyond_the_budget():
    samples = _bench.interleave({"a": lambda: None, "b": lambda: sum(range(10**5))}, 5, budget=1e-9, shortest=0)
    assert len(samples["b"]) == 1
    assert _bench.ratios([4.0], [1.0, 2.0]) == [4.0, 2.0]


def test_times_are_written_with_a_unit():
    assert [_results.format_seconds(t) for t in (1234.5, 0.0123, 4.56e-5)] == ["1,234 s", "12.3 ms", "45.6 µs"]


@pytest.mark.parametrize("module", [benchmark_peers, benchmark_scaling])
@pytest.mark.parametrize("arguments", [["--repeats", "0"], ["--seed", "-1"], ["--unknown"]])
def test_wrong_arguments_end_with_a_message(module, arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        module.main(arguments)
    assert stop.value.code == 2
    assert "error:" in capsys.readouterr().err


def test_results_must_not_be_a_file(tmp_path, capsys):
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(SystemExit):
        benchmark_peers.main(["--results", str(path)])
    assert "must be a folder" in capsys.readouterr().err
    assert path.read_text() == "mine"


def test_profile_reads_the_row_of_four_from_the_machine_code():
    if platform.machine() != "x86_64":
        pytest.skip("the form of the machine code is known for x86_64 alone")
    graph = cg.laplacian(cg.gallery.grid(8)).kernel_graph(np.dtype(np.float64))
    instructions = profile_kernels.row_of_four(profile_kernels.machine_code(graph, np.float64))
    gathers = [line for line in instructions if re.search(r"\(%\w+,%\w+,8\), %xmm", line)]
    assert len(gathers) == 4
    assert 20 <= len(instructions) <= 60


def test_profile_writes_its_files(tmp_path):
    assert profile_kernels.main(["--quick", "--repeats", "1", "--results", str(tmp_path)]) == 0
    assert {path.suffix for path in tmp_path.iterdir()} == {".json", ".md", ".png"}
    rows = json.loads((tmp_path / "profile_kernels.json").read_text())["rows"]
    assert all(row["nanoseconds_a_row"]["median"] > 0 for row in rows)
