"""Filters on the workers of a cluster that the tests start by themselves."""

import os
import signal
import threading
import time
from collections import Counter
from contextlib import suppress

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from distributed.core import Status
from distributed.diagnostics.plugin import SchedulerPlugin

import cayleygsp as cg
from cayleygsp.distributed import DistributedLaplacian
from cayleygsp.distributed.executor import executor_of
from tests.distributed.clusters import copied_workers

GRID = cg.gallery.grid(24, 40)
HEAT = cg.responses.Heat(30.0)


@pytest.fixture(scope="module")
def client():
    # intervals are so short here that the memory manager could drop copies before the next one is sent
    with copied_workers():
        with dask.config.set({"distributed.scheduler.active-memory-manager.start": False}):
            cluster = LocalCluster(
                n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
            )
        with Client(cluster) as one:
            yield one
        with suppress(KeyError):  # of a worker that was killed
            cluster.close()


@pytest.fixture
def signals():
    return np.random.default_rng(0).standard_normal((GRID.n_vertices, 5))


@pytest.fixture(scope="module")
def graphs(client):
    """By METIS, and in the order of the vertices."""
    return {
        name: DistributedLaplacian.from_graph(GRID, 3, client=client, partition=name) for name in ("metis", "order")
    }


def local(f, tol=1e-9):
    return cg.KernelFilter(cg.laplacian(GRID), HEAT, method="chebyshev", tol=tol).filter(f, return_info=True)


def test_arrays_in_memory_come_back_as_they_would_from_one_process(graphs, signals):
    L = cg.laplacian(GRID)
    for dL in graphs.values():
        assert (dL.lmax, dL.rounding_norm, dL.n_edges) == (L.lmax, L.rounding_norm, L.n_edges)
        y, info = cg.KernelFilter(dL, HEAT, tol=1e-9).filter(signals, return_info=True)
        wanted, said = local(signals)
        np.testing.assert_allclose(y, wanted, atol=1e-13)
        np.testing.assert_allclose(info.error_bound, said.error_bound)
        assert (info.n_matvecs, info.certificate, info.converged) == (said.n_matvecs, "proved", True)
        assert "3 parts on 2 workers" in info.reason


