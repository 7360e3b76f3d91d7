"""The study of growth runs, checks what it times, and writes what it measured; how fast it was is no test."""

from __future__ import annotations

import argparse
import copy

import numpy as np
import pytest

from analysis import benchmark_scaling
from analysis.benchmark_scaling import SIZES, TOL, MemoryPeak, fit_all, run_child, variations
from tests.analysis.helpers import run


@pytest.fixture(scope="module")
def scaling(tmp_path_factory):
    return run(benchmark_scaling, tmp_path_factory.mktemp("scaling"), "--repeats", "1")


def test_every_size_is_measured(scaling):
    document = scaling[0]
    assert [row["n_vertices"] for row in document["sizes"]] == list(SIZES[1])
    for row in document["sizes"]:
        assert 9 * row["n_vertices"] < row["n_entries"] < 11 * row["n_vertices"]
        for name in ("graph_seconds", "laplacian_seconds", "prepare_seconds", "peak_bytes", "peak_beyond_graph_bytes"):
            assert row[name] > 0
        assert row["apply_seconds"]["median"] > 0
        assert row["arrays"] >= 0
        assert 0 < row["error"] <= row["error_bound"] <= TOL


def test_other_methods_are_timed_or_say_why_not(scaling):
    for row in scaling[0]["sizes"]:
        assert [entry["method"].split(",")[0] for entry in row["methods"]] == ["jacobi", "jacobi", "exact"]
        for entry in row["methods"]:
            assert (entry["seconds"] is None) == bool(entry["reason"])


def test_every_variation_is_measured(scaling):
    rows = scaling[0]["variations"]
    assert [(row["varied"], row["value"]) for row in rows] == variations(True)
    for row in rows:
        assert 0 < row["error"] <= row["error_bound"] <= TOL
        assert row["seconds"]["median"] > 0
        assert row["jacobi_seconds"]["median"] > 0
        assert row["arrays"] >= 0


def test_full_run_varies_what_it_should():
    values = variations(False)
    assert [v for name, v in values if name == "order"] == list(range(1, 14))
    assert [v for name, v in values if name == "signals"] == [1, 4, 16, 64]
    assert SIZES[0] == (10**4, 10**5, 10**6, 10**7)


def test_scaling_page_is_made_from_the_numbers(scaling):
    document, page = scaling
    changed = copy.deepcopy(document)
    changed["sizes"][0]["prepare_seconds"] = 4321.0
    changed["fits"][0]["exponent"] = 7.654
    assert "4,321 s" in benchmark_scaling.markdown(changed)
    assert "n^7.654" in benchmark_scaling.markdown(changed)
    assert "4,321 s" not in page


def test_fits_use_the_larger_sizes_that_did_not_fail(scaling):
    row = scaling[0]["sizes"][0]
    sizes = [{**row, "n_vertices": n, "prepare_seconds": max(n, 1e5)} for n in (10**4, 10**5, 10**6, 10**7)]
    fits = {fit["quantity"]: fit for fit in fit_all([*sizes, {"n_vertices": 10**8, "failed": "x"}])}
    assert fits["time of preparation"]["between"] == [10**5, 10**7]
    assert fits["time of preparation"]["exponent"] == pytest.approx(1.0)
    assert fit_all(sizes[:1]) == []


def test_failed_size_is_reported_and_the_page_still_made(scaling, capfd):
    args = argparse.Namespace(seed=0, repeats=1, seconds=1.0, quick=True)
    failed = run_child("size:0", args)
    assert failed == "exit code 1"
    capfd.readouterr()
    document = copy.deepcopy(scaling[0])
    document["sizes"][-1] = {"n_vertices": 10**7, "failed": failed}
    assert "failed: exit code 1" in benchmark_scaling.markdown(document)
    assert benchmark_scaling.draw(document).axes


def test_memory_peak_sees_what_was_used_and_freed():
    with MemoryPeak() as memory:
        np.ones(2**23)
    if memory.how == "largest ever":
        pytest.skip("this system does not reset its record of the peak")
    assert 0.9 < memory.beyond / 2**26 < 1.5
