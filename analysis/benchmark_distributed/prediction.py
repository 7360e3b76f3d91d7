r"""What larger clusters would take, from measured sizes: an estimate.

One degree of one signal takes

.. math:: t_s = \frac{e\,c}{W} + \frac{d\,c}{s} \sum_{j<s} h_j + \frac{\ell + (1 + q)\,W\,\tau}{s}
          + \frac{8\,(h_s + h_{s-1})}{s\,b},

with e entries of the matrix, c seconds of one core per entry, W workers with one part each, s degrees for one exchange,
:math:`h_j` the vertices up to j edges away from a part (:math:`h_0 = 0`), d entries of a row, ℓ seconds from one
exchange to the next where the scheduler has little to do, q neighbours of a part, τ seconds of the scheduler per task
and b bytes per second between workers. :math:`h_1` follows the measured law :math:`\alpha m^\beta` of the m vertices of
a part, :math:`h_j / h_1` is as counted, and s is what takes the least time.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from analysis._script import Document

# Edges, and workers of one thread.
PREDICTED_EDGES, PREDICTED_WORKERS = (10**9, 10**10, 10**11), (16, 64, 256, 1024)

# Bytes of a worker for a vertex: vertices, degrees and row starts, states and kept ones; and for an entry.
VERTEX_BYTES, ENTRY_BYTES = 160, 12

# The halo law is that of cuts into so many parts or more: in fewer, the border of the graph and its size show.
_LAW_PARTS = 16

# Share of the other parts from which on a part borders on all of them, however many there are.
_ALL = 0.9


def halo_law(rows: Sequence[Document]) -> tuple[float, float]:
    """Return factor and exponent of the halo as a power of the size of a part, by least squares of logarithms."""
    many = [row for row in rows if row["n_parts"] >= _LAW_PARTS]
    rows = many if len(many) > 1 else rows
    sizes = np.log([row["mean_part"] for row in rows])
    slope, shift = np.polyfit(sizes, np.log([row["mean_halo"] for row in rows]), 1)
    return float(np.exp(shift)), float(slope)


def missing_in_plane(halos: Sequence[Document], predictions: Sequence[Document]) -> tuple[float, float]:
    """Return how many times too small halos of a grid are by a law with a power below one half, and what that changes.

    Borders in the plane grow with the square root of a part. The second number is the largest share of the time of a
    degree that is missing for it.
    """
    used = [row for row in halos if row["n_parts"] >= _LAW_PARTS] or halos
    counted, missing = max(row["mean_part"] for row in used), max(0.5 - halo_law(halos)[1], 0.0)
    factors, shares = [1.0], [0.0]
    for row in predictions:
        part = row["n_edges"] / halos[-1]["edges_per_vertex"] / row["n_workers"]
        factors.append(max(part / counted, 1.0) ** missing)
        shares.append((factors[-1] - 1) * (row["twice"] + row["wire"]) / row["seconds"])
    return max(factors), max(shares)


def neighbours(row: Document, n_workers: int) -> float:
    """Return from how many others each of some parts takes values, by what was counted for another number of parts."""
    borders_on_all = row["neighbours"] > _ALL * (row["n_parts"] - 1)
    return n_workers - 1 if borders_on_all else min(row["neighbours"], n_workers - 1)


def predict(halos: Sequence[Document], costs: Document) -> list[Document]:
    """Return seconds of a degree for each kind of graph, number of edges and number of workers.

    Parameters
    ----------
    halos : sequence of dict
        Counted halos.
    costs : dict
        ``entry_seconds`` by the kind of graph, ``exchange_seconds``, ``task_seconds`` and ``bandwidth``.
    """
    rows = []
    for name in dict.fromkeys(row["graph"] for row in halos):
        counted = [row for row in halos if row["graph"] == name]
        for edges in PREDICTED_EDGES:
            for workers in PREDICTED_WORKERS:
                most = len(counted[-1]["rings"])
                every = [_degree(counted, costs, edges, workers, s) for s in range(1, most + 1)]
                rows.append(min(every, key=lambda row: row["seconds"]))
    return rows


def seconds_of_run(run: Document, costs: Document) -> float:
    """Return what the formula gives for a degree of a run, with the bytes that it had and no rows stepped twice."""
    W = run["n_workers"]
    every = re.search(r"every (\d+) degrees", run["reason"])
    halo_bytes = run["predicted_bytes"]["halo"] / (run["degree"] * W)
    compute = run["n_entries"] / W * costs["entry_seconds"][run["graph"]]
    tasks = costs["exchange_seconds"] + W * W * costs["task_seconds"]  # as if all parts bordered on all others
    return compute + tasks / (int(every[1]) if every else 1) + halo_bytes / costs["bandwidth"]


def _degree(counted: Sequence[Document], costs: Document, edges: int, workers: int, s: int) -> Document:
    """Return what one degree takes with s degrees for one exchange."""
    last = counted[-1]
    factor, exponent = halo_law(counted)
    n_vertices = edges / last["edges_per_vertex"]
    part = n_vertices / workers
    # the vertices up to 0, 1, … s edges away
    around = [min(factor * part**exponent * ring, n_vertices - part) for ring in [0.0, *last["rings"][:s]]]
    entry = costs["entry_seconds"][last["graph"]]
    tasks = costs["exchange_seconds"] + (1 + neighbours(last, workers)) * workers * costs["task_seconds"]
    row: Document = {
        "graph": last["graph"],
        "n_edges": edges,
        "n_workers": workers,
        "degrees_per_exchange": s,
        "compute": 2 * edges / workers * entry,
        "twice": 2 * last["edges_per_vertex"] * entry * sum(around[:s]) / s,
        "tasks": tasks / s,
        "wire": 8 * (around[s] + around[s - 1]) / s / costs["bandwidth"],
        "worker_bytes": VERTEX_BYTES * (part + around[s]) + ENTRY_BYTES * 2 * edges / workers,
    }
    row["seconds"] = row["compute"] + row["twice"] + row["tasks"] + row["wire"]
    row["efficiency"] = row["compute"] / row["seconds"]
    return row
