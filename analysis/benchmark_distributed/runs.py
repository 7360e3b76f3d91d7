"""One graph in parts on one cluster, beside one process."""

from __future__ import annotations

import math
import os
import resource
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numba
import numpy as np

import cayleygsp as cg
from analysis import _problems, _timing
from analysis._script import Document
from cayleygsp.distributed import DistributedLaplacian, cut_edges
from cayleygsp.distributed.recurrence import count_rings

# Bytes of an entry of the matrix: an index and a weight.
ENTRY_BYTES = 12
_PIECES = 8

# What the tasks of a filter give that goes from worker to worker.
_RECEIVED = {"cut_piece": "halo", "advance": "kept"}

# Bytes that are sent from worker to worker to know how fast that is.
_SENT = 2**25

# Degree of the series, that of a filter with h·λmax of about 30 to 1e-6.
DEGREE = 120, 6

# Vertices of the graphs whose work is shared, and those for each worker where the work grows with them.
STRONG = 1_000_000, 2_500
WEAK = 250_000, 900

# Worker processes of one thread: no more than the machine has processors for, and two at least.
WORKERS = tuple(n for n in (1, 2, 4, 8, 16) if n <= max(os.cpu_count() or 1, 2)), (1, 2)

# The graph of the target: two workers against one process with two threads.
TARGET = 10_000_000, 10_000
TARGET_RATIO = 1.5

# Parts whose halos are counted, and vertices of the graph that is cut.
HALO_PARTS = (2, 4, 8, 16, 32, 64), (2, 4)
HALO_VERTICES = 100_000, 2_500

# Memory limit of a worker in the run with a graph that is three times as large, and its workers and parts.
LIMIT_BYTES = 480 * 2**20
LIMIT_WORKERS, LIMIT_PARTS = 4, 192
LIMIT_RATIO = 3.0
LIMIT_NEIGHBOURS = 20
LIMIT_DEGREE = 24

# The most degrees for one exchange that are looked at, and parts with almost no work that show what tasks cost.
RINGS = 32
TASK_PARTS = (2, 16), (2, 6)


def graph_of(name: str, n_vertices: int, seed: int) -> cg.Graph:
    """Return a grid, or communities of about 100 vertices with ten neighbours, one of them outside."""
    if name == "grid":
        return cg.gallery.grid(round(math.sqrt(n_vertices)))
    return _problems.community_graph(n_vertices, seed)


def coefficients(degree: int) -> np.ndarray:
    """Return a series of the given degree, largest at frequency 0: its gain needs no search for λ_max."""
    k = np.arange(degree + 1)
    return (-1.0) ** k / (1.0 + k) ** 2


def measure_run(
    client: Any, name: str, graph: cg.Graph, n_workers: int, degree: int, repeats: int, seed: int
) -> Document:
    """Filter one signal in parts and in one process with as many threads, in turns.

    Parameters
    ----------
    client : distributed.Client
        Of a cluster with as many workers.
    name : str
        What the graph is called.
    graph : Graph
        The graph.
    n_workers : int
        Worker processes, and parts.
    degree : int
        Of the series.
    repeats : int
        Rounds.
    seed : int
        Of the signal.
    """
    L = cg.laplacian(graph)
    cut_seconds, dL = _timing.timed(
        lambda: DistributedLaplacian.from_graph(graph, n_workers, client=client, partition="order")
    )
    a = coefficients(degree)
    here, there = cg.ChebyshevFilter(L, a), cg.ChebyshevFilter(dL, a)
    f = np.random.default_rng(seed).standard_normal(L.n_vertices)
    threads = numba.get_num_threads()
    numba.set_num_threads(min(n_workers, threads))
    try:
        y, z = here @ f, there @ f
        calls = {"one process": lambda: here @ f, "parts": lambda: there @ f}
        samples = _timing.interleave(calls, repeats)
    finally:
        numba.set_num_threads(threads)
    forget_received(client)
    _, info = there.filter(f, return_info=True)
    received = received_bytes(client)
    return {
        "graph": name,
        "n_vertices": L.n_vertices,
        "n_entries": int(graph.W.nnz),
        "n_workers": n_workers,
        "degree": degree,
        "cut_seconds": cut_seconds,
        "one_process": _timing.summary(samples["one process"]),
        "parts": _timing.summary(samples["parts"]),
        "ratio": _timing.summary(_timing.ratios(samples["parts"], samples["one process"])),
        "difference": float(np.abs(y - z).max()),
        "received_bytes": received,
        "predicted_bytes": {"halo": dL.exchanged_bytes(degree), "kept": dL.kept_bytes(degree), "other": 0},
        "memory_of_workers": memory_of_workers(client),
        "reason": info.reason,
    }


def task_costs(client: Any, parts: tuple[int, int], degree: int, repeats: int) -> Document:
    """Return the seconds from one exchange to the next, and those that each task adds: graphs with almost no work.

    Two workers and the scheduler share the processors of the machine, so that a task takes more than it would of a
    scheduler alone.
    """
    few, many = (_exchange_seconds(client, n_parts, degree, repeats) for n_parts in parts)
    n_few, n_many = (3 * n_parts - 2 for n_parts in parts)  # parts of a path, and what they take from both sides
    task = max((many - few) / (n_many - n_few), 0.0)
    return {"task_seconds": task, "exchange_seconds": max(few - n_few * task, 0.0)}