def test_lanczos_on_workers_is_that_of_parts_in_this_process(graphs):
    here = DistributedLaplacian.from_graph(GRID, 3, client="synchronous", partition="order")
    found, wanted = (dL.lanczos_bound(5, rng=0) for dL in (graphs["order"], here))
    assert (found.lower, found.upper) == (pytest.approx(wanted.lower), pytest.approx(wanted.upper))


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("name", ["metis", "order"])
def test_dask_arrays_in_rows(graphs, signals, kind, name):
    dL = graphs[name]
    f = (signals + 1j * signals[::-1]).astype(kind) if kind is np.complex128 else signals.astype(kind)
    x = da.from_array(f, chunks=(dL.part_sizes, 5))
    bank = cg.FilterBank(dL, [HEAT, cg.responses.Tikhonov(3.0)], tol=1e-5)
    y, info = bank.filter(x, return_info=True)
    wanted, said = cg.FilterBank(
        cg.laplacian(GRID), [HEAT, cg.responses.Tikhonov(3.0)], method="chebyshev", tol=1e-5
    ).filter(f, return_info=True)
    assert isinstance(y, da.Array)
    assert y.chunks[0] == x.chunks[0]
    assert (y.shape, y.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(y.compute(), wanted, atol=1e-6 if kind is np.float32 else 1e-12)
    np.testing.assert_allclose(info.error_bound, said.error_bound, rtol=1e-6)
    assert ("brought to their parts" in info.reason) == (name == "metis")


def test_dask_arrays_in_other_chunks_and_single_signals(graphs, signals):
    wanted, _ = local(signals)
    for x, z in ((da.from_array(signals, chunks=(100, 2)), wanted), (da.from_array(signals[:, 0], 333), wanted[:, 0])):
        y = cg.KernelFilter(graphs["order"], HEAT, tol=1e-9).filter(x)
        assert y.chunks[0] == x.chunks[0]
        np.testing.assert_allclose(y.compute(), z, atol=1e-12)


@pytest.mark.parametrize("name", ["metis", "order"])
def test_columns_go_to_workers_and_nothing_is_exchanged(graphs, signals, name):
    x = da.from_array(signals.astype(np.float32), chunks=(-1, 2))
    y, info = cg.KernelFilter(graphs[name], HEAT, tol=1e-4).filter(x, return_info=True)
    assert y.chunks == x.chunks
    assert "3 blocks of columns" in info.reason
    assert "nothing exchanged" in info.reason
    wanted, said = local(signals.astype(np.float32), 1e-4)
    np.testing.assert_allclose(y.compute(), wanted, atol=1e-6)
    np.testing.assert_allclose(info.error_bound, said.error_bound, rtol=1e-6)


def test_invalid_dask_arrays(graphs):
    heat = cg.KernelFilter(graphs["order"], HEAT)
    with pytest.raises(ValueError, match=r"`signals` must have shape \(960,\)"):
        heat.filter(da.ones((10, 2)))
    with pytest.raises(TypeError, match="must be a dense array of real or complex numbers"):
        heat.filter(da.full(960, "a", chunks=960))
    with pytest.raises(ValueError, match="`signals` must be finite, got nan"):
        heat.filter(da.full(960, np.nan, chunks=320))


def received(client):
    """Return the bytes that workers took from one another, by the functions that made them."""
    total = Counter()
    for notes in client.run(lambda dask_worker: [one["keys"] for one in dask_worker.transfer_incoming_log]).values():
        for keys in notes:
            total.update({str(key).split("-")[1]: n_bytes for key, n_bytes in keys.items()})
    return total


def gained(client, call):
    before = received(client)
    call()
    return received(client) - before


@pytest.mark.parametrize(("n_parts", "hops"), [(2, 1), (1, None)])
def test_workers_receive_the_values_at_borders_and_kept_states_and_nothing_else(client, n_parts, hops):
    graph = cg.gallery.grid(120, 100)
    options = {"client": client, "partition": "order", "degrees_per_exchange": hops, "keep_every": 10}
    dL = DistributedLaplacian.from_graph(graph, n_parts, **options)
    F = cg.ChebyshevFilter(dL, (-0.5) ** np.arange(17))
    f = np.random.default_rng(0).standard_normal(graph.n_vertices)
    total = gained(client, lambda: F @ f)
    assert total["cut_piece"] == pytest.approx(dL.exchanged_bytes(16), rel=0.1)
    assert total["advance"] == pytest.approx(dL.kept_bytes(16), rel=1e-3)
    assert dL.kept_bytes(16) == 3 * 8 * graph.n_vertices
    assert sum(total.values()) - total["cut_piece"] - total["advance"] < 1000


@pytest.mark.parametrize("n_parts", [1, 3, 5])
def test_kept_states_have_a_copy_on_another_worker_for_any_number_of_parts(client, n_parts):
    executor = executor_of(client, n_parts)
    for n_workers in (2, 3, 8):
        own = [executor.place(p, False, n_workers) for p in range(n_parts)]
        away = [executor.place(p, True, n_workers) for p in range(n_parts)]
        assert set(own) | set(away) <= set(range(n_workers))
        assert all(one != other for one, other in zip(own, away, strict=True))


def test_large_signals_go_through_files_that_workers_see(client, tmp_path, monkeypatch):
    monkeypatch.setattr("cayleygsp.distributed.executor._SMALL_BYTES", 100)
    f = np.random.default_rng(0).standard_normal(GRID.n_vertices)
    here = tmp_path / "here"
    here.mkdir()
    hidden = str(here)
    monkeypatch.setattr(os.path, "exists", lambda path: not path.startswith(hidden))
    with dask.config.set({"temporary-directory": hidden}):
        shared = tmp_path / "shared"
        shared.mkdir()
        dL = DistributedLaplacian.from_graph(GRID, 2, client=client, folder=shared / "parts")
        np.testing.assert_allclose(cg.KernelFilter(dL, HEAT, tol=1e-9) @ f, local(f)[0], atol=1e-12)
        # beside the parts, which workers do see, and nothing is left there
        assert {path.name for path in shared.iterdir()} == {"parts", dL.executor.folder().name}
        assert list(dL.executor.folder().iterdir()) == []
        with pytest.raises(FileNotFoundError, match="temporary-directory of Dask's configuration"):
            DistributedLaplacian.from_graph(GRID, 2, client=client)
    assert list(here.iterdir()) == []


def test_the_client_need_not_be_the_current_one(client, monkeypatch):
    monkeypatch.setattr("distributed.client._global_clients", {})
    dL = DistributedLaplacian.from_graph(GRID, 2, client=client)
    f = np.random.default_rng(0).standard_normal(GRID.n_vertices)
    np.testing.assert_allclose(cg.KernelFilter(dL, HEAT, tol=1e-9) @ f, local(f)[0], atol=1e-12)


def test_work_that_is_broken_off_leaves_no_files(client, monkeypatch):
    monkeypatch.setattr("cayleygsp.distributed.executor._SMALL_BYTES", 100)
    dL = DistributedLaplacian.from_graph(GRID, 2, client=client, degrees_per_exchange=2, keep_every=4)

    def stop(degree, of):
        raise KeyboardInterrupt

    dL.progress = stop
    with pytest.raises(KeyboardInterrupt):
        cg.KernelFilter(dL, HEAT, tol=1e-9) @ np.ones(GRID.n_vertices)
    assert [path.name for path in dL.executor.folder().iterdir()] == ["parts"]  # and no signals


def wait_for_two_workers(client):
    """Wait for workers that an earlier test has sent away or killed."""
    deadline = time.monotonic() + 60
    while len(client.nthreads()) != 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.fixture(scope="module")
def slow_laplacian(client):
    wait_for_two_workers(client)
    return DistributedLaplacian.from_graph(
        GRID, 4, client=client, partition="order", degrees_per_exchange=16, keep_every=32
    )


@pytest.fixture
def slow(client, slow_laplacian):
    """A filter of more than a hundred degrees with many exchanges, and what it gives."""
    wait_for_two_workers(client)
    slow_laplacian.progress = None
    response = cg.responses.Heat(160.0)
    f = np.random.default_rng(3).standard_normal(GRID.n_vertices)
    wanted = cg.KernelFilter(cg.laplacian(GRID), response, method="chebyshev", tol=1e-9) @ f
    return slow_laplacian, cg.KernelFilter(slow_laplacian, response, tol=1e-9), f, wanted


def test_a_worker_that_comes_late_helps(client, slow):
    dL, heat, f, wanted = slow
    dL.progress = lambda degree, of: client.cluster.scale(3) if degree == 32 else None
    np.testing.assert_allclose(heat @ f, wanted, atol=1e-12)
    client.cluster.scale(2)


def test_a_worker_that_its_memory_limit_pauses_holds_nothing_up(client, slow):
    _, heat, f, wanted = slow
    address = sorted(client.run(os.getpid))[0]

    def set_fraction(fraction, dask_worker):
        dask_worker.memory_manager.memory_pause_fraction = fraction

    client.run(set_fraction, 1e-9, workers=[address])
    deadline = time.monotonic() + 20
    while client.run(lambda dask_worker: dask_worker.status, workers=[address])[address] != Status.paused:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    try:
        np.testing.assert_allclose(heat @ f, wanted, atol=1e-12)
    finally:
        client.run(set_fraction, 0.8, workers=[address])


def test_threads_may_filter_at_the_same_time(graphs, signals):
    heat = cg.KernelFilter(graphs["order"], HEAT, tol=1e-9)
    answers = [None] * 3

    def work(i):
        answers[i] = heat @ (signals * (i + 1))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, y in enumerate(answers):
        np.testing.assert_allclose(y, local(signals)[0] * (i + 1), atol=1e-11)


class CountSteps(SchedulerPlugin):
    """Count blocks of degrees that were done, also those that were done again; kill a process at one of them."""

    def __init__(self, kill_at, pid):
        self.n_steps, self.kill_at, self.pid = 0, kill_at, pid

    def transition(self, key, start, finish, *args, **kwargs):
        if "-advance-" in str(key) and (start, finish) == ("processing", "memory"):
            self.n_steps += 1
            if self.n_steps == self.kill_at:
                os.kill(self.pid, signal.SIGKILL)


def test_a_killed_worker_costs_no_more_than_the_degrees_since_states_were_kept(client, slow):
    _, heat, f, wanted = slow
    # four parts and two blocks between kept states; in the midst of the fourth interval
    address, pid = sorted(client.run(os.getpid).items())[0]
    steps = CountSteps(3 * 8 + 5, pid)
    client.cluster.scheduler.add_plugin(steps, name="steps")
    y, info = heat.filter(f, return_info=True)
    client.cluster.scheduler.remove_plugin("steps")
    np.testing.assert_allclose(y, wanted, atol=1e-12)
    assert pid not in client.run(os.getpid).values()
    assert info.n_matvecs > 150
    needed = -(-info.n_matvecs // 16) * 4
    assert needed <= steps.n_steps <= needed + 8
    assert address not in client.nthreads()


def test_workers_that_are_all_lost_together_cost_the_work_and_not_the_answer(client, slow, monkeypatch):
    monkeypatch.setattr("cayleygsp.distributed.executor._PATIENCE", 0.2)
    dL, heat, f, wanted = slow
    killed = []

    def kill(degree, of):
        if degree == 32:
            killed.extend(client.run(os.getpid).values())
            for pid in killed:
                os.kill(pid, signal.SIGKILL)

    dL.progress = kill
    np.testing.assert_allclose(heat @ f, wanted, atol=1e-12)
    assert len(killed) >= 2
    assert not set(killed) & set(client.run(os.getpid).values())


def test_a_folder_that_workers_do_not_see(client, tmp_path, monkeypatch):
    monkeypatch.setattr(os.path, "exists", lambda path: False)
    with pytest.raises(FileNotFoundError, match="must be on a file system that all workers see"):
        DistributedLaplacian.from_graph(GRID, 2, client=client, folder=tmp_path / "parts")


def test_a_scheduler_that_is_not_there(monkeypatch):
    monkeypatch.setattr("cayleygsp.distributed.executor.CONNECT_SECONDS", 1.0)
    with pytest.raises(ConnectionError, match=r"no scheduler answers at 'tcp://127.0.0.1:9'"):
        DistributedLaplacian.from_graph(GRID, 2, client="tcp://127.0.0.1:9")
    with pytest.raises(TypeError, match=r"`client` must be a distributed\.Client, the address of a scheduler"):
        DistributedLaplacian.from_graph(GRID, 2, client=3)


def test_dask_arrays_with_parts_in_this_process(signals):
    dL = DistributedLaplacian.from_graph(GRID, 3, client="synchronous")
    x = da.from_array(signals, chunks=(200, 3))
    y = cg.KernelFilter(dL, HEAT, tol=1e-9).filter(x)
    assert y.chunks == x.chunks
    np.testing.assert_allclose(y.compute(scheduler="synchronous"), local(signals)[0], atol=1e-12)
