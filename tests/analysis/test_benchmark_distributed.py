"""The benchmark of graphs in parts runs and counts its bytes; how fast it was is no test."""

from __future__ import annotations

import pytest

import cayleygsp as cg
from analysis import benchmark_distributed
from analysis.benchmark_distributed.prediction import (
    PREDICTED_EDGES,
    PREDICTED_WORKERS,
    halo_law,
    missing_in_plane,
    neighbours,
    predict,
    seconds_of_run,
)
from analysis.benchmark_distributed.runs import WORKERS, ring_ratios
from cayleygsp.distributed import DistributedLaplacian
from tests.analysis.helpers import run
from tests.distributed.clusters import copied_workers


@pytest.fixture(scope="module")
def scaling(tmp_path_factory):
    with copied_workers():
        return run(benchmark_distributed, tmp_path_factory.mktemp("distributed"))


def test_every_run_is_that_of_one_process_and_its_bytes_are_counted(scaling):
    document = scaling[0]
    assert {run["n_workers"] for run in document["runs"]} == set(WORKERS[1])
    assert {(run["scaling"], run["graph"]) for run in document["runs"]} == {
        (scaling, graph) for scaling in ("strong", "weak") for graph in ("grid", "communities")
    }
    for one in [*document["runs"], document["target"]]:
        assert one["difference"] < 1e-12
        assert min(one["memory_of_workers"]) > 0
        received, counted = one["received_bytes"], one["predicted_bytes"]
        assert (counted["halo"] > 0) == (one["n_workers"] > 1)
        assert received["halo"] == pytest.approx(counted["halo"], rel=0.1)
        assert received["kept"] == pytest.approx(counted["kept"], rel=0.01)
        assert received["other"] < 1000
    assert "Where it breaks" in scaling[1]


def halos(n_parts=64, neighbours=4.0, rings=(1.0,)):
    sizes = {"edges_per_vertex": 2.0, "n_parts": n_parts, "neighbours": neighbours, "rings": list(rings)}
    return [
        {"graph": "grid", "n_vertices": 10**4, "mean_part": m, "mean_halo": 2 * m**0.5, **sizes}
        for m in (100.0, 1000.0)
    ]


COSTS = {"entry_seconds": {"grid": 1e-9}, "task_seconds": 1e-3, "exchange_seconds": 0.01, "bandwidth": 1e9}


def test_predictions_follow_the_formula():
    factor, exponent = halo_law(halos())
    assert (factor, exponent) == (pytest.approx(2), pytest.approx(0.5))
    rows = predict(halos(), COSTS)
    assert [(row["n_edges"], row["n_workers"]) for row in rows] == [
        (edges, workers) for edges in PREDICTED_EDGES for workers in PREDICTED_WORKERS
    ]
    first, halo = rows[0], 2 * (1e9 / 2 / 16) ** 0.5
    assert (first["degrees_per_exchange"], first["twice"]) == (1, 0.0)
    assert first["compute"] == pytest.approx(2e9 / 16 * 1e-9)
    assert first["tasks"] == pytest.approx(0.01 + 5 * 16 * 1e-3)
    assert first["wire"] == pytest.approx(8 * halo / 1e9)
    assert first["seconds"] == pytest.approx(first["compute"] + first["tasks"] + first["wire"])


def test_the_formula_for_a_run_has_its_own_halo():
    run = {"graph": "grid", "n_workers": 2, "n_entries": 10**6, "degree": 10, "predicted_bytes": {"halo": 2 * 10**7}}
    for reason, s in (("exchanged every degree", 1), ("exchanged every 7 degrees, 3 bytes of", 7)):
        seconds = seconds_of_run(run | {"reason": reason}, COSTS)
        assert seconds == pytest.approx(10**6 / 2 * 1e-9 + (0.01 + 4e-3) / s + 10**6 / 1e9)


def test_the_law_of_halos_is_that_of_many_parts():
    few = [row | {"n_parts": 2, "mean_halo": 1.0} for row in halos()]
    assert halo_law([*few, *halos()]) == halo_law(halos())


def test_halos_below_the_borders_of_the_plane_are_told():
    factor, share = missing_in_plane(halos(), predict(halos(), COSTS))
    assert (factor, share) == (pytest.approx(1), pytest.approx(0, abs=1e-9))
    thin = [row | {"mean_halo": row["mean_part"] ** 0.4} for row in halos()]
    (row,) = [row for row in predict(thin, COSTS) if (row["n_edges"], row["n_workers"]) == (10**11, 16)]
    factor, share = missing_in_plane(thin, [row])
    assert factor == pytest.approx((1e11 / 2 / 16 / max(row["mean_part"] for row in thin)) ** 0.1)
    assert share == pytest.approx((factor - 1) * row["wire"] / row["seconds"])


def test_predictions_take_the_number_of_degrees_per_exchange_that_is_fastest():
    first, halo = predict(halos(rings=(1.0, 2.0, 1e6)), COSTS)[0], 2 * (1e9 / 2 / 16) ** 0.5
    assert first["degrees_per_exchange"] == 2
    assert first["tasks"] == pytest.approx((0.01 + 5 * 16 * 1e-3) / 2)
    assert first["twice"] == pytest.approx(4e-9 * halo / 2)
    assert first["wire"] == pytest.approx(8 * 3 * halo / 2 / 1e9)


def test_parts_that_border_on_all_others_do_so_in_larger_clusters():
    assert neighbours(halos(neighbours=5.5)[0], 1024) == 5.5
    assert neighbours(halos(neighbours=63.0)[0], 1024) == 1023
    assert neighbours(halos(neighbours=5.5)[0], 4) == 3


def test_rings_are_counted_while_others_are_left():
    dL = DistributedLaplacian.from_graph(cg.gallery.ring(100), 4, client="synchronous", partition="order")
    assert ring_ratios(dL) == [float(s) for s in range(1, 19)]  # two vertices per ring, of 75 others
    wild = cg.gallery.random_regular(40, 6, rng=0)
    assert len(ring_ratios(DistributedLaplacian.from_graph(wild, 4, client="synchronous"))) == 1