def _exchange_seconds(client: Any, n_parts: int, degree: int, repeats: int) -> float:
    graph = cg.gallery.path(32 * n_parts)
    dL = DistributedLaplacian.from_graph(
        graph, n_parts, client=client, partition="order", degrees_per_exchange=1, keep_every=10**6
    )
    there = cg.ChebyshevFilter(dL, coefficients(degree))
    f = np.ones(graph.n_vertices)
    there @ f
    return min(_timing.seconds_of(lambda: there @ f) for _ in range(repeats)) / degree


def halo_rows(name: str, n_vertices: int, parts: tuple[int, ...], seed: int) -> list[Document]:
    """Count the vertices that parts take from others, by METIS."""
    graph = graph_of(name, n_vertices, seed)
    rows = []
    for n_parts in parts:
        dL = DistributedLaplacian.from_graph(graph, n_parts, client="synchronous", partition="metis")
        halo = dL.halo_sizes()
        rows.append(
            {
                "graph": name,
                "n_vertices": dL.n_vertices,
                "edges_per_vertex": dL.n_edges / dL.n_vertices,
                "n_parts": n_parts,
                "mean_halo": float(np.mean(halo)),
                "largest_halo": int(max(halo)),
                "mean_part": dL.n_vertices / n_parts,
                "neighbours": float(np.mean(dL.neighbouring_parts())),
                "rings": ring_ratios(dL),
            }
        )
    return rows


def ring_ratios(dL: DistributedLaplacian) -> list[float]:
    """Return the vertices up to 1, 2, … edges away from a part on average, over those of the first ring.

    As far as they are fewer than half of all other vertices: from there on a larger graph would have more.
    """
    ends = [count_rings(dL.store, p, RINGS, dL.n_vertices // 2)[0] for p in range(dL.n_parts)]
    n_counted = min(one.size for one in ends)
    around = np.mean([one[1:n_counted] - one[0] for one in ends], axis=0)
    others = dL.n_vertices * (1 - 1 / dL.n_parts)
    n_rings = max(int(np.searchsorted(around, others / 2)), 1)
    return (around[:n_rings] / around[0]).tolist()


def write_pieces(folder: Path, n_vertices: int, seed: int) -> list[Path]:
    """Write a ring in which every vertex has many neighbours on both sides, with random weights, as parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(seed)
    files = []
    edges = np.linspace(0, n_vertices, _PIECES + 1).astype(np.int64)
    for k, (first, last) in enumerate(pairwise(edges.tolist())):
        tails = np.repeat(np.arange(first, last), LIMIT_NEIGHBOURS)
        heads = (tails + np.tile(np.arange(1, LIMIT_NEIGHBOURS + 1), last - first)) % n_vertices
        table = pa.table({"source": tails, "target": heads, "weight": rng.uniform(0.5, 1.5, tails.size)})
        files.append(folder / f"{k}.parquet")
        parquet.write_table(table, files[-1])
    return files


def measure_limited(seed: int) -> Document:
    """Build and filter within the limit; the answer on constants is known."""
    n_vertices = int(LIMIT_RATIO * LIMIT_BYTES / (ENTRY_BYTES * (2 * LIMIT_NEIGHBOURS + 1)))
    with tempfile.TemporaryDirectory() as place:
        files = write_pieces(Path(place), n_vertices, seed)
        cut_seconds, _ = _timing.timed(lambda: cut_edges(files, Path(place) / "parts", LIMIT_PARTS, partition="order"))
        build_peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        for file in files:
            file.unlink()
        with worker_processes(LIMIT_WORKERS, LIMIT_BYTES) as client:
            load_seconds, dL = _timing.timed(
                lambda: DistributedLaplacian.from_folder(
                    Path(place) / "parts", "normalized", client=client, degrees_per_exchange=LIMIT_DEGREE
                )
            )
            a = coefficients(LIMIT_DEGREE)
            g = cg.ChebyshevFilter(dL, a)
            x = np.sqrt(dL.degrees)  # of frequency 0
            seconds, y = _timing.timed(lambda: g @ x)
            wanted = float((a * (-1.0) ** np.arange(a.size)).sum())
            return {
                "n_vertices": n_vertices,
                "n_entries": 2 * LIMIT_NEIGHBOURS * n_vertices,
                "matrix_bytes": ENTRY_BYTES * (2 * LIMIT_NEIGHBOURS + 1) * n_vertices,
                "limit_bytes": LIMIT_BYTES,
                "n_workers": LIMIT_WORKERS,
                "n_parts": LIMIT_PARTS,
                "degree": LIMIT_DEGREE,
                "cut_seconds": cut_seconds,
                "load_seconds": load_seconds,
                "filter_seconds": seconds,
                "builder_peak_bytes": build_peak,
                "worker_peak_bytes": peak_of_workers(client),
                "workers_at_the_end": len(client.nthreads()),
                "error": float(np.linalg.norm(y - wanted * x) / np.linalg.norm(x)),
            }


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
    # that of Dask holds the last thousand entries
    client.run(lambda dask_worker: setattr(dask_worker, "transfer_incoming_log", deque()))


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
    return sorted(client.run(lambda dask_worker: int(dask_worker.monitor.proc.memory_info().rss)).values())


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
