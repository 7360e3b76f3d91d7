"""A graph whose matrix is three times the memory limit of a worker, from pieces on disk."""

from __future__ import annotations

import resource
import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np

import cayleygsp as cg
from analysis import _timing
from analysis._document import Document
from analysis.benchmark_distributed.clusters import peak_of_workers, worker_processes
from analysis.benchmark_distributed.runs import coefficients
from analysis.benchmark_distributed.settings import (
    LIMIT_BYTES,
    LIMIT_DEGREE,
    LIMIT_NEIGHBOURS,
    LIMIT_PARTS,
    LIMIT_RATIO,
    LIMIT_WORKERS,
)
from cayleygsp.distributed import DistributedLaplacian, cut_edges

# Bytes of an entry of the matrix: an index and a weight.
ENTRY_BYTES = 12

_PIECES = 8


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
