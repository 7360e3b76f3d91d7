"""The benchmark of graphs in parts runs and counts its bytes; how fast it was is no test."""

from __future__ import annotations

import pytest

from analysis import benchmark_distributed
from analysis.benchmark_distributed.prediction import halo_law, predict
from analysis.benchmark_distributed.settings import PREDICTED_EDGES, PREDICTED_WORKERS, QUICK_WORKERS
from tests.analysis.helpers import run


@pytest.fixture(scope="module")
def scaling(tmp_path_factory):
    return run(benchmark_distributed, tmp_path_factory.mktemp("distributed"))


def test_every_run_is_that_of_one_process_and_its_bytes_are_counted(scaling):
    document = scaling[0]
    assert {run["n_workers"] for run in document["runs"]} == set(QUICK_WORKERS)
    assert {(run["scaling"], run["graph"]) for run in document["runs"]} == {
        (scaling, graph) for scaling in ("strong", "weak") for graph in ("grid", "communities")
    }
    for one in [*document["runs"], document["target"]]:
        assert one["difference"] < 1e-12
        assert min(one["memory_of_workers"]) > 0
        assert (one["predicted_bytes"] > 0) == (one["n_workers"] > 1)
    assert "Where it breaks" in scaling[1]


def test_predictions_follow_the_formula():
    halos = [
        {"graph": "grid", "n_vertices": 10**4, "mean_part": m, "mean_halo": 2 * m**0.5, "neighbours": 4.0}
        for m in (100.0, 1000.0)
    ]
    factor, exponent = halo_law(halos)
    assert (factor, exponent) == (pytest.approx(2), pytest.approx(0.5))
    rows = predict(halos, {"entry_seconds": 1e-9, "task_seconds": 1e-3, "bandwidth": 1e9})
    assert [(row["n_edges"], row["n_workers"]) for row in rows] == [
        (edges, workers) for edges in PREDICTED_EDGES for workers in PREDICTED_WORKERS
    ]
    first = rows[0]
    assert first["compute"] == pytest.approx(2e9 / 16 * 1e-9)
    assert first["tasks"] == pytest.approx(5 * 16 * 1e-3)
    assert first["wire"] == pytest.approx(8 * 2 * (1e9 / 5 / 16) ** 0.5 / 1e9)
    assert first["seconds"] == pytest.approx(first["compute"] + first["tasks"] + first["wire"])
