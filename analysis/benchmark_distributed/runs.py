"""One graph in parts on one cluster, beside one process."""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np

import cayleygsp as cg
from analysis import _problems, _timing
from analysis._document import Document
from analysis.benchmark_distributed.clusters import forget_received, memory_of_workers, received_bytes
from analysis.benchmark_distributed.settings import RINGS
from cayleygsp.distributed import DistributedLaplacian
from cayleygsp.distributed.recurrence import count_rings


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
