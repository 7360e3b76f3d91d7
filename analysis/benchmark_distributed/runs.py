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
from cayleygsp.distributed import DistributedLaplacian


def graph_of(name: str, n_vertices: int, seed: int) -> cg.Graph:
    """Return a grid, or communities of about 100 vertices with ten neighbours, one of them outside."""
    if name == "grid":
        return cg.gallery.grid(round(math.sqrt(n_vertices)))
    return _problems.community_graph(n_vertices, seed)


def coefficients(degree: int) -> np.ndarray:
    """Return a series of the given degree."""
    return 1 / (1.0 + np.arange(degree + 1)) ** 2


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


def task_seconds(client: Any, degree: int) -> float:
    """Return what a task costs beside its work: a graph with almost none, all degrees one by one."""
    n_parts = 2
    dL = DistributedLaplacian.from_graph(
        cg.gallery.path(64), n_parts, client=client, partition="order", degrees_per_exchange=1, keep_every=10**6
    )
    there = cg.ChebyshevFilter(dL, coefficients(degree))
    f = np.ones(64)
    there @ f
    seconds = min(_timing.seconds_of(lambda: there @ f) for _ in range(3))
    return seconds / (degree * 2 * n_parts)


def halo_rows(name: str, n_vertices: int, parts: tuple[int, ...], seed: int) -> list[Document]:
    """Count the vertices that parts take from others for one degree, by METIS."""
    graph = graph_of(name, n_vertices, seed)
    rows = []
    for n_parts in parts:
        dL = DistributedLaplacian.from_graph(graph, n_parts, client="synchronous", partition="metis")
        halo = dL.halo_sizes()
        rows.append(
            {
                "graph": name,
                "n_vertices": dL.n_vertices,
                "n_parts": n_parts,
                "mean_halo": float(np.mean(halo)),
                "largest_halo": int(max(halo)),
                "mean_part": dL.n_vertices / n_parts,
                "neighbours": float(np.mean(dL.neighbouring_parts())),
            }
        )
    return rows
