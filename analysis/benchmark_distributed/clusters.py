"""Worker processes, and what they say of themselves."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

# Bytes that are sent from worker to worker to know how fast that is.
_SENT = 2**25


@contextmanager
def worker_processes(n_workers: int, memory_limit: int | None = None) -> Iterator[Any]:
    """Yield a client of a cluster of processes with one thread each.

    Parameters
    ----------
    n_workers : int
        Number of processes.
    memory_limit : int, optional
        Bytes that each may take.
    """
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=True,
        memory_limit=memory_limit or 0,
        dashboard_address=":0",
        silence_logs=50,
    )
    with cluster, Client(cluster) as client:
        yield client


def received_bytes(client: Any) -> int:
    """Return the bytes that all workers have received from one another so far."""
    return sum(client.run(_received).values())


def _received(dask_worker: Any) -> int:
    return sum(int(one["total"]) for one in dask_worker.transfer_incoming_log)


def memory_of_workers(client: Any) -> list[int]:
    """Return the bytes that each worker process takes."""
    return sorted(client.run(_resident).values())


def _resident(dask_worker: Any) -> int:
    return int(dask_worker.monitor.proc.memory_info().rss)


def peak_of_workers(client: Any) -> list[int]:
    """Return the most bytes that each worker process has taken."""
    return sorted(client.run(_peak).values())


def _peak() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def bandwidth(client: Any) -> float:
    """Return the bytes per second from one worker to another, in pieces as halos are sent."""
    first, second = sorted(client.nthreads())[:2]
    seconds = []
    for k in range(3):
        block = client.submit(np.ones, _SENT // 8, workers=[first], key=f"block-{k}")
        client.gather(client.submit(len, block, workers=[first], pure=False))
        start = time.perf_counter()
        client.gather(client.submit(len, block, workers=[second], pure=False))
        seconds.append(time.perf_counter() - start)
    return _SENT / min(seconds)
