"""Filtering on a cluster from the command line."""

import numpy as np
import pytest
from distributed import LocalCluster

import cayleygsp as cg
from cayleygsp.cli import main
from cayleygsp.distributed import DistributedLaplacian
from tests.cli.running import refused, run_json


def test_a_signal_is_filtered_on_a_cluster_by_its_address(folder, capsys):
    arguments = ("filter", "@communities", "f.npy", "--pass", "heat:2", "--tol", "1e-8")
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", protocol="tcp"
    ) as one:
        numbers = run_json(capsys, *arguments, "--cluster", one.scheduler_address, "--parts", "3", "-o", "y.npy")
    here = run_json(capsys, *arguments, "--method", "chebyshev", "-o", "z.npy")
    assert "3 parts on 2 workers" in numbers["reason"]
    assert (numbers["n_matvecs"], numbers["certificate"]) == (here["n_matvecs"], "proved")
    np.testing.assert_allclose(np.load("y.npy"), np.load("z.npy"), atol=1e-12)


def test_workers_are_started_and_their_dashboard_is_printed(folder, capsys):
    arguments = ("@ring:40", "ones.npy", "--pass", "low:0.5", "--workers", "1", "--parts", "2", "-o", "y.npy")
    np.save("ones.npy", np.ones(40))
    assert main(["filter", *arguments]) == 0
    out, err = capsys.readouterr()
    assert "dashboard http://" in err
    assert "2 parts on 1 worker" in " ".join(out.split())
    np.testing.assert_allclose(np.load("y.npy"), 1.0, atol=1e-5)


def test_a_folder_of_parts_is_filtered_without_the_graph_in_one_memory(folder, capsys):
    DistributedLaplacian.from_graph(cg.gallery.communities(rng=0), 3, client="synchronous", folder="parts")
    arguments = ("f.npy", "--pass", "heat:2", "--tol", "1e-8")
    with LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0", protocol="tcp"
    ) as one:
        numbers = run_json(capsys, "filter", "parts", *arguments, "--cluster", one.scheduler_address, "-o", "y.npy")
    run_json(capsys, "filter", "@communities", *arguments, "--method", "chebyshev", "-o", "z.npy")
    assert "3 parts on 2 workers" in numbers["reason"]
    np.testing.assert_allclose(np.load("y.npy"), np.load("z.npy"), atol=1e-12)
    for options, message in (
        ((), "'parts' is a folder of parts: give --cluster or --workers"),
        (("--workers", "2", "--parts", "2"), "--parts is for graphs in one piece"),
        (("--workers", "2", "--order", "3"), "--order needs the whole graph in memory"),
    ):
        assert message in refused(capsys, "filter", "parts", *arguments, *options, "-o", "x.npy")


def test_a_name_that_no_file_can_have_is_no_folder_of_parts(folder, capsys):
    arguments = ("f.npy", "--pass", "heat:2", "-o", "y.npy")
    assert "must have one of the endings" in refused(capsys, "filter", "a" * 300, *arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--parts", "2"), "--parts goes with --cluster or --workers"),
        (("--cluster", "tcp://127.0.0.1:9", "--workers", "2"), "must not both be given"),
        (("--cluster", "tcp://127.0.0.1:9"), "no scheduler answers at 'tcp://127.0.0.1:9'"),
        (("--cluster", "nowhere"), "no scheduler answers at 'nowhere'"),
    ],
)
def test_clusters_that_are_not_there(folder, capsys, monkeypatch, options, message):
    monkeypatch.setattr("cayleygsp.distributed.executor.CONNECT_SECONDS", 0.5)
    assert message in refused(
        capsys, "filter", "no-such-graph.mtx", "f.npy", "--pass", "heat:2", *options, "-o", "y.npy"
    )
