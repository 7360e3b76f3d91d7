"""Worker processes, and what they say of themselves."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

# What the tasks of a filter give that goes from worker to worker.
_RECEIVED = {"cut_piece": "halo", "advance": "kept"}

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


def forget_received(client: Any) -> None:
    """Let all workers begin to note what they receive from one another, all of it."""
    client.run(_forget_received)


def _forget_received(dask_worker: Any) -> None:
    dask_worker.transfer_incoming_log = deque()  # that of Dask holds the last thousand entries


def received_bytes(client: Any) -> dict[str, int]:
    """Return the bytes that workers have received from one another since they began to note: halos, states, the rest.

    Dask's workers note the size of each result that they take from another worker; ``halo`` are values at borders,
    ``kept`` are copies of states.
    """
    total = Counter({"halo": 0, "kept": 0, "other": 0})
    for notes in client.run(_received).values():
        for task, n_bytes in notes:
            total[_RECEIVED.get(task, "other")] += n_bytes
    return dict(total)


def _received(dask_worker: Any) -> list[tuple[str, int]]:
    notes = [one["keys"] for one in dask_worker.transfer_incoming_log]
    return [(str(key).split("-")[1], int(n_bytes)) for keys in notes for key, n_bytes in keys.items()]


def memory_of_workers(client: Any) -> list[int]:
    """Return the bytes that each worker process takes."""
    return sorted(client.run(_resident).values())


def _resident(dask_worker: Any) -> int:
    return int(dask_worker.monitor.proc.memory_info().rss)


def peak_of_workers(client: Any) -> list[int]:
    """Return the most bytes that each worker process has taken."""
    return sorted(client.run(_peak).values())


def _peak() -> int:
    # what the system calls the largest resident set begins with that of the process that started this one
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


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
